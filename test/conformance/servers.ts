// The server's half of the official suite, against the everything server with answers of either kind.
import { type Answers, startEverything } from "./everything.ts";
import { judge } from "./judge.ts";
import { readSets } from "./sets.ts";
import { createFolder, readResults, runSuite } from "./suite.ts";
import type { Table } from "./table.ts";

const timeoutMs = 90_000;

export async function runServerScenarios(table: Table): Promise<void> {
  for (const answers of ["auto", "stream"] as const) await runAgainst(table, answers);
}

async function runAgainst(table: Table, answers: Answers): Promise<void> {
  const kind = answers === "auto" ? "JSON" : "SSE";
  const title = (revision: string, what: string): string => `server ${revision} ${kind} ${what}`;
  const sets = (await readSets("server")).filter(({ revision, scenarios }) =>
    scenarios.some(({ name }) => table.wants(title(revision, name))),
  );
  if (sets.length === 0) return;
  const everything = await startEverything(answers);
  try {
    for (const { revision, choice, scenarios } of sets) {
      const folder = createFolder(`server-${revision}-${kind}`);
      const { code, output } = await runSuite(["server", "--url", everything.url, ...choice, "-o", folder], timeoutMs);
      const results = readResults(folder, "server");
      for (const { name, isRequired } of scenarios) {
        const row = title(revision, name);
        if (!table.wants(row)) continue;
        const checks = results.get(name);
        const group = title(revision, isRequired ? "required" : "others");
        table.add(row, judge(name, checks, answers), { checks: checks?.length, group });
      }
      // By the suite's own measure, once more.
      const row = title(revision, "exit code");
      if (table.wants(row)) table.add(row, code === 0 ? [] : [`the suite ended with ${code}:\n${output.slice(-3000)}`]);
    }
  } finally {
    table.add(`server ${kind}: the process ends well`, await everything.end());
  }
}
