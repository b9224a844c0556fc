// Load on a server over HTTP, on loopback: sessions that are held and do nothing, then 64 clients with calls of all kinds, and
// what is left of it in memory. Fails for any error and for memory that grows. `npm run soak`; not part of the tests.
//   --seconds 60   how long the load lasts
//   --sessions 5000, --clients 64
import { type ChildProcess, fork } from "node:child_process";
import { parseArgs } from "node:util";
import type { Revision } from "plenum";
import type { Measure, Ready } from "./server.ts";
import { createTally, type Tally, type WorkerPlan, work } from "./workers.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    sessions: { type: "string", default: "5000" },
    clients: { type: "string", default: "64" },
  },
});
const seconds = toCount("seconds", values.seconds, 3600);
const sessions = toCount("sessions", values.sessions, 9000);
const clients = toCount("clients", values.clients, 900);

/** Memory that may be more after the load than before: what the engine learns of the code, and when it collects. */
const slackBytes = 3_000_000;
/** What a session that does nothing may cost the server. */
const maxBytesPerSession = 15_000;
const problems: string[] = [];

function toCount(name: string, text: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  console.error(`--${name} takes a whole number from 1 to ${max}`);
  process.exit(2);
}

function startServer(): ChildProcess {
  const [program] = positionals;
  if (program === undefined || !globalThis.gc) throw new Error("Started by scripts/soak.mjs, with --expose-gc");
  return fork(program, [], { execArgv: ["--expose-gc"] });
}

function told<T>(child: ChildProcess, question?: "measure"): Promise<T> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void => reject(new Error(`the server's process has ended (${code})`));
    child.once("exit", gone);
    child.once("message", (answer) => {
      child.off("exit", gone);
      resolve(answer as T);
    });
    if (question) child.send(question);
  });
}

// --- sessions that are held

const revision = "2025-11-25";
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function openSession(url: string): Promise<string> {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "soak", version: "1" } };
  const opened = await post(url, { id: 1, method: "initialize", params });
  const id = opened.headers.get("mcp-session-id");
  if (opened.status !== 200 || !id) throw new Error(`initialize was answered with ${opened.status}`);
  await opened.text();
  const heard = await post(url, { method: "notifications/initialized" }, id);
  if (heard.status !== 202) throw new Error(`initialized was answered with ${heard.status}`);
  return id;
}

function post(url: string, message: object, session?: string): Promise<Response> {
  const own = session === undefined ? {} : toHeaders(session);
  return fetch(url, {
    method: "POST",
    headers: { ...headers, ...own },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
}

const toHeaders = (session: string): Record<string, string> => ({
  "mcp-session-id": session,
  "mcp-protocol-version": revision,
});

/** Runs a task so many times, sixteen at once. */
async function many<T>(count: number, run: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) results[n] = await run(n);
  };
  await Promise.all(Array.from({ length: Math.min(16, count) }, lane));
  return results;
}

// --- the load

function toPlan({ url, sessionlessUrl }: Ready, n: number): WorkerPlan {
  const mix: readonly Revision[] = ["2025-11-25", "2026-07-28", "2025-11-25", "2025-06-18"];
  if (n % 8 === 7) return { url: sessionlessUrl, revision: "2025-11-25", isSessionless: true };
  return { url, revision: n % 8 === 5 ? "2025-03-26" : (mix[n % 4] as Revision), isSessionless: false };
}

async function load(ready: Ready, lastsMs: number): Promise<Tally> {
  const tally = createTally();
  const until = Date.now() + lastsMs;
  await Promise.all(Array.from({ length: clients }, (_, n) => work(toPlan(ready, n), `${n}`, until, tally)));
  return tally;
}

function report(tally: Tally, lastedMs: number): void {
  const rows = [...tally.times].map(([kind, times]) => {
    times.sort((a, b) => a - b);
    const at = (share: number): string => (times[Math.floor(share * (times.length - 1))] as number).toFixed(1);
    return { call: kind, count: times.length, "p50 ms": at(0.5), "p99 ms": at(0.99), "max ms": at(1) };
  });
  console.table(rows);
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  const perSecond = Math.round((total * 1000) / lastedMs);
  console.log(
    `${total} calls, ${perSecond} per second; ${tally.connects} connections, ${tally.heard} notifications, ${tally.errors.length} errors`,
  );
  if (total === 0) problems.push("no call was made");
  if (tally.deaf > 0) problems.push(`${tally.deaf} clients that listened heard nothing`);
  if (tally.heard === 0 && lastedMs > 2000) problems.push("nobody heard a notification");
  problems.push(...tally.errors);
}

