// Connects, calls, is asked, gives up a call and closes, over HTTP, over and over, client and server in one process of their
// own, and prints what is left: before, halfway and after, and when the server is closed. Run by leak.test.ts, bundled, with
// --expose-gc.
//   argv: "sessions" or "sessionless", revision, rounds to warm up, rounds to measure
import { connect, createServer, McpError, type Revision } from "plenum";
import { serveHttp } from "plenum/http/node";
import { z } from "zod";
import { countTimers, look } from "./left.ts";

countTimers();
const [kind, revision, warmUp, rounds] = process.argv.slice(2);
const isSessionless = kind === "sessionless";

let running = 0;
let warnings = 0;
process.on("warning", () => warnings++);

const server = createServer({ name: "leak", version: "1.0.0", secret: "a secret that is as long as one has to be" });
server.tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text);
server.tool("tell", {}, (_, ctx) => {
  for (let n = 1; n <= 3; n++) ctx.progress(n, 3);
  return "told";
});
server.tool("ask", {}, async (_, ctx) => {
  const { action } = await ctx.elicit("Sure?", z.object({ sure: z.boolean() }));
  return action;
});
// Ends when it is cancelled; without a session nobody can do that, and it ends by itself.
server.tool("wait", {}, async (_, ctx) => {
  running++;
  ctx.progress(1);
  await new Promise<void>((resolve) => {
    ctx.signal.addEventListener("abort", () => resolve(), { once: true });
    if (isSessionless) setTimeout(resolve, 10);
  });
  running--;
  return "waited";
});
server.resource("note://1", {}, () => "A note");
/** Requests that the server has had, and those that are over. */
let over = 0;
const serving = await serveHttp(server, {
  ...(isSessionless && { sessions: false }),
  keepAliveMs: 1000,
  onMetrics: () => over++,
});

function assertIs(got: unknown, expected: unknown): void {
  if (got !== expected) throw new Error(`expected ${expected}, not ${got}`);
}

async function round(): Promise<void> {
  let heard = (): void => {};
  const change = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const client = await connect(serving.url, {
    revision: revision as Revision,
    onElicit: () => ({ action: "accept", content: { sure: true } }),
    asksPerMinute: 1_000_000,
    onLog() {},
    pingIntervalMs: 10_000,
    ...(!isSessionless && { onListChanged() {}, onResourceUpdated: () => heard() }),
  });
  assertIs((await client.callTool("echo", { text: "hello" })).text, "hello");
  assertIs((await client.callTool("tell", {}, { onProgress() {} })).text, "told");
  if (!isSessionless) {
    assertIs((await client.callTool("ask")).text, "accept");
    await client.subscribe("note://1");
    server.resourceUpdated("note://1");
    await change;
  }
  const stop = new AbortController();
  const given = client.callTool("wait", {}, { signal: stop.signal, onProgress: () => stop.abort() });
  assertIs(await given.catch((error) => (error instanceof McpError ? error.code : error)), "aborted");
  await client.close();
}

async function run(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await round();
  for (let i = 0; i < 200 && running > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10));
}

await run(Number(warmUp));
const seen = [await look()];
for (const part of [1, 2]) {
  await run(Number(rounds) / 2);
  seen[part] = await look();
}
const left = { running, warnings, over };
await serving.close(0);
// A clock that runs for all notices at its next beat that nobody is left.
await new Promise((resolve) => setTimeout(resolve, 1500));
const { timers } = await look();
const servers = process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
console.log(JSON.stringify({ seen, ...left, closed: { timers, servers } }));
process.exit(0);
