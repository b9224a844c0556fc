// Writes docs/performance.md from the result of one full run, the goals, and what bench/limits.md says of those that are not met.
//   npm run bench -- --write                                  measures, then writes
//   node --import tsx bench/page.ts [result.json]             writes again, from a result or from the one that is kept
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../test/house/source.ts";
import { curvesSection } from "./curves-section.ts";
import { formatNumber } from "./drive/statistics.ts";
import { type Goal, goals, isMet, reached } from "./goals.ts";
import { type CaseResult, type Result, toCompact } from "./result.ts";
import { describeDisturbed, formatMarked, metricsOf, nameMetric, targetsIn } from "./table.ts";
import { targets } from "./targets.ts";

const folder = join(root, "docs", "performance");
const page = join(root, "docs", "performance.md");
const kept = join(folder, "results.json");
const limits = join(import.meta.dirname, "limits.md");

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const marks = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [row(head), row(marks), ...rows.map(row)].join("\n");
}

const titleOf = (name: string): string => targets.find((target) => target.name === name)?.title ?? name;

function formatLimit({ atMost, atLeast, unit = "" }: Goal): string {
  return `${atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`} ${unit}`.trim();
}

function formatGoals(result: Result): string {
  const peers = targetsIn(result.cases).filter((name) => name !== "bare" && name !== "plenum");
  const rows = goals.map((goal) => {
    const cell = (name: string): string => {
      const found = reached(goal, result, name);
      return found ? `${formatNumber(found.value)} ${goal.unit ?? ""}`.trim() : "";
    };
    const ours = reached(goal, result, "plenum");
    const verdict = ours ? (isMet(goal, ours.value) ? "met" : "**not met**") : "not measured";
    return [goal.title, formatLimit(goal), cell("plenum"), verdict, ...peers.map(cell)];
  });
  return table(["case", "goal", "Plenum", "", ...peers.map(titleOf)], rows);
}

/** Names of methods stay as they are. */
const toSentence = (help: string): string =>
  /^\w+\//.test(help) ? `${help}.` : `${help.charAt(0).toUpperCase()}${help.slice(1)}.`;

/** One table: a row for each variant, a column for each metric; rows of one variant stand together. */
function formatCase(one: CaseResult): string {
  const metrics = metricsOf(one);
  const variants = [...new Set(one.rows.map(({ variant }) => variant))];
  const rows = variants.flatMap((variant) =>
    one.rows
      .filter((other) => other.variant === variant)
      .map((other) => [variant, titleOf(other.target), ...metrics.map((metric) => formatMarked(one, other, metric))]),
  );
  const what = `${toSentence(one.help)} ${one.rounds === 1 ? "One round" : `Medians of ${one.rounds} rounds`}.`;
  return `### ${one.case}\n\n${what}\n\n${table(["variant", "", ...metrics.map(nameMetric)], rows)}`;
}

/** The line of the table, with its star kept from being the mark of a list. */
function formatDisturbed({ cases }: Result): string {
  const text = describeDisturbed(cases);
  return text ? `\n\\${text}.\n` : "";
}

function formatVersions({ versions }: Result): string {
  const all = Object.entries(versions).map(([name, packages]) => {
    const list = Object.entries(packages).map(([one, version]) => `${one} ${version}`);
    return list.length > 0 ? `- ${titleOf(name)}: ${list.join(", ")}` : undefined;
  });
  return all.filter(Boolean).join("\n");
}

function formatUnmet(result: Result): string {
  const unmet = goals.filter((goal) => {
    const ours = reached(goal, result, "plenum");
    return ours && !isMet(goal, ours.value);
  });
  const text = existsSync(limits) ? readFileSync(limits, "utf8").trim() : "";
  if (unmet.length === 0) return "";
  return `\n## What is not met, and why\n\n${unmet.map(({ title }) => `- ${title}`).join("\n")}\n${text && `\n${text}\n`}`;
}

/** Measured by itself: curves.ts. */
function formatGrowth(): string {
  const section = curvesSection();
  return section ? `${section}\n` : "";
}

