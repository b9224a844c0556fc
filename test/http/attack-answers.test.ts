// Answers and events that are long, readers that are slow, clients that leave, and others who answer first: nobody is cut off
// who reads, what is counted is what runs, and the process lives.
import { createServer as createNodeServer, type IncomingMessage, request as startRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "plenum";
import { toFetchHandler } from "plenum/http";
import { type AccessEntry, type HttpOptions, toNodeHandler } from "plenum/http/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { watchStrays } from "../fuzz/strays.ts";
import { createGate } from "./attack-stage.ts";
import { callModern, modernBody, modernHeaders, openSession, startModern } from "./callers.ts";
import { feeds, type Http, openHttp, pause, toHttp, until } from "./harness.ts";
import { call } from "./stage.ts";

watchStrays();

const mebibytes = 1_048_576;

function createLong(): Server {
  const server = createServer({ name: "long", version: "1.0.0", onError: () => {} });
  const input = z.object({ size: z.number() });
  server.tool("long", { input }, ({ size }, ctx) => {
    ctx.progress(1, 2);
    return "x".repeat(size);
  });
  server.tool("tell", {}, async (_, ctx) => {
    await pause(20);
    ctx.progress(1, 2);
    await pause(20);
    return "told";
  });
  return server;
}

describe.each(feeds)("what is longer than maxQueuedBytes reaches who reads it, on the %s feed", (feed) => {
  const size = 5 * mebibytes;

  test.each(["auto", "stream"] as const)("as an event (%s)", async (answers) => {
    const http = await openHttp(createLong(), { answers }, feed);
    const told = await callModern(http, "tools/call", call("long", { size }, "p"));
    expect(told.type).toBe("text/event-stream");
    const [, response] = await told.messages();
    expect(JSON.stringify(response?.result).length).toBeGreaterThan(size);
    const session = await openSession(http, "2025-11-25");
    const messages = await (await session.request("tools/call", call("long", { size }, "p"))).messages();
    expect(JSON.stringify(messages.at(-1)?.result).length).toBeGreaterThan(size);
  });

  test("as the answers of a batch, whose stream begins late", async () => {
    const server = createLong();
    const http = await openHttp(server, { sessions: false, maxQueuedBytes: 100_000 }, feed);
    const long = { jsonrpc: "2.0", method: "tools/call", params: call("long", { size: 60_000 }) };
    const late = { jsonrpc: "2.0", id: "late", method: "tools/call", params: call("tell", {}, "p") };
    const batch = [...Array.from({ length: 10 }, (_, id) => ({ ...long, id })), late];
    const messages = await (await http.post(batch)).messages();
    expect(messages.filter(({ result }) => result)).toHaveLength(11);
    const session = await openSession(await openHttp(server, { maxQueuedBytes: 100_000 }, feed), "2025-03-26");
    const kept = await (await session.post(batch)).messages();
    expect(kept.filter(({ result }) => result)).toHaveLength(11);
  });
});

describe("what counts against maxInFlight", () => {
  test("are no handlers that have ended, though their client was cut off at the end", async () => {
    const server = createLong();
    // What it tells cannot have been read when it answers, and the answer is what is too much.
    server.tool("shout", {}, (_, ctx) => {
      ctx.progress(1, 2, "x".repeat(20 * mebibytes));
      return "";
    });
    const http = await openHttp(server, { sessions: false, maxInFlight: 3, maxQueuedBytes: 1 });
    const shout = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call("shout", {}, "p") };
    for (let round = 0; round < 5; round++) {
      const answer = await http.post(shout);
      expect(answer.status).toBe(200);
      await answer.ended();
      expect(answer.isWhole).toBe(false);
    }
    expect((await http.post({ jsonrpc: "2.0", id: 1, method: "ping" })).status).toBe(200);
  });

  test.each(feeds)("are handlers that go on, though their client has hung up, on the %s feed", async (feed) => {
    const server = createServer({ name: "stubborn", version: "1.0.0", onError: () => {} });
    const gate = createGate();
    let running = 0;
    server.tool("stubborn", {}, async () => {
      running++;
      await gate.passed;
      running--;
      return "";
    });
    let gone = 0;
    const onAccess = ({ outcome }: AccessEntry): void => {
      if (outcome === "gone") gone++;
    };
    const http = await openHttp(server, { maxInFlight: 3, onAccess }, feed);
    for (let round = 1; round <= 3; round++) {
      const started = startModern(http, "tools/call", call("stubborn"));
      await until(() => running === round, "the call begins");
      started.drop();
      await until(() => gone === round, "the client is gone");
    }
    expect((await callModern(http, "tools/call", call("stubborn"))).status).toBe(503);
    expect(running).toBe(3);
    gate.open();
    await until(() => running === 0, "the calls end");
    expect((await callModern(http, "tools/list")).status).toBe(200);
  });
});

