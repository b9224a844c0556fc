// Runs one case over its targets: rounds that go through all of them in turn, so that what disturbs the machine for a while
// disturbs all of them, and each figure stands beside that of bare in the same round.
import { baselineName, type Case, type Figures, type Options, type Target } from "./case.ts";
import { markForeign, waitForQuiet } from "./drive/machine.ts";
import { median, round } from "./drive/statistics.ts";
import { type CaseResult, maxForeign, type Row } from "./result.ts";

export interface RoundOptions extends Options {
  /** Only these variants of targets other than bare. */
  readonly modes?: readonly string[] | undefined;
  /** How long to wait in all for a machine that nobody else uses. */
  readonly waitMs: number;
  /** Why a target cannot be measured, by its name. */
  readonly unready?: ReadonlyMap<string, string>;
  /** After how long a cell that neither ends nor fails has failed. */
  readonly maxCellMs?: number;
  readonly log: (text: string) => void;
}

interface Cell {
  readonly target: Target;
  readonly variant: string;
  readonly runs: Figures[];
  readonly foreign: number[];
  /** What `setup` gave, while it stands. */
  ready?: { readonly value: unknown };
  error?: string;
}

/** What is left of the time to wait for a quiet machine, and whether that was said. */
interface Quiet {
  leftMs: number;
  isSaid?: boolean;
}

const tries = 3;
const longestWaitMs = 30_000;
const maxErrorLength = 400;
const maxCellMs = 300_000;

export async function runCase(one: Case, targets: readonly Target[], options: RoundOptions): Promise<CaseResult> {
  const rounds = one.repeats ?? options.repeats;
  const cells = cellsOf(one, targets, options);
  const quiet: Quiet = { leftMs: one.isSteady ? 0 : options.waitMs };
  try {
    if (!one.isFresh) for (const cell of cells) await setup(one, cell, options);
    for (let i = 1; i <= rounds && cells.length > 0; i++) {
      const started = performance.now();
      for (const cell of cells) {
        if (one.isFresh) await setup(one, cell, options);
        await measure(one, cell, options, quiet);
        if (one.isFresh) await teardown(one, cell, options);
      }
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      options.log(`  ${one.name}: round ${i} of ${rounds} (${seconds} s)`);
    }
  } finally {
    for (const cell of cells) await teardown(one, cell, options);
  }
  return { case: one.name, help: one.help, rounds, rows: cells.map((cell) => toRow(one, cell, cells)) };
}

/** What a target has to measure in a case, of the variants that are wanted. */
export function variantsIn(one: Case, target: Target, modes: readonly string[] | undefined): string[] {
  return one.variants(target).filter((variant) => !modes || modes.includes(variant));
}

function cellsOf(one: Case, targets: readonly Target[], { modes, unready }: RoundOptions): Cell[] {
  const cells = targets.flatMap((target) => {
    const variants = variantsIn(one, target, target.name === baselineName ? undefined : modes);
    const error = unready?.get(target.name);
    return variants.map(
      (variant): Cell => ({ target, variant, runs: [], foreign: [], ...(error !== undefined && { error }) }),
    );
  });
  if (!modes) return cells;
  // Of bare only what the others are compared with.
  const needed = cells
    .filter(({ target }) => target.name !== baselineName)
    .map(({ variant }) => baselineOf(one, variant));
  return cells.filter(
    ({ target, variant }) => target.name !== baselineName || needed.includes(variant) || modes.includes(variant),
  );
}

function baselineOf(one: Case, variant: string): string | undefined {
  return one.baseline ? one.baseline(variant) : variant;
}

function fail(cell: Cell, error: unknown, { log }: RoundOptions): void {
  cell.error = (error instanceof Error ? error.message : String(error)).trim().slice(0, maxErrorLength);
  log(`  ${cell.target.name}, ${cell.variant}: ${cell.error}`);
}

