// The result of a run as one table for a terminal: a row for each case, variant and metric, a column for each target, ratios to
// bare in brackets.
import { baselineName, type Case } from "./case.ts";
import { cases } from "./cases.ts";
import { formatNumber } from "./drive/statistics.ts";
import { explain } from "./legend.ts";
import { type CaseResult, maxForeign, type Result, type Row } from "./result.ts";

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
function formatCell({ target, median, ratio, error }: Row, metric: string): string {
  if (error !== undefined) return "error";
  if (!(metric in median)) return "";
  const value = median[metric];
  if (value === null || value === undefined) return "–";
  const toBare = ratio[metric];
  const isOfBare = target === baselineName && toBare === 1;
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

/** A figure, with a mark if others disturbed it. */
export function formatMarked(one: CaseResult, row: Row, metric: string): string {
  const text = formatCell(row, metric);
  return typeof row.median[metric] === "number" && isDisturbed(one, row) ? `${text}${mark}` : text;
}

const mark = "*";

function isDisturbed({ case: name }: CaseResult, { foreign }: Row): boolean {
  return (foreign ?? 0) > maxForeign && !caseOf(name)?.isSteady;
}

const caseOf = (name: string): Case | undefined => cases.find((one) => one.name === name);

/** What was measured while others used the machine, or nothing. */
export function describeDisturbed(results: readonly CaseResult[]): string | undefined {
  let most = 0;
  const places = results.flatMap((one) => {
    const rows = one.rows.filter((row) => isDisturbed(one, row));
    most = Math.max(most, ...rows.map(({ foreign }) => foreign ?? 0));
    return rows.length > 0 ? [`${one.case} (${[...new Set(rows.map(({ target }) => target))].join(", ")})`] : [];
  });
  if (places.length === 0) return undefined;
  return `${mark} others used up to ${Math.round(most * 100)} % of the machine in: ${places.join(", ")}: measure again on a quiet one`;
}

const arrows = { high: " ↑", low: " ↓" };

function labelOf(one: CaseResult, variant: string, metric: string): string {
  const better = caseOf(one.case)?.better[metric];
  const parts = [one.case, ...(variant === one.case ? [] : [variant]), nameMetric(metric)];
  return `${parts.join(" · ")}${better ? arrows[better] : ""}`;
}

/** The variant of bare that the ratios of a row are of, if it is one of another name. */
function otherBase(one: CaseResult, variant: string): string | undefined {
  const base = one.rows.find((row) => row.variant === variant && row.baseline !== undefined)?.baseline;
  return base === variant ? undefined : base;
}

const find = (one: CaseResult, target: string, variant: string): Row | undefined =>
  one.rows.find((row) => row.target === target && row.variant === variant);

/** Bare's figure that the ratios beside it are of, where bare has no figure of that variant itself. */
function formatBase(one: CaseResult, variant: string, metric: string): string {
  const row = find(one, baselineName, otherBase(one, variant) ?? variant);
  const text = row && row.error === undefined ? formatMarked(one, { ...row, ratio: {} }, metric) : "";
  return text && `[${text}]`;
}

function describeBases(results: readonly CaseResult[]): string[] {
  const places = results.flatMap((one) => {
    const bases = new Set(one.rows.flatMap(({ variant }) => otherBase(one, variant) ?? []));
    return bases.size > 0 ? [`in ${one.case} to its ${[...bases].join(" or ")}`] : [];
  });
  if (places.length === 0) return [];
  return [
    `( ) is to bare's variant of the same name, but ${places.join(", ")}; [ ] is that figure, where bare has no such variant`,
  ];
}

function describeErrors(results: readonly CaseResult[]): string | undefined {
  const errors = results.flatMap(({ case: name, rows }) =>
    rows.flatMap(({ target, variant, error }) =>
      error === undefined ? [] : [`${name}, ${target}, ${variant}: ${error}`],
    ),
  );
  return errors.length > 0 ? `Errors:\n${errors.join("\n")}` : undefined;
}

export function formatTable({ cases: results, machine, date }: Result): string {
  const targets = targetsIn(results);
  const rows: string[][] = [["", ...targets]];
  for (const one of results) {
    for (const variant of new Set(one.rows.map((row) => row.variant))) {
      for (const metric of shown(one)) {
        const cells = targets.map((target) => {
          const row = find(one, target, variant);
          if (row) return formatMarked(one, row, metric);
          return target === baselineName ? formatBase(one, variant, metric) : "";
        });
        if (cells.some(Boolean)) rows.push([labelOf(one, variant, metric), ...cells]);
      }
    }
  }
  const hasRatios = rows.some((row) => row.some((text) => text.includes("×)")));
  const labels = rows.flatMap(([label = ""]) => label);
  const arrow = labels.some((label) => /[↑↓]$/.test(label)) ? ["↑ more is better, ↓ less is better"] : [];
  const ratios = hasRatios ? ", in ( ) the median of the ratios to bare of the same round" : "";
  return [
    `${date.slice(0, 10)}, ${machine.cores} × ${machine.cpu}, Node ${machine.node}; medians over the rounds${ratios}`,
    align(rows),
    describeDisturbed(results),
    describeErrors(results),
    [...arrow, ...(hasRatios ? describeBases(results) : []), ...explain([...labels, ...targets])].join("\n"),
  ]
    .filter(Boolean)
    .join("\n\n");
}
