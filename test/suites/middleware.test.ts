// Middleware: around every call of every revision, outermost first, blind to era; and how short the way to a handler is.
import { createServer, McpError, type Middleware, rateLimit, revisions } from "plenum";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Endpoint } from "../../packages/plenum/src/protocol/endpoint.ts";
import { hasSession, isOneChannel, knowsClient, type Obj, openPeer } from "./peer.ts";
import { bare, createQuietServer, textOf } from "./tool-peer.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe.each(revisions)("middleware in %s", (revision) => {
  test("that gives no result gives leave to nothing", async () => {
    const { server, errors } = createQuietServer();
    server.tool("t", {}, () => "done");
    server.resource("x:r", { name: "r" }, () => "text");
    const opening = ["initialize", "server/discover"];
    server.use(async (call, next) => {
      const result = await next(call);
      return (opening.includes(call.method) ? result : undefined) as typeof result;
    });
    const peer = await openPeer(server, revision);
    expect(await peer.fail("tools/call", { name: "t" })).toMatchObject({ code: -32603 });
    const watch: [string, Obj] = peer.isModern
      ? ["subscriptions/listen", { notifications: { resourceSubscriptions: ["x:r"] } }]
      : ["resources/subscribe", { uri: "x:r" }];
    if (peer.isModern || hasSession(revision)) expect(await peer.fail(...watch)).toMatchObject({ code: -32603 });
    expect(errors[0]?.error).toMatchObject({ message: "The result of tools/call must be an object" });
  });

  test("runs around every call, the first one used outermost, and sees how it ended", async () => {
    const { server } = createQuietServer();
    const steps: string[] = [];
    const named =
      (name: string): Middleware =>
      async (call, next) => {
        steps.push(`${name} > ${call.method}`);
        try {
          return await next(call);
        } catch (error) {
          steps.push(`${name} ! ${(error as McpError).code}`);
          throw error;
        } finally {
          steps.push(`${name} < ${call.method}`);
        }
      };
    server.tool("t", {}, () => "done");
    server.use(named("a"));
    server.use(named("b"));
    const peer = await openPeer(server, revision);
    const opening = peer.isModern ? [] : ["a > initialize", "b > initialize", "b < initialize", "a < initialize"];
    expect(steps).toEqual(opening);
    steps.length = 0;
    await peer.call("tools/call", { name: "t" });
    await peer.fail("tools/call", { name: "none" });
    expect(steps).toEqual([
      "a > tools/call",
      "b > tools/call",
      "b < tools/call",
      "a < tools/call",
      "a > tools/call",
      "b > tools/call",
      "b ! invalid_params",
      "b < tools/call",
      "a ! invalid_params",
      "a < tools/call",
    ]);
  });

  test("is not asked about what is refused before it is a call", async () => {
    const { server } = createQuietServer();
    const seen: string[] = [];
    server.tool("t", {}, () => "");
    const peer = await openPeer(server, revision);
    server.use((call, next) => {
      seen.push(call.method);
      return next(call);
    });
    await peer.fail("no/such");
    await peer.fail("tools/call", { name: 5 });
    await peer.fail("prompts/list");
    peer.raw.send("{");
    await peer.settle();
    expect(seen).toEqual([]);
  });

  test("is told who calls, what and how, the same in every revision", async () => {
    const { server } = createQuietServer();
    server.tool("t", {}, () => "");
    const calls: Obj[] = [];
    server.use((call, next) => {
      if (call.method === "tools/call") {
        const { id, params, client, auth } = call;
        calls.push({ id, params, client, auth, mine: call.meta["com.example/x"], aborted: call.link.signal.aborted });
      }
      return next(call);
    });
    const auth = { subject: "ann", scopes: ["read"] };
    const peer = await openPeer(server, revision, { capabilities: { roots: {} }, sender: { auth } });
    await peer.request("tools/call", { name: "t", arguments: {}, _meta: { "com.example/x": 1 } }, "the id");
    const known = { info: { name: "test-client", version: "1.0.0" }, capabilities: { roots: {} } };
    const client = { ...(knowsClient(revision) ? known : { info: undefined, capabilities: {} }), revision };
    expect(calls).toEqual([
      { id: "the id", params: { name: "t", arguments: {} }, client, auth, mine: 1, aborted: false },
    ]);
  });

  test("may change a call, answer in its place, or change the result", async () => {
    const { server } = createQuietServer();
    server.tool("real", {}, () => "real");
    server.use(async (call, next) => {
      if (call.method !== "tools/call") return next(call);
      if (call.params.name === "cached") return { content: [{ type: "text", text: "from the cache" }] };
      const result = await next({ ...call, params: { ...call.params, name: "real" } });
      return { ...result, _meta: { "com.example/seen": true } };
    });
    const peer = await openPeer(server, revision);
    expect(textOf(await peer.call("tools/call", { name: "cached" }))).toBe("from the cache");
    expect(bare(await peer.call("tools/call", { name: "alias" }))).toEqual({
      content: [{ type: "text", text: "real" }],
      _meta: { "com.example/seen": true },
    });
  });

  test("that answers with what the revision does not have is fitted like any handler", async () => {
    const { server } = createQuietServer();
    server.tool("t", {}, () => "");
    server.use((call, next) =>
      call.method === "tools/call"
        ? { content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }], structuredContent: { a: 1 } }
        : next(call),
    );
    const peer = await openPeer(server, revision);
    const result = await peer.call("tools/call", { name: "t" });
    const [block] = result.content as Obj[];
    expect(block?.type === "audio").toBe(revision >= "2025-03-26");
    expect("structuredContent" in result).toBe(revision >= "2025-06-18");
  });

  test("may refuse: an McpError goes to the peer as it is", async () => {
    const { server } = createQuietServer();
    const ran: string[] = [];
    server.tool("t", {}, () => void ran.push("ran"));
    server.use((call, next) => {
      if (call.method === "tools/call") throw new McpError("application", "Not today", { rpcCode: 403, data: [1] });
      return next(call);
    });
    const peer = await openPeer(server, revision);
    expect(await peer.fail("tools/call", { name: "t" })).toEqual({ code: 403, message: "Not today", data: [1] });
    expect(ran).toEqual([]);
  });

  test("rateLimit refuses the excess, per caller, and lets it through again in time", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { server } = createQuietServer();
    server.tool("t", {}, () => "");
    server.use(rateLimit({ perSecond: 1, burst: 2 }));
    const open = (subject: string) => openPeer(server, revision, { sender: { auth: { subject, scopes: [] } } });
    const [ann, bob] = [await open("ann"), await open("bob")];
    const codes = async (peer: typeof ann, times: number): Promise<unknown[]> => {
      const got: unknown[] = [];
      for (let n = 0; n < times; n++) got.push((await peer.request("tools/call", { name: "t" })).error);
      return got;
    };
    const refused = { code: -32603, message: "Too many calls of tools/call; try again later" };
    expect(await codes(ann, 3)).toEqual([undefined, undefined, refused]);
    expect(await codes(bob, 2)).toEqual([undefined, undefined]);
    expect((await ann.call("tools/list")).tools).toHaveLength(1);
    vi.advanceTimersByTime(1000);
    expect(await codes(ann, 2)).toEqual([undefined, refused]);
  });
});

