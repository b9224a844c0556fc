import { expect, test } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import { changeRecord, createRecords, randomText } from "./records.ts";

test("kinds and issuers are kept apart", async () => {
  const store = createMemoryStore();
  const one = createRecords<number>(store, "https://a.example", "code");
  await one.put("x", 1);
  expect(await createRecords(store, "https://b.example", "code").get("x")).toBeUndefined();
  expect(await createRecords(store, "https://a.example", "family").get("x")).toBeUndefined();
  expect((await one.get("x"))?.value).toBe(1);
});

test("what was changed meanwhile is not written over", async () => {
  const records = createRecords<number>(createMemoryStore(), "https://a.example", "n");
  expect(await records.put("x", 1, { over: null })).toBe(true);
  expect(await records.put("x", 2, { over: null })).toBe(false);
  const held = await records.get("x");
  expect(await records.put("x", 2, { over: held ?? null })).toBe(true);
  expect(await records.put("x", 3, { over: held ?? null })).toBe(false);
  await records.delete("x");
  expect(await records.put("x", 3, { over: held ?? null })).toBe(false);
});

test("many change the same, and nothing is lost", async () => {
  const records = createRecords<number>(createMemoryStore(), "https://a.example", "n");
  await Promise.all(Array.from({ length: 20 }, () => changeRecord(records, "x", (before = 0) => before + 1)));
  expect((await records.get("x"))?.value).toBe(20);
});

test("a store that takes nothing is given up", async () => {
  const records = createRecords<number>({ ...createMemoryStore(), put: async () => false }, "https://a.example", "n");
  await expect(changeRecord(records, "x", () => 1)).rejects.toThrow("takes no change");
});

test("texts that nobody can guess", () => {
  expect(randomText()).toMatch(/^[\w-]{43}$/);
  expect(new Set(Array.from({ length: 100 }, () => randomText(16))).size).toBe(100);
});
