// The benchmark as a program: what it compares with what, and that nothing wrong becomes a figure.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Case, Figures, Target } from "../../bench/case.ts";
import { cases } from "../../bench/cases.ts";
import { formatPage } from "../../bench/page.ts";
import type { Result } from "../../bench/result.ts";
import { addRounds, type RoundOptions, runCase } from "../../bench/rounds.ts";
import { formatTable } from "../../bench/table.ts";
import { targets } from "../../bench/targets.ts";
import { root } from "../house/source.ts";

const options: RoundOptions = { roundMs: 50, repeats: 1, waitMs: 0, log: () => {} };
const machine = { cpu: "test", cores: 1, platform: "linux x64", node: "v20.0.0" };
const target = (name: string): Target => ({ name, title: name, home: "", packages: [] });

function caseOf(name: string): Case {
  const found = cases.find((one) => one.name === name);
  if (!found) throw new Error(`there is no case ${name}`);
  return found;
}

function resultOf(...of: Result["cases"]): Result {
  return { date: "2026-01-02T00:00:00.000Z", machine, versions: {}, roundMs: 50, cases: of };
}

/** Gives what stands here, round after round. */
function scripted(script: { readonly [target: string]: readonly (Figures | string)[] }): Case {
  const next: { [name: string]: number } = {};
  return {
    name: "http",
    help: "what a test says",
    better: { cpuUs: "low" },
    variants: () => ["modern-json"],
    setup: async ({ name }) => name,
    measure: async (name) => {
      const index = next[String(name)] ?? 0;
      next[String(name)] = index + 1;
      const given = script[String(name)]?.[index];
      if (given === undefined || typeof given === "string") throw new Error(given ?? "no more rounds");
      return given;
    },
    teardown: () => {},
  };
}

test("ratios are to bare of the same round, and their median is taken", async () => {
  const one = scripted({
    bare: [{ cpuUs: 10 }, { cpuUs: 40 }, { cpuUs: 20 }],
    plenum: [{ cpuUs: 15 }, { cpuUs: 80 }, { cpuUs: 22 }],
  });
  const { rows } = await runCase(one, [target("bare"), target("plenum")], { ...options, repeats: 3 });
  expect(rows[1]).toMatchObject({ median: { cpuUs: 22 }, ratio: { cpuUs: 1.5 }, baseline: "modern-json" });
});

test("where a case is paired, ratios are to bare right before", async () => {
  const bare = [10, 20, 10, 40].map((cpuUs) => ({ cpuUs }));
  const one = { ...scripted({ bare, plenum: [{ cpuUs: 30 }, { cpuUs: 60 }] }), isPaired: true };
  const both = [target("bare"), target("plenum")];
  const { rows } = await runCase(one, both, { ...options, repeats: 2 });
  // By itself it gave 10 and 10, beside plenum 20 and 40.
  expect(rows[0]).toMatchObject({ median: { cpuUs: 10 }, ratio: { cpuUs: 1 } });
  expect(rows[1]).toMatchObject({ median: { cpuUs: 45 }, ratio: { cpuUs: 1.5 } });
  const failing = { ...scripted({ bare: [{ cpuUs: 10 }, "bare is gone"], plenum: [] }), isPaired: true };
  const failed = await runCase(failing, both, options);
  expect(failed.rows.map(({ error }) => error)).toEqual(["bare is gone", undefined]);
});

test("the rounds of two runs are one case: medians of all, each beside bare of its own round", async () => {
  const run = (bare: number[], plenum: (number | string)[]) => {
    const toFigures = (value: number | string) => (typeof value === "string" ? value : { cpuUs: value });
    const one = scripted({ bare: bare.map((cpuUs) => ({ cpuUs })), plenum: plenum.map(toFigures) });
    return runCase(one, [target("bare"), target("plenum")], { ...options, repeats: bare.length });
  };
  const [before, more] = [await run([10, 10], [10, 20]), await run([20, 20, 20], [30, 60, 80])];
  const both = addRounds(before, more);
  expect(both.rounds).toBe(5);
  expect(both.rows[0]).toMatchObject({ median: { cpuUs: 20 }, ratio: { cpuUs: 1 } });
  expect(both.rows[1]).toMatchObject({ median: { cpuUs: 30 }, ratio: { cpuUs: 2 }, baseline: "modern-json" });
  expect(both.rows[1]?.runs).toHaveLength(5);
  // A row that failed once has no rounds beside those of bare then: what the other run gave is left.
  const failed = await run([10, 10], [10, "a wrong answer"]);
  expect(addRounds(failed, more).rows[1]).toEqual(more.rows[1]);
  expect(addRounds(more, failed).rows[1]?.error).toBe("a wrong answer");
});

