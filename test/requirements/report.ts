// npm run requirements: which requirements of the catalog the tests cover, by topic, level and revision, and whether
// that is enough. Runs the tests itself where no result of the present files is kept.
//   --fresh         run all tests, whatever is kept
//   --cached        use what is kept, however old
//   --list TOPIC    every requirement of a topic with its state (may be repeated)
//   --uncovered     every missing requirement in full, not only its name; with --list, only the missing ones
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { type Entry, folder, loadCatalog } from "./catalog.ts";
import * as coverage from "./coverage.ts";
import { digestTree, projects, type Run, readRun } from "./runs.ts";

function runTests(stale: readonly string[]): void {
  const root = join(folder, "..", "..");
  console.log(`requirements: running the tests of ${stale.join(" and ")}\n`);
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const filters = stale.flatMap((project) => ["--project", project]);
  const reporters = ["--reporter=dot", "--reporter=./test/requirements/reporter.ts"];
  const args = [vitest, "run", "--allowOnly=false", "--passWithNoTests", ...filters, ...reporters];
  spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
}

function readExemptions(): coverage.Exemption[] {
  const path = join(folder, "exempt.yaml");
  return existsSync(path) ? ((parse(readFileSync(path, "utf8")) ?? []) as coverage.Exemption[]) : [];
}

function printTable(name: string, lines: readonly coverage.Line[]): void {
  const columns: readonly coverage.State[] = ["covered", "exempt", "missing", "beyond", "free"];
  console.log(`\n${name.padEnd(28)}${columns.map((column) => column.padStart(9)).join("")}`);
  for (const { title, counts } of lines) {
    const cells = columns.map((column) => (counts[column] === 0 ? "·" : String(counts[column])).padStart(9));
    console.log(`${title.padEnd(28)}${cells.join("")}`);
  }
}

/** The states of one entry, in short: one word if all its revisions agree. */
function describeStates(states: readonly coverage.Judged[]): string {
  const kinds = [...new Set(states.map(({ state }) => state))];
  if (kinds.length === 1) return kinds[0] ?? "";
  const inState = (kind: coverage.State): string =>
    states.flatMap(({ revision, state }) => (state === kind ? [revision] : [])).join(" ");
  return kinds.map((kind) => `${kind}: ${inState(kind)}`).join("; ");
}

function printEntry(entry: Entry, state: string): void {
  console.log(`\n${entry.id}  (${entry.level}, ${entry.role}; ${entry.revisions.join(" ")})`);
  console.log(`  ${state}`);
  console.log(`  ${entry.requirement}\n  Check: ${entry.check}`);
}

function listTopic(topic: string, judged: readonly coverage.Judged[], onlyMissing: boolean): void {
  const ofTopic = judged.filter(({ entry }) => entry.topic === topic);
  if (ofTopic.length === 0) throw new Error(`no such topic: ${topic}`);
  for (const entry of new Set(ofTopic.map((one) => one.entry))) {
    const states = ofTopic.filter((one) => one.entry === entry);
    if (!onlyMissing || states.some(({ state }) => state === "missing")) printEntry(entry, describeStates(states));
  }
}

function printMissing(judged: readonly coverage.Judged[], inFull: boolean): void {
  const missing = coverage.missingEntries(judged);
  if (missing.length === 0) return;
  console.log(`\nMissing (${missing.length} requirements):`);
  for (const { entry, revisions } of missing) {
    if (inFull) printEntry(entry, `missing: ${revisions.join(" ")}`);
    else console.log(`  ${entry.id.padEnd(52)} ${entry.level.padEnd(10)} ${revisions.join(" ")}`);
  }
}

function main(): number {
  const { values } = parseArgs({
    options: {
      fresh: { type: "boolean", default: false },
      cached: { type: "boolean", default: false },
      list: { type: "string", multiple: true },
      uncovered: { type: "boolean", default: false },
    },
  });
  const digest = digestTree();
  const stale = projects.filter((project) => values.fresh || readRun(project)?.digest !== digest);
  if (stale.length > 0 && !values.cached) runTests(stale);
  const runs = projects.flatMap((project): Run | Run[] => readRun(project) ?? []);
  const covers = runs.flatMap((run) => run.covers);
  const { judged, problems, met } = coverage.judge(loadCatalog(), covers, readExemptions());

  if (values.list !== undefined) {
    for (const topic of values.list) listTopic(topic, judged, values.uncovered);
    return 0;
  }
  console.log("Requirements of the protocol, each counted once for every revision in which it holds.");
  console.log("covered: by a passed test. exempt: with a reason in exempt.yaml.");
  console.log("beyond: covered, though not asked for yet. free: not asked for yet, or not observable.");
  const revisions = [...new Set(judged.map(({ revision }) => revision))].sort();
  printTable(
    "topic",
    coverage.tabulate(judged, ({ entry }) => entry.topic, coverage.gateTopics),
  );
  printTable(
    "level",
    coverage.tabulate(judged, ({ entry }) => entry.level, coverage.levelOrder),
  );
  printTable(
    "revision",
    coverage.tabulate(judged, ({ revision }) => revision, revisions),
  );
  printMissing(judged, values.uncovered);

  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  const complaints = [...problems];
  if (failed > 0) complaints.push(`${failed} tests failed; what they cover does not count`);
  for (const project of projects)
    if (!runs.some((run) => run.project === project)) complaints.push(`no result of the ${project} tests`);
  for (const complaint of complaints) console.error(`\nrequirements: ${complaint}`);
  const good = met && complaints.length === 0;
  console.log(good ? "\nEverything that is asked for is covered." : "\nNot everything that is asked for is covered.");
  return good ? 0 : 1;
}

// Piped into a program that reads only the beginning, there is nobody left to print for.
process.stdout.on("error", () => process.exit(1));
process.exitCode = main();
