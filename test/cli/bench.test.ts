// `plenum bench` as a person and a script see it.
import { createServer } from "plenum";
import { serveHttp } from "plenum/http/node";
import { expect, onTestFinished, test } from "vitest";
import { fixture, libraryUrl, makeFolder, openTerminal, runCli } from "./stage.ts";

interface Report {
  readonly calls: number;
  readonly answered: number;
  readonly perSecond: number;
  readonly toolErrors: number;
  readonly errors: { readonly [code: string]: number };
  readonly revision: string;
  readonly latencyMs: { readonly [name: string]: number };
  readonly histogram: readonly { readonly fromMs: number; readonly toMs: number; readonly count: number }[];
}

const everything = fixture("everything.mjs");

async function bench(...words: string[]) {
  const ran = await runCli(["bench", ...words, "--json"]);
  const [envelope] = ran.json();
  return { ...ran, envelope, report: envelope?.result as Report };
}

test("tells throughput and percentiles of a call", async () => {
  const { code, envelope, report } = await bench(everything, "add", "a=1", "b=2", "--requests", "200");
  expect(code).toBe(0);
  expect(envelope?.ok).toBe(true);
  expect(report).toMatchObject({ calls: 200, answered: 200, toolErrors: 0, errors: {}, revision: "2026-07-28" });
  expect(report.perSecond).toBeGreaterThan(0);
  const { min, p50, p90, p99, "p99.9": p999, max } = report.latencyMs;
  const times = [min, p50, p90, p99, p999, max] as number[];
  expect(times.toSorted((a, b) => a - b)).toEqual(times);
  expect(report.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(200);
});

test("in words, for people", async () => {
  const { code, stdout } = await runCli(["bench", everything, "--ping", "-d", "0.2", "--warmup", "0.1", "-c", "2"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ping on everything\.mjs \(2026-07-28\), 2 at a time at most\n/);
  expect(stdout).toMatch(/answered +[\d,]+, [\d,.]+ per second\n/);
  for (const name of ["min", "p50", "p90", "p99", "p99.9", "max", "mean"])
    expect(stdout).toMatch(new RegExp(`^${name} +[\\d.,]+ ms$`, "m"));
  expect(stdout).toMatch(/< [\d.,]+ ms █+ +[\d,]+$/m);
});

test("a server at a URL on this machine, in a revision of one's choice", async () => {
  const server = createServer({ name: "here", version: "1.0.0" });
  let called = 0;
  server.tool("count", {}, () => String(++called));
  const serving = await serveHttp(server, { port: 0 });
  onTestFinished(() => serving.close());
  const { code, report } = await bench(serving.url, "count", "-n", "30", "--rate", "300", "--revision", "2025-06-18");
  expect({ code, called }).toEqual({ code: 0, called: 30 });
  expect(report).toMatchObject({ answered: 30, unsent: 0, ratePerSecond: 300, revision: "2025-06-18" });
});

test("all answers are errors of the tool: 5", async () => {
  const { code, envelope, report } = await bench(everything, "fail", "-n", "20");
  expect(code).toBe(5);
  expect(envelope).toMatchObject({ ok: false, error: { code: "tool_error" } });
  expect(report).toMatchObject({ answered: 20, toolErrors: 20, errors: {} });
});

test("errors of the protocol are counted by kind: 4", async () => {
  const folder = makeFolder({
    "some.mjs": `import { createServer, McpError } from "${libraryUrl()}";
      const server = createServer({ name: "some", version: "1.0.0" });
      let at = 0;
      server.tool("some", {}, () => "well");
      const call = async (given) => {
        if (given.method === "tools/call" && at++ % 2) throw new McpError("invalid_params", "Not this one");
        return server.call(given);
      };
      export default { ...server, call };`,
  });
  const { code, envelope, report } = await bench(`${folder}/some.mjs`, "some", "-n", "20");
  expect(code).toBe(4);
  expect(envelope).toMatchObject({ ok: false, error: { code: "peer_error -32602" } });
  expect(report).toMatchObject({ calls: 20, answered: 10, toolErrors: 0, errors: { "peer_error -32602": 10 } });
});

test("Ctrl-C shows what there is so far", async () => {
  const terminal = await openTerminal(["bench", everything, "slow", "ms=1", "-d", "600", "--warmup", "0"]);
  await terminal.until(/\d of 600 s · [\d.,]+ per second · p50/);
  terminal.type("\x03");
  await terminal.until(/answered +\d/);
  await terminal.until(/p99\.9 +\d/);
  expect(await terminal.exited).toBe(130);
});

test("a server that is not on this machine takes a yes", async () => {
  // Nobody listens there, and it is none of the names of this machine.
  const url = "http://0.0.0.0:9/mcp";
  const refused = await bench(url, "--ping", "-n", "1");
  expect(refused.code).toBe(1);
  expect(refused.envelope?.error).toMatchObject({ code: "no_consent" });
  expect(refused.stderr).toContain("--yes");
  expect((await bench(url, "--ping", "-n", "1", "--yes")).code).toBe(2);
  const terminal = await openTerminal(["bench", url, "--ping", "-n", "1"]);
  await terminal.until(/Put a load on 0\.0\.0\.0\?/);
  terminal.type("n\r");
  expect(await terminal.exited).toBe(1);
  const willing = await openTerminal(["bench", url, "--ping", "-n", "1"]);
  await willing.until(/\[y\/N\]/);
  willing.type("y\r");
  expect(await willing.exited).toBe(2);
});

test.each([
  [["add", "--requests", "5", "--duration", "5"], /Give one of the two/],
  [[], /bench needs TOOL/],
  [["add", "--ping"], /--ping calls no tool/],
  [["add", "a=1", "b=2", "--concurrency", "0"], /whole number from 1/],
  [["add", "a=1", "b=2", "--rate", "0"], /--rate must be/],
  [["ad", "-n", "1"], /Did you mean "add"\?/],
])("says what is wrong with %j", async (words, said) => {
  const { code, stderr } = await bench(everything, ...words);
  expect(code).toBe(words[0] === "ad" ? 4 : 1);
  expect(stderr).toMatch(said);
});
