import { expect, test } from "vitest";
import { Few } from "./few.ts";

test("it holds what a Map holds, whatever comes and goes", () => {
  const few = new Few<string | number, { readonly n: number }>();
  const map = new Map<string | number, { readonly n: number }>();
  const keys = ["1", 1, "", 0, "a", "b"];
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed % below;
  };
  for (let n = 0; n < 10_000; n++) {
    const key = keys[next(keys.length)] as string | number;
    if (next(3) === 0 && !map.has(key)) {
      few.add(key, { n });
      map.set(key, { n });
    } else {
      map.delete(key);
      expect(few.delete(key)).toBe(map.size === 0);
    }
    expect(few.values()).toHaveLength(map.size);
    for (const one of keys) expect(few.get(one)).toEqual(map.get(one));
    expect(new Set(few.values().map((value) => value.n))).toEqual(new Set([...map.values()].map((value) => value.n)));
  }
});
