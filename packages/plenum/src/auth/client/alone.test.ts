import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDeferred } from "../../../../../test/deferred.ts";
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import { runAlone } from "./alone.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const on = new AbortController().signal;
const never = (): Promise<never> => new Promise(() => {});
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** When it was let in, in ms from now; undefined: not within the time. */
async function waitFor(store: Store, ms: number): Promise<number | undefined> {
  const start = Date.now();
  let at: number | undefined;
  void runAlone(store, "k", on, async () => {
    at = Date.now() - start;
  });
  await vi.advanceTimersByTimeAsync(ms);
  return at;
}

/** A store that is cut off for one of those who share it, as for one who was ended or stands still. */
function createCut(store: Store): Store & { isCut: boolean } {
  const cut: Store & { isCut: boolean } = {
    isCut: false,
    get: (key) => (cut.isCut ? never() : store.get(key)),
    put: (key, value, options) => (cut.isCut ? never() : store.put(key, value, options)),
    delete: (key) => (cut.isCut ? never() : store.delete(key)),
  };
  return cut;
}

test("one at a time, each with what its own gave", async () => {
  const store = createMemoryStore();
  let running = 0;
  let most = 0;
  const all = Array.from({ length: 8 }, (_, i) =>
    runAlone(store, "k", on, async () => {
      most = Math.max(most, ++running);
      await sleep(10);
      running--;
      return i;
    }),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(1);
});

test("other keys do not wait", async () => {
  const store = createMemoryStore();
  void runAlone(store, "other", on, never);
  expect(await waitFor(store, 0)).toBe(0);
});

test("whoever fails gives it back", async () => {
  const store = createMemoryStore();
  await expect(runAlone(store, "k", on, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await waitFor(store, 100)).toBeLessThan(100);
  expect(vi.getTimerCount()).toBe(0);
});

test("whoever lives keeps it, however long he takes", async () => {
  const store = createMemoryStore();
  const long = runAlone(store, "k", on, () => sleep(600_000));
  await vi.advanceTimersByTimeAsync(0);
  expect(await waitFor(store, 599_000)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2000);
  await long;
});

test("whoever was ended is waited for some seconds, and no longer", async () => {
  const store = createMemoryStore();
  const cut = createCut(store);
  void runAlone(cut, "k", on, never);
  await vi.advanceTimersByTimeAsync(1500);
  cut.isCut = true;
  const at = await waitFor(store, 10_000);
  expect(at).toBeGreaterThan(2500);
  expect(at).toBeLessThan(8000);
});

test("of many who wait for one who was ended one is next", async () => {
  const store = createMemoryStore();
  const cut = createCut(store);
  void runAlone(cut, "k", on, never);
  await vi.advanceTimersByTimeAsync(0);
  cut.isCut = true;
  let running = 0;
  let most = 0;
  const waiting = Array.from({ length: 5 }, () =>
    runAlone(store, "k", on, async () => {
      most = Math.max(most, ++running);
      await sleep(200);
      running--;
    }),
  );
  await vi.advanceTimersByTimeAsync(30_000);
  await Promise.all(waiting);
  expect(most).toBe(1);
});

test("a clock that has gone on while the machine slept takes it from nobody", async () => {
  const store = createMemoryStore();
  void runAlone(store, "k", on, never);
  await vi.advanceTimersByTimeAsync(0);
  vi.setSystemTime(Date.now() + 1_800_000);
  expect(await waitFor(store, 20_000)).toBeUndefined();
});

test("whoever stood still, and lost it, does not give back what is another's by now", async () => {
  const store = createMemoryStore();
  const cut = createCut(store);
  const { promise, resolve: finish } = createDeferred();
  const slow = runAlone(cut, "k", on, () => promise);
  await vi.advanceTimersByTimeAsync(0);
  // Its beats find no answer, and so it is silent.
  const { put } = cut;
  cut.put = () => Promise.resolve(false);
  void runAlone(store, "k", on, never);
  await vi.advanceTimersByTimeAsync(10_000);
  cut.put = put;
  finish();
  await vi.advanceTimersByTimeAsync(2000);
  await slow;
  expect(await waitFor(store, 20_000)).toBeUndefined();
});

test("whoever does not want to wait any longer leaves, and has not run", async () => {
  const store = createMemoryStore();
  void runAlone(store, "k", on, never);
  await vi.advanceTimersByTimeAsync(0);
  const controller = new AbortController();
  const run = vi.fn(async () => {});
  const waiting = runAlone(store, "k", controller.signal, run);
  const left = expect(waiting).rejects.toThrow("enough");
  await vi.advanceTimersByTimeAsync(200);
  controller.abort(new Error("enough"));
  await vi.advanceTimersByTimeAsync(200);
  await left;
  expect(run).not.toHaveBeenCalled();
});

test("a store that fails at the end does not spoil what was done", async () => {
  const store = createMemoryStore();
  const { put } = store;
  const done = await runAlone(store, "k", on, async () => {
    store.put = () => Promise.reject(new Error("gone"));
    return "done";
  });
  expect(done).toBe("done");
  store.put = put;
});
