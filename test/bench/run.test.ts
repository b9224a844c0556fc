// The benchmark's command line: what it refuses, and that it runs.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readArguments, UsageError } from "../../bench/arguments.ts";
import type { Result } from "../../bench/result.ts";
import { root } from "../house/source.ts";

test.each([
  [["--case", "htp"], "There is no case called htp. There are: stdio, http,"],
  [["--target", "plenum,v3"], "There is no target called v3. There are: bare, plenum, v1, v2,"],
  [
    ["--case", "http", "--target", "plenum", "--mode", "modern"],
    "Nothing here has the variant modern. There are: session-json;",
  ],
  [["--repeats", "none"], '--repeats takes a number from 1 on, not "none"'],
  [["--write", "--case", "http"], "--write needs a full run"],
  [["--cases", "http"], "Unknown option '--cases'"],
])("%j is refused", (args, message) => {
  expect(() => readArguments(args)).toThrow(UsageError);
  expect(() => readArguments(args)).toThrow(message);
});

test("what is chosen: bare comes with it, what must be named does not, a blank after a comma does not part", () => {
  const names = (args: string[]) => {
    const chosen = readArguments(args);
    if (typeof chosen === "string") throw new Error(chosen);
    const { cases, targets, modes } = chosen;
    return { cases: cases.map(({ name }) => name), targets: targets.map(({ name }) => name), modes };
  };
  expect(names([]).cases).not.toContain("profile");
  const cold = names(["--case", "cold", "--target", "plenum", "--mode", "stdio,stdio, JSON Schema"]);
  expect(cold).toEqual({ cases: ["cold"], targets: ["bare", "plenum"], modes: ["stdio", "stdio, JSON Schema"] });
  expect(names(["--case", "profile", "--target", "v2", "--no-baseline"]).targets).toEqual(["v2"]);
});

function bench(...args: string[]) {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return spawnSync(process.execPath, ["--import", "tsx", join("bench", "run.ts"), ...args], {
    cwd: root,
    encoding: "utf8",
    env,
    timeout: 55_000,
  });
}

test("a mistake is told on stderr", () => {
  const { status, stderr, stdout } = bench("--case", "htp");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^There is no case called htp/);
});

test("one cell: JSON alone on stdout, progress on stderr", () => {
  const args = ["--case", "stdio", "--target", "bare", "--repeats", "1", "--ms", "50", "--wait", "0", "--json"];
  const { status, stderr, stdout } = bench(...args);
  expect(stderr).toContain("stdio: round 1 of 1");
  const { cases } = JSON.parse(stdout) as Result;
  const row = { target: "bare", variant: "stdio", ratio: { perSecond: 1 } };
  expect(cases).toMatchObject([{ case: "stdio", rows: [row] }]);
  expect(status).toBe(0);
});
