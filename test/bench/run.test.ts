// The benchmark's command line: what it refuses, and that it runs.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readArguments, UsageError } from "../../bench/arguments.ts";
import type { Result } from "../../bench/result.ts";
import { root } from "../house/source.ts";

test.each([
  [["--case", "htp"], "There is no case called htp: did you mean http? There are: stdio, http,"],
  [["--case", "nothing-like-it"], "There is no case called nothing-like-it. There are: stdio,"],
  [["--target", "plenum,tmpc"], "There is no target called tmpc: did you mean tmcp? There are: bare, plenum, v1, v2,"],
  [
    ["--case", "http", "--target", "plenum", "--mode", "modern"],
    "Nothing here has the variant modern. There are: session-json;",
  ],
  [["--repeats", "none"], '--repeats takes a whole number from 1 to 100, not "none"'],
  [["--repeats", "1.5"], '--repeats takes a whole number from 1 to 100, not "1.5"'],
  [["--repeats", "1e9"], '--repeats takes a whole number from 1 to 100, not "1e9"'],
  [["--ms", "-5"], '--ms takes a whole number from 50 to 600000, not "-5"'],
  [["--wait", ""], '--wait takes a whole number from 0 to 3600, not ""'],
  [["--case", "stdio", "--target", "hono-mcp"], "hono-mcp has nothing to measure in stdio\n"],
  [["--case", "stdio", "--target", "bare,hono-mcp"], "hono-mcp has nothing to measure in stdio\n"],
  [["--write", "--case", "http"], "--write needs a full run"],
  [["--cases", "http"], "Unknown option '--cases'"],
  [["--from", "not-there.json"], "--from: ENOENT"],
  [["--from", "package.json"], "--from: package.json is none that --out has written"],
])("%j is refused", (args, message) => {
  expect(() => readArguments(args)).toThrow(UsageError);
  expect(() => readArguments(args)).toThrow(message);
});

function choose(...args: string[]) {
  const chosen = readArguments(args);
  if (typeof chosen === "string") throw new Error(chosen);
  return chosen;
}

test("what is chosen: bare comes with it, what must be named does not, a blank after a comma does not part", () => {
  const names = (args: string[]) => {
    const { cases, targets, modes } = choose(...args);
    return { cases: cases.map(({ name }) => name), targets: targets.map(({ name }) => name), modes };
  };
  expect(names([]).cases).not.toContain("profile");
  const cold = names(["--case", "cold", "--target", "plenum", "--mode", "stdio,stdio, JSON Schema"]);
  expect(cold).toEqual({ cases: ["cold"], targets: ["bare", "plenum"], modes: ["stdio", "stdio, JSON Schema"] });
  expect(names(["--case", "profile", "--target", "v2", "--no-baseline"]).targets).toEqual(["v2"]);
});

test("only what takes part is made ready and measured; what does not is told", () => {
  const { cases, targets, notes } = choose("--case", "stdio,http,cold", "--target", "hono-mcp");
  expect(cases.map(({ name }) => name)).toEqual(["http"]);
  expect(targets.map(({ name }) => name)).toEqual(["bare", "hono-mcp"]);
  expect(notes).toEqual(["hono-mcp has nothing to measure in stdio, cold"]);
  const client = choose("--case", "client");
  expect(client.targets.map(({ name }) => name)).toEqual(["bare", "plenum", "v1", "v2"]);
  expect(client.notes).toContain("tmcp has nothing to measure in client");
  expect(choose("--case", "footprint", "--target", "plenum").notes).toEqual([]);
  expect(choose("--case", "stdio", "--target", "bare").targets.map(({ name }) => name)).toEqual(["bare"]);
  expect(choose().notes).toEqual([]);
  expect(choose().targets).toHaveLength(7);
});

test("--from keeps what was measured before, and what is named is measured all the same", () => {
  const folder = mkdtempSync(join(tmpdir(), "plenum-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "before.json");
  const all = choose().cases.map(({ name }) => name);
  const write = (names: readonly string[]): void =>
    writeFileSync(file, JSON.stringify({ cases: names.map((name) => ({ case: name })), versions: { v1: { a: "1" } } }));
  const names = (...args: string[]) => {
    const { cases, kept } = choose("--from", file, ...args);
    return {
      measured: cases.map(({ name }) => name),
      kept: kept.cases.map((one) => one.case),
      versions: kept.versions,
    };
  };
  const versions = { v1: { a: "1" } };
  write(["http", "stdio"]);
  expect(names()).toEqual({
    measured: all.filter((name) => !["http", "stdio"].includes(name)),
    kept: ["http", "stdio"],
    versions,
  });
  expect(names("--case", "http")).toEqual({ measured: ["http"], kept: ["http", "stdio"], versions });
  expect(() => names("--case", "http", "--write")).toThrow("--write needs a full run");
  write(all);
  expect(names("--case", "http", "--write")).toEqual({ measured: ["http"], kept: all, versions });
});

test("--repeats holds for a case that has a number of its own only where that case is named", () => {
  const roundsOf = (...args: string[]) => choose(...args).cases.find(({ name }) => name === "cold")?.repeats;
  expect(roundsOf("--case", "cold", "--repeats", "1")).toBe(1);
  expect(roundsOf("--case", "cold")).toBe(15);
  expect(roundsOf("--repeats", "5")).toBe(15);
  expect(roundsOf("--write", "--repeats", "5")).toBe(15);
  expect(choose("--case", "stdio").repeats).toBe(3);
});

test("the help says what a newcomer cannot guess, the list what the words mean", () => {
  const help = readArguments(["--help"]);
  for (const text of ["installed into .cache", "an hour or so", "npm run -s bench"]) expect(help).toContain(text);
  const list = readArguments(["--list"]);
  for (const text of ["alone ", "pair ", "legacy, modern", "modern-auto ", "p99 ", "CPU µs "])
    expect(list).toContain(text);
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

test("a file that cannot be written is told before anything is measured", () => {
  const { status, stderr } = bench("--case", "stdio", "--target", "bare", "--out", "package.json/result.json");
  expect(status).toBe(2);
  expect(stderr).toMatch(/^--out: .*package\.json/);
});

test("one cell: JSON alone on stdout and in a file, progress on stderr", () => {
  const folder = mkdtempSync(join(tmpdir(), "plenum-bench-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const out = join(folder, "new", "result.json");
  const args = ["--case", "stdio", "--target", "bare", "--repeats", "1", "--ms", "50", "--wait", "0", "--json"];
  const { status, stderr, stdout } = bench(...args, "--out", out);
  expect(stderr).toContain("stdio: round 1 of 1");
  expect(stderr).toContain(`written to ${out}`);
  expect(readFileSync(out, "utf8")).toBe(stdout);
  const { cases } = JSON.parse(stdout) as Result;
  const row = { target: "bare", variant: "stdio", ratio: { perSecond: 1 } };
  expect(cases).toMatchObject([{ case: "stdio", rows: [row] }]);
  expect(status).toBe(0);
});
