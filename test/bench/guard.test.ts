// The guard's command line and its verdict; what it measures is measured by itself.
import { expect, test } from "vitest";
import { UsageError } from "../../bench/arguments.ts";
import { formatHeld, readGuardArguments, verdictOf } from "../../bench/guard.ts";

test.each([
  [["stdo"], "The guard has no case called stdo: did you mean stdio? There are: http, stdio,"],
  [["stdio", "soak"], "The guard has no case called soak. There are:"],
  [["--bogus"], "Unknown option '--bogus'\nnpm run bench:guard"],
])("%j is refused", (args, message) => {
  expect(() => readGuardArguments(args)).toThrow(UsageError);
  expect(() => readGuardArguments(args)).toThrow(message);
});

test("one case can be named, all are taken without; help says which there are", () => {
  const chosen = readGuardArguments(["stdio"]);
  expect(chosen).toMatchObject([{ of: { name: "stdio" } }]);
  expect(readGuardArguments([]).length).toBeGreaterThan(1);
  expect(readGuardArguments(["--help"])).toMatch(/about two minutes.*Cases: http, stdio/s);
});

test("the verdict names what is not within its limit; what could not be measured is not", () => {
  const well = { name: "stdio, CPU / bare", value: 1.4, limit: 2.7 };
  const heap = { name: "sessions, heap in kB", value: 2.1, limit: 1.6 };
  const failed = { name: "http, modern-json, CPU / bare", value: Number.NaN, limit: 2.6 };
  expect(verdictOf([well])).toEqual({ isWell: true, text: "all 1 cells are within their limits" });
  expect(verdictOf([well, heap, failed])).toEqual({
    isWell: false,
    text: "2 of 3 cells not within their limits: sessions, heap in kB; http, modern-json, CPU / bare (not measured)",
  });
  expect(formatHeld([well, failed]).split("\n")).toEqual([
    "cell                                      measured   limit",
    "stdio, CPU / bare                              1.4     2.7",
    "http, modern-json, CPU / bare                    –     2.6",
  ]);
});
