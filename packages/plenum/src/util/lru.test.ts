import { expect, test } from "vitest";
import { createLru } from "./lru.ts";

const keys = (lru: { entries(): Iterable<[string, unknown]> }) => [...lru.entries()].map(([key]) => key);

test("what was not used for longest goes first", () => {
  const lru = createLru<number>({ maxEntries: 2, maxWeight: 100 });
  expect(lru.set("a", 1, 1)).toBe(0);
  expect(lru.set("b", 2, 1)).toBe(0);
  expect(lru.get("a")).toBe(1);
  expect(lru.set("c", 3, 1)).toBe(1);
  expect(keys(lru)).toEqual(["a", "c"]);
  expect(lru.get("b")).toBeUndefined();
});

test("weight drives out as many as it takes", () => {
  const lru = createLru<number>({ maxEntries: 100, maxWeight: 10 });
  for (const key of ["a", "b", "c"]) lru.set(key, 0, 3);
  expect(lru.set("d", 0, 6)).toBe(2);
  expect(keys(lru)).toEqual(["c", "d"]);
  expect(lru.weight).toBe(9);
});

test("a value is weighed anew when it is replaced, and no more once it is gone", () => {
  const lru = createLru<number>({ maxEntries: 100, maxWeight: 10 });
  lru.set("a", 1, 9);
  lru.set("a", 2, 1);
  expect(lru.weight).toBe(1);
  expect(lru.set("b", 1, 9)).toBe(0);
  expect(lru.delete("b")).toBe(true);
  expect(lru.delete("b")).toBe(false);
  expect(lru.weight).toBe(1);
  lru.clear();
  expect([lru.size, lru.weight]).toEqual([0, 0]);
});

test("what is too much by itself is not kept", () => {
  const lru = createLru<number>({ maxEntries: 1, maxWeight: 10 });
  expect(lru.set("a", 1, 11)).toBe(1);
  expect([lru.size, lru.weight]).toEqual([0, 0]);
  const none = createLru<number>({ maxEntries: 0, maxWeight: 10 });
  none.set("a", 1, 1);
  expect(none.size).toBe(0);
});

test("entries may be deleted while they are looked at", () => {
  const lru = createLru<number>({ maxEntries: 10, maxWeight: 10 });
  for (const key of ["a", "b", "c"]) lru.set(key, 0, 1);
  for (const [key] of lru.entries()) lru.delete(key);
  expect(lru.size).toBe(0);
});

test("keys that objects inherit are keys like any other", () => {
  const lru = createLru<string>({ maxEntries: 10, maxWeight: 100 });
  for (const key of ["__proto__", "constructor", "toString", ""]) {
    expect(lru.get(key)).toBeUndefined();
    lru.set(key, key, 1);
  }
  expect(lru.get("__proto__")).toBe("__proto__");
  expect(lru.size).toBe(4);
});
