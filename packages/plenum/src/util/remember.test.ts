import { expect, test, vi } from "vitest";
import { remember } from "./remember.ts";

test("a text that comes again is not worked out again, whatever it gave", () => {
  const make = vi.fn((text: string) => text === "a");
  const known = remember(make);
  expect([known("a"), known("a"), known("b"), known("b")]).toEqual([true, true, false, false]);
  expect(make).toHaveBeenCalledTimes(2);
});

test("who sends ever new texts, or long ones, makes it hold no more", () => {
  const make = vi.fn((text: string) => text.length);
  const known = remember(make);
  for (let i = 0; i < 1000; i++) expect(known(`${i}`)).toBe(`${i}`.length);
  const long = "x".repeat(300);
  known(long);
  known(long);
  expect(make).toHaveBeenCalledTimes(1002);
});
