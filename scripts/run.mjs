// Runs what must hold, step by step, and stops at the first step that does not:
//   check   format, lint, types, build, budgets, unit tests with the layer and exports tests
//   test    check, then the suites, those of the features once more over HTTP, the official conformance suite, the
//           generated pages and the requirements
// The last line is `N passed, N failed`: tests, and a failed step that runs no tests counts as one.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const runs = join(root, ".cache", "runs");
const totals = { passed: 0, failed: 0 };

function node(...args) {
  return spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status === 0;
}

const bin = (...path) => join(root, "node_modules", ...path);
const tsx = ["--conditions=plenum-source", "--import", "tsx"];

/**
 * Runs what leaves a count in .cache/runs. That nothing passed is a failure too: a suite that is gone must not look like a
 * good one.
 */
function counted(name, ...args) {
  const result = join(runs, `${name}.json`);
  rmSync(result, { force: true });
  const ended = node(...args);
  if (!existsSync(result)) {
    console.error(`the ${name} tests left no result`);
    return false;
  }
  const { passed, failed } = JSON.parse(readFileSync(result, "utf8"));
  totals.passed += passed;
  totals.failed += failed;
  if (passed + failed === 0) console.error(`no test of ${name} ran`);
  return ended && failed === 0 && passed > 0;
}

/** Runs one vitest project. */
function tests(project) {
  const reporters = ["--reporter=default", "--reporter=./test/requirements/reporter.ts"];
  return counted(project, bin("vitest", "vitest.mjs"), "run", "--project", project, "--allowOnly=false", ...reporters);
}

const check = [
  ["format and lint", () => node(bin("@biomejs", "biome", "bin", "biome"), "check", ".")],
  ["types: tests, examples, scripts", () => node(bin("typescript", "bin", "tsc"), "-p", "tsconfig.json")],
  [
    "types: rooms that know no platform",
    () => node(bin("typescript", "bin", "tsc"), "-p", "packages/plenum/tsconfig.neutral.json"),
  ],
  ["types and build: library", () => node("scripts/build.mjs")],
  // By itself: what else the machine does would weigh on the measure.
  ["budgets: size and import", () => tests("budget")],
  ["unit tests", () => tests("unit")],
];

/** The feature suites over each kind of HTTP: see vitest.config.ts. */
const overHttp = ["suite-http", "suite-http-stream", "suite-web", "suite-web-stream", "suite-sessionless"];

const test = [
  ...check,
  ["suites", () => tests("suite")],
  ...overHttp.map((project) => [`suites over HTTP: ${project}`, () => tests(project)]),
  ["conformance", () => counted("conformance", ...tsx, "test/conformance/run.ts")],
  [
    "generated pages are current",
    () => ["protocol", "cli"].every((name) => node(...tsx, `scripts/${name}-page.ts`, "--check")),
  ],
  ["requirements", () => node(...tsx, "test/requirements/report.ts", "--cached")],
];

function run(steps) {
  const started = performance.now();
  const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
  for (const [index, [title, step]] of steps.entries()) {
    const stepStarted = performance.now();
    console.log(`\n[${index + 1}/${steps.length}] ${title}`);
    const failedBefore = totals.failed;
    if (!step()) {
      if (totals.failed === failedBefore) totals.failed += 1;
      console.error(`\nfailed: ${title} (${seconds(stepStarted)})`);
      return 1;
    }
    console.log(`ok: ${title} (${seconds(stepStarted)})`);
  }
  console.log(`\nall ${steps.length} steps are good (${seconds(started)})`);
  return 0;
}

const steps = { check, test }[process.argv[2]];
if (steps) {
  rmSync(runs, { recursive: true, force: true });
  process.exitCode = run(steps);
  console.log(`${totals.passed} passed, ${totals.failed} failed`);
} else {
  console.error("usage: node scripts/run.mjs check|test");
  process.exitCode = 2;
}
