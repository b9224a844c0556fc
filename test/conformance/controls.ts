// The judge judged: a server that is not there and a client that does nothing must fail in every scenario, and the suite's own
// servers must not be open to the network. And the programs that other referees start: over stdio, and over HTTP+SSE.
import { connect } from "plenum";
import { stdioTarget } from "plenum/stdio/client";
import { bundleProgram } from "../../scripts/program.mjs";
import { startEverything } from "./everything.ts";
import { judge } from "./judge.ts";
import { readSet } from "./sets.ts";
import { createFolder, readResults, runNode, runSuite } from "./suite.ts";
import type { Table } from "./table.ts";

type Control = () => Promise<string[]>;

const controls: { readonly [name: string]: Control } = {
  async "control: the suite's servers are bound to loopback"() {
    const script = `
      const servers = [[0], [], [{ port: 0 }]].map((where) => require("node:http").createServer().listen(...where));
      console.log(JSON.stringify(servers.map((server) => server.address().address)));
      for (const server of servers) server.close();`;
    const { code, output } = await runNode(["-e", script], 10_000);
    const wanted = JSON.stringify(Array(3).fill("127.0.0.1"));
    return code === 0 && output.trim() === wanted ? [] : [`${wanted} was expected, not ${output}`];
  },

  async "control: a server that is not there fails everywhere"() {
    const problems: string[] = [];
    for (const revision of ["2025-11-25", "2026-07-28"]) {
      const folder = createFolder(`control-${revision}`);
      // Nobody listens on the port that is not for TCP.
      await runSuite(["server", "--url", "http://localhost:1/mcp", "--requirements", revision, "-o", folder], 60_000);
      problems.push(...(await passedIn(folder, "server", revision)));
    }
    return problems;
  },

  async "control: a client that does nothing fails everywhere"() {
    const problems: string[] = [];
    for (const revision of ["2025-11-25", "2026-07-28"]) {
      const folder = createFolder(`control-${revision}`);
      const command = `${process.execPath} --version`;
      await runSuite(["client", "--command", command, "--requirements", revision, "-o", folder], 60_000);
      problems.push(...(await passedIn(folder, "client", revision)));
    }
    return problems;
  },

  async "program: stdio"() {
    const args = [await bundleProgram("test/conformance/server.ts"), "--stdio"];
    return callSimple(() => connect(stdioTarget({ command: process.execPath, args })));
  },

  async "program: HTTP+SSE"() {
    const everything = await startEverything("auto");
    const problems = await callSimple(() => connect(new URL("/sse", everything.url).href, { revision: "2024-11-05" }));
    return [...problems, ...(await everything.end())];
  },
};

async function passedIn(folder: string, side: "server" | "client", revision: string): Promise<string[]> {
  const results = readResults(folder, side);
  const { scenarios } = await readSet(side, revision);
  return scenarios
    .filter(({ name }) => judge(name, results.get(name)).length === 0)
    .map(({ name }) => `${name} of ${revision} has passed`);
}

async function callSimple(open: () => ReturnType<typeof connect>): Promise<string[]> {
  const client = await open();
  try {
    const { text } = await client.callTool("test_simple_text");
    return text === "This is a simple text response for testing." ? [] : [`the tool said ${text}`];
  } finally {
    await client.close();
  }
}

export async function runControls(table: Table): Promise<void> {
  for (const [name, control] of Object.entries(controls))
    if (table.wants(name)) table.add(name, await control().catch((error: unknown) => [String(error)]));
}
