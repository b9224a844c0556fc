// What a load came to, for people and for programs.
import { toHarmless } from "../output.ts";
import type { Bucket } from "./histogram.ts";
import type { LoadPlan, Tally } from "./load.ts";

export interface ReportContext {
  /** What was called: a tool, or "ping". */
  readonly what: string;
  readonly target: string;
  readonly revision: string;
  readonly plan: LoadPlan;
  readonly isInterrupted: boolean;
}

const percents = { p50: 50, p90: 90, p99: 99, "p99.9": 99.9 } as const;

const toMs = (us: number): number => Math.round(us) / 1000;
const perSecond = ({ answered, elapsedMs }: Tally): number =>
  elapsedMs > 0 ? Math.round((answered / elapsedMs) * 100_000) / 100 : 0;

export function toReport(tally: Tally, { what, target, revision, plan, isInterrupted }: ReportContext) {
  const { latency } = tally;
  return {
    what,
    target,
    revision,
    concurrency: plan.concurrency,
    ...(plan.ratePerSecond !== undefined && { ratePerSecond: plan.ratePerSecond }),
    seconds: Math.round(tally.elapsedMs) / 1000,
    calls: tally.sent,
    answered: tally.answered,
    perSecond: perSecond(tally),
    toolErrors: tally.toolErrors,
    errors: Object.fromEntries([...tally.errors].map(([code, { count }]) => [code, count])),
    cancelled: tally.cancelled,
    ...(plan.ratePerSecond !== undefined && { unsent: tally.unsent }),
    isInterrupted,
    latencyMs: {
      min: toMs(latency.min),
      mean: toMs(latency.mean),
      ...Object.fromEntries(Object.entries(percents).map(([name, at]) => [name, toMs(latency.percentile(at))])),
      max: toMs(latency.max),
    },
    histogram: latency.buckets().map(({ from, to, count }) => ({ fromMs: toMs(from), toMs: toMs(to + 1), count })),
  };
}

export function formatNumber(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

const formatMs = (us: number): string => `${formatNumber(us / 1000)} ms`;

export function formatReport(tally: Tally, context: ReportContext): string {
  const { latency, sent, toolErrors, errors, cancelled, unsent } = tally;
  const { what, target, revision, plan } = context;
  const pace = plan.ratePerSecond === undefined ? "" : ` at ${formatNumber(plan.ratePerSecond)} per second`;
  const lines = [
    `${what} on ${target} (${revision}), ${plan.concurrency} at a time at most${pace}`,
    "",
    row("calls", `${formatNumber(sent)} in ${formatNumber(tally.elapsedMs / 1000)} s`),
    row("answered", `${formatNumber(tally.answered)}, ${formatNumber(perSecond(tally))} per second`),
    row("tool errors", formatNumber(toolErrors)),
    ...(errors.size === 0 ? [row("errors", "0")] : [...errors].map(([code, one]) => formatError(code, one))),
    ...(cancelled > 0 ? [row("cancelled", formatNumber(cancelled))] : []),
    ...(unsent > 0 ? [row("not sent", `${formatNumber(unsent)}, because all ${plan.concurrency} were waiting`)] : []),
  ];
  if (latency.count === 0) return toHarmless(lines.join("\n"));
  const times: readonly (readonly [string, number])[] = [
    ["min", latency.min],
    ...Object.entries(percents).map(([name, at]) => [name, latency.percentile(at)] as const),
    ["max", latency.max],
    ["mean", latency.mean],
  ];
  lines.push("", ...times.map(([name, us]) => row(name, formatMs(us))), "", ...formatBars(latency.buckets()));
  return toHarmless(lines.join("\n"));
}

const row = (name: string, text: string): string => `${name.padEnd(13)}${text}`;

function formatError(code: string, { count, message }: { readonly count: number; readonly message: string }): string {
  return row("errors", `${formatNumber(count)} × ${code}: ${message}`);
}

const barWidth = 40;
const maxBars = 16;

/** Bars for ranges that double: how the latencies are spread, slow ones too. */
function formatBars(buckets: readonly Bucket[]): string[] {
  const bars = new Map<number, number>();
  for (const { from, count } of buckets) {
    const power = from === 0 ? 0 : Math.floor(Math.log2(from));
    bars.set(power, (bars.get(power) ?? 0) + count);
  }
  const powers = [...bars.keys()];
  const [first, last] = [Math.min(...powers), Math.max(...powers)];
  const all = Array.from({ length: last - first + 1 }, (_, at) => first + at).slice(-maxBars);
  const most = Math.max(...bars.values());
  return all.map((power) => {
    const count = bars.get(power) ?? 0;
    // One that was seen is never drawn as nothing.
    const bar = "█".repeat(Math.round((count / most) * barWidth)) || (count > 0 ? "▏" : "");
    return `${`< ${formatMs(2 ** (power + 1))}`.padStart(12)} ${bar.padEnd(barWidth)} ${formatNumber(count)}`;
  });
}

/** One line while it runs. */
export function formatProgress(tally: Tally, { durationMs, requests }: LoadPlan): string {
  const { elapsedMs, latency, toolErrors, errors } = tally;
  const failed = toolErrors + [...errors.values()].reduce((sum, { count }) => sum + count, 0);
  const far =
    requests === undefined
      ? `${Math.floor(elapsedMs / 1000)} of ${formatNumber((durationMs ?? 0) / 1000)} s`
      : `${formatNumber(tally.sent)} of ${formatNumber(requests)} calls`;
  return `${far} · ${formatNumber(perSecond(tally))} per second · p50 ${formatMs(latency.percentile(50))} · p99 ${formatMs(latency.percentile(99))} · ${formatNumber(failed)} failed`;
}
