import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Store } from "../../store/store.ts";
import { createPlacedStore, createTurns, type Entries, formatEntries, parseEntries } from "./entries.ts";
import { keychainTokens } from "./keychain-tokens.ts";
import { fileTokens } from "./node-file-store.ts";

/** Each gives stores that share one place. */
const kinds: readonly (readonly [name: string, open: () => Promise<() => Store>])[] = [
  [
    "a file",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "plenum-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      return () => fileTokens(join(folder, "tokens.json"));
    },
  ],
  [
    "a keychain",
    async () => {
      let secret: string | null = null;
      const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
      const store = keychainTokens({
        async get() {
          await tick();
          return secret;
        },
        async set(text) {
          await tick();
          secret = text;
        },
        async remove() {
          await tick();
          secret = null;
        },
      });
      return () => store;
    },
  ],
];

describe.each(kinds)("%s", (_, open) => {
  test("gives back what was put, until it is deleted", async () => {
    const make = await open();
    const store = make();
    expect(await store.get("a")).toBeUndefined();
    await store.delete("a");
    expect(await store.put("a", "1")).toBe(true);
    expect(await store.put("__proto__", "ü\n\0")).toBe(true);
    expect(await store.put("", "")).toBe(true);
    const later = make();
    expect([await later.get("a"), await later.get("__proto__"), await later.get("")]).toEqual(["1", "ü\n\0", ""]);
    await store.delete("a");
    expect([await later.get("a"), await later.get("constructor")]).toEqual([undefined, undefined]);
  });

  test("writes on condition", async () => {
    const store = (await open())();
    expect(await store.put("a", "1", { expected: "0" })).toBe(false);
    expect(await store.put("a", "1", { expected: null })).toBe(true);
    expect(await store.put("a", "2", { expected: null })).toBe(false);
    expect(await store.put("a", "2", { expected: "1" })).toBe(true);
    expect(await store.put("a", "2", { expected: "2" })).toBe(true);
    expect(await store.get("a")).toBe("2");
  });

  test("forgets in time", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const store = (await open())();
    await store.put("a", "1", { ttlMs: 1000 });
    await store.put("b", "1", { ttlMs: Number.POSITIVE_INFINITY });
    // What was to end, and is to last now; and the other way round.
    await store.put("c", "1", { ttlMs: 1000 });
    await store.put("c", "1");
    await store.put("d", "1");
    await store.put("d", "1", { ttlMs: 1000 });
    vi.advanceTimersByTime(999);
    expect(await store.get("a")).toBe("1");
    vi.advanceTimersByTime(1);
    expect(await Promise.all(["a", "b", "c", "d"].map((key) => store.get(key)))).toEqual([
      undefined,
      "1",
      "1",
      undefined,
    ]);
    expect(await store.put("a", "2", { expected: null })).toBe(true);
  });

  test("of many who write at once none is lost, and of many who write where nothing may be one does", async () => {
    const make = await open();
    const stores = Array.from({ length: 4 }, make);
    const all = Array.from({ length: 24 }, (_, i) => i);
    const isFirst = await Promise.all(
      all.map(async (i) => {
        const store = stores[i % 4] as Store;
        await store.put(`${i}`, `${i}`);
        return store.put("only", `${i}`, { expected: null });
      }),
    );
    expect(await Promise.all(all.map((i) => make().get(`${i}`)))).toEqual(all.map(String));
    expect(isFirst.filter(Boolean)).toHaveLength(1);
  });
});

test("what is there already is not written again", async () => {
  let writes = 0;
  const entries: Entries = new Map();
  const store = createPlacedStore({
    read: async () => entries,
    async change(make) {
      if (make(entries)) writes++;
    },
  });
  for (let i = 0; i < 3; i++) expect(await store.put("a", "1")).toBe(true);
  await store.delete("b");
  expect(writes).toBe(1);
});

test.each([
  ["no JSON", "{"],
  ["null", "null"],
  ["a list", "[]"],
  ["another object", "{}"],
  ["another version", '{"version":2,"entries":{}}'],
  ["no entries", '{"version":1}'],
  ["a list of entries", '{"version":1,"entries":[]}'],
  ["an entry that is none", '{"version":1,"entries":{"a":"1"}}'],
  ["a value that is no text", '{"version":1,"entries":{"a":{"value":1}}}'],
  ["an end that is no time", '{"version":1,"entries":{"a":{"value":"1","endsAt":"never"}}}'],
])("%s is not taken for what was saved", (_, text) => {
  expect(parseEntries(text)).toBeUndefined();
});

test("an empty text holds nothing; what is written is read", () => {
  expect(parseEntries("")?.size).toBe(0);
  expect(parseEntries("\n")?.size).toBe(0);
  const entries: Entries = new Map([["a", { value: "1" }]]);
  expect(parseEntries(formatEntries(entries))).toEqual(entries);
});

test("turns come one after the other, whatever becomes of each", async () => {
  const inTurn = createTurns();
  const seen: string[] = [];
  const step = (name: string, fails: boolean) => async () => {
    seen.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} ends`);
    if (fails) throw new Error(name);
    return name;
  };
  const [a, b] = await Promise.allSettled([inTurn(step("a", true)), inTurn(step("b", false))]);
  expect([a?.status, b?.status]).toEqual(["rejected", "fulfilled"]);
  expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});
