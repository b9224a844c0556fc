// Things by their numbers, however many there are and however long some of them stay.
import { expect, test } from "vitest";
import { Numbered } from "./numbered.ts";

test("it holds what a Map would hold", () => {
  const numbered = new Numbered<{ id: number }>();
  const map = new Map<number, { id: number }>();
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  for (let id = 1; id < 20_000; id++) {
    const one = { id };
    numbered.add(one);
    map.set(id, one);
    // Some stay for long, and there are many of them at times.
    const leave = id % 5000 < 4000 ? 1.2 : 0.8;
    for (let i = 0; i < leave; i++) {
      const other = random() < 0.9 ? id - Math.floor(random() * 5) : Math.floor(random() * id);
      expect(numbered.take(other)).toBe(map.get(other));
      map.delete(other);
    }
    const any = Math.floor(random() * (id + 10));
    expect(numbered.get(any)).toBe(map.get(any));
    expect(numbered.size).toBe(map.size);
  }
  expect(numbered.values()).toEqual([...map.values()]);
  expect(map.size).toBeGreaterThan(200);
});

test("what is no number, or was never added, is not there", () => {
  const numbered = new Numbered<{ id: number }>();
  numbered.add({ id: 1 });
  for (const id of ["1", 1.5, 129, -127, Number.NaN, undefined, null, 2 ** 32 + 1, {}]) {
    expect(numbered.get(id)).toBeUndefined();
    expect(numbered.take(id)).toBeUndefined();
  }
  expect(numbered.size).toBe(1);
});
