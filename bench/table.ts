// The result of a run as one table for a terminal: a row for each case, variant and metric, a column for each target, ratios to
// bare in brackets.
import { formatNumber } from "./drive/statistics.ts";
import type { CaseResult, Result, Row } from "./result.ts";

/** How a metric is called where a person reads it, if not by its words. */
const names: { readonly [metric: string]: string } = {
  sequentialPerSecond: "alone, per second",
  sequentialP50Us: "alone, p50 µs",
  sequentialP99Us: "alone, p99 µs",
  sequentialCpuUs: "alone, CPU µs",
  resultMs: "10 MB result ms",
  argumentMs: "1 MB argument ms",
  fewCpuUs: "10 tools, CPU µs",
  manyCpuUs: "1,000 tools, CPU µs",
  scriptMb: "of scripts MB",
};

/** Words of a metric that are written in another way. */
const spellings: { readonly [word: string]: string } = { cpu: "CPU", rss: "RSS", us: "µs", kb: "kB", mb: "MB" };

export function nameMetric(metric: string): string {
  const words = metric.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(" ");
  return names[metric] ?? words.map((word) => spellings[word] ?? word).join(" ");
}

/** The metrics of a case, those that are compared first. */
export function metricsOf({ rows }: CaseResult): string[] {
  const compared = rows.flatMap(({ ratio }) => Object.keys(ratio));
  const all = rows.flatMap(({ median }) => Object.keys(median));
  return [...new Set([...compared, ...all])];
}

/** A value, and its ratio to bare if it has one. */
export function formatCell({ target, median, ratio, error }: Row, metric: string): string {
  if (error !== undefined) return "error";
  if (!(metric in median)) return "";
  const value = median[metric];
  if (value === null || value === undefined) return "–";
  const toBare = ratio[metric];
  const isOfBare = target === "bare" && toBare === 1;
  return toBare === undefined || toBare === null || isOfBare
    ? formatNumber(value)
    : `${formatNumber(value)} (${formatNumber(toBare)}×)`;
}

/** The names of the targets that a result has, bare first. */
export function targetsIn(cases: readonly CaseResult[]): string[] {
  return [...new Set(cases.flatMap(({ rows }) => rows.map(({ target }) => target)))];
}

/** Rows of text, all columns but the first to the right. */
function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Only what is compared, or all if nothing is. */
function shown(result: CaseResult): string[] {
  const compared = [...new Set(result.rows.flatMap(({ ratio }) => Object.keys(ratio)))];
  return compared.length > 0 ? compared : metricsOf(result);
}

export function formatTable({ cases, machine, date }: Result): string {
  const targets = targetsIn(cases);
  const rows: string[][] = [["", ...targets]];
  for (const one of cases) {
    for (const variant of new Set(one.rows.map((row) => row.variant))) {
      for (const metric of shown(one)) {
        const cells = targets.map((target) => {
          const row = one.rows.find((other) => other.target === target && other.variant === variant);
          return row ? formatCell(row, metric) : "";
        });
        if (cells.some(Boolean)) rows.push([`${one.case} · ${variant} · ${nameMetric(metric)}`, ...cells]);
      }
    }
  }
  const errors = cases.flatMap(({ case: name, rows: all }) =>
    all.flatMap(({ target, variant, error }) =>
      error === undefined ? [] : [`${name}, ${target}, ${variant}: ${error}`],
    ),
  );
  return [
    `${date.slice(0, 10)}, ${machine.cores} × ${machine.cpu}, Node ${machine.node}; medians, in brackets the ratio to bare of the same round`,
    align(rows),
    ...(errors.length > 0 ? [`Errors:\n${errors.join("\n")}`] : []),
  ].join("\n\n");
}
