// The command line of the benchmark: what is chosen, and what is refused with a word about what there is.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { nearestTo } from "../packages/plenum/src/util/nearest.ts";
import { baselineName, type Case, type Target } from "./case.ts";
import { cases } from "./cases.ts";
import { explain } from "./legend.ts";
import type { Result } from "./result.ts";
import { variantsIn } from "./rounds.ts";
import { targets } from "./targets.ts";

export const usage = `npm run bench -- [options]
  --case a,b       cases (all but those that must be named)
  --target a,b     targets (all); bare is measured with them
  --mode a,b       variants: modern-json, session-sse, … (all)
  --repeats 3      rounds; a case with a number of its own, such as cold, keeps it unless --case names it
  --ms 2000        length of one load
  --wait 60        seconds per case to wait at most for a machine that nobody else uses
  --json           print JSON instead of the table; npm -s keeps its own lines out: npm run -s bench -- --json
  --out file       write the JSON to a file as well, after each case
  --from file      take what an earlier --out wrote, and measure what it lacks; with --case, more rounds of those
  --write          write docs/performance.md and docs/performance/results.json; needs all cases and targets
  --no-baseline    without bare, and so without ratios
  --list           the cases, the targets and their variants, and what the words of the table mean

Everything takes an hour or so, longer on a busy machine; one case of one target a minute or less:
  npm run bench -- --case stdio --target plenum
The packages of other SDKs are installed into .cache when they are first measured, which needs the npm registry.
CPU times and memory are read on Linux only.`;

/** What the user did wrong; shown without a stack. */
export class UsageError extends Error {}

/** `--ms -5` as `--ms=-5`: a number below zero is no option, and is refused as what it is. */
function joinNumbers(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    if (/^-[\d.]/.test(arg) && /^--\w+$/.test(joined.at(-1) ?? "")) joined.push(`${joined.pop()}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: joinNumbers(args),
      options: {
        case: { type: "string" },
        target: { type: "string" },
        mode: { type: "string" },
        repeats: { type: "string" },
        ms: { type: "string", default: "2000" },
        wait: { type: "string", default: "60" },
        json: { type: "boolean", default: false },
        out: { type: "string" },
        from: { type: "string" },
        write: { type: "boolean", default: false },
        "no-baseline": { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usage}`);
  }
}

/** Variants have names such as `stdio, JSON Schema`: a comma with a blank after it does not part. */
const split = (text: string): string[] =>
  text
    .split(/,(?! )/)
    .map((part) => part.trim())
    .filter(Boolean);

function toNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`--${option} takes a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`);
}

/** Words for names that are not there: which were probably meant, and which there are. */
export function describeUnknown(
  start: string,
  unknown: readonly string[],
  known: readonly string[],
  mark = ", ",
): string {
  const meant = new Set(unknown.flatMap((name) => nearestTo(name, known) ?? []));
  const hint = meant.size > 0 ? `: did you mean ${[...meant].join(", ")}?` : ".";
  return `${start} ${unknown.join(", ") || '""'}${hint} There are: ${known.join(mark)}.`;
}

/** Those that are named, in the order of the list; all that `isDefault` allows, if none is. */
function choose<T extends { readonly name: string }>(
  kind: string,
  all: readonly T[],
  wanted: string | undefined,
  isDefault: (one: T) => boolean,
): T[] {
  const names = wanted === undefined || wanted === "all" ? undefined : split(wanted);
  const unknown = names?.filter((name) => !all.some((one) => one.name === name)) ?? [];
  if (unknown.length > 0 || names?.length === 0) {
    const known = all.map(({ name }) => name);
    throw new UsageError(describeUnknown(`There is no ${kind} called`, unknown, known));
  }
  return all.filter((one) => (names ? names.includes(one.name) : isDefault(one)));
}

function checkModes(modes: readonly string[], chosen: readonly Case[], wanted: readonly Target[]): void {
  const there = new Set(chosen.flatMap((one) => wanted.flatMap((target) => one.variants(target))));
  const unknown = modes.filter((mode) => !there.has(mode));
  if (unknown.length > 0)
    throw new UsageError(describeUnknown("Nothing here has the variant", unknown, [...there], "; "));
}

interface Part {
  readonly cases: readonly Case[];
  readonly targets: readonly Target[];
  readonly notes: readonly string[];
}

/**
 * Of what is chosen, what there is something to measure in: nothing is installed for a target that takes no part. It tells which
 * take none, and where both are named, of each target in which cases.
 */
