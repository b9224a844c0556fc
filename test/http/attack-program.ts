// Sends generated requests to a server in this same process, one after the other, and prints what was wrong, as JSON: for
// attack-generated.test.ts, bundled, with --expose-gc; and for `npm run fuzz:http -- --count 100000 --seed 7`.
import { parseArgs } from "node:util";
import type { Revision } from "plenum";
import { serveHttp } from "plenum/http/node";
import { createTarget, handshake } from "../fuzz/target.ts";
import { type Case, draw, sessionRevisions, type World } from "./attack-generator.ts";
import { createRandom } from "./attack-random.ts";
import { json, post, remove } from "./attack-requests.ts";
import { eventsIn, openWire, type RawAnswer, sendRaw, type Wire } from "./attack-wire.ts";

const { values } = parseArgs({ options: { count: { type: "string" }, seed: { type: "string" } } });
const count = Number(values.count ?? 10_000);
const seed = Number(values.seed ?? process.env.PLENUM_FUZZ_SEED ?? Date.now() % 1e9);

const problems: string[] = [];
for (const event of ["unhandledRejection", "uncaughtException"] as const)
  process.on(
    event,
    (error: unknown) => void problems.push(`${event}: ${error instanceof Error ? error.stack : String(error)}`),
  );

const errors: unknown[] = [];
const target = createTarget();
const serving = await serveHttp(target.server, {
  sse: true,
  sessions: { max: 1000, maxEvents: 100 },
  bodyTimeoutMs: 2000,
  headerTimeoutMs: 2000,
  routes: { "/healthz": () => ({ body: "ok" }) },
  onAccess({ status }) {
    if (status === 500) errors.push(status);
  },
});
const { port } = serving;
const sessions = new Map<Revision, string>();
const statuses = new Map<string, number>();

async function refreshSession(revision: Revision): Promise<void> {
  const answer = await sendRaw(port, post({ port }, handshake(revision), json));
  const id = answer?.headers["mcp-session-id"];
  if (id === undefined) throw new Error(`No session could be opened: ${answer?.body}`);
  sessions.set(revision, id);
}

