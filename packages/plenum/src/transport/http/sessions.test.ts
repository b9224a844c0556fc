import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Serving } from "../../protocol/negotiate.ts";
import { createSessionId, createTable, type Lasting } from "./sessions.ts";

const minutes = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createServing() {
  let end = (): void => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const serving = { close: vi.fn(), closed, revision: () => undefined } satisfies Serving;
  return { serving, end };
}

function toLasting(id: string, serving: Serving): Lasting {
  const now = Date.now();
  return { id, owner: "ann", createdAt: now, usedAt: now, isUsed: false, serving, isBusy: false };
}

/** A full table, and how often its sessions were looked at. */
function fill(max: number) {
  const table = createTable<Lasting>({
    ...{ max, idleMs: 30 * minutes, maxAgeMs: 1440 * minutes, maxEvents: 0, maxEventBytes: 0, createId: undefined },
  });
  const looks = { count: 0 };
  const add = (id: string): void => {
    table.add({
      ...toLasting(id, createServing().serving),
      get isBusy() {
        looks.count++;
        return false;
      },
    });
  };
  for (let i = 0; i < max; i++) add(`s${i}`);
  return { table, looks, add };
}

describe("a table that is full", () => {
  test("is looked through once a second, however many want a place", () => {
    const { table, looks } = fill(100);
    for (let i = 0; i < 50; i++) expect(() => table.assertRoom()).toThrow("Too many sessions");
    expect(looks.count).toBe(100);
    vi.advanceTimersByTime(1000);
    for (let i = 0; i < 50; i++) expect(() => table.assertRoom()).toThrow("Too many sessions");
    expect(looks.count).toBe(200);
  });

  test("makes room by ending what nobody has used for a minute", () => {
    const { table, add } = fill(3);
    table.find("s1", "ann");
    vi.advanceTimersByTime(minutes - 1);
    expect(() => table.assertRoom()).toThrow("Too many sessions");
    vi.advanceTimersByTime(1000);
    expect(() => table.assertRoom()).not.toThrow();
    expect([...table.values()]).toHaveLength(1);
    expect(table.find("s1", "ann").owner).toBe("ann");
    expect(() => table.find("s0", "ann")).toThrow("no such session");
    // One that takes an id again is as new as any.
    add("s0");
    table.find("s0", "ann");
  });

  test("leaves unused ones alone where there is room", () => {
    const { table } = fill(3);
    table.delete(table.find("s0", "ann"));
    vi.advanceTimersByTime(5 * minutes);
    table.assertRoom();
    expect([...table.values()]).toHaveLength(2);
  });
});

test("closing ends and awaits handshakes that go on", async () => {
  const { table } = fill(0);
  const { serving, end } = createServing();
  table.claim(toLasting("s", serving));
  let isClosed = false;
  const closing = table.close(500).then(() => {
    isClosed = true;
  });
  expect(serving.close).toHaveBeenCalledExactlyOnceWith(500);
  await vi.advanceTimersByTimeAsync(100);
  expect(isClosed).toBe(false);
  end();
  await closing;
  expect(vi.getTimerCount()).toBe(0);
});

test("ids are never alike, however many are drawn", () => {
  const limits = { max: 1, idleMs: 1, maxAgeMs: 1, maxEvents: 0, maxEventBytes: 0, createId: undefined };
  const ids = Array.from({ length: 1000 }, () => createSessionId(limits, () => false));
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^[\da-f-]{36}$/);
});
