// Measures Plenum, other SDKs and bare Node side by side, and prints one table.
//   npm run bench                                     everything; an hour or so
//   npm run bench -- --case http --target plenum      one case of one target, and bare
//   npm run bench -- --list                           what there is
//   npm run bench -- --write                          everything, and docs/performance.md from it
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ensureBuilt } from "../test/house/built.ts";
import { type Chosen, readArguments, UsageError } from "./arguments.ts";
import { writePage } from "./page.ts";
import { type CaseResult, describeMachine, type Result } from "./result.ts";
import { runCase } from "./rounds.ts";
import { formatTable } from "./table.ts";
import { prepare, versionsOf } from "./targets.ts";

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

function save(file: string, result: Result): void {
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, undefined, 1)}\n`);
}

async function measure(chosen: Chosen): Promise<Result> {
  const { cases, targets, roundMs, out } = chosen;
  if (targets.some(({ name }) => name === "plenum")) await ensureBuilt();
  for (const target of targets) await prepare(target);
  const done: CaseResult[] = [];
  const result: Result = {
    date: new Date().toISOString(),
    machine: describeMachine(),
    versions: Object.fromEntries(targets.map((target) => [target.name, versionsOf(target)])),
    roundMs,
    cases: done,
  };
  for (const one of cases) {
    log(`${one.name}: ${one.help}`);
    done.push(await runCase(one, targets, { ...chosen, log }));
    // After each case, so that a run that is ended leaves what it has.
    if (out) save(out, result);
  }
  return result;
}

async function main(): Promise<number> {
  const chosen = readArguments(process.argv.slice(2));
  if (typeof chosen === "string") {
    console.log(chosen);
    return 0;
  }
  const result = await measure(chosen);
  console.log(chosen.isJson ? JSON.stringify(result, undefined, 1) : formatTable(result));
  if (chosen.writes) log(`written: ${writePage(result).join(", ")}`);
  const failed = result.cases.flatMap(({ rows }) => rows).filter(({ error }) => error !== undefined);
  if (failed.length > 0) log(`${failed.length} failed: see above`);
  return failed.length > 0 ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
// What a case left behind must not keep the run from ending.
process.exit();