test("a target that fails has an error and no figures, and the others have theirs", async () => {
  const one = scripted({ bare: [{ cpuUs: 10 }, { cpuUs: 10 }], plenum: [{ cpuUs: 15 }, "a wrong answer: 42"] });
  const result = await runCase(one, [target("bare"), target("plenum")], { ...options, repeats: 2 });
  expect(result.rows[1]).toMatchObject({ error: "a wrong answer: 42", median: {}, ratio: {} });
  expect(result.rows[0]?.median).toEqual({ cpuUs: 10 });
  const text = formatTable(resultOf(result));
  expect(text).toContain("http, plenum, modern-json: a wrong answer: 42");
});

test("a cell that does not end, and a target that is not ready, fail by themselves", async () => {
  const one: Case = { ...scripted({ bare: [{ cpuUs: 10 }], plenum: [], v1: [] }), setup: async ({ name }) => name };
  const hanging: Case = {
    ...one,
    measure: (name, of) => (name === "v1" ? new Promise(() => {}) : one.measure(name, of)),
  };
  const { rows } = await runCase(hanging, [target("bare"), target("v1"), target("plenum")], {
    ...options,
    maxCellMs: 20,
    unready: new Map([["plenum", "npm ci ended with 1"]]),
  });
  expect(rows.map(({ error }) => error)).toEqual([undefined, "no end within 0 s", "npm ci ended with 1"]);
  expect(rows[0]?.median).toEqual({ cpuUs: 10 });
});

test("the page says which goals are met, and which are not", async () => {
  const of = async (cpuUs: number) => {
    const one = scripted({ bare: [{ cpuUs: 10 }], plenum: [{ cpuUs }] });
    return formatPage(resultOf(await runCase(one, [target("bare"), target("plenum")], options)));
  };
  const title = "HTTP 2026-07-28, JSON answer, 64 in flight: server CPU / bare";
  const met = await of(15);
  expect(met).toContain(`| ${title} | ≤ 1.6 | 1.5 | met |`);
  expect(met).not.toContain("## What is not met");
  const unmet = await of(17);
  expect(unmet).toContain(`| ${title} | ≤ 1.6 | 1.7 | **not met** |`);
  expect(unmet).toContain(`## What is not met, and why\n\n- ${title}\n`);
});

// A server whose echo is wrong now and then.
const folder = mkdtempSync(join(tmpdir(), "plenum-bench-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
cpSync(join(root, "bench", "peers", "common.mjs"), join(folder, "common.mjs"));
cpSync(join(root, "bench", "peers", "bare"), join(folder, "broken"), { recursive: true });
const common = readFileSync(join(folder, "common.mjs"), "utf8");
const wrong = common.replace("echo: ({ text }) => text,", 'echo: ({ text }) => (/7$/.test(text) ? "wrong" : text),');
writeFileSync(join(folder, "common.mjs"), wrong);

const bare = targets.find(({ name }) => name === "bare") as Target;
const broken: Target = { ...bare, name: "broken", home: join(folder, "broken") };

test.each(["stdio", "http", "calls"])("a wrong echo is an error of %s", async (name) => {
  expect(wrong).not.toBe(common);
  const { rows } = await runCase({ ...caseOf(name), repeats: 1 }, [bare, broken], {
    ...options,
    modes: ["stdio", "session-json"],
  });
  const errors = rows.map((row) => [row.target, row.error]);
  const own = errors.filter(([of]) => of === "broken");
  expect(own.length).toBeGreaterThan(0);
  for (const [, error] of own) expect(error).toContain("a wrong answer");
  expect(errors.filter(([of]) => of === "bare").every(([, error]) => error === undefined)).toBe(true);
});

test("a server that does not start is an error that says why", async () => {
  const missing: Target = { ...bare, name: "missing", stdio: ["nothing.mjs"] };
  const { rows } = await runCase(caseOf("stdio"), [missing], options);
  expect(rows[0]?.error).toMatch(/the server ended \(1\): .*nothing\.mjs/s);
});
