// What Plenum is to reach, as data, and how a result is held against it: for the page and for the guard.
import type { Result } from "./result.ts";

export interface Goal {
  /** How the row is called on the page. */
  readonly title: string;
  readonly case: string;
  /** The variants that count, each target's own: the first of them that it has. */
  readonly variants: readonly string[];
  readonly metric: string;
  /** What the limit is held against: the metric itself, its ratio to bare of the same round, or to that of another target. */
  readonly of: "value" | "ratio" | { readonly target: string };
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Follows a value: kB, MB. */
  readonly unit?: string;
}

const modernJson = ["modern-json", "modern-auto", "modern-sse"];

export const goals: readonly Goal[] = [
  {
    title: "HTTP 2026-07-28, JSON answer, 64 in flight: server CPU / bare",
    case: "http",
    variants: modernJson,
    metric: "cpuUs",
    of: "ratio",
    atMost: 1.6,
  },
  {
    title: "HTTP session (2025-11-25), JSON answer: server CPU / bare",
    case: "http",
    variants: ["session-json"],
    metric: "cpuUs",
    of: "ratio",
    atMost: 1.6,
  },
  {
    title: "HTTP session (2025-11-25), SSE answer: server CPU / bare",
    case: "http",
    variants: ["session-sse"],
    metric: "cpuUs",
    of: "ratio",
    atMost: 2,
  },
  {
    title: "HTTP sessionless 2025: server CPU / bare",
    case: "http",
    variants: ["stateless-json", "stateless-sse"],
    metric: "cpuUs",
    of: "ratio",
    atMost: 1.6,
  },
  {
    title: "stdio, 64 in flight: server CPU / bare",
    case: "stdio",
    variants: ["stdio"],
    metric: "cpuUs",
    of: "ratio",
    atMost: 1.7,
  },
  {
    title: "in-process calls/s / bare",
    case: "inproc",
    variants: ["modern", "legacy"],
    metric: "perSecond",
    of: "ratio",
    atLeast: 0.35,
  },
  {
    title: "sessions created/s / bare",
    case: "sessions",
    variants: ["session-json", "session-sse"],
    metric: "perSecond",
    of: "ratio",
    atLeast: 0.6,
  },
  {
    title: "heap per idle session",
    case: "sessions",
    variants: ["session-json", "session-sse"],
    metric: "heapKb",
    of: "value",
    atMost: 1,
    unit: "kB",
  },
  {
    title: "cold start over stdio / bare",
    case: "cold",
    variants: ["stdio, JSON Schema", "stdio"],
    metric: "startMs",
    of: "ratio",
    atMost: 1.25,
  },
  ...(
    [
      ["plenum --version", 1.5],
      ["plenum call FILE.mjs", 2.5],
      ["plenum call FILE.ts", 2.5],
    ] as const
  ).map(
    ([variant, atMost]): Goal => ({
      title: `\`${variant}\`: CPU / \`node -e 0\``,
      case: "start",
      variants: [variant],
      metric: "cpuUs",
      of: "ratio",
      atMost,
    }),
  ),
  {
    title: "progress notifications/s / bare, stdio",
    case: "progress",
    variants: ["stdio"],
    metric: "perSecond",
    of: "ratio",
    atLeast: 0.8,
  },
  {
    title: "progress notifications/s / bare, HTTP",
    case: "progress",
    variants: ["session-sse"],
    metric: "perSecond",
    of: "ratio",
    atLeast: 0.7,
  },
  {
    title: "tools/list with 1,000 tools, requests/s / bare, stdio",
    case: "list",
    variants: ["stdio"],
    metric: "perSecond",
    of: "ratio",
    atLeast: 1.5,
  },
  {
    title: "tools/list with 1,000 tools, requests/s / bare, HTTP",
    case: "list",
    variants: ["session-json", "session-sse"],
    metric: "perSecond",
    of: "ratio",
    atLeast: 1.5,
  },
  {
    title: "cost of a call with 1,000 tools / with 10, HTTP",
    case: "calls",
    variants: [...modernJson, "session-json", "session-sse"],
    metric: "growth",
    of: "value",
    atMost: 1.1,
  },
  {
    title: "cost of a call with 1,000 tools / with 10, stdio",
    case: "calls",
    variants: ["stdio"],
    metric: "growth",
    of: "value",
    atMost: 1.1,
  },
  {
    title: "client HTTP JSON, 64 in flight: CPU / bare node:http",
    case: "client",
    variants: ["modern/http-json", "legacy/http-json"],
    metric: "cpuUs",
    of: "ratio",
    atMost: 2,
  },
  {
    title: "client stdio, 64 in flight: calls/s / bare",
    case: "client",
    variants: ["modern/stdio", "legacy/stdio"],
    metric: "perSecond",
    of: "ratio",
    atLeast: 0.7,
  },
  {
    title: "10 MB result, stdio: time / bare",
    case: "large",
    variants: ["stdio"],
    metric: "resultMs",
    of: "ratio",
    atMost: 1.15,
  },
  {
    title: "10 MB result, HTTP: time / bare",
    case: "large",
    variants: [...modernJson, "session-json", "session-sse"],
    metric: "resultMs",
    of: "ratio",
    atMost: 1.15,
  },
  {
    title: "1 MB argument, stdio: time / bare",
    case: "large",
    variants: ["stdio"],
    metric: "argumentMs",
    of: "ratio",
    atMost: 1.5,
  },
  {
    title: "1 MB argument, HTTP: time / bare",
    case: "large",
    variants: [...modernJson, "session-json", "session-sse"],
    metric: "argumentMs",
    of: "ratio",
    atMost: 1.5,
  },
  {
    title: "library installed: packages",
    case: "footprint",
    variants: ["all"],
    metric: "packages",
    of: "value",
    atMost: 8,
  },
  {
    title: "library installed: size",
    case: "footprint",
    variants: ["all"],
    metric: "mb",
    of: "value",
    atMost: 3,
    unit: "MB",
  },
  {
    title: "one-tool HTTP server bundle (edge), gzip",
    case: "bundle",
    variants: ["server"],
    metric: "gzipKb",
    of: "value",
    atMost: 25,
    unit: "kB",
  },
  {
    title: "client bundle, gzip",
    case: "bundle",
    variants: ["client"],
    metric: "gzipKb",
    of: "value",
    atMost: 25,
    unit: "kB",
  },
  {
    title: "`tsc` for 200 tools with zod: instantiations / official 2.x",
    case: "types",
    variants: ["200 tools"],
    metric: "instantiations",
    of: { target: "v2" },
    atMost: 0.5,
  },
];

export interface Reached {
  /** The variant that counted. */
  readonly variant: string;
  readonly value: number;
}

/** What a target reached, or nothing if it was not measured. */
export function reached(goal: Goal, { cases }: Result, target: string): Reached | undefined {
  const rows = cases.find((one) => one.case === goal.case)?.rows ?? [];
  for (const variant of goal.variants) {
    const find = (name: string) => rows.find((row) => row.target === name && row.variant === variant);
    const row = find(target);
    if (!row || row.error !== undefined) continue;
    let value = (goal.of === "ratio" ? row.ratio : row.median)[goal.metric];
    if (typeof goal.of === "object" && typeof value === "number")
      value /= find(goal.of.target)?.median[goal.metric] ?? Number.NaN;
    if (typeof value === "number" && Number.isFinite(value)) return { variant, value };
  }
  return undefined;
}

export function isMet({ atMost, atLeast }: Goal, value: number): boolean {
  return atMost === undefined ? value >= (atLeast ?? Number.NEGATIVE_INFINITY) : value <= atMost;
}
