// Runs one case over its targets: rounds that go through all of them in turn, so that what disturbs the machine for a while
// disturbs all of them, and each figure stands beside that of bare in the same round, or right before it in a case whose
// rounds are long.
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
  /** What bare gave right before each of them, where it was measured there. */
  readonly floors: Figures[];
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
        const bare = one.isPaired ? floorOf(one, cell, cells) : undefined;
        const both = bare && bare !== cell ? [bare, cell] : [cell];
        if (one.isFresh) for (const each of both) await setup(one, each, options);
        await measure(one, both, options, quiet);
        if (one.isFresh) for (const each of both) await teardown(one, each, options);
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
      (variant): Cell => ({
        target,
        variant,
        runs: [],
        floors: [],
        foreign: [],
        ...(error !== undefined && { error }),
      }),
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

/** The cell of bare that a cell is compared with: itself, if it is that one. None that has failed. */
function floorOf(one: Case, { variant }: Cell, cells: readonly Cell[]): Cell | undefined {
  const wanted = baselineOf(one, variant);
  return cells.find(
    ({ target, variant, error }) => target.name === baselineName && variant === wanted && error === undefined,
  );
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

/** @param cells one, or bare's and one: measured right after the other, and as a pair again where others disturbed them */
async function measure(one: Case, cells: readonly Cell[], options: RoundOptions, quiet: Quiet): Promise<void> {
  const cell = cells.at(-1) as Cell;
  if (cell.error !== undefined || !cell.ready) return;
  let current = cell;
  try {
    let best: { figures: Figures[]; foreign: number } | undefined;
    for (let i = 0; i < tries; i++) {
      await wait(quiet, options);
      const foreignShare = markForeign();
      const figures: Figures[] = [];
      for (current of cells) {
        if (current.ready) figures.push(await within(options, one.measure(current.ready.value, options)));
      }
      const foreign = foreignShare();
      if (!best || foreign < best.foreign) best = { figures, foreign };
      // Of what is fresh the second measure would be of something else.
      if (best.foreign <= maxForeign || one.isFresh || quiet.leftMs <= 0) break;
    }
    if (!best) return;
    cell.runs.push(best.figures.pop() as Figures);
    cell.floors.push(...best.figures);
    cell.foreign.push(best.foreign);
  } catch (error) {
    fail(current, error, options);
  }
}

function toRow(one: Case, cell: Cell, cells: readonly Cell[]): Row {
  const { target, variant, runs, error } = cell;
  if (error !== undefined) return { target: target.name, variant, median: {}, ratio: {}, foreign: null, error };
  const bare = floorOf(one, cell, cells);
  const floors = one.isPaired && bare !== cell ? cell.floors : bare?.runs;
  return {
    target: target.name,
    variant,
    ...(bare && { baseline: bare.variant }),
    ...summarize(runs, bare && floors, Object.keys(one.better)),
    foreign: round(median(cell.foreign), 3),
    runs,
    ...(bare && floors && { floors }),
  };
}

/** @param floors what bare gave beside each of them */
function summarize(
  runs: readonly Figures[],
  floors: readonly Figures[] | undefined,
  compared: readonly string[],
): Pick<Row, "median" | "ratio"> {
  const medians = Object.keys(runs[0] ?? {}).map((metric) => [metric, round(median(valuesOf(runs, metric)), 3)]);
  const ratios = compared.map((metric) => [metric, floors ? ratioOf(metric, runs, floors) : null]);
  return {
    median: Object.fromEntries(medians),
    ratio: Object.fromEntries(ratios.filter(([, ratio]) => ratio !== null)),
  };
}

/** A case with the rounds of two runs. Of a row that one of them lacks, or has fewer rounds of, what the second gave is left. */
export function addRounds(before: CaseResult, more: CaseResult): CaseResult {
  const rounds = before.rounds + more.rounds;
  const rows = more.rows.map((row) => {
    const earlier = before.rows.find(({ target, variant }) => target === row.target && variant === row.variant);
    const runs = [...(earlier?.runs ?? []), ...(row.runs ?? [])];
    const floors = row.floors && [...(earlier?.floors ?? []), ...row.floors];
    if (row.error !== undefined || runs.length !== rounds || (floors && floors.length !== rounds)) return row;
    const foreign = Math.max(row.foreign ?? 0, earlier?.foreign ?? 0);
    return { ...row, ...summarize(runs, floors, Object.keys(row.ratio)), foreign, runs, ...(floors && { floors }) };
  });
  return { ...more, rounds, rows };
}

const valuesOf = (runs: readonly Figures[], metric: string): (number | null)[] =>
  runs.map((run) => run[metric] ?? null);

function ratioOf(metric: string, runs: readonly Figures[], floors: readonly Figures[]): number | null {
  const ratios = runs.map((run, i) => {
    const [value, least] = [run[metric] ?? null, floors[i]?.[metric] ?? null];
    return value === null || !least ? null : value / least;
  });
  return round(median(ratios), 3);
}
