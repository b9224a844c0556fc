import { expect, test } from "vitest";
import { createRate } from "./rate.ts";

function createBucket(perSecond: number, burst: number) {
  const clock = { time: 5000 };
  const rate = createRate({ perSecond, burst, now: () => clock.time });
  const taken = (tries: number) => Array.from({ length: tries }, () => rate.take()).filter(Boolean).length;
  return { clock, taken };
}

test("a burst at once, then so many per second", () => {
  const { clock, taken } = createBucket(2, 3);
  expect(taken(10)).toBe(3);
  clock.time += 499;
  expect(taken(1)).toBe(0);
  clock.time += 1;
  expect(taken(2)).toBe(1);
  clock.time += 1000;
  expect(taken(5)).toBe(2);
});

test("a long pause fills no more than the burst", () => {
  const { clock, taken } = createBucket(100, 3);
  taken(3);
  clock.time += 3_600_000;
  expect(taken(10)).toBe(3);
});

test("a slow rate adds up fractions", () => {
  const { clock, taken } = createBucket(0.5, 1);
  expect(taken(1)).toBe(1);
  for (let step = 0; step < 3; step++) {
    clock.time += 500;
    expect(taken(1)).toBe(0);
  }
  clock.time += 500;
  expect(taken(1)).toBe(1);
});

test("a clock that is set back gives nothing, and then goes on", () => {
  const { clock, taken } = createBucket(1, 1);
  taken(1);
  clock.time -= 4000;
  expect(taken(1)).toBe(0);
  clock.time += 1000;
  expect(taken(2)).toBe(1);
});

test("the real clock by default, and numbers that allow something", () => {
  expect(createRate({ perSecond: 1, burst: 1 }).take()).toBe(true);
  for (const perSecond of [0, -1, Number.NaN]) expect(() => createRate({ perSecond, burst: 1 })).toThrow(RangeError);
  for (const burst of [0, 0.5, Number.NaN]) expect(() => createRate({ perSecond: 1, burst })).toThrow(RangeError);
});
