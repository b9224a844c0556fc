// The official clients, of both lines and in every revision that they can be held to, against a Plenum server over HTTP:
// Streamable HTTP and the older HTTP+SSE.

import { setTimeout as pause } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { type HttpServing, type ServeHttpOptions, serveHttp } from "plenum/http/node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { describeClient, type Pair, textOf } from "./client-behaviour.ts";
import { connectOfficial as connect1 } from "./clients/sdk1.ts";
import { connectOfficial as connect2 } from "./clients/sdk2.mjs";
import { type Endpoint, type Exchange, type Handlers, type Obj, type OfficialClient, tapFetch } from "./harness.ts";
import { lineTo } from "./http-harness.ts";
import { createOurServer } from "./our-surface.ts";

// Longer than the steps of `slow`: there is something to be had when a client comes back.
const retryMs = 300;
const slow = { steps: 12, delayMs: 50 };
const all = Array.from({ length: slow.steps }, (_, at) => at + 1);

interface Way {
  readonly name: string;
  readonly line: Pair["line"];
  readonly over: Endpoint["over"];
  readonly revision: string;
  connect(peer: Endpoint, handlers?: Handlers): Promise<OfficialClient>;
}

const ways: readonly Way[] = [
  { line: "1.x", over: "http", revision: "2025-11-25", held: undefined },
  { line: "1.x", over: "http", revision: "2025-06-18", held: "2025-06-18" },
  { line: "1.x", over: "http", revision: "2025-03-26", held: "2025-03-26" },
  { line: "1.x", over: "sse", revision: "2025-11-25", held: undefined },
  { line: "1.x", over: "sse", revision: "2024-11-05", held: "2024-11-05" },
  { line: "2.x", over: "http", revision: "2025-11-25", held: "default" },
  { line: "2.x", over: "http", revision: "2026-07-28", held: "auto" },
  { line: "2.x", over: "http", revision: "2026-07-28", held: "2026-07-28" },
  { line: "2.x", over: "http", revision: "2025-11-25", held: "2025-11-25" },
  { line: "2.x", over: "http", revision: "2025-06-18", held: "2025-06-18" },
  { line: "2.x", over: "http", revision: "2025-03-26", held: "2025-03-26" },
  { line: "2.x", over: "sse", revision: "2025-11-25", held: "default" },
  { line: "2.x", over: "sse", revision: "2024-11-05", held: "2024-11-05" },
].map(({ line, over, revision, held }) => ({
  name: `${line} over ${over}, ${{ default: "told nothing", auto: "by itself" }[held ?? "default"] ?? `held to ${held}`}`,
  line: line as Way["line"],
  over: over as Way["over"],
  revision,
  connect: (peer, handlers) =>
    line === "1.x" ? connect1(peer, handlers, held) : connect2(peer, handlers, held ?? "default"),
}));

/** A server in this process, until the tests of the block are over. */
function serving(options: ServeHttpOptions = {}): {
  url(): string;
  origin(): string;
  http(): HttpServing;
  stops(): number;
} {
  let served: HttpServing | undefined;
  let stops = 0;
  const http = (): HttpServing => {
    if (!served) throw new Error("The server is not there yet.");
    return served;
  };
  beforeAll(async () => {
    const onCancelled = () => {
      stops += 1;
    };
    served = await serveHttp(createOurServer(onCancelled), { port: 0, sse: true, retryMs, ...options });
  });
  afterAll(() => served?.close(0));
  return { http, stops: () => stops, url: () => http().url, origin: () => new URL(http().url).origin };
}

for (const { name, line, over, revision, connect } of ways)
  describe(`over ${over}`, () => {
    const server = serving();
    describeClient({
      name,
      line,
      revision,
      connect: (handlers) => connect({ url: over === "sse" ? `${server.origin()}/sse` : server.url(), over }, handlers),
      cancelled: server.stops,
    });
  });

for (const { name, line, over, revision, connect } of ways.filter((way) =>
  /1\.x over http, told|by itself/.test(way.name),
))
  describe("where every answer is a stream", () => {
    const server = serving({ answers: "stream" });
    describeClient({
      name,
      line,
      revision,
      connect: (handlers) => connect({ url: server.url(), over }, handlers),
      cancelled: server.stops,
    });
  });