function takePart(
  chosen: readonly Case[],
  named: readonly Target[],
  modes: readonly string[] | undefined,
  isEachTold: boolean,
): Part {
  const has = (one: Case, target: Target): boolean => variantsIn(one, target, modes).length > 0;
  const others = named.filter(({ name }) => name !== baselineName);
  // Bare by itself is only measured when nothing else was asked for.
  const counted = others.length > 0 ? others : named;
  const notes = counted.flatMap((target) => {
    const lacking = chosen.filter((one) => !has(one, target));
    if (lacking.length === 0 || (lacking.length < chosen.length && !isEachTold)) return [];
    const where = lacking.map(({ name }) => name).join(", ");
    return [`${target.name} has nothing to measure in ${where}${modes ? ` with --mode ${modes.join(",")}` : ""}`];
  });
  const part = {
    cases: chosen.filter((one) => counted.some((target) => has(one, target))),
    targets: named.filter((target) => chosen.some((one) => has(one, target))),
    notes,
  };
  if (part.cases.length === 0) throw new UsageError(`${notes.join("\n")}\nSo there is nothing to measure: see --list.`);
  return part;
}

/** The cases, the targets and the words of the table, for a person. */
export function list(): string {
  const lines = cases.map(
    ({ name, help, isExplicit }) => `  ${name.padEnd(12)}${help}${isExplicit ? " (only when named)" : ""}`,
  );
  const variants = targets.map(
    (target) =>
      `  ${target.name.padEnd(12)}${target.title}: ${[...(target.stdio ? ["stdio"] : []), ...Object.keys(target.http ?? {})].join("; ")}`,
  );
  return `cases\n${lines.join("\n")}\n\ntargets\n${variants.join("\n")}\n\nwords\n${explain().join("\n")}`;
}

export interface Chosen {
  readonly cases: readonly Case[];
  /** Those that take part; with bare, unless it is not wanted. */
  readonly targets: readonly Target[];
  /** What is chosen and yet not measured. */
  readonly notes: readonly string[];
  readonly modes: readonly string[] | undefined;
  readonly roundMs: number;
  readonly repeats: number;
  readonly waitMs: number;
  readonly out: string | undefined;
  /** What was measured before; the rounds of those that are measured now are added. */
  readonly kept: Pick<Result, "cases" | "versions">;
  readonly isJson: boolean;
  readonly writes: boolean;
}

/** A file that `--out` has written. */
function readKept(file: string): Chosen["kept"] {
  try {
    const { cases: kept, versions = {} } = JSON.parse(readFileSync(file, "utf8")) as Partial<Result>;
    if (Array.isArray(kept)) return { cases: kept, versions };
  } catch (error) {
    throw new UsageError(`--from: ${(error as Error).message}`);
  }
  throw new UsageError(`--from: ${file} is none that --out has written`);
}

/** What to measure, or what to print instead. Throws a `UsageError`. */
export function readArguments(args: readonly string[]): Chosen | string {
  const options = parse(args);
  if (options.help) return usage;
  if (options.list) return list();
  const before = options.from === undefined ? { cases: [], versions: {} } : readKept(options.from);
  const isKept = ({ name }: Case): boolean => before.cases.some((one) => one.case === name);
  const chosen = choose("case", cases, options.case, (one) => !one.isExplicit && !isKept(one));
  const named = choose("target", targets, options.target, () => true);
  const modes = options.mode === undefined ? undefined : split(options.mode);
  if (modes) checkModes(modes, chosen, named);
  const isThere = (one: Case): boolean => one.isExplicit || chosen.includes(one) || isKept(one);
  const isFull = cases.every(isThere) && named.length === targets.length;
  if (options.write && (!isFull || modes || options["no-baseline"]))
    throw new UsageError("--write needs a full run: without --case, --target, --mode and --no-baseline.");
  const numbers = {
    roundMs: toNumber("ms", options.ms, 50, 600_000),
    repeats: toNumber("repeats", options.repeats ?? "3", 1, 100),
    waitMs: toNumber("wait", options.wait, 0, 3_600) * 1000,
  };
  const isNamed = (text: string | undefined): boolean => text !== undefined && text !== "all";
  const part = takePart(chosen, named, modes, isNamed(options.case) && isNamed(options.target));
  // In a full run, from which the page is made, a case keeps its own number of rounds.
  const isOverridden = options.repeats !== undefined && isNamed(options.case);
  return {
    cases: isOverridden ? part.cases.map((one) => ({ ...one, repeats: numbers.repeats })) : part.cases,
    targets: targets.filter(
      (target) => part.targets.includes(target) || (target.name === baselineName && !options["no-baseline"]),
    ),
    notes: part.notes,
    modes,
    ...numbers,
    out: options.out,
    kept: before,
    isJson: options.json,
    writes: options.write,
  };
}