describe("a reader that is slow", () => {
  const size = 32 * mebibytes;

  /** Reads some of an answer every now and then, for a multiple of the time that it may read nothing. Rejects if it is cut. */
  async function readSlowly({ port }: Http, token?: string): Promise<number> {
    const body = modernBody("tools/call", call("long", { size }, token));
    const headers = Object.fromEntries(Object.entries(modernHeaders(body)).filter(([, value]) => value)) as {
      readonly [name: string]: string;
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = startRequest({ host: "127.0.0.1", port, path: "/mcp", method: "POST", agent: false, headers });
      sent.on("response", resolve).on("error", reject).end(JSON.stringify(body));
    });
    let bytes = 0;
    let next = 0;
    for await (const chunk of response) {
      bytes += (chunk as Buffer).length;
      if (bytes < next) continue;
      next = bytes + mebibytes / 4;
      await pause(25);
    }
    return bytes;
  }

  test.each([
    ["of an answer", undefined, "answered"],
    ["of a stream", "p", "streamed"],
  ])(
    "%s is not cut off",
    async (_, token, outcome) => {
      const entries: AccessEntry[] = [];
      const onAccess = (entry: AccessEntry): unknown => entries.push(entry);
      // Less than reading takes as a whole, and a lot more than there is between two reads.
      const http = await openHttp(createLong(), { readerTimeoutMs: 1000, onAccess });
      expect(await readSlowly(http, token)).toBeGreaterThan(size);
      await until(() => entries.length === 1, "the entry");
      expect(entries[0]?.outcome).toBe(outcome);
    },
    30_000,
  );

  test.each([undefined, "p"])(
    "who stops is, and is told of as gone (%s)",
    async (token) => {
      const entries: AccessEntry[] = [];
      const onAccess = (entry: AccessEntry): unknown => entries.push(entry);
      const http = await openHttp(createLong(), { readerTimeoutMs: 200, onAccess });
      const body = modernBody("tools/call", call("long", { size }, token));
      const answer = await http.send({ body, headers: modernHeaders(body) });
      expect(answer.status).toBe(200);
      await until(() => entries.length === 1, "the entry", 10_000);
      expect(entries[0]).toMatchObject({ status: 200, outcome: "gone" });
    },
    30_000,
  );
});

describe("somebody else who has answered", () => {
  /** In front of the handler: answers by itself after a while, and takes its time. */
  async function openTimed(server: Server, options: HttpOptions): Promise<{ http: Http; timed: Set<string> }> {
    const handler = toNodeHandler(server, options);
    const timed = new Set<string>();
    const node = createNodeServer((request, response) => {
      if (timed.has(`${request.headers["mcp-name"]}`)) {
        response.writeHead(503);
        response.write("too ");
        setTimeout(() => response.end("late"), 300);
      }
      handler(request, response);
    });
    await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
    const { port } = node.address() as AddressInfo;
    const close = async (graceMs?: number): Promise<void> => {
      await handler.close(graceMs);
      node.closeAllConnections();
      node.close();
    };
    return { http: toHttp({ port, close, disconnect: handler.disconnect }), timed };
  }

  test.each([
    ["an answer", "long", undefined, {}],
    ["a stream", "tell", "p", {}],
    ["a stream that begins by itself", "tell", undefined, { streamAfterMs: 10 }],
    ["an error", "nothing", undefined, {}],
    ["a fault", "tell", undefined, { maxBodyBytes: 5 }],
  ])("keeps the client: %s", async (_, name, token, options) => {
    const entries: AccessEntry[] = [];
    const onAccess = (entry: AccessEntry): unknown => entries.push(entry);
    const { http, timed } = await openTimed(createLong(), { ...options, maxInFlight: 2, maxStreams: 2, onAccess });
    timed.add(name);
    for (let round = 1; round <= 4; round++) {
      const answer = await callModern(http, "tools/call", call(name, { size: 10 }, token));
      expect(answer.status).toBe(503);
      expect(await answer.text()).toBe("too late");
      await until(() => entries.length === round, "the entry");
    }
    expect(new Set(entries.map(({ outcome, status }) => `${outcome} ${status}`))).toEqual(new Set(["gone undefined"]));
    timed.clear();
    if ("maxBodyBytes" in options) return;
    // Nothing is left of them: neither a stream nor a request that counts.
    const both = ["a", "b"].map((id) => callModern(http, "tools/call", call("tell", {}, "p"), { id }));
    for (const answer of await Promise.all(both)) expect((await answer.messages()).at(-1)?.result).toBeDefined();
  });

  test("a session's stream too: what it would have said is kept", async () => {
    const server = createLong();
    const { http, timed } = await openTimed(server, {});
    const session = await openSession(http, "2025-11-25");
    timed.add("tell");
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call("tell", {}, "p") };
    expect((await session.post(body, { "mcp-name": "tell" })).status).toBe(503);
    timed.clear();
    const resumed = await session.resume("2-0");
    expect((await resumed.messages()).at(-1)?.result).toBeDefined();
    // The same for who listens.
    timed.add("listen");
    expect((await session.get({ "mcp-name": "listen" })).status).toBe(503);
    timed.clear();
    server.tool("new", {}, () => "");
    await pause(20);
    expect((await (await session.get()).message())?.method).toBe("notifications/tools/list_changed");
  });
});

test("a subscription holds on to nothing of its request but what it watches", async () => {
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const handler = toFetchHandler(createLong(), { onAccess() {} });
  onTestFinished(() => handler.close(0));
  const used = async (): Promise<number> => {
    for (let i = 0; i < 3; i++) {
      await pause(20);
      collect();
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const answers: Response[] = [];
  const listen = async (from: number): Promise<void> => {
    const padding = Array.from({ length: 100_000 }, (_, i) => `${from + i}`);
    const body = modernBody("subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: { padding } });
    const headers = Object.entries(modernHeaders(body)).filter((entry): entry is [string, string] => Boolean(entry[1]));
    // As it comes from a socket: the request itself does not keep it.
    const bytes = new Blob([JSON.stringify(body)]).stream();
    const sent = { method: "POST", headers, body: bytes, duplex: "half" } as const;
    answers.push(await handler(new Request("http://localhost/mcp", sent)));
  };
  await listen(1_000_000);
  const before = await used();
  for (let n = 2; n <= 11; n++) await listen(n * 1_000_000);
  const perListen = ((await used()) - before) / 10;
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  // Each body has about a megabyte, and is several as objects.
  expect(perListen).toBeLessThan(600_000);
}, 30_000);