/** The client of the 1.x line as it is, with its transport. */
async function open(url: string, sessionId?: string) {
  const client = new Client({ name: "official-1x", version: "1.0.0" });
  const exchanges: Exchange[] = [];
  const errors: Error[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: tapFetch(exchanges),
    ...(sessionId !== undefined && { sessionId }),
  });
  client.onerror = (error) => errors.push(error);
  if (sessionId !== undefined) transport.setProtocolVersion("2025-11-25");
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  const call = async (name: string, args = {}, options: RequestOptions = {}): Promise<unknown> =>
    textOf((await client.callTool({ name, arguments: args }, CallToolResultSchema, options)) as CallToolResult);
  return { client, transport, exchanges, errors, call };
}

describe("a session", () => {
  const server = serving();

  test("is given an id, has one stream, and answers as JSON unless there is something to tell first", async () => {
    const { transport, exchanges, errors, call } = await open(server.url());
    expect(transport.sessionId).toMatch(/^[\x21-\x7e]{22,}$/);
    await expect
      .poll(() => exchanges.filter(({ method }) => method === "GET"))
      .toMatchObject([{ status: 200, type: expect.stringMatching(/^text\/event-stream/) }]);
    await call("echo", { text: "x" });
    expect(exchanges.at(-1)).toMatchObject({ status: 200, type: expect.stringMatching(/^application\/json/) });
    await call("slow", { steps: 1, delayMs: 1 }, { onprogress: () => {} });
    expect(exchanges.at(-1)).toMatchObject({ status: 200, type: expect.stringMatching(/^text\/event-stream/) });
    expect(errors).toEqual([]);
  });

  test("ends when the client says so: what comes after is answered with 404", async () => {
    const { transport, exchanges, call } = await open(server.url());
    const { sessionId } = transport;
    await transport.terminateSession();
    expect(exchanges.at(-1)).toMatchObject({ method: "DELETE" });
    expect([200, 204]).toContain(exchanges.at(-1)?.status);
    expect(transport.sessionId).toBeUndefined();
    const late = await open(server.url(), sessionId);
    await expect(late.call("echo", { text: "x" })).rejects.toMatchObject({ code: 404 });
    // Without the id of a session it is no request of a session either.
    await expect(call("echo", { text: "x" })).rejects.toMatchObject({ code: 400 });
  });

  test("of another client goes on, and both hear of what concerns both", async () => {
    const peer = { url: server.url(), over: "http" } as const;
    const [one, other] = await Promise.all([connect1(peer), connect1(peer)]);
    onTestFinished(async () => {
      await one.close();
      await other.close();
    });
    await Promise.all([one.listening(), other.listening()]);
    await one.subscribe("memo://one");
    await other.callTool("touch");
    await other.callTool("grow");
    await expect.poll(() => [one.changes.length, other.changes.length]).toEqual([1, 1]);
    await expect.poll(() => one.updates).toEqual(["memo://one"]);
    expect(other.updates).toEqual([]);
  });
});