/** By itself, so that nothing of the tally is left when the memory is looked at. */
async function loadAndReport(ready: Ready): Promise<void> {
  const since = Date.now();
  report(await load(ready, seconds * 1000), Date.now() - since);
}

// --- the run

const rows: Record<string, string | number>[] = [];
const mebibytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1);

async function look(child: ChildProcess, when: string): Promise<{ readonly server: Measure; readonly client: number }> {
  const server = await told<Measure>(child, "measure");
  globalThis.gc?.();
  const client = process.memoryUsage().heapUsed;
  rows.push({
    when,
    "server heap MiB": mebibytes(server.heapBytes),
    "server RSS MiB": mebibytes(server.rssBytes),
    sockets: server.sockets,
    timers: server.timers,
    "calls running": server.running,
    "clients' heap MiB": mebibytes(client),
  });
  problems.push(...server.errors.splice(0).map((error) => `server: ${error}`));
  return { server, client };
}

async function run(child: ChildProcess): Promise<void> {
  const ready = await told<Ready>(child);
  await many(50, () => openSession(ready.url).then((id) => end(ready.url, id)));
  const empty = await look(child, "at the start");

  const held = await many(sessions, () => openSession(ready.url));
  const full = await look(child, `with ${sessions} idle sessions`);
  const each = Math.round((full.server.heapBytes - empty.server.heapBytes) / sessions);
  console.log(`${sessions} idle sessions are held, with ${each} bytes of heap each`);
  if (each > maxBytesPerSession) problems.push(`a session takes ${each} bytes, more than ${maxBytesPerSession}`);

  // The first load also pays for what the engine learns of the code.
  problems.push(...(await load(ready, Math.min(15_000, seconds * 500))).errors);
  const before = await look(child, "after a short load");
  await loadAndReport(ready);
  const after = await look(child, `after ${seconds} s with ${clients} clients`);
  checkGrowth("the server's heap", before.server.heapBytes, after.server.heapBytes);
  checkGrowth("the clients' heap", before.client, after.client);
  if (after.server.running > 0) problems.push(`${after.server.running} calls are still running`);
  if (after.server.timers > before.server.timers) problems.push("timers are left over");

  const alive = await many(sessions, async (n) => {
    const pong = await post(ready.url, { id: 2, method: "ping" }, held[n]);
    await pong.text();
    return pong.status === 200;
  });
  const lost = alive.filter((isAlive) => !isAlive).length;
  if (lost > 0) problems.push(`${lost} of the idle sessions are gone`);
  await many(sessions, (n) => end(ready.url, held[n] as string));
  const last = await look(child, "when all sessions are ended");
  checkGrowth("the server's heap without sessions", empty.server.heapBytes, last.server.heapBytes, slackBytes * 2);
}

async function end(url: string, session: string): Promise<void> {
  const answer = await fetch(url, { method: "DELETE", headers: toHeaders(session) });
  if (answer.status !== 204) problems.push(`DELETE was answered with ${answer.status}`);
}

function checkGrowth(what: string, before: number, after: number, slack = slackBytes): void {
  if (after - before > slack) problems.push(`${what} has grown by ${mebibytes(after - before)} MiB`);
}

const child = startServer();
// Whatever hangs, this ends.
const limit = setTimeout(
  () => {
    console.error("it takes far too long: something hangs");
    child.kill("SIGKILL");
    process.exit(1);
  },
  (seconds * 1.5 + 300) * 1000,
);
try {
  await run(child);
} catch (error) {
  problems.push(`${error}`);
} finally {
  clearTimeout(limit);
  if (child.connected) child.send("close");
  const killing = setTimeout(() => child.kill("SIGKILL"), 5000);
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once("exit", resolve));
  clearTimeout(killing);
}
console.table(rows);
for (const problem of problems.slice(0, 20)) console.error(`- ${problem}`);
console.log(problems.length === 0 ? "good" : `${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