/** Fails where the work does not end: one cell must not hold up all others. */
async function within<T>({ roundMs, maxCellMs: maxMs = maxCellMs + 20 * roundMs }: RoundOptions, work: Promise<T> | T) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${Math.round(maxMs / 1000)} s`)), maxMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function setup(one: Case, cell: Cell, options: RoundOptions): Promise<void> {
  if (cell.error !== undefined) return;
  try {
    cell.ready = { value: await within(options, one.setup(cell.target, cell.variant, options)) };
  } catch (error) {
    fail(cell, error, options);
  }
}

async function teardown(one: Case, cell: Cell, options: RoundOptions): Promise<void> {
  const { ready } = cell;
  delete cell.ready;
  if (!ready) return;
  try {
    await within(options, one.teardown(ready.value));
  } catch (error) {
    fail(cell, error, options);
  }
}

/** Waits for others to leave the machine, and says once in a case that it does, and once that it does so no longer. */
async function wait(quiet: Quiet, { waitMs, log }: RoundOptions): Promise<void> {
  if (quiet.leftMs <= 0) return;
  quiet.leftMs -= await waitForQuiet(Math.min(longestWaitMs, quiet.leftMs), (share) => {
    if (quiet.isSaid) return;
    quiet.isSaid = true;
    const seconds = Math.round(waitMs / 1000);
    log(
      `  others use ${Math.round(share * 100)} % of the machine: waiting for them, ${seconds} s at most in this case`,
    );
  });
  if (quiet.leftMs <= 0) log("  waiting no longer: what others disturb is marked");
}

async function measure(one: Case, cell: Cell, options: RoundOptions, quiet: Quiet): Promise<void> {
  const { ready } = cell;
  if (cell.error !== undefined || !ready) return;
  try {
    let best: { figures: Figures; foreign: number } | undefined;
    for (let i = 0; i < tries; i++) {
      await wait(quiet, options);
      const foreignShare = markForeign();
      const figures = await within(options, one.measure(ready.value, options));
      const foreign = foreignShare();
      if (!best || foreign < best.foreign) best = { figures, foreign };
      // Of what is fresh the second measure would be of something else.
      if (best.foreign <= maxForeign || one.isFresh || quiet.leftMs <= 0) break;
    }
    if (!best) return;
    cell.runs.push(best.figures);
    cell.foreign.push(best.foreign);
  } catch (error) {
    fail(cell, error, options);
  }
}

function toRow(one: Case, cell: Cell, cells: readonly Cell[]): Row {
  const { target, variant, runs, error } = cell;
  if (error !== undefined) return { target: target.name, variant, median: {}, ratio: {}, foreign: null, error };
  const wanted = baselineOf(one, variant);
  const bare = cells.find((other) => other.target.name === baselineName && other.variant === wanted);
  const isCompared = bare !== undefined && bare.error === undefined;
  return {
    target: target.name,
    variant,
    ...(isCompared && { baseline: bare.variant }),
    ...summarize(runs, isCompared ? bare.runs : undefined, Object.keys(one.better)),
    foreign: round(median(cell.foreign), 3),
    runs,
  };
}

/** @param floor what bare gave in the same rounds */
function summarize(
  runs: readonly Figures[],
  floor: readonly Figures[] | undefined,
  compared: readonly string[],
): Pick<Row, "median" | "ratio"> {
  const medians = Object.keys(runs[0] ?? {}).map((metric) => [metric, round(median(valuesOf(runs, metric)), 3)]);
  const ratios = compared.map((metric) => [metric, floor ? ratioOf(metric, runs, floor) : null]);
  return {
    median: Object.fromEntries(medians),
    ratio: Object.fromEntries(ratios.filter(([, ratio]) => ratio !== null)),
  };
}

/** A case with the rounds of two runs. Of a row that one of them lacks, or has fewer rounds of, what the second gave is left. */
export function addRounds(before: CaseResult, more: CaseResult): CaseResult {
  const rounds = before.rounds + more.rounds;
  const find = (result: CaseResult, target: string, variant: string): Row | undefined =>
    result.rows.find((row) => row.target === target && row.variant === variant);
  const runsOf = (target: string, variant: string): Figures[] =>
    [before, more].flatMap((result) => find(result, target, variant)?.runs ?? []);
  const rows = more.rows.map((row) => {
    const runs = runsOf(row.target, row.variant);
    const floor = row.baseline === undefined ? undefined : runsOf(baselineName, row.baseline);
    if (row.error !== undefined || runs.length !== rounds || (floor && floor.length !== rounds)) return row;
    const foreign = Math.max(row.foreign ?? 0, find(before, row.target, row.variant)?.foreign ?? 0);
    return { ...row, ...summarize(runs, floor, Object.keys(row.ratio)), foreign, runs };
  });
  return { ...more, rounds, rows };
}

const valuesOf = (runs: readonly Figures[], metric: string): (number | null)[] =>
  runs.map((run) => run[metric] ?? null);

function ratioOf(metric: string, runs: readonly Figures[], floor: readonly Figures[]): number | null {
  const ratios = runs.map((run, i) => {
    const [value, least] = [run[metric] ?? null, floor[i]?.[metric] ?? null];
    return value === null || !least ? null : value / least;
  });
  return round(median(ratios), 3);
}
