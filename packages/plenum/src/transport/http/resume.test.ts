// What a session keeps of its streams, against a model that keeps everything: the order, the bounds, and that a gap is
// never passed over in silence.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventBudget, EventLog, parseEventId } from "./resume.ts";

interface Seen {
  readonly id: string;
  readonly data: string;
  readonly stream: number;
  readonly number: number;
}

/** All that a log was ever given, and how much of it may be kept. */
class Model {
  events: Seen[] = [];
  /** Those that are kept. */
  kept: Seen[] = [];
  newest = 0;

  append(stream: number, data: string, id: string): void {
    const number = this.take(stream, id);
    const event = { id, data, stream, number };
    this.events.push(event);
    this.kept.push(event);
  }

  /** The number of an id, which must be above all before it. */
  take(stream: number, id: string): number {
    const at = parseEventId(id);
    expect(at?.stream).toBe(stream);
    const number = at?.number ?? 0;
    expect(number).toBeGreaterThan(this.newest);
    this.newest = number;
    return number;
  }

  forget(isForgotten: (stream: number) => boolean): void {
    const isLeft = ({ stream }: Seen): boolean => !isForgotten(stream);
    this.events = this.events.filter(isLeft);
    this.kept = this.kept.filter(isLeft);
  }

  after(stream: number, number: number): { id: string; data: string }[] | undefined {
    if (number > this.newest) return undefined;
    const later = (event: Seen): boolean => event.stream === stream && event.number > number;
    const whole = this.events.filter(later);
    const left = this.kept.filter(later);
    return whole.length === left.length ? left.map(({ id, data }) => ({ id, data })) : undefined;
  }
}

/** What an event counts for beside its text. */
const overhead = ((): number => {
  const budget = new EventBudget(Number.POSITIVE_INFINITY);
  new EventLog(1, Number.POSITIVE_INFINITY, budget).append(0, "");
  return budget.bytes;
})();

const bytesOf = (events: readonly Seen[]): number =>
  events.reduce((sum, { data }) => sum + data.length * 2 + overhead, 0);

