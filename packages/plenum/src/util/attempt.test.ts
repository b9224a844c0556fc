import { expect, test, vi } from "vitest";
import { attempt } from "./attempt.ts";

const double = (value: number): number => value * 2;
const told = (error: unknown): number => (error as Error).message.length;

test("what is no promise is handed on at once", () => {
  expect(attempt(() => 2, double, told)).toBe(4);
  expect(
    attempt(
      () => {
        throw new Error("four");
      },
      double,
      told,
    ),
  ).toBe(4);
});

test("a promise is waited for, whoever made it", async () => {
  expect(await attempt(async () => 2, double, told)).toBe(4);
  expect(await attempt(() => Promise.reject(new Error("four")), double, told)).toBe(4);
  // biome-ignore lint/suspicious/noThenProperty: a promise of somebody else's making
  const foreign = { then: (resolve: (value: number) => void) => resolve(2) } as PromiseLike<number>;
  expect(await attempt(() => foreign, double, told)).toBe(4);
});

test("what the next step throws is not its own to mend", async () => {
  const broken = (): never => {
    throw new Error("next");
  };
  const mend = vi.fn();
  expect(() => attempt(() => 1, broken, mend)).toThrow("next");
  await expect(attempt(async () => 1, broken, mend)).rejects.toThrow("next");
  expect(mend).not.toHaveBeenCalled();
});
