// `plenum bench`: how many calls a second, and how long they take.
import type { Client, JsonObject } from "plenum";
import { argumentForms, toArguments } from "../arguments.ts";
import { defineCommand } from "../command.ts";
import { exitCodes, Failure } from "../failure.ts";
import type { LoadPlan, MakeCall, Tally } from "../load-test/load.ts";
import { sessionOptions, withSession } from "../session.ts";

const defaults = { concurrency: 10, atRate: 100, seconds: 10, warmup: 1 };

export const command = defineCommand({
  name: "bench",
  summary: "Measure throughput and latency of a call",
  description: [
    "Calls one tool again and again over one connection, several calls at once, and tells how many were answered a second and how long they took: the percentiles p50, p90, p99 and p99.9, the greatest, and how all are spread. With --ping the server is asked whether it is there, in place of a tool.",
    argumentForms,
    "Without --rate each call is followed by the next as soon as it is answered. With --rate calls are due at fixed times whether or not the server keeps up, and a call's time counts from when it was due: what a server makes others wait for is not left out. Times are taken in this program and include its own work; a server in a file runs in this program too, and shares its CPU.",
    "Answers that report a tool's error are counted apart, and their times count; other errors are counted by kind, and their times do not. Ctrl-C ends it and shows what there is so far. What the server asks is answered by --answer and --yes, never in the terminal.",
    "A server at a URL that is not on this machine is only measured after you agreed, or with --yes. The tool is really called each time: choose one that may be.",
    "The exit code is 5 when every answer was a tool's error, 4 when there were other errors, 2 when the connection was lost.",
  ],
  arguments: [
    { name: "TARGET", summary: "the server" },
    { name: "TOOL", summary: "the name of the tool; not with --ping", isOptional: true },
    { name: "KEY=VALUE", summary: "the arguments of each call", isMany: true },
  ],
  options: {
    ...sessionOptions,
    concurrency: {
      kind: "number",
      short: "c",
      value: "N",
      summary: "At most so many calls at once",
      fallback: `${defaults.concurrency}; with --rate ${defaults.atRate}`,
    },
    duration: {
      kind: "number",
      short: "d",
      value: "SECONDS",
      summary: "For how long",
      fallback: String(defaults.seconds),
    },
    requests: { kind: "number", short: "n", value: "N", summary: "So many calls, however long it takes" },
    rate: { kind: "number", value: "PER_SECOND", summary: "So many calls a second" },
    warmup: {
      kind: "number",
      value: "SECONDS",
      summary: "Call without counting before it begins",
      fallback: `${defaults.warmup}; with --requests 0`,
    },
    ping: { kind: "flag", summary: "Measure pings in place of a tool" },
  },
  examples: [
    { command: "plenum bench server.ts add a=1 b=2", summary: "For ten seconds, ten calls at a time" },
    {
      command: "plenum bench http://127.0.0.1:3000/mcp search query=fjord --rate 200 --duration 30",
      summary: "200 calls a second, as real users come",
    },
    {
      command: "plenum bench --ping --requests 1000 --concurrency 1 --json -- node server.js",
      summary: "For a script",
    },
  ],
  async run(invocation) {
    const { output, signal, options, rest } = invocation;
    const plan = toPlan(options);
    const [what, words] = toCallee(invocation);
    if (!rest) {
      const [{ findTarget }, { assertConsent }] = await Promise.all([
        import("../target/find.ts"),
        import("../load-test/consent.ts"),
      ]);
      const spec = await findTarget(invocation.arguments.TARGET, rest, options);
      await assertConsent(spec, { isYes: options.yes, output, signal });
    }
    const { startLoad } = await import("../load-test/load.ts");
    const { formatProgress, formatReport, toReport } = await import("../load-test/report.ts");
    // Questions of many calls at once would be one on top of the other.
    const quiet = { ...invocation, output: { ...output, canAsk: false } };
    return withSession(quiet, async ({ client, spec }) => {
      const call = what === undefined ? toPing(client) : await toCall(client, what, words);
      const warmupMs = (options.warmup ?? (options.requests === undefined ? defaults.warmup : 0)) * 1000;
      if (warmupMs > 0) {
        output.status("Warming up …");
        await startLoad(call, { ...plan, requests: undefined, durationMs: warmupMs }, signal).ended;
      }
      const load = startLoad(call, plan, signal);
      const timer = setInterval(() => output.status(formatProgress(load.tally(), plan)), 500);
      const tally = await load.ended.finally(() => clearInterval(timer));
      output.status(undefined);
      const { revision } = client;
      const context = { what: what ?? "ping", target: spec.name, revision, plan, isInterrupted: signal.aborted };
      const [report, text] = [toReport(tally, context), formatReport(tally, context)];
      const verdict = judge(tally);
      if (!verdict) output.result(report, text);
      else output.badResult(report, text, { code: verdict.code, exitCode: verdict.exit, message: verdict.message });
      return signal.aborted ? exitCodes.interrupted : verdict?.exit;
    });
  },
});

