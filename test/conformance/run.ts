// Runs the official conformance suite against the everything server and the everything client, compares the server's texts
// itself, and ends with one line: `N passed, M failed`. Nothing may fail, nothing is skipped, nothing is excused.
//   --json          the table as JSON on stdout, all else on stderr
//   --only TEXT     only rows that contain the text
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../house/source.ts";
import { runAuthorizationScenarios } from "./authorization.ts";
import { runClientScenarios } from "./clients.ts";
import { runControls } from "./controls.ts";
import { runServerScenarios } from "./servers.ts";
import { installSuite } from "./suite.ts";
import { createTable } from "./table.ts";
import { compareTexts } from "./texts.ts";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, only: { type: "string" } },
});

async function main(): Promise<boolean> {
  const write = values.json ? console.error : console.log;
  const table = createTable(write, values.only);
  const started = performance.now();
  try {
    await installSuite();
    await runControls(table);
    await compareTexts(table);
    await runServerScenarios(table);
    await runClientScenarios(table);
    await runAuthorizationScenarios(table);
  } catch (error) {
    // What cannot be run at all has failed.
    table.add("the run itself", [error instanceof Error ? (error.stack ?? error.message) : String(error)]);
  }
  const { rows, passed, failed } = table;
  write("");
  for (const line of table.summary()) write(line);
  write(`${((performance.now() - started) / 1000).toFixed(1)} s`);
  if (values.json) console.log(JSON.stringify({ passed, failed, rows }, null, 2));
  const runs = join(root, ".cache", "runs");
  mkdirSync(runs, { recursive: true });
  writeFileSync(join(runs, "conformance.json"), JSON.stringify({ passed, failed }));
  write(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0;
}

process.exitCode = (await main()) ? 0 : 1;
