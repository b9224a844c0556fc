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
  const ends = [
    pulse.add({
      beat() {
        throw new Error("no");
      },
    }),
    pulse.add({
      beat() {
        beats++;
      },
    }),
  ];
  vi.advanceTimersByTime(350);
  expect(beats).toBe(3);
  for (const end of ends) end();
  vi.advanceTimersByTime(350);
  expect(beats).toBe(3);
  expect(vi.getTimerCount()).toBe(0);
});
