// Guards against losing speed: a few cells of the benchmark, short, Plenum beside bare Node in the same run. Fails when one is far
// beyond its goal.
//   npm run bench:guard             all, about two minutes
//   npm run bench:guard -- stdio    the cells of one case; --help says which there are
//
// It counts CPU time, not time: other processes on the machine take time from both sides, but hardly change what a call costs.
// What they do change they only make worse, so each side is judged by its best round; rounds go to and fro between the two; and
// a cell that fails is measured again, anew and longer, before it has failed: on a busy machine code takes longer to get warm.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureBuilt } from "../test/house/built.ts";
import { describeUnknown, UsageError } from "./arguments.ts";
import { baselineName, type Case, type Figures, type Target } from "./case.ts";
import { client } from "./cases/client.ts";
import { http } from "./cases/http.ts";
import { inproc } from "./cases/inproc.ts";
import { sessions } from "./cases/sessions.ts";
import { start } from "./cases/start.ts";
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
  const words = [of, ...(variant === of ? [] : [variant]), metric === "cpuUs" ? "CPU / bare" : "heap in kB"];
  return { name: words.join(", "), variant, metric, limit: most * margin };
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
  // A round is a few starts, however long it may last.
  {
    of: start as Case<never>,
    cells: ["plenum --version", "plenum call FILE.mjs"].map((words) => cell("start", words)),
    rounds: 5,
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
    try {
      for (const [name, value] of await attempt(group, left, 2 ** (i - 1)))
        best.set(name, Math.min(value, best.get(name) ?? Number.POSITIVE_INFINITY));
    } catch (error) {
      log(`  ${error instanceof Error ? error.message : error}`);
    }
    left = left.filter(({ name, limit }) => !((best.get(name) as number) <= limit));
  }
  return best;
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

const usage = `npm run bench:guard [-- case …]
  Holds a few short cells of the benchmark against their limits, Plenum beside bare Node: about two minutes for all, longer where a
  cell is measured again. Cases: ${groups.map(({ of }) => of.name).join(", ")}.`;

/** The groups that are named, all if none is, or what to print instead. Throws a `UsageError`. */
export function readGuardArguments(args: readonly string[]): readonly Group[] | string {
  const options = { help: { type: "boolean" } } as const;
  let given: { values: { help?: boolean | undefined }; positionals: string[] };
  try {
    given = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Only its first sentence: the second is about positional arguments.
    throw new UsageError(`${(error as Error).message.split(". ")[0]}\n${usage}`);
  }
  const { values, positionals: names } = given;
  if (values.help) return usage;
  const known = groups.map(({ of }) => of.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new UsageError(describeUnknown("The guard has no case called", unknown, known));
  return groups.filter(({ of }) => names.length === 0 || names.includes(of.name));
}

/** What a cell came to; not a number, if it could not be measured. */
export interface Held {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
}

/** What could not be measured has not been held. */
const isHeld = ({ value, limit }: Held): boolean => value <= limit;

/** A line for each cell. */
export function formatHeld(all: readonly Held[]): string {
  const rows = [
    ["cell", "measured", "limit"],
    ...all.map(({ name, value, limit }) => [name, formatNumber(value) || "–", formatNumber(limit)]),
  ];
  return rows
    .map(([name = "", value = "", limit = ""]) => `${name.padEnd(40)}${value.padStart(10)}${limit.padStart(8)}`)
    .join("\n");
}

export function verdictOf(all: readonly Held[]): { readonly isWell: boolean; readonly text: string } {
  const broken = all.filter((one) => !isHeld(one));
  if (broken.length === 0) return { isWell: true, text: `all ${all.length} cells are within their limits` };
  const list = broken.map(({ name, value }) => (Number.isFinite(value) ? name : `${name} (not measured)`)).join("; ");
  return { isWell: false, text: `${broken.length} of ${all.length} cells not within their limits: ${list}` };
}

async function main(): Promise<number> {
  const chosen = readGuardArguments(process.argv.slice(2));
  if (typeof chosen === "string") {
    console.log(chosen);
    return 0;
  }
  await ensureBuilt();
  for (const name of [baselineName, "plenum"]) await prepare(targetOf(name));
  const started = performance.now();
  const foreign = markForeign();
  const all: Held[] = [];
  for (const group of chosen) {
    const { of, cells, rounds, roundMs } = group;
    const variants = [...new Set(cells.map(({ variant }) => variant))].filter((variant) => variant !== of.name);
    const what = [of.name, ...(variants.length > 0 ? [`: ${variants.join(", ")}`] : [])].join("");
    log(`${what}; Plenum and bare, ${rounds} rounds of ${roundMs} ms`);
    const values = await judge(group);
    for (const { name, limit } of cells) all.push({ name, value: values.get(name) ?? Number.NaN, limit });
  }
  console.log(formatHeld(all));
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${seconds} s; others used ${Math.round(foreign() * 100)} % of the machine`);
  const { isWell, text } = verdictOf(all);
  console.log(text);
  return isWell ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof UsageError ? error.message : error);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
  process.exit();
}
