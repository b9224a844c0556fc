// The client's half of the official suite: the everything client in all scenarios at once, as the suite runs a set, and in
// each alone, where its exit code and its time count too.
import { bundleProgram } from "../../scripts/program.mjs";
import { judge } from "./judge.ts";
import { readSets, type Scenario, type ScenarioSet } from "./sets.ts";
import { createFolder, readResults, runSuite } from "./suite.ts";
import type { Table } from "./table.ts";

const clientMs = 20_000;
/** All at once, on a machine that may have two cores. */
const togetherMs = 60_000;
const timeoutMs = 120_000;

export async function runClientScenarios(table: Table): Promise<void> {
  const command = `${process.execPath} ${await bundleProgram("test/conformance/client.ts")}`;
  const within = (ms: number): string[] => ["client", "--command", command, "--timeout", String(ms)];
  for (const set of await readSets("client")) {
    await runTogether(table, set, within(togetherMs));
    await runAlone(table, set, within(clientMs));
  }
}

async function runTogether(
  table: Table,
  { revision, choice, scenarios }: ScenarioSet,
  common: string[],
): Promise<void> {
  const title = (what: string): string => `client ${revision} together ${what}`;
  if (!scenarios.some(({ name }) => table.wants(title(name)))) return;
  const folder = createFolder(`client-${revision}`);
  await runSuite([...common, ...choice, "-o", folder], timeoutMs);
  const results = readResults(folder, "client");
  for (const scenario of scenarios) {
    const { name } = scenario;
    if (!table.wants(title(name))) continue;
    const checks = results.get(name);
    table.add(title(name), judge(name, checks), { checks: checks?.length, group: title(groupOf(scenario)) });
  }
}

async function runAlone(table: Table, { revision, scenarios }: ScenarioSet, common: string[]): Promise<void> {
  for (const scenario of scenarios) {
    const { name, isExtension } = scenario;
    const title = (what: string): string => `client ${revision} alone ${what}`;
    if (!table.wants(title(name))) continue;
    const folder = createFolder(`client-${revision}-alone`);
    const choice = ["--scenario", name, "--spec-version", revision, ...(isExtension ? ["--force"] : [])];
    const { code, output } = await runSuite([...common, ...choice, "-o", folder], timeoutMs);
    const checks = readResults(folder, "client").get(name);
    const group = title(groupOf(scenario));
    table.add(title(name), [...judge(name, checks), ...exitProblems(code, output)], { checks: checks?.length, group });
  }
}

function groupOf({ isRequired, isExtension }: Scenario): string {
  return isRequired ? "required" : isExtension ? "extensions" : "others";
}

/** The suite forgives some scenarios a client that fails. This client has no reason to. */
function exitProblems(code: number | null, output: string): string[] {
  const isBad = code !== 0 || /^Client (exited with code|timed out)/m.test(output);
  return isBad ? [`the suite ended with ${code}:\n${output.slice(-3000)}`] : [];
}
