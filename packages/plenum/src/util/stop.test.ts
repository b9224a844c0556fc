// Who hears of a stop, and that a signal tells of it too.
import { expect, test } from "vitest";
import { Stop } from "./stop.ts";

test("everybody who waits hears of it, once; the first reason counts", () => {
  const stop = new Stop();
  const told: string[] = [];
  stop.onStop(() => told.push("a"));
  const end = stop.onStop(() => told.push("b"));
  stop.onStop(() => told.push("c"));
  end();
  stop.throwIfStopped();
  stop.stop("enough");
  stop.stop("more");
  expect([told, stop.isStopped, stop.reason]).toEqual([["a", "c"], true, "enough"]);
  expect(() => stop.throwIfStopped()).toThrow("enough");
  stop.onStop(() => told.push("late"));
  expect(told).toEqual(["a", "c", "late"]);
});

test("without a reason it is an abort", () => {
  const stop = new Stop();
  stop.stop();
  expect(stop.reason).toMatchObject({ name: "AbortError" });
});

test("its signal tells the same, whenever it is asked for", () => {
  const stop = new Stop();
  const early = stop.signal;
  expect(early.aborted).toBe(false);
  stop.stop("enough");
  expect([early.aborted, early.reason, stop.signal]).toEqual([true, "enough", early]);
  const stopped = new Stop();
  stopped.stop("enough");
  expect([stopped.signal.aborted, stopped.signal.reason]).toEqual([true, "enough"]);
});
