import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryStore } from "./memory.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a memory store", () => {
  test("gives back what was put, until it is deleted", async () => {
    const store = createMemoryStore();
    expect(await store.get("a")).toBeUndefined();
    expect(await store.put("a", "1")).toBe(true);
    expect(await store.put("__proto__", "2")).toBe(true);
    expect([await store.get("a"), await store.get("__proto__")]).toEqual(["1", "2"]);
    await store.put("a", "");
    expect(await store.get("a")).toBe("");
    await store.delete("a");
    await store.delete("a");
    expect(await store.get("a")).toBeUndefined();
    expect(await store.get("__proto__")).toBe("2");
  });

  test("writes on condition", async () => {
    const store = createMemoryStore();
    expect(await store.put("a", "1", { expected: "0" })).toBe(false);
    expect(await store.put("a", "1", { expected: null })).toBe(true);
    expect(await store.put("a", "2", { expected: null })).toBe(false);
    expect(await store.put("a", "2", { expected: "x" })).toBe(false);
    expect(await store.get("a")).toBe("1");
    expect(await store.put("a", "2", { expected: "1" })).toBe(true);
    expect(await store.get("a")).toBe("2");
  });

  test("of many who write at once where nothing may be, one does", async () => {
    const store = createMemoryStore();
    const written = await Promise.all(
      Array.from({ length: 100 }, (_, i) => store.put("a", `${i}`, { expected: null })),
    );
    expect(written.filter(Boolean)).toHaveLength(1);
  });

  test("forgets in time, to the millisecond, and without a timer", async () => {
    const store = createMemoryStore();
    await store.put("a", "1", { ttlMs: 1500 });
    await store.put("b", "1");
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(1499);
    expect(await store.get("a")).toBe("1");
    vi.advanceTimersByTime(1);
    expect(await store.get("a")).toBeUndefined();
    expect(await store.put("a", "2", { expected: null })).toBe(true);
    vi.advanceTimersByTime(1e12);
    expect([await store.get("a"), await store.get("b")]).toEqual(["2", "1"]);
  });

  test("a new value has a life of its own", async () => {
    const store = createMemoryStore();
    await store.put("a", "1", { ttlMs: 1000 });
    await store.put("a", "2", { ttlMs: 60_000 });
    vi.advanceTimersByTime(2000);
    await store.put("b", "clears away");
    expect(await store.get("a")).toBe("2");
    await store.put("a", "3");
    vi.advanceTimersByTime(100_000);
    await store.put("b", "clears away");
    expect(await store.get("a")).toBe("3");
  });

  test("is bounded: what has ended makes room, what has not stays", async () => {
    const store = createMemoryStore({ maxEntries: 3 });
    for (const key of ["a", "b", "c"]) await store.put(key, key, { ttlMs: key === "c" ? 60_000 : 1000 });
    await expect(store.put("d", "d")).rejects.toThrow("The memory store is full: it holds 3 entries");
    // What is there already takes no more room.
    expect(await store.put("c", "C", { ttlMs: 60_000 })).toBe(true);
    vi.advanceTimersByTime(2000);
    expect(await store.put("d", "d")).toBe(true);
    expect(await store.put("e", "e")).toBe(true);
    await expect(store.put("f", "f")).rejects.toThrow("full");
    expect(await Promise.all(["a", "b", "c", "d", "e"].map((key) => store.get(key)))).toEqual([
      undefined,
      undefined,
      "C",
      "d",
      "e",
    ]);
  });

  test("a bound that allows nothing is refused", () => {
    for (const maxEntries of [0, -1, Number.NaN]) expect(() => createMemoryStore({ maxEntries })).toThrow(TypeError);
  });

  test("many short lives leave nothing behind", async () => {
    const store = createMemoryStore({ maxEntries: 2000 });
    for (let i = 0; i < 100_000; i++) {
      await store.put(`${i}`, "used", { ttlMs: 1000 });
      vi.advanceTimersByTime(1);
    }
    expect(await store.get("99999")).toBe("used");
    expect(await store.get("98000")).toBeUndefined();
  });
});
