// The load without a server: how many calls, how many at once, and what is counted as what.
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type MakeCall, startLoad } from "./load.ts";

const never = new AbortController().signal;

test("makes so many calls, and never more at once than it may", async () => {
  let [now, most] = [0, 0];
  const call: MakeCall = async () => {
    most = Math.max(most, ++now);
    await delay(1);
    now--;
    return false;
  };
  const { sent, answered, toolErrors, errors } = await startLoad(call, { concurrency: 7, requests: 50 }, never).ended;
  expect({ sent, answered, toolErrors, errors: errors.size, most }).toEqual({
    sent: 50,
    answered: 50,
    toolErrors: 0,
    errors: 0,
    most: 7,
  });
});

test("tells tool errors, and errors by kind", async () => {
  let at = 0;
  const call: MakeCall = async () => {
    const kind = at++ % 4;
    if (kind === 0) throw Object.assign(new Error("No"), { code: "timeout" });
    if (kind === 1) throw new TypeError("Odd");
    return kind === 2;
  };
  const tally = await startLoad(call, { concurrency: 1, requests: 40 }, never).ended;
  expect(tally).toMatchObject({ sent: 40, answered: 20, toolErrors: 10, isLost: false });
  expect(Object.fromEntries(tally.errors)).toEqual({
    timeout: { count: 10, message: "No" },
    TypeError: { count: 10, message: "Odd" },
  });
});

test("ends when the connection is gone", async () => {
  const call: MakeCall = () => Promise.reject(Object.assign(new Error("Gone"), { code: "connection_lost" }));
  const tally = await startLoad(call, { concurrency: 2, durationMs: 60_000 }, never).ended;
  expect(tally.isLost).toBe(true);
  expect(tally.sent).toBeLessThanOrEqual(2);
});

test("at a rate, calls that had to wait for a slow one count from when they were due", async () => {
  let at = 0;
  // The first takes as long as 30 others are apart.
  const call: MakeCall = async () => {
    if (at++ === 0) await delay(600);
    return false;
  };
  const { latency } = await startLoad(call, { concurrency: 1, requests: 25, ratePerSecond: 50 }, never).ended;
  // The last was due after 480 ms: it waited for 120 at least.
  expect(latency.min).toBeGreaterThan(100_000);
  expect(latency.percentile(50)).toBeGreaterThan(300_000);
});

test("at a rate, what was due and never sent is told", async () => {
  const call: MakeCall = async () => {
    await delay(400);
    return false;
  };
  const plan = { concurrency: 1, durationMs: 300, ratePerSecond: 100 };
  const { sent, unsent } = await startLoad(call, plan, never).ended;
  expect({ sent, unsent }).toEqual({ sent: 1, unsent: 29 });
});

test("calls that were cut off are no errors", async () => {
  const controller = new AbortController();
  const call: MakeCall = (signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const load = startLoad(call, { concurrency: 3, durationMs: 60_000 }, controller.signal);
  expect(load.tally().sent).toBe(3);
  controller.abort(new Error("Interrupted"));
  expect(await load.ended).toMatchObject({ cancelled: 3, answered: 0 });
  expect((await load.ended).errors.size).toBe(0);
});

test("gives way to timers where nothing else does", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  const { cancelled, answered } = await startLoad(
    async () => false,
    { concurrency: 3, durationMs: 3_600_000 },
    controller.signal,
  ).ended;
  expect(cancelled).toBe(0);
  expect(answered).toBeGreaterThan(0);
});