function judge(tally: Tally): { readonly exit: number; readonly code: string; readonly message: string } | undefined {
  const { errors, answered, toolErrors, isLost } = tally;
  const [first] = errors;
  if (isLost) return { exit: exitCodes.unreachable, code: "connection_lost", message: "The connection was lost" };
  if (first) return { exit: exitCodes.protocol, code: first[0], message: first[1].message };
  if (answered === 0 || toolErrors < answered) return undefined;
  return { exit: exitCodes.tool, code: "tool_error", message: "Every answer was an error of the tool" };
}

interface PlanOptions {
  readonly concurrency: number | undefined;
  readonly duration: number | undefined;
  readonly requests: number | undefined;
  readonly rate: number | undefined;
  readonly warmup: number | undefined;
}

function toPlan({ concurrency, duration, requests, rate, warmup }: PlanOptions): LoadPlan {
  const between = (name: string, value: number | undefined, least: number, most: number, isWhole = false): void => {
    if (value === undefined || (value >= least && value <= most && !(isWhole && !Number.isInteger(value)))) return;
    throw new Failure("usage", `--${name} must be a ${isWhole ? "whole " : ""}number from ${least} to ${most}`, {
      code: "invalid_option",
      hint: "plenum bench --help explains it.",
    });
  };
  between("concurrency", concurrency, 1, 10_000, true);
  between("duration", duration, 0.001, 86_400);
  between("requests", requests, 1, 1_000_000_000, true);
  between("rate", rate, 0.001, 1_000_000);
  between("warmup", warmup, 0, 3600);
  if (duration !== undefined && requests !== undefined) {
    throw new Failure("usage", "--duration and --requests say two different ends", {
      code: "invalid_option",
      hint: "Give one of the two.",
    });
  }
  return {
    concurrency: concurrency ?? (rate === undefined ? defaults.concurrency : defaults.atRate),
    ...(requests === undefined ? { durationMs: (duration ?? defaults.seconds) * 1000 } : { requests }),
    ...(rate !== undefined && { ratePerSecond: rate }),
  };
}

/** The tool and its words; no tool for pings. */
function toCallee(invocation: {
  readonly arguments: { readonly [name: string]: string | undefined };
  readonly many: readonly string[];
  readonly options: { readonly ping: boolean };
}): readonly [what: string | undefined, words: readonly string[]] {
  const { TOOL } = invocation.arguments;
  if (invocation.options.ping === (TOOL === undefined)) return [TOOL, invocation.many];
  throw new Failure("usage", TOOL === undefined ? "bench needs TOOL" : "--ping calls no tool", {
    code: "missing_argument",
    hint: "It is used as: plenum bench TARGET TOOL [KEY=VALUE…], or plenum bench TARGET --ping",
  });
}

function toPing(client: Client): MakeCall {
  return async (signal) => {
    await client.ping({ signal });
    return false;
  };
}

async function toCall(client: Client, name: string, words: readonly string[]): Promise<MakeCall> {
  const tools = client.server.capabilities.tools ? await client.listTools().all() : [];
  const tool = tools.find((one) => one.name === name);
  if (!tool) {
    const { toUnknownTool } = await import("../unknown-tool.ts");
    throw toUnknownTool(
      name,
      tools.map((one) => one.name),
    );
  }
  const args = await toArguments(words, tool.inputSchema as JsonObject);
  return async (signal) => (await client.callTool(name, args, { signal })).isError;
}