describe.each(revisions)("the way of a call in %s", (revision) => {
  test("leads from the connection to the handler through five files at most", async () => {
    const stacks: string[] = [];
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 200;
    try {
      const server = createServer({ name: "s", version: "1" });
      server.tool("t", {}, () => void stacks.push(new Error("in the handler").stack ?? ""));
      // The first half of the way is only on the stack until somebody awaits: it is taken where the endpoint is called.
      const endpoint: Endpoint = {
        describe: () => server.describe(),
        handles: (method) => server.handles(method),
        call: (call) => {
          if (call.method === "tools/call") stacks.push(new Error("at the endpoint").stack ?? "");
          return server.call(call);
        },
        watch: (listener) => server.watch(listener),
        report: (error, call) => server.report(error, call),
        cacheHints: () => server.cacheHints(),
      };
      const peer = await openPeer(endpoint, revision);
      await peer.call("tools/call", { name: "t" });
    } finally {
      Error.stackTraceLimit = limit;
    }
    const filesOf = (stack: string | undefined): string[] => [
      ...new Set([...(stack ?? "").matchAll(/packages\/plenum\/src\/([\w/.-]+\.ts)/g)].map(([, file = ""]) => file)),
    ];
    const [first, second] = stacks.map(filesOf);
    expect(stacks).toHaveLength(2);
    // Both halves are whole: the one begins at the connection, if there is one, the other ends in the room of the server.
    const isConnected = isOneChannel || hasSession(revision);
    expect(first?.includes("jsonrpc/connection.ts")).toBe(isConnected);
    expect(second?.some((file) => file.startsWith("server/"))).toBe(true);
    // Spans stand around it where OpenTelemetry is installed, as it is here; the leaves of util are no stations.
    const way = [...new Set([...(first ?? []), ...(second ?? [])])].filter(
      (file) => !/^(?:transport\/|util\/|protocol\/trace)/.test(file),
    );
    expect(way.length, way.join(", ")).toBeLessThanOrEqual(5);
    expect(way.length).toBeGreaterThanOrEqual(isConnected ? 4 : 3);
  });
});
