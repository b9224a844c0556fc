// Clients that share a server object and use the same ids and the same progress tokens at the same time, over every
// transport: no answer, progress or log message of the one ever reaches another (CVE-2026-25536).
import { PassThrough } from "node:stream";
import { createServer, type Revision, type Server, ToolError } from "plenum";
import { createRawPeer } from "plenum/memory";
import { serveStdio } from "plenum/stdio";
import { expect, onTestFinished, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { handshake, meta, modern, type Obj, prefix } from "../fuzz/target.ts";
import { covers } from "../requirements/covers.ts";
import { eventStream, get, hostOf, json, latest, mirrorOf, post, sessionPost } from "./attack-requests.ts";
import { openSession, openStage, openStream, type Stage } from "./attack-stage.ts";
import { compose, eventsIn, openWire, sendRaw, type Wire } from "./attack-wire.ts";

watchStrays();

const callsOfEach = 2000;
/** Calls of one client that are open at the same time. */
const abreast = 4;

/** One client: it sends calls, and keeps every message that reaches it, whichever way. */
interface Client {
  readonly tag: string;
  readonly heard: string[];
  /** Sends a call and waits for its answer. @param lane one of `abreast`: calls of one lane follow each other */
  call(n: number, lane: number): Promise<void>;
}

/** A number that is the client's own. */
function totalOf(tag: string): number {
  return [...tag].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
}

function createTagged(): Server {
  const server = createServer({
    name: "tagged",
    version: "1",
    onError: () => {},
    progressPerSecond: 1e9,
    logsPerSecond: 1e9,
  });
  server.tool("tag", { input: { type: "object" } }, async ({ tag, n }, ctx) => {
    // The oldest revision has no message in progress: the total tells whose it is.
    const total = totalOf(String(tag));
    const mark = `<${tag}:${n}>`;
    const number = Number(n);
    if (number % 3 > 0) ctx.progress(1, total, mark);
    if (number % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (number % 4 === 1) await new Promise((resolve) => setTimeout(resolve, number % 3));
    if (number % 5 === 0) ctx.log.info({ mark });
    if (number % 3 > 1) ctx.progress(2, total, mark);
    if (number % 17 === 0) throw new ToolError(mark);
    return mark;
  });
  return server;
}

function callOf(tag: string, n: number, revision: Revision): Obj {
  const own = { progressToken: n, ...(revision === modern && { ...meta(), [`${prefix}logLevel`]: "debug" }) };
  return { jsonrpc: "2.0", id: n, method: "tools/call", params: { name: "tag", arguments: { tag, n }, _meta: own } };
}

const setLevel = { jsonrpc: "2.0", id: "level", method: "logging/setLevel", params: { level: "debug" } };

/** Messages in the body of an answer, JSON or a stream. */
function messagesIn(body: string): string[] {
  if (body.startsWith("{")) return [body];
  return eventsIn(body).flatMap(({ data }) => data || []);
}

async function overHttp(stage: Stage, tag: string, revision: Revision): Promise<Client> {
  const heard: string[] = [];
  const wires = await Promise.all(Array.from({ length: abreast }, () => openWire(stage.port)));
  onTestFinished(() => {
    for (const wire of wires) wire.close();
  });
  const session = revision === modern ? undefined : await openSession(stage, revision);
  const dress = (message: Obj): string =>
    session === undefined
      ? post(stage, message, [...json, ...mirrorOf(message)])
      : sessionPost(stage, session, revision, message);
  if (session !== undefined) {
    expect((await sendRaw(stage.port, dress(setLevel)))?.status).toBe(200);
    // What comes on the listening stream is judged as well.
    collect(await openStream(stage, get(stage, session)), heard);
  }
  return {
    tag,
    heard,
    async call(n, lane) {
      const wire = wires[lane] as Wire;
      wire.write(dress(callOf(tag, n, revision)));
      const answer = await wire.answer();
      expect(answer?.status, answer?.body).toBe(200);
      heard.push(...messagesIn(answer?.body ?? ""));
    },
  };
}

/** Keeps the messages of a stream as they come. */
function collect(wire: Wire, heard: string[]): void {
  onTestFinished(() => wire.close());
  void (async () => {
    for (let text = await wire.chunk(); text; text = await wire.chunk()) heard.push(...messagesIn(text));
  })().catch(() => {});
}

/** A client to whom everything comes on one line: it knows the answer by its id. */
async function overOneLine(
  tag: string,
  revision: Revision,
  open: (hear: (text: string) => void) => (message: Obj) => void,
): Promise<Client> {
  const heard: string[] = [];
  const waiting = new Map<unknown, () => void>();
  const send = open((text) => {
    heard.push(text);
    const { id, method } = JSON.parse(text) as Obj;
    if (method === undefined) waiting.get(id)?.();
  });
  const ask = (message: Obj): Promise<void> =>
    new Promise((resolve) => {
      waiting.set(message.id, resolve);
      send(message);
    });
  if (revision !== modern) {
    await ask(handshake(revision));
    send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await ask(setLevel);
  }
  return { tag, heard, call: (n) => ask(callOf(tag, n, revision)) };
}

function overStdio(server: Server, tag: string, revision: Revision): Promise<Client> {
  return overOneLine(tag, revision, (hear) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const serving = serveStdio(server, { input, output, graceMs: 0 });
    onTestFinished(() => serving.close());
    let rest = "";
    output.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) hear(line);
    });
    return (message) => input.write(`${JSON.stringify(message)}\n`);
  });
}

