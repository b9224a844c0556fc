// What docs/performance.md shows of the growth curves: the picture and the figures, from docs/performance/curves.json.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../test/house/source.ts";
import { formatNumber } from "./drive/statistics.ts";
import type { Machine } from "./result.ts";

export interface Cost {
  readonly perSecond: number;
  /** Of the server, for one call. */
  readonly cpuUs: number;
}

export interface Sides {
  readonly plenum: Cost;
  readonly bare: Cost;
}

export interface Point extends Sides {
  readonly x: number;
  /** What a call costs here by what it costs at the point before, where bare does not grow as much; 1 at the first. */
  readonly jump: number;
}

export interface Curve {
  readonly name: string;
  /** What grows: `tools`. */
  readonly title: string;
  readonly points: readonly Point[];
}

export interface Curves {
  readonly date: string;
  readonly machine: Machine;
  /** A jump above it would be a knee. */
  readonly maxJump: number;
  readonly curves: readonly Curve[];
}

/** A payload costs bare more, too, the larger it is: only what grows beyond that can be a knee. */
export function toPoints(x: readonly number[], sides: readonly Sides[]): Point[] {
  return sides.map(({ plenum, bare }, i) => {
    const before = sides[i - 1];
    const growth = before ? plenum.cpuUs / before.plenum.cpuUs : 1;
    const floor = before ? Math.max(1, bare.cpuUs / before.bare.cpuUs) : 1;
    return { x: x[i] as number, plenum, bare, jump: growth / floor };
  });
}

export const curvesFolder: string = join(root, "docs", "performance");
export const curvesFile: string = join(curvesFolder, "curves.json");

function tableOf({ title, points }: Curve): string {
  const lines = points.map(({ x, plenum, bare, jump }) => {
    const cells = [x, plenum.perSecond, plenum.cpuUs, bare.perSecond, bare.cpuUs].map(formatNumber);
    return `| ${cells.join(" | ")} | ${jump.toFixed(2)} |`;
  });
  return [
    `| ${title} | Plenum calls/s | µs CPU/call | bare calls/s | µs CPU/call | jump |`,
    "|---:|---:|---:|---:|---:|---:|",
    ...lines,
  ].join("\n");
}

/** Markdown; nothing if no curves were ever measured. */
export function curvesSection(): string | undefined {
  if (!existsSync(curvesFile)) return undefined;
  const { date, machine, maxJump, curves } = JSON.parse(readFileSync(curvesFile, "utf8")) as Curves;
  const worst = Math.max(...curves.flatMap(({ points }) => points.map(({ jump }) => jump)));
  const verdict =
    worst <= maxJump
      ? `There is none: the largest is ${worst.toFixed(2)}.`
      : `There is one: the largest is ${worst.toFixed(2)}.`;
  return `## Growth

![Calls per second and CPU per call against tools, sessions, payload and calls in flight](performance/curves.svg)

\`npm run bench:curves\`, ${date.slice(0, 10)}, ${machine.cores} × ${machine.cpu}, ${machine.platform}, Node ${machine.node}. Plenum answers over HTTP with JSON, 64 calls in flight where nothing else is said, bare beside it; each
point is the best of its rounds. The last column is what a call costs by what it costs one line above, divided by bare's growth where bare grows:
above ${maxJump} it would be a knee. ${verdict}

${curves.map(tableOf).join("\n\n")}
`;
}