const streams = [0, 1, 2, 3];
const step = fc.oneof(
  { weight: 30, arbitrary: fc.record({ kind: fc.constant("append"), stream: fc.nat(3), size: fc.nat(200) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("mark"), stream: fc.nat(3), size: fc.constant(0) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("forget"), stream: fc.nat(3), size: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear"), stream: fc.constant(0), size: fc.constant(0) }) },
);

describe("an event log", () => {
  test("gives what is kept, in order, or says that there is a gap; and is bounded", () => {
    const given = fc.record({
      maxEvents: fc.nat(12),
      maxBytes: fc.nat(12 * (overhead + 200)),
      shared: fc.nat(16 * (overhead + 200)),
      steps: fc.array(fc.tuple(fc.nat(1), step), { maxLength: 60 }),
    });
    fc.assert(
      fc.property(given, ({ maxEvents, maxBytes, shared, steps }) => {
        const budget = new EventBudget(shared);
        const logs = [0, 1].map(() => ({ log: new EventLog(maxEvents, maxBytes, budget), model: new Model() }));
        for (const [which, { kind, stream, size }] of steps) {
          const { log, model } = logs[which] as (typeof logs)[number];
          if (kind === "append") {
            const data = "x".repeat(size);
            model.append(stream, data, log.append(stream, data));
            const { model: other } = logs[1 - which] as (typeof logs)[number];
            while (model.kept.length > maxEvents || bytesOf(model.kept) > maxBytes) model.kept.shift();
            // Who keeps most makes room, and the one that needs it where both keep the same.
            while (bytesOf(model.kept) + bytesOf(other.kept) > shared)
              (bytesOf(other.kept) > bytesOf(model.kept) ? other : model).kept.shift();
          } else if (kind === "mark") model.take(stream, log.mark(stream));
          else if (kind === "forget") {
            const last = model.events.findLast((event) => event.stream === stream)?.number ?? 0;
            log.forget(stream, size > 0 ? last : undefined);
            model.forget((one) => one === stream);
          } else {
            log.clear();
            model.forget(() => true);
          }
          expect(budget.bytes).toBe(logs.reduce((sum, one) => sum + bytesOf(one.model.kept), 0));
          expect(budget.bytes).toBeLessThanOrEqual(shared);
        }
        for (const { log, model } of logs) {
          expect(log.oldest).toBe(model.kept[0]?.number ?? model.newest + 1);
          for (const stream of streams)
            for (let number = 0; number <= model.newest + 2; number++) {
              const rest = log.after(stream, number);
              expect(rest?.map(({ id, data }) => ({ id, data }))).toEqual(model.after(stream, number));
              const left = model.kept.filter((event) => event.stream === stream && event.number > number);
              expect(log.rest(stream, number).map(({ id }) => id)).toEqual(left.map(({ id }) => id));
              for (const { data } of left) expect(log.has(stream, data)).toBe(true);
              expect(log.has(stream, "y")).toBe(false);
            }
        }
      }),
      { numRuns: 300 },
    );
  });

  test("one that keeps much makes room for those that keep little", () => {
    const budget = new EventBudget(100 * (overhead + 20));
    const greedy = new EventLog(1000, Number.POSITIVE_INFINITY, budget);
    for (let i = 0; i < 200; i++) greedy.append(0, "0123456789");
    const others = Array.from({ length: 50 }, () => new EventLog(1000, Number.POSITIVE_INFINITY, budget));
    const ids = others.map((log) => log.append(1, "0123456789"));
    others.forEach((log, i) => {
      expect(log.after(1, 0)).toEqual([expect.objectContaining({ id: ids[i] })]);
    });
    expect(budget.bytes).toBeLessThanOrEqual(budget.maxBytes);
  });

  test("what is old and was given is let go, and is a gap for who has not had it", () => {
    const log = new EventLog(10, 10_000, new EventBudget(10_000));
    const ids = ["a", "b", "c"].map((data) => log.append(0, data));
    const other = log.append(1, "d");
    log.trim(0, 2, Date.now() - 1000);
    expect(log.after(0, 0)).toHaveLength(3);
    log.trim(0, 2, Date.now());
    expect(log.rest(0, 0).map(({ id }) => id)).toEqual([ids[2]]);
    expect(log.after(0, 1)).toBeUndefined();
    expect(log.after(0, 2)).toHaveLength(1);
    expect(log.rest(1, 0).map(({ id }) => id)).toEqual([other]);
  });

  test("nothing is left in the shared budget by a log that is cleared", () => {
    const budget = new EventBudget(100_000);
    const log = new EventLog(10, 100_000, budget);
    for (let i = 0; i < 25; i++) log.append(i % 3, "some data");
    expect(budget.bytes).toBeGreaterThan(0);
    log.clear();
    expect(budget.bytes).toBe(0);
    expect(log.after(0, 1)).toEqual([]);
  });

  test("an event that is too big to be kept is a gap for who has not had it, and for nobody else", () => {
    const log = new EventLog(10, 10_000, new EventBudget(100_000));
    const first = parseEventId(log.append(1, "a"))?.number ?? 0;
    const big = parseEventId(log.append(1, "b".repeat(10_000)))?.number ?? 0;
    const other = log.append(2, "c");
    expect(log.after(1, first)).toBeUndefined();
    expect(log.after(1, big)).toEqual([]);
    expect(log.after(2, first)).toMatchObject([{ id: other, data: "c" }]);
  });
});

describe("an event id", () => {
  test("leads to its stream and its place", () => {
    const log = new EventLog(10, 10_000, new EventBudget(10_000));
    expect(parseEventId(log.append(7, "x"))).toEqual({ stream: 7, number: 1 });
    expect(parseEventId(log.mark(0))).toEqual({ stream: 0, number: 2 });
  });

  test("is never made of what is none of ours", () => {
    const ours = /^\d{1,15}-\d{1,15}$/;
    const nearly = fc.stringMatching(/^[0-9x-]{0,12}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly), (text) => {
        expect(parseEventId(text) !== undefined).toBe(ours.test(text));
      }),
    );
    for (const text of ["", "1", "-1", "1-", "-1-1", "1-2-3", "1-1 ", "1-1\n", "١-١", `${"9".repeat(16)}-1`])
      expect(parseEventId(text), text).toBeUndefined();
  });
});