describe("a stream that breaks", () => {
  const server = serving();

  test("is taken up again by a client that has only the id of its last event", async () => {
    const first = await open(server.url());
    const heard: number[] = [];
    let token: string | undefined;
    const call = first.call("slow", slow, {
      onprogress: ({ progress }) => heard.push(progress),
      onresumptiontoken: (given) => {
        token = given;
      },
    });
    const lost = expect(call).rejects.toThrow();
    await expect.poll(() => heard.length).toBeGreaterThanOrEqual(2);
    await first.client.close();
    await lost;
    await pause(retryMs);
    const second = await open(server.url(), first.transport.sessionId);
    // Its progress has the token of the first call, so this client cannot tell what it belongs to.
    const seen: unknown[] = [];
    second.client.fallbackNotificationHandler = async ({ params }) => void seen.push(params?.progress);
    second.client.removeNotificationHandler("notifications/progress");
    const resumed = second.client.request(
      { method: "tools/call", params: { name: "slow", arguments: slow } },
      CallToolResultSchema,
      { resumptionToken: token as string },
    );
    expect(textOf(await resumed)).toBe("done 12");
    expect([...heard, ...seen]).toEqual(all);
    expect(server.stops()).toBe(0);
  });

  test.each([
    ["1.x", (peer: Endpoint) => connect1(peer)],
    ["2.x", (peer: Endpoint) => connect2(peer, {}, "2025-11-25")],
  ] as const)("on the way is taken up again by the client %s itself", async (_, connect) => {
    const line = await lineTo(server.origin());
    const client = await connect({ url: `${line.origin}/mcp`, over: "http" });
    onTestFinished(async () => {
      await client.close();
      await line.close();
    });
    await client.listening();
    const heard: unknown[] = [];
    const onProgress = ({ progress }: Obj) => {
      heard.push(progress);
      if (progress === 2) line.cut();
    };
    expect(textOf(await client.callTool("slow", slow, { onProgress }))).toBe("done 12");
    expect(heard).toEqual(all);
    const streams = () => client.exchanges.filter(({ method, status }) => method === "GET" && status === 200).length;
    // The stream of the session, that of the call, and that of the session again.
    await expect.poll(streams, { timeout: 10_000 }).toBe(3);
    await client.subscribe("memo://one");
    await client.callTool("touch");
    await expect.poll(() => client.updates).toEqual(["memo://one"]);
    expect(server.stops()).toBe(0);
  });

  test("because the server ends it is asked for again, of calls and of the session alike", async () => {
    const { client, exchanges, call } = await open(server.url());
    const gets = () => exchanges.filter(({ method, status }) => method === "GET" && status === 200).length;
    await expect.poll(gets).toBe(1);
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => {
      heard.push(progress);
      if (progress === 2) server.http().disconnect();
    };
    expect(await call("slow", slow, { onprogress })).toBe("done 12");
    expect(heard).toEqual(all);
    await expect.poll(gets).toBe(3);
    let changes = 0;
    client.fallbackNotificationHandler = async () => {
      changes += 1;
    };
    await call("grow");
    await expect.poll(() => changes).toBe(1);
  });
});

test("a stream of 2026-07-28 that breaks ends its call on both sides", async () => {
  let stops = 0;
  const onCancelled = () => {
    stops += 1;
  };
  const served = await serveHttp(createOurServer(onCancelled), { port: 0 });
  const line = await lineTo(new URL(served.url).origin);
  const client = await connect2({ url: `${line.origin}/mcp`, over: "http" }, {}, "2026-07-28");
  onTestFinished(async () => {
    await client.close();
    await line.close();
    await served.close(0);
  });
  const controller = new AbortController();
  const { signal } = controller;
  const onProgress = () => line.cut();
  const call = client.callTool("slow", { steps: 1000, delayMs: 50 }, { onProgress, signal });
  const failed = expect(call).rejects.toThrow();
  await expect.poll(() => stops, { timeout: 10_000 }).toBe(1);
  // This client does not find out by itself.
  controller.abort();
  await failed;
  expect(textOf(await client.callTool("echo", { text: "still there" }))).toBe("still there");
});

describe("a server without sessions", () => {
  const server = serving({ sessions: false, sse: false });

  test.each(ways.filter(({ over, revision }) => over === "http" && revision !== "2026-07-28"))(
    "answers the client $name all the same",
    async ({ revision, connect }) => {
      const handlers = {
        sample: () => ({ role: "assistant", model: "parrot", content: { type: "text", text: "Polly" } }),
      };
      const client = await connect({ url: server.url(), over: "http" }, handlers);
      onTestFinished(() => client.close());
      expect(client.revision()).toBe(revision);
      expect(textOf(await client.callTool("echo", { text: "x" }))).toBe("x");
      const heard: unknown[] = [];
      const onProgress = ({ progress }: Obj) => heard.push(progress);
      expect(textOf(await client.callTool("slow", { steps: 2, delayMs: 10 }, { onProgress }))).toBe("done 2");
      expect(heard).toEqual([1, 2]);
      // There is no way to ask.
      expect((await client.callTool("sample", { prompt: "?" })).isError).toBe(true);
      expect(client.exchanges.map(({ session }) => session)).toEqual(client.exchanges.map(() => null));
      expect(client.exchanges.find(({ method }) => method === "GET")).toMatchObject({ status: 405 });
    },
  );
});
