// Measures Plenum, other SDKs and bare Node side by side, and prints one table.
//   npm run bench                                     everything; an hour or so
//   npm run bench -- --case http --target plenum      one case of one target, and bare
//   npm run bench -- --list                           what there is
//   npm run bench -- --write                          everything, and docs/performance.md from it
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ensureBuilt } from "../test/house/built.ts";
import { type Chosen, readArguments, UsageError } from "./arguments.ts";
import type { Target } from "./case.ts";
import { cases } from "./cases.ts";
import { writePage } from "./page.ts";
import { type CaseResult, describeMachine, type Result } from "./result.ts";
import { addRounds, runCase } from "./rounds.ts";
import { formatTable } from "./table.ts";
import { prepare, versionsOf } from "./targets.ts";

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

function save(file: string, result: Result): void {
  writeFileSync(file, `${JSON.stringify(result, undefined, 1)}\n`);
}

/** Found out before an hour is measured, not after it. */
function checkOut(file: string): void {
  try {
    mkdirSync(dirname(resolve(file)), { recursive: true });
    closeSync(openSync(file, "a"));
  } catch (error) {
    throw new UsageError(`--out: ${(error as Error).message}`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Makes the targets ready; gives why some are not, by name. The others are measured all the same. */
async function prepareAll(targets: readonly Target[]): Promise<Map<string, string>> {
  const unready = new Map<string, string>();
  for (const target of targets) {
    try {
      await prepare(target);
    } catch (error) {
      unready.set(target.name, messageOf(error));
      log(`${target.name}: ${messageOf(error)}`);
    }
  }
  return unready;
}

async function measure(chosen: Chosen): Promise<Result> {
  const { targets, notes, roundMs, out, kept } = chosen;
  for (const note of notes) log(note);
  if (out) checkOut(out);
  if (targets.some(({ name }) => name === "plenum")) await ensureBuilt();
  const unready = await prepareAll(targets);
  const ready = targets.filter(({ name }) => !unready.has(name));
  const done: CaseResult[] = [];
  const result: Result = {
    date: new Date().toISOString(),
    machine: describeMachine(),
    versions: { ...kept.versions, ...Object.fromEntries(ready.map((target) => [target.name, versionsOf(target)])) },
    roundMs,
    cases: done,
  };
  for (const one of cases) {
    const before = kept.cases.find((result) => result.case === one.name);
    const mine = chosen.cases.find(({ name }) => name === one.name);
    if (!mine) {
      if (before) done.push(before);
      continue;
    }
    log(`${mine.name}: ${mine.help}`);
    const measured = await runCase(mine, targets, { ...chosen, unready, log });
    done.push(before ? addRounds(before, measured) : measured);
    // After each case, so that a run that is ended leaves what it has.
    if (out) save(out, result);
  }
  // With what was kept of cases behind the last.
  if (out) save(out, result);
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
  if (chosen.out) log(`written to ${chosen.out}`);
  if (chosen.writes) log(`written: ${writePage(result).join(", ")}`);
  const failed = result.cases.flatMap(({ rows }) => rows).filter(({ error }) => error !== undefined);
  if (failed.length > 0) log(`${failed.length} failed: see above`);
  return failed.length > 0 ? 1 : 0;
}

// What fails beside a cell, such as a connection that nobody waits for any more, must not end the run. A cell that waits for it
// fails when its time is over.
process.on("uncaughtException", (error) => log(`  beside the cells: ${error?.stack ?? error}`));

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
// What a case left behind must not keep the run from ending.
process.exit();
