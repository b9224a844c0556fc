// Guards against losing speed: a few cells of the benchmark, short, Plenum beside bare Node in the same run. Fails when one is far
// beyond its goal.
//   npm run bench:guard             all, about two minutes
//   npm run bench:guard -- stdio    the cells of one case
//
// It counts CPU time, not time: other processes on the machine take time from both sides, but hardly change what a call costs.
// What they do change they only make worse, so each side is judged by its best round; rounds go to and fro between the two; and
// a cell that fails is measured again, anew and longer, before it has failed: on a busy machine code takes longer to get warm.
import { ensureBuilt } from "../test/house/built.ts";
import { baselineName, type Case, type Figures, type Target } from "./case.ts";
import { client } from "./cases/client.ts";
import { http } from "./cases/http.ts";
import { inproc } from "./cases/inproc.ts";
import { sessions } from "./cases/sessions.ts";
import { stdio } from "./cases/stdio.ts";
import { markForeign } from "./drive/machine.ts";
import { formatNumber } from "./drive/statistics.ts";
import { goals } from "./goals.ts";
import { prepare, targets } from "./targets.ts";

/** How far beyond a goal a cell may be: the goals are for a quiet machine and medians of long rounds. */
const margin = 1.6;
const attempts = 3;

interface Cell {
  readonly name: string;
  readonly variant: string;
  /** `cpuUs` is held against bare's, `heapKb` is held by itself. */
  readonly metric: "cpuUs" | "heapKb";
  readonly limit: number;
}

interface Group {
  readonly of: Case<never>;
  readonly cells: readonly Cell[];
  readonly rounds: number;
  readonly roundMs: number;
}

/** A goal for calls per second is one for CPU time too: what is measured here keeps its core busy. */
function cell(of: string, variant: string, metric: Cell["metric"] = "cpuUs"): Cell {
  const goal = goals.find(
    (one) => one.case === of && one.variants.includes(variant) && (metric === "heapKb") === (one.metric === "heapKb"),
  );
  const most = goal?.atMost ?? 1 / (goal?.atLeast ?? Number.NaN);
  if (Number.isNaN(most)) throw new Error(`there is no goal for ${of}, ${variant}`);
  const name = `${of}, ${variant}, ${metric === "cpuUs" ? "CPU / bare" : "heap in kB"}`;
  return { name, variant, metric, limit: most * margin };
}

const groups: readonly Group[] = [
  {
    of: http as Case<never>,
    cells: ["modern-json", "session-json", "session-sse", "stateless-json"].map((mode) => cell("http", mode)),
    rounds: 5,
    roundMs: 500,
  },
  { of: stdio as Case<never>, cells: [cell("stdio", "stdio")], rounds: 5, roundMs: 1_000 },
  {
    of: inproc as Case<never>,
    cells: [cell("inproc", "legacy"), cell("inproc", "modern")],
    rounds: 3,
    roundMs: 700,
  },
  { of: client as Case<never>, cells: [cell("client", "modern/http-json")], rounds: 3, roundMs: 900 },
  {
    of: sessions as Case<never>,
    cells: [cell("sessions", "session-json"), cell("sessions", "session-json", "heapKb")],
    rounds: 3,
    roundMs: 500,
  },
];

function targetOf(name: string): Target {
  const found = targets.find((one) => one.name === name);
  if (!found) throw new Error(`there is no target ${name}`);
  return found;
}

interface Side {
  readonly target: Target;
  readonly variant: string;
  readonly runs: Figures[];
  ready?: never;
}

const least = (runs: readonly Figures[], metric: string): number =>
  Math.min(...runs.map((run) => run[metric] ?? Number.POSITIVE_INFINITY));

/** Measures the cells of a group, with rounds so many times as long: what each came to, by its name. */
async function attempt(
  { of, rounds, roundMs }: Group,
  cells: readonly Cell[],
  times: number,
): Promise<Map<string, number>> {
  const options = { roundMs: roundMs * times, repeats: rounds };
  const [bare, plenum] = [targetOf(baselineName), targetOf("plenum")];
  const floorOf = (variant: string): string => of.baseline?.(variant) ?? variant;
  const wanted = [...new Set(cells.map(({ variant }) => variant))];
  const sides: Side[] = [
    ...[...new Set(wanted.map(floorOf))].map((variant) => ({ target: bare, variant, runs: [] })),
    ...wanted.map((variant) => ({ target: plenum, variant, runs: [] })),
  ];
  const setup = async (side: Side): Promise<void> => {
    side.ready = await of.setup(side.target, side.variant, options);
  };
  const teardown = async (side: Side): Promise<void> => {
    const { ready } = side;
    delete side.ready;
    if (ready !== undefined) await of.teardown(ready);
  };
  try {
    if (!of.isFresh) for (const side of sides) await setup(side);
    for (let i = 0; i < rounds; i++) {
      for (const side of sides) {
        if (of.isFresh) await setup(side);
        side.runs.push(await of.measure(side.ready as never, options));
        if (of.isFresh) await teardown(side);
      }
    }
  } finally {
    for (const side of sides) await teardown(side);
  }
  const runsOf = (target: Target, variant: string): readonly Figures[] =>
    sides.find((side) => side.target === target && side.variant === variant)?.runs ?? [];
  return new Map(
    cells.map(({ name, variant, metric }) => {
      const own = least(runsOf(plenum, variant), metric);
      return [name, metric === "heapKb" ? own : own / least(runsOf(bare, floorOf(variant)), metric)];
    }),
  );
}

/** The best of up to three attempts; a cell that is well is not measured again. */
async function judge(group: Group): Promise<Map<string, number>> {
  const best = new Map<string, number>();
  let left = group.cells;
  for (let i = 1; i <= attempts && left.length > 0; i++) {
    if (i > 1) log(`  again: ${left.map(({ name }) => name).join("; ")}`);
    for (const [name, value] of await attempt(group, left, 2 ** (i - 1)))
      best.set(name, Math.min(value, best.get(name) ?? Number.POSITIVE_INFINITY));
    left = left.filter(({ name, limit }) => !((best.get(name) as number) <= limit));
  }
  return best;
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function main(): Promise<void> {
  const names = process.argv.slice(2);
  const chosen = groups.filter(({ of }) => names.length === 0 || names.includes(of.name));
  if (chosen.length === 0) throw new Error(`there are ${groups.map(({ of }) => of.name).join(", ")}`);
  await ensureBuilt();
  for (const name of [baselineName, "plenum"]) await prepare(targetOf(name));
  const started = performance.now();
  const foreign = markForeign();
  const lines: [string, string, string][] = [["cell", "ratio", "limit"]];
  const broken: string[] = [];
  for (const group of chosen) {
    log(`${group.of.name}`);
    const values = await judge(group);
    for (const { name, limit } of group.cells) {
      const value = values.get(name) ?? Number.NaN;
      lines.push([name, formatNumber(value), formatNumber(limit)]);
      // What could not be measured has not been held.
      if (!(value <= limit)) broken.push(name);
    }
  }
  for (const [name, value, limit] of lines) console.log(`${name.padEnd(40)}${value.padStart(8)}${limit.padStart(8)}`);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${seconds} s; others used ${Math.round(foreign() * 100)} % of the machine`);
  if (broken.length === 0) return;
  console.error(`slower than it may be: ${broken.join("; ")}`);
  process.exitCode = 1;
}

await main();
process.exit();
