// Does one thing to a server over and over, and prints how much heap is left after collection, thrice: for
// attack-generated.test.ts, bundled, with --expose-gc.
//   argv: what to do, how often to warm up, how often then, twice
import { createServer } from "plenum";
import { serveHttp } from "plenum/http/node";
import { handshake, type Obj, request } from "../fuzz/target.ts";
import { callOf, get, goodCall, json, latest, post, sessionPost } from "./attack-requests.ts";
import { openWire, sendRaw, type Wire } from "./attack-wire.ts";

const [kind = "", warmUp, times] = process.argv.slice(2);
const collect = globalThis.gc;
if (!collect) throw new Error("Run with --expose-gc");

const server = createServer({ name: "heap", version: "1", onError: () => {}, progressPerSecond: 1e9 });
server.tool("echo", { input: { type: "object" } }, ({ message }) => String(message));
server.tool("tell", { input: { type: "object" } }, async (_, ctx) => {
  ctx.progress(1, 2, "one");
  await new Promise((resolve) => setImmediate(resolve));
  ctx.progress(2, 2, "two");
  return "told";
});
server.tool("wait", { input: { type: "object" } }, async (_, ctx) => {
  await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
  return "waited";
});
const serving = await serveHttp(server, { sse: true, sessions: { max: 20, maxEvents: 100 } });
const place = { port: serving.port };

const opened = await sendRaw(place.port, post(place, handshake(latest), json));
const session = opened?.headers["mcp-session-id"] ?? "";
let wire = await openWire(place.port);
let next = 0;

async function exchange(raw: string): Promise<void> {
  wire.write(raw);
  const answer = await wire.answer();
  if (answer?.headers.connection === "close" || wire.isClosed) {
    wire.close();
    wire = await openWire(place.port);
  }
}

const tell = (id: unknown): Obj => ({
  ...request(latest, "tools/call", { name: "tell", arguments: {}, _meta: { progressToken: 1 } }),
  id,
});

async function cut(raw: string, isReady: (line: Wire) => Promise<unknown>): Promise<void> {
  const line = await openWire(place.port);
  line.write(raw);
  await isReady(line);
  line.cut();
  await line.closed;
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

const rounds: { readonly [kind: string]: () => Promise<void> } = {
  "streamed calls of one session": () => exchange(sessionPost(place, session, latest, tell(next++))),
  "handshakes beyond the limit": () => exchange(post(place, handshake(latest), json)),
  "refused requests": () => exchange(goodCall(place, [["Origin", "https://evil.example"]])),
  "calls that are cut": () => cut(goodCall(place, [], callOf({}, "wait")), soon),
  "streams that are cut": () => cut(get(place, session), (line) => line.head()),
  "calls behind others that are cut": () => cut(goodCall(place, [], callOf({}, "wait")).repeat(3), soon),
};

async function heap(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect?.();
  }
  return process.memoryUsage().heapUsed;
}

const round = rounds[kind];
if (!round) throw new Error(`No such round: ${kind}`);
const heaps: number[] = [];
for (const count of [Number(warmUp), Number(times), Number(times)]) {
  for (let i = 0; i < count; i++) await round();
  heaps.push(await heap());
}
console.log(JSON.stringify(heaps));
process.exit(0);