function overMemory(server: Server, tag: string, revision: Revision): Promise<Client> {
  return overOneLine(tag, revision, (hear) => {
    const peer = createRawPeer(server);
    onTestFinished(() => peer.close());
    void (async () => {
      for (;;) hear(JSON.stringify(await peer.next(60_000)));
    })().catch(() => {});
    return (message) => peer.send(message);
  });
}

async function overSse(stage: Stage, tag: string): Promise<Client> {
  const stream = await openStream(stage, compose("GET", "/sse", [hostOf(stage), eventStream]));
  const address = eventsIn((await stream.chunk()) ?? "")[0]?.data ?? "";
  const wire = await openWire(stage.port);
  onTestFinished(() => {
    stream.close();
    wire.close();
  });
  let sent = Promise.resolve();
  return overOneLine(tag, "2024-11-05", (hear) => {
    void (async () => {
      for (let text = await stream.chunk(); text; text = await stream.chunk())
        for (const message of messagesIn(text)) hear(message);
    })().catch(() => {});
    return (message) => {
      sent = sent.then(async () => {
        wire.write(post(stage, message, json, address));
        await wire.answer();
      });
    };
  });
}

/** What is wrong with what a client heard. */
function problemsOf({ tag, heard }: Client): string[] {
  const problems: string[] = [];
  const answered = new Map<unknown, number>();
  for (const text of heard) {
    const marks = [...text.matchAll(/<(\w+):(\d+)>/g)];
    const { id, method, params } = JSON.parse(text) as { id?: unknown; method?: string; params?: Obj };
    for (const [, owner, n] of marks) {
      if (owner !== tag) problems.push(`${tag} heard ${owner}: ${text}`);
      const about = method === "notifications/progress" ? params?.progressToken : (id ?? Number(n));
      if (about !== Number(n)) problems.push(`${tag} heard of ${n} under ${about}: ${text}`);
    }
    if (method === "notifications/progress") {
      if (params?.total !== totalOf(tag)) problems.push(`${tag} heard ${text}`);
    } else if (method !== undefined && marks.length === 0) problems.push(`${tag} heard ${text}`);
    if (method === undefined && typeof id === "number") {
      answered.set(id, (answered.get(id) ?? 0) + 1);
      if (marks.length !== 1) problems.push(`${tag} was answered ${text}`);
    }
  }
  for (let n = 1; n <= callsOfEach; n++)
    if (answered.get(n) !== 1) problems.push(`${tag}: ${answered.get(n) ?? 0} answers to ${n}`);
  const expected = (isSent: (n: number) => number): number => {
    let sum = 0;
    for (let n = 1; n <= callsOfEach; n++) sum += isSent(n);
    return sum;
  };
  const count = (method: string): number => heard.filter((text) => text.includes(`"method":"${method}"`)).length;
  const progress = expected((n) => n % 3);
  if (count("notifications/progress") !== progress)
    problems.push(`${tag}: ${count("notifications/progress")} of ${progress} progress`);
  const logs = expected((n) => (n % 5 === 0 ? 1 : 0));
  if (count("notifications/message") !== logs)
    problems.push(`${tag}: ${count("notifications/message")} of ${logs} logs`);
  return problems;
}

test("20,000 calls of ten clients with the same ids, interleaved: everybody hears what is his own, and all of it", async () => {
  covers(["http-multiple-clients", "sse-multiple-clients", "http-no-broadcast", "http-sse-related-2026"]);
  const server = createTagged();
  const stage = await openStage({ sse: true }, { server, ran: 0 });
  const clients = await Promise.all([
    overHttp(stage, "sessionA", latest),
    overHttp(stage, "sessionB", latest),
    overHttp(stage, "modernA", modern),
    overHttp(stage, "modernB", modern),
    overSse(stage, "sseA"),
    overSse(stage, "sseB"),
    overStdio(server, "stdioA", latest),
    overStdio(server, "stdioB", modern),
    overMemory(server, "memoryA", modern),
    overMemory(server, "memoryB", latest),
  ]);
  const started = clients.flatMap((client) =>
    Array.from({ length: abreast }, async (_, lane) => {
      for (let n = lane + 1; n <= callsOfEach; n += abreast) await client.call(n, lane);
    }),
  );
  await Promise.all(started);
  // What was sent to the wrong one may still be on its way.
  const total = (): number => clients.reduce((sum, { heard }) => sum + heard.length, 0);
  for (let before = -1; before !== total(); ) {
    before = total();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const client of clients) expect(problemsOf(client).slice(0, 5)).toEqual([]);
});
