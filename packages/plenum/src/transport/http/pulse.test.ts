import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createOwnPulse, createSharedPulse } from "./pulse.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ["shared", createSharedPulse],
  ["own", createOwnPulse],
])("one that fails stops nobody else: %s", (_, create) => {
  const pulse = create(100);
  let beats = 0;
  const all = [
    {
      beat() {
        throw new Error("no");
      },
    },
    {
      beat() {
        beats++;
      },
    },
  ];
  for (const one of all) pulse.add(one);
  vi.advanceTimersByTime(350);
  expect(beats).toBe(3);
  for (const one of all) pulse.delete(one);
  vi.advanceTimersByTime(350);
  expect(beats).toBe(3);
  expect(vi.getTimerCount()).toBe(0);
});
