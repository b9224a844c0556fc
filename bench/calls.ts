// Calls per second in memory, with 1 and with 1,000 tools: the cost of a call must not grow with their number.
// CPU time per call, interleaved rounds, medians; `--check` fails when the ratio is 1.2 or more.
import { createServer, type Revision, revisions } from "plenum";
import { createMemoryPair } from "plenum/memory";
import { serve } from "plenum/protocol";
import { z } from "zod";
import { formatMessage, type Incoming, type Message } from "../packages/plenum/src/jsonrpc/message.ts";

const calls = 20_000;
const rounds = 9;
const inFlight = 64;

type Call = () => Promise<unknown>;

/** A client that does as little as possible: what is measured is the server. */
async function connect(tools: number, revision: Revision): Promise<Call> {
  const server = createServer({ name: "bench", version: "1.0.0" });
  for (let i = 0; i < tools; i++) {
    server.tool(`echo${i}`, { description: "Echo", input: z.object({ text: z.string() }) }, ({ text }) => text);
  }
  const [near, far] = createMemoryPair();
  serve(server, far);
  const waiting = new Map<unknown, (value: unknown) => void>();
  near.open({
    receive: (incoming: Incoming) => {
      if (incoming.kind !== "response") return;
      waiting.get(incoming.message.id)?.(incoming.message);
      waiting.delete(incoming.message.id);
    },
    closed: () => {},
  });
  let nextId = 1;
  const request = (method: string, params: object): Promise<unknown> => {
    const id = nextId++;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      near.send({ jsonrpc: "2.0", id, method, params } as Message);
    });
  };
  const isStateless = revision === "2026-07-28";
  const meta = {
    _meta: { "io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": {} },
  };
  if (!isStateless) {
    await request("initialize", {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    });
    near.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }
  const params = { name: `echo${tools - 1}`, arguments: { text: "hello" }, ...(isStateless ? meta : undefined) };
  const check = JSON.stringify(await request("tools/call", params));
  if (!check.includes('"text":"hello"')) throw new Error(`The call went wrong: ${check}`);
  return () => request("tools/call", params);
}

/** The same traffic with nothing behind it: JSON there and back. */
function bare(): Call {
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "echo", arguments: { text: "hello" } },
  };
  const answer = { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "hello" }] } };
  return async () => {
    JSON.parse(formatMessage(message as Message));
    await undefined;
    return JSON.parse(formatMessage(answer as Message));
  };
}

async function measure(call: Call): Promise<{ cpu: number; perSecond: number }> {
  const before = process.cpuUsage();
  const start = performance.now();
  let left = calls;
  const work = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / calls, perSecond: (calls / (performance.now() - start)) * 1000 };
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] as number;

let worst = 0;
console.log(`${calls} calls a round, ${rounds} rounds, ${inFlight} in flight, in memory; medians\n`);
console.log("revision     tools   calls/s   CPU µs/call   to bare");
for (const revision of [revisions[0], revisions.at(-1)] as Revision[]) {
  const targets = { bare: bare(), one: await connect(1, revision), many: await connect(1000, revision) };
  const taken: { [name: string]: { cpu: number; perSecond: number }[] } = { bare: [], one: [], many: [] };
  for (const call of Object.values(targets)) await measure(call); // warm
  for (let round = 0; round < rounds; round++) {
    for (const [name, call] of Object.entries(targets)) taken[name]?.push(await measure(call));
  }
  const cpu = (name: string): number => median((taken[name] ?? []).map((m) => m.cpu));
  for (const [name, tools] of [
    ["bare", "-"],
    ["one", "1"],
    ["many", "1000"],
  ] as const) {
    const perSecond = Math.round(median((taken[name] ?? []).map((m) => m.perSecond)));
    console.log(
      `${revision}  ${tools.padStart(5)}  ${String(perSecond).padStart(8)}  ${cpu(name).toFixed(2).padStart(12)}  ${(cpu(name) / cpu("bare")).toFixed(2).padStart(8)}`,
    );
  }
  // Each round's ratio, so that what disturbs one round disturbs both sides of its ratio.
  const ratio = median((taken.many ?? []).map((m, i) => m.cpu / (taken.one?.[i]?.cpu ?? Number.NaN)));
  console.log(`${revision}  1000 tools to 1: ${ratio.toFixed(3)}\n`);
  worst = Math.max(worst, ratio);
}
if (process.argv.includes("--check") && !(worst < 1.2)) {
  console.error(`The cost of a call grows with the number of tools: ratio ${worst.toFixed(3)}, at most 1.2 is allowed`);
  process.exitCode = 1;
}
