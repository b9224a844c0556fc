// What a run gives: per case and target the medians of its rounds, and their ratios to bare.
import { cpus } from "node:os";
import type { Figures } from "./case.ts";

export interface Row {
  readonly target: string;
  readonly variant: string;
  /** The variant of bare that it is compared with. */
  readonly baseline?: string;
  readonly median: Figures;
  /** To bare in the same round, or right before it in a case that is paired; the median over the rounds. */
  readonly ratio: Figures;
  /** The share of the machine that others used meanwhile, 0 to 1; the median over the rounds. */
  readonly foreign: number | null;
  /** Why there are no figures. */
  readonly error?: string;
  /** What each round gave. */
  readonly runs?: readonly Figures[];
  /** What bare gave beside each of them. */
  readonly floors?: readonly Figures[];
}

/** A round in which others used more of the machine than this is measured again; a row that stays above it was disturbed. */
export const maxForeign = 0.1;

export interface CaseResult {
  readonly case: string;
  readonly help: string;
  readonly rounds: number;
  readonly rows: readonly Row[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly platform: string;
  readonly node: string;
}

export interface Result {
  readonly date: string;
  readonly machine: Machine;
  /** Of the packages that were measured, by target. */
  readonly versions: { readonly [target: string]: { readonly [name: string]: string } };
  readonly roundMs: number;
  readonly cases: readonly CaseResult[];
}

export function describeMachine(): Machine {
  const all = cpus();
  const cpu = all[0]?.model.trim() || process.arch;
  return { cpu, cores: all.length, platform: `${process.platform} ${process.arch}`, node: process.version };
}

/** Without what each round gave: what is kept in docs/performance. */
export function toCompact(result: Result): Result {
  const withoutRuns = ({ runs: _runs, floors: _floors, ...row }: Row): Row => row;
  return {
    ...result,
    cases: result.cases.map((one) => ({ ...one, rows: one.rows.map(withoutRuns) })),
  };
}
