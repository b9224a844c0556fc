// The command line of the benchmark: what is chosen, and what is refused with a word about what there is.
import { parseArgs } from "node:util";
import { baselineName, type Case, type Target } from "./case.ts";
import { cases } from "./cases.ts";
import { targets } from "./targets.ts";

export const usage = `npm run bench -- [options]
  --case a,b       cases (all but those that must be named)
  --target a,b     targets (all); bare is measured with them
  --mode a,b       variants: modern-json, session-sse, … (all)
  --repeats 3      rounds
  --ms 2000        length of one load
  --wait 60        seconds per case to wait at most for a machine that nobody else uses
  --json           print JSON instead of the table
  --out file       write the JSON to a file as well
  --write          write docs/performance.md and docs/performance/results.json; needs all cases and targets
  --no-baseline    without bare, and so without ratios
  --list           the cases, the targets and their variants`;

/** What the user did wrong; shown without a stack. */
export class UsageError extends Error {}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        case: { type: "string" },
        target: { type: "string" },
        mode: { type: "string" },
        repeats: { type: "string", default: "3" },
        ms: { type: "string", default: "2000" },
        wait: { type: "string", default: "60" },
        json: { type: "boolean", default: false },
        out: { type: "string" },
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

function toNumber(option: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= least && Number.isFinite(value)) return value;
  throw new UsageError(`--${option} takes a number from ${least} on, not ${JSON.stringify(text)}`);
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
    const there = all.map(({ name }) => name).join(", ");
    throw new UsageError(`There is no ${kind} called ${unknown.join(", ") || '""'}. There are: ${there}.`);
  }
  return all.filter((one) => (names ? names.includes(one.name) : isDefault(one)));
}

function checkModes(modes: readonly string[], chosen: readonly Case[], wanted: readonly Target[]): void {
  const there = new Set(chosen.flatMap((one) => wanted.flatMap((target) => one.variants(target))));
  const unknown = modes.filter((mode) => !there.has(mode));
  if (unknown.length > 0)
    throw new UsageError(`Nothing here has the variant ${unknown.join(", ")}. There are: ${[...there].join("; ")}.`);
}

/** The cases and the targets, for a person. */
export function list(): string {
  const lines = cases.map(
    ({ name, help, isExplicit }) => `  ${name.padEnd(12)}${help}${isExplicit ? " (only when named)" : ""}`,
  );
  const variants = targets.map(
    (target) =>
      `  ${target.name.padEnd(12)}${target.title}: ${[...(target.stdio ? ["stdio"] : []), ...Object.keys(target.http ?? {})].join("; ")}`,
  );
  return `cases\n${lines.join("\n")}\n\ntargets\n${variants.join("\n")}`;
}

export interface Chosen {
  readonly cases: readonly Case[];
  /** With bare, unless it is not wanted. */
  readonly targets: readonly Target[];
  readonly modes: readonly string[] | undefined;
  readonly roundMs: number;
  readonly repeats: number;
  readonly waitMs: number;
  readonly out: string | undefined;
  readonly isJson: boolean;
  readonly writes: boolean;
}

/** What to measure, or what to print instead. Throws a `UsageError`. */
export function readArguments(args: readonly string[]): Chosen | string {
  const options = parse(args);
  if (options.help) return usage;
  if (options.list) return list();
  const chosen = choose("case", cases, options.case, ({ isExplicit }) => !isExplicit);
  const named = choose("target", targets, options.target, () => true);
  const modes = options.mode === undefined ? undefined : split(options.mode);
  if (modes) checkModes(modes, chosen, named);
  const isFull = cases.every((one) => one.isExplicit || chosen.includes(one)) && named.length === targets.length;
  if (options.write && (!isFull || modes || options["no-baseline"]))
    throw new UsageError("--write needs a full run: without --case, --target, --mode and --no-baseline.");
  return {
    cases: chosen,
    targets: targets.filter(
      (target) => named.includes(target) || (target.name === baselineName && !options["no-baseline"]),
    ),
    modes,
    roundMs: toNumber("ms", options.ms, 50),
    repeats: toNumber("repeats", options.repeats, 1),
    waitMs: toNumber("wait", options.wait, 0) * 1000,
    out: options.out,
    isJson: options.json,
    writes: options.write,
  };
}
