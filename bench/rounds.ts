// Runs one case over its targets: rounds that go through all of them in turn, so that what disturbs the machine for a while
// disturbs all of them, and each figure stands beside that of bare in the same round.
import { baselineName, type Case, type Figures, type Options, type Target } from "./case.ts";
import { markForeign, waitForQuiet } from "./drive/machine.ts";
import { median, round } from "./drive/statistics.ts";
import type { CaseResult, Row } from "./result.ts";

export interface RoundOptions extends Options {
  /** Only these variants of targets other than bare. */
  readonly modes?: readonly string[] | undefined;
  /** How long to wait in all for a machine that nobody else uses. */
  readonly waitMs: number;
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

/** A round in which others used more of the machine than this is measured again. */
const maxForeign = 0.1;
const tries = 3;
const longestWaitMs = 30_000;
const maxErrorLength = 400;

export async function runCase(one: Case, targets: readonly Target[], options: RoundOptions): Promise<CaseResult> {
  const rounds = one.repeats ?? options.repeats;
  const cells = cellsOf(one, targets, options.modes);
  const quiet = { leftMs: options.waitMs };
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

function cellsOf(one: Case, targets: readonly Target[], modes: readonly string[] | undefined): Cell[] {
  const isWanted = (target: Target, variant: string): boolean =>
    !modes || target.name === baselineName || modes.includes(variant);
  const cells = targets.flatMap((target) =>
    one
      .variants(target)
      .filter((variant) => isWanted(target, variant))
      .map((variant): Cell => ({ target, variant, runs: [], foreign: [] })),
  );
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

async function setup(one: Case, cell: Cell, options: RoundOptions): Promise<void> {
  if (cell.error !== undefined) return;
  try {
    cell.ready = { value: await one.setup(cell.target, cell.variant, options) };
  } catch (error) {
    fail(cell, error, options);
  }
}

async function teardown(one: Case, cell: Cell, options: RoundOptions): Promise<void> {
  const { ready } = cell;
  delete cell.ready;
  if (!ready) return;
  try {
    await one.teardown(ready.value);
  } catch (error) {
    fail(cell, error, options);
  }
}

async function measure(one: Case, cell: Cell, options: RoundOptions, quiet: { leftMs: number }): Promise<void> {
  const { ready } = cell;
  if (cell.error !== undefined || !ready) return;
  try {
    let best: { figures: Figures; foreign: number } | undefined;
    for (let i = 0; i < tries; i++) {
      quiet.leftMs -= await waitForQuiet(Math.min(longestWaitMs, quiet.leftMs));
      const foreignShare = markForeign();
      const figures = await one.measure(ready.value, options);
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
  const medians = Object.keys(runs[0] ?? {}).map((metric) => [metric, round(median(valuesOf(runs, metric)), 3)]);
  const ratios = Object.keys(one.better).map((metric) => [metric, ratioOf(metric, runs, bare)]);
  return {
    target: target.name,
    variant,
    ...(bare && bare.error === undefined && { baseline: bare.variant }),
    median: Object.fromEntries(medians),
    ratio: Object.fromEntries(ratios.filter(([, ratio]) => ratio !== null)),
    foreign: round(median(cell.foreign), 3),
    runs,
  };
}

const valuesOf = (runs: readonly Figures[], metric: string): (number | null)[] =>
  runs.map((run) => run[metric] ?? null);

function ratioOf(metric: string, runs: readonly Figures[], bare: Cell | undefined): number | null {
  if (!bare || bare.error !== undefined) return null;
  const ratios = runs.map((run, i) => {
    const [value, floor] = [run[metric] ?? null, bare.runs[i]?.[metric] ?? null];
    return value === null || !floor ? null : value / floor;
  });
  return round(median(ratios), 3);
}
