// The seam between the driver (run.ts) and what it measures. A case is one file in cases/; a target is one entry in targets.ts.
// A case has variants, each a row of the table: a mode of HTTP, a kind of client. The driver sets up every variant of every
// target, measures them in turn, round after round, and compares each with the bare baseline of the same round.

/** What one measurement gave. `null` where there is none, such as a request that the target refuses. */
export interface Figures {
  readonly [metric: string]: number | null;
}

/** Arguments for node: a file in the target's home, then what it is given; `{port}` is filled in. */
export type Program = readonly [file: string, ...args: string[]];

/** A module that exports `connect(options)`, which gives `{ call(text), close() }`. */
export interface ClientModule {
  readonly file: string;
  /** What the case `client` runs it over: http-json, http-sse, stdio. */
  readonly transports?: readonly string[];
  /** Given to `connect`: 2025-11-25 or 2026-07-28. */
  readonly era?: "legacy" | "modern";
}

/** What is measured: bare Node, Plenum, or another SDK. */
export interface Target {
  readonly name: string;
  /** What it is called on the page. */
  readonly title: string;
  /** Where its programs are, with the packages that they import in reach. */
  readonly home: string;
  /** The npm packages whose versions are told with the figures. */
  readonly packages: readonly string[];
  /** Serves the tools of peers/common.mjs over stdio. */
  readonly stdio?: Program;
  /**
   * Serves the same tools on 127.0.0.1:{port}/mcp. How the driver speaks to it follows from the mode's first word: `session`
   * (2025-11-25 with a session), `stateless` (2025-11-25 without one), `modern` (2026-07-28).
   */
  readonly http?: { readonly [mode: string]: Program };
  readonly client?: { readonly [variant: string]: ClientModule };
  readonly inproc?: { readonly [variant: string]: ClientModule };
  /** The npm packages to install, or "pack": the workspace's library as it would be published. */
  readonly footprint?: { readonly [variant: string]: readonly string[] | "pack" };
  /** Programs of other cases: by the name of the case, then by variant. */
  readonly programs?: { readonly [name: string]: { readonly [variant: string]: Program } };
}

export interface Options {
  /** How long one load lasts. */
  readonly roundMs: number;
  /** How many rounds. */
  readonly repeats: number;
}

export interface Case<Ready = unknown> {
  readonly name: string;
  /** One line for `--list` and for the page. */
  readonly help: string;
  /** Which metrics are compared with the baseline, and which way is better; the first is the one that the table shows. */
  readonly better: { readonly [metric: string]: "high" | "low" };
  /** None, if the target has nothing to measure here. */
  variants(target: Target): readonly string[];
  setup(target: Target, variant: string, options: Options): Promise<Ready>;
  /** Fails if the target does anything wrong: a wrong answer is never a figure. */
  measure(ready: Ready, options: Options): Promise<Figures>;
  teardown(ready: Ready): Promise<void> | void;
  /** The variant of bare that a variant is compared with, or `undefined` for none. The one of the same name, if absent. */
  baseline?(variant: string): string | undefined;
  /** How many rounds, where the usual number makes no sense. */
  readonly repeats?: number;
  /** Counts and sizes: what others do on the machine changes nothing, so nothing is waited for and nothing is disturbed. */
  readonly isSteady?: boolean;
  /** Set up anew for each round, so that one round leaves nothing behind for the next. */
  readonly isFresh?: boolean;
  /**
   * Bare is measured anew right before each cell: a round is so long that the machine's speed changes meanwhile. Where what is
   * measured goes on living it must be `isFresh` too, or bare has more practice than any other.
   */
  readonly isPaired?: boolean;
  /** Only measured when named. */
  readonly isExplicit?: boolean;
}

/** The target that all others are compared with: what Node itself costs. */
export const baselineName = "bare";
