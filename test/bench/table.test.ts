// The table as a person reads it: what is marked, what a ratio is of, which words are explained. No machine is asked.
import { beforeEach, expect, test, vi } from "vitest";
import type { Case, Target } from "../../bench/case.ts";
import { formatPage } from "../../bench/page.ts";
import type { CaseResult, Result, Row } from "../../bench/result.ts";
import { runCase } from "../../bench/rounds.ts";
import { formatTable } from "../../bench/table.ts";

/** What others use of the machine, as the kernel would tell it. */
const others = vi.hoisted(() => ({ share: 0 }));
vi.mock("../../bench/drive/machine.ts", async (original) => ({
  ...(await original<object>()),
  markForeign: () => () => others.share,
  waitForQuiet: async (maxMs: number, onBusy: (share: number) => void) => {
    if (others.share > 0) onBusy(others.share);
    return others.share > 0 ? maxMs : 0;
  },
}));
beforeEach(() => {
  others.share = 0;
});

const machine = { cpu: "test", cores: 1, platform: "linux x64", node: "v20.0.0" };
const resultOf = (...cases: CaseResult[]): Result => ({
  date: "2026-01-02T00:00:00.000Z",
  machine,
  versions: {},
  roundMs: 50,
  cases,
});
const row = (target: string, variant: string, cpuUs: number, rest: Partial<Row> = {}): Row => ({
  target,
  variant,
  median: { cpuUs },
  ratio: {},
  foreign: 0,
  ...rest,
});
const caseOf = (name: string, ...rows: Row[]): CaseResult => ({
  case: name,
  help: "what a test says",
  rounds: 1,
  rows,
});

const target = (name: string): Target => ({ name, title: name, home: "", packages: [] });
const steady: Case = {
  name: "http",
  help: "what a test says",
  better: { cpuUs: "low" },
  variants: () => ["modern-json"],
  setup: async () => undefined,
  measure: async () => ({ cpuUs: 10 }),
  teardown: () => {},
};

async function logOf(one: Case, waitMs: number): Promise<string[]> {
  const log: string[] = [];
  const options = { roundMs: 50, repeats: 3, waitMs, log: (text: string) => log.push(text) };
  await runCase(one, [target("bare"), target("plenum")], options);
  return log.filter((text) => !text.includes(": round "));
}

test("it says once in a case that it waits, and for how long at most", async () => {
  expect(await logOf(steady, 60_000)).toEqual([]);
  others.share = 0.43;
  expect(await logOf(steady, 60_000)).toEqual([
    "  others use 43 % of the machine: waiting for them, 60 s at most in this case",
    "  waiting no longer: what others disturb is marked",
  ]);
  expect(await logOf(steady, 0)).toEqual([]);
  expect(await logOf({ ...steady, isSteady: true }, 60_000)).toEqual([]);
});

test("what was disturbed is marked, and told below the table and on the page", () => {
  const note = "* others used up to 84 % of the machine in: stdio (plenum), http (bare): measure again on a quiet one";
  const result = resultOf(
    caseOf("stdio", row("bare", "stdio", 10), row("plenum", "stdio", 15, { foreign: 0.84 })),
    caseOf("http", row("bare", "session-json", 20, { foreign: 0.11 }), row("plenum", "session-json", 30)),
    // Counts are what they are, whoever else is there.
    caseOf("footprint", row("plenum", "all", 7, { foreign: 0.9 })),
  );
  const text = formatTable(result);
  expect(text).toContain(`\n\n${note}\n\n`);
  expect(text).toMatch(/^stdio · CPU µs ↓ +10 +15\*$/m);
  expect(text).toMatch(/^http · session-json · CPU µs ↓ +20\* +30$/m);
  expect(text).toMatch(/^footprint · all · CPU µs +7$/m);
  const page = formatPage(result);
  expect(page).toContain(`\n\n\\${note}.\n\n`);
  expect(page).toContain("| stdio | Plenum | 15* |");

  const quiet = resultOf(caseOf("stdio", row("plenum", "stdio", 15, { foreign: 0.1 })));
  expect(formatTable(quiet)).not.toContain("*");
  expect(formatPage(quiet)).not.toContain("others used up to");
});

test("bare's figure stands beside the ratio that is of it, and the words that are there are explained", () => {
  const ratio = { ratio: { cpuUs: 1.5 }, baseline: "pair" };
  const text = formatTable(
    resultOf(
      caseOf(
        "inproc",
        row("bare", "pair", 2, { ratio: { cpuUs: 1 }, baseline: "pair" }),
        row("plenum", "legacy", 3, ratio),
      ),
    ),
  );
  expect(text).toContain("medians over the rounds, in ( ) the median of the ratios to bare of the same round\n");
  expect(text).toMatch(/^inproc · legacy · CPU µs ↓ +\[2\] +3 \(1\.5×\)$/m);
  expect(text).toContain("in inproc to its pair; [ ] is that figure");
  for (const word of ["pair", "legacy, modern", "CPU µs"]) expect(text).toMatch(new RegExp(`^ {2}${word} `, "m"));
  expect(text).not.toMatch(/^ {2}(alone|modern-auto|p50)/m);
});

test("without bare nothing is said of ratios", () => {
  const text = formatTable(resultOf(caseOf("stdio", row("plenum", "stdio", 15))));
  expect(text).not.toMatch(/ratio|bare/);
});