async function openSse(): Promise<{ readonly wire: Wire; readonly address: string }> {
  const wire = await openWire(port);
  wire.write(`GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await wire.head();
  const address = eventsIn((await wire.chunk()) ?? "")[0]?.data ?? "";
  // Its handshake, so that calls are answered on the stream.
  await sendRaw(port, post({ port }, handshake("2024-11-05"), json, address));
  return { wire, address };
}

/** The answer; of a stream its beginning. */
async function answerTo(wire: Wire, { draft }: Case): Promise<RawAnswer | undefined> {
  const head = await wire.head();
  if (!head) return undefined;
  if (head.headers["content-type"] === "text/event-stream") return { ...head, body: "" };
  const size = Number(head.headers["content-length"] ?? 0);
  if (draft.method === "HEAD" || head.status === 204) return { ...head, body: "" };
  await wire.until((text) => (text.length >= size ? true : undefined));
  const body = Buffer.from(wire.text.slice(0, size), "latin1").toString("utf8");
  wire.text = wire.text.slice(size);
  return { ...head, body };
}

function problemOf(one: Case, answer: RawAnswer, ran: number): string | undefined {
  const { verdict, isGood, isDamaged } = one;
  const { status, headers, body } = answer;
  if (status >= 500 && status !== 503) return `${status}`;
  if (body !== "" && status !== 200 && headers["content-type"] !== "application/json")
    return "an error that is no JSON";
  if (body !== "" && headers["x-content-type-options"] !== "nosniff") return "sniffed";
  if (status >= 400 && ran > 0) return `${status}, and a handler ran`;
  if (isDamaged) return undefined;
  if (!verdict.statuses.includes(status)) return `${status} instead of ${verdict.statuses.join(" or ")}`;
  if (ran > verdict.mayRun) return `${ran} handlers ran instead of ${verdict.mayRun}`;
  if (isGood && status >= 300 && status !== 503) return `${status} to a good request`;
  if (body.startsWith("{") && headers["content-type"] === "application/json") {
    const said = JSON.parse(body) as { error?: unknown };
    if (said.error !== undefined && ran > 0) return "an error, and a handler ran";
  }
  return undefined;
}

const calm = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
let sse = await openSse();
for (const revision of sessionRevisions) await refreshSession(revision);
let wire: Wire | undefined;

async function send(one: Case): Promise<void> {
  if (!wire || wire.isClosed || wire.socket.destroyed) wire = await openWire(port);
  const line = wire;
  const before = target.ran;
  line.write(one.bytes);
  let answer: RawAnswer | undefined;
  if (one.isCut) {
    await calm();
    await calm();
  } else if (one.isDamaged) {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, 40));
    answer = await Promise.race([answerTo(line, one), late]);
  } else answer = await answerTo(line, one);
  // A message of HTTP+SSE is taken before its call has run.
  if (one.draft.target === sse.address) for (let i = 0; i < 5; i++) await calm();
  const ran = target.ran - before;
  const isKept =
    answer && answer.status < 300 && answer.headers["content-type"] === "application/json" && !one.isDamaged;
  if (!isKept || answer?.headers.connection === "close") {
    line.close();
    wire = undefined;
    // What was sent ahead by damage must not count for the next.
    if (one.isDamaged || one.isCut) await line.closed.then(calm);
  }
  const key = one.isCut ? "cut" : `${answer?.status ?? "none"}${one.isDamaged ? " damaged" : ""}`;
  statuses.set(key, (statuses.get(key) ?? 0) + 1);
  if (!answer && !one.isCut && !one.isDamaged)
    problems.push(`no answer: ${one.bytes.toString("latin1").slice(0, 600)}`);
  const problem = answer && problemOf(one, answer, ran);
  if (problem !== undefined)
    problems.push(
      `${problem}: ${one.bytes.toString("latin1").slice(0, 800)} -> ${JSON.stringify(answer).slice(0, 400)}`,
    );
  await keepWorld(one, answer);
}

/** Opens again what a request has ended, and ends what it has opened. */
async function keepWorld({ draft }: Case, answer: RawAnswer | undefined): Promise<void> {
  if (sse.wire.isClosed) sse = await openSse();
  sse.wire.text = "";
  const opened = answer?.headers["mcp-session-id"];
  if (opened !== undefined) await sendRaw(port, remove({ port }, opened));
  // Also where its answer was not waited for.
  if (draft.method !== "DELETE") return;
  for (const revision of sessionRevisions) {
    const id = sessions.get(revision);
    if (id === undefined || draft.headers.every(([, value]) => value !== id)) continue;
    if (answer?.status !== 204) await sendRaw(port, remove({ port }, id));
    await refreshSession(revision);
  }
}

async function heap(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

const random = createRandom(seed);
const heaps: number[] = [];
for (let i = 0; i < count && problems.length < 20; i++) {
  const world: World = { port, sessions, address: sse.address };
  await send(draw(random, world));
  // The first fifth also pays for what the engine learns of the code.
  if (i + 1 === Math.floor(count / 5) || i + 1 === Math.floor((count * 3) / 5) || i + 1 === count)
    heaps.push(await heap());
}
if (({} as { polluted?: unknown }).polluted !== undefined) problems.push("Object.prototype was changed");
if (errors.length > 0) problems.push(`${errors.length} internal errors`);
wire?.close();
sse.wire.close();
await serving.close(0);
const ran = target.ran;
console.log(
  JSON.stringify(
    { seed, count, ran, statuses: Object.fromEntries([...statuses].sort()), heaps, problems },
    undefined,
    process.stdout.isTTY ? 2 : 0,
  ),
);
process.exit(problems.length > 0 ? 1 : 0);