export function formatPage(result: Result): string {
  const { date, machine, roundMs } = result;
  return `<!-- Made by \`npm run bench -- --write\` from performance/results.json, bench/goals.ts and bench/limits.md. Do not edit by hand. -->
# Performance

Plenum beside bare Node and beside other SDKs, measured on ${date.slice(0, 10)}: ${machine.cores} cores (${machine.cpu}), ${machine.platform}, Node ${machine.node}.
*Bare* is what Node itself costs: \`node:http\` or a loop over lines, \`JSON.parse\`, a look-up, \`JSON.stringify\`; no validation, no checks, no limits. It is a
floor, not a rival. Plenum was measured with everything on that is on by default: validation of messages and arguments, sessions, checks of Origin and Host,
limits.

${formatVersions(result)}

## Goals

"/ bare" is the ratio to bare in the same round.

${formatGoals(result)}
${formatUnmet(result)}
## Figures

In brackets the ratio to bare. CPU is that of the process under test for one call, in µs; of a client, that of the client's process. *Alone* is one call
after the other.
${formatDisturbed(result)}
${result.cases.map(formatCase).join("\n\n")}

${formatGrowth()}## How it was measured

- Servers and clients under test are plain programs in processes of their own, on the built library; the driver is another process. It speaks HTTP/1.1 over
  raw sockets and lines over pipes, and looks at every answer: a wrong one is an error, not a figure.
- All targets are set up first and then measured in turn, round after round, ${roundMs} ms for a load. A figure is the median over the rounds; a ratio is that to bare
  *of the same round*, and then the median. HTTP is compared with bare's JSON answers, whatever the mode, but for progress, which is compared with its streams.
- Calls over HTTP, sessions, large payloads and pairs in one process are compared with bare measured *right before*, since the machine's speed changes within a round;
  for calls over HTTP and for sessions every round has new processes.
- CPU time is read from the kernel. The driver waits for a machine that nobody else uses, and measures again where others took more than a tenth of it.
- All servers offer the same five tools with schemas of zod 4, registered in the cheapest way that each SDK has. Clients all call the bare server.
- Rates on a shared machine move by a third from run to run; ratios and CPU times by less. Differences below 1.3 between two targets are no findings.

## What is not comparable

- Plenum thins progress to 100 notifications a second and gives lists in pages of 250 by default; the others do neither. For these cases it was told to send all
  (\`progressPerSecond\`) and to use one page (\`pageSize: 5000\`).
- Cold start: importing zod alone takes about 50 ms, which is nobody's SDK. \`stdio\` is with zod for all; \`stdio, JSON Schema\` is Plenum (\`plenum/tools\`) with schemas
  written as plain JSON Schema, which the goal is about. The others were measured with zod, as their documentation shows them.
- Official 1.x behind its Express app refuses an argument of 1 MB (HTTP 413). tmcp and @hono/mcp have no client; @hono/mcp has no stdio of its own. fastmcp does not speak
  2026-07-28. tmcp answers \`initialize\` for 2025-11-25 with 2025-06-18. The pair in memory of official 2.x speaks 2025 only.
- Official 2.x has no JSON mode for 2025 without sessions, and \`modern-auto\` is its JSON answer for 2026-07-28.
- fastmcp waits: a millisecond after every call, and up to a second in \`initialize\` over HTTP. In 15 s fewer sessions were made than wanted.

## Running it

\`\`\`sh
npm run bench                                    # everything, as one table; it needs Linux for CPU times and memory
npm run bench -- --case http --target plenum     # one case of one target, beside bare
npm run bench -- --list                          # cases, targets
npm run bench -- --json --out result.json        # the same as JSON
npm run bench -- --write                         # this page, from a full run
npm run bench:curves                             # the growth curves
\`\`\`

The packages of the other SDKs are installed into \`.cache\` when they are first measured (\`bench/peers\`). The figures of this page are kept in
[performance/results.json](performance/results.json).
`;
}

/** Writes the page and keeps the data; gives what was written. */
export function writePage(result: Result): string[] {
  mkdirSync(folder, { recursive: true });
  writeFileSync(kept, `${JSON.stringify(toCompact(result), undefined, 2)}\n`);
  writeFileSync(page, formatPage(result));
  return ["docs/performance.md", "docs/performance/results.json"];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = JSON.parse(readFileSync(process.argv[2] ?? kept, "utf8")) as Result;
  console.log(`written: ${writePage(given).join(", ")}`);
}
