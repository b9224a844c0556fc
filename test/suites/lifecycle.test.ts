// The handshake of the sessioned revisions: what it agrees on, what comes before and after it, and how a session ends.
import { createServer, jsonSchema, type Revision, revisions } from "plenum";
import { createRawPeer } from "plenum/memory";
import { describe, expect, test, vi } from "vitest";
import { createDeferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { isHeardUnopened, isOneChannel, isStreamable, modern, type Obj, openPeer, sessioned } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const opened = revisions.filter((revision) => revision !== modern);
const clientInfo = { name: "c", version: "1" };

/** What a request before the handshake is refused with: over Streamable HTTP, because it names no session. */
const unopened = (revision: Revision): number => (isStreamable(revision) ? -32600 : -32602);

function createFull() {
  const { server, errors } = createQuietServer({ instructions: "Read before you write." });
  const tool = server.tool("t", {}, () => "done");
  server.resource("x://{a}", { complete: { a: () => [] } }, () => "");
  server.prompt("p", {}, () => "");
  return { server, errors, tool };
}

describe.each(opened)("the handshake in %s", (revision) => {
  test("is answered as things are now, and as a middleware has it for this caller alone", async () => {
    const { server } = createQuietServer();
    const open = async (): Promise<Obj> => (await openPeer(server, revision)).opening;
    expect((await open()).capabilities).toEqual({ logging: {} });
    server.tool("t", {}, () => "done");
    const known = { logging: {}, tools: { listChanged: true } };
    expect((await open()).capabilities).toEqual(known);
    let count = 0;
    server.use(async (call, next) => {
      const result = await next(call);
      return ++count === 1 ? { ...result, instructions: "For the first." } : result;
    });
    expect(await open()).toMatchObject({ capabilities: known, instructions: "For the first." });
    expect(await open()).not.toHaveProperty("instructions");
  });

  test("is answered with the version, the capabilities and who the server is", async () => {
    covers(["lifecycle-server-init-response", "lifecycle-instructions", "lifecycle-features-advertised"], revision);
    const { server } = createFull();
    const peer = await openPeer(server, revision);
    expect(peer.opening).toEqual({
      protocolVersion: revision,
      capabilities: {
        logging: {},
        ...(revision > "2024-11-05" && { completions: {} }),
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true },
      },
      serverInfo: { name: "quiet", version: "1.0.0" },
      instructions: "Read before you write.",
    });
  });

  test("shows of who the server is what the revision has a place for", async () => {
    covers(["lifecycle-operation-version", "lifecycle-operation-version-2025-06"], revision);
    const icons = [{ src: "https://example.com/a.png" }];
    const more = { title: "T", description: "D", websiteUrl: "https://example.com/", icons };
    const peer = await openPeer(createServer({ name: "n", version: "1", ...more }), revision);
    expect(peer.opening.serverInfo).toEqual({
      name: "n",
      version: "1",
      ...(revision >= "2025-06-18" && { title: "T" }),
      ...(revision >= "2025-11-25" && { description: "D", websiteUrl: "https://example.com/", icons }),
    });
  });

  test("names each feature that is there, and none that is not; what is not named is not served", async () => {
    covers(["lifecycle-features-advertised"], revision);
    const add: [string, string, (server: ReturnType<typeof createFull>["server"]) => void][] = [
      ["tools", "tools/list", (server) => server.tool("t", {}, () => "")],
      ["prompts", "prompts/list", (server) => server.prompt("p", {}, () => "")],
      ["resources", "resources/list", (server) => server.resource("x://a", {}, () => "")],
    ];
    for (const [key, method, register] of add) {
      const { server } = createQuietServer({ logging: false });
      register(server);
      const peer = await openPeer(server, revision);
      expect(Object.keys(peer.opening.capabilities as Obj)).toEqual([key]);
      for (const [, other] of add) {
        expect((await peer.request(other)).error?.code, other).toBe(other === method ? undefined : -32601);
      }
      expect((await peer.fail("logging/setLevel", { level: "info" })).code).toBe(-32601);
    }
  });
});

describe.each(sessioned)("the handshake of a session in %s", (revision) => {
  test("must come first: any other request but ping is -32602, which names both ways to open", async () => {
    covers(["lifecycle-init-first"], revision);
    const peer = await openPeer(createFull().server, revision, { closed: true });
    for (const method of ["tools/list", "tools/call", "logging/setLevel", "no/such"]) {
      const { code, message, data } = await peer.fail(method);
      // HTTP+SSE has but one way to open.
      if (!isOneChannel) {
        expect(code).toBe(unopened(revision));
        expect(message).toContain("initialize");
        continue;
      }
      expect([code, data]).toEqual([-32602, { supported: [...revisions].reverse() }]);
      expect(message.startsWith(`"${method}" came before the session was opened: send initialize first, or put `)).toBe(
        true,
      );
      expect(message).toMatch(/into params\._meta$/);
    }
    if (isHeardUnopened(revision)) expect(await peer.call("ping")).toEqual({});
    await peer.open();
    expect((await peer.call("tools/list")).tools).toHaveLength(1);
  });

  test("happens once: a second one, at the same time or later, is -32600 and changes nothing", async () => {
    covers(["version-single-per-session"], revision);
    const gate = createDeferred<string>();
    const server = createServer({ name: "s", version: "1", lifespan: () => gate.promise });
    server.tool("which", {}, (_, ctx) => `${ctx.client.revision} ${ctx.client.info?.name}`);
    const peer = await openPeer(server, revision, { closed: true });
    const other = opened.find((one) => one !== revision);
    const params = { protocolVersion: other, capabilities: {}, clientInfo: { name: "late", version: "1" } };
    const first = peer.open();
    const error = { code: -32600, message: "Invalid request: this session is initialized already" };
    // Until it is answered there is no session that a second one could name.
    if (!isStreamable(revision)) expect(await peer.fail("initialize", params)).toEqual(error);
    gate.resolve("open");
    await first;
    expect(await peer.fail("initialize", params)).toEqual(error);
    expect(textOf(await peer.call("tools/call", { name: "which" }))).toBe(`${revision} test-client`);
  });

  test("that is not whole opens nothing, and a whole one after it does", async () => {
    const peer = await openPeer(createFull().server, revision, { closed: true });
    const whole = { protocolVersion: revision, capabilities: {}, clientInfo };
    for (const missing of Object.keys(whole)) {
      const { code, message } = await peer.fail("initialize", { ...whole, [missing]: undefined });
      expect([code, message.split(":")[0]]).toEqual([-32602, "Invalid params for initialize"]);
    }
    expect((await peer.fail("tools/list")).code).toBe(unopened(revision));
    await peer.open();
    expect(peer.opening.protocolVersion).toBe(revision);
  });

  // Over Streamable HTTP nothing names it before it is answered.
  test.runIf(!isStreamable(revision))("that is cancelled before it is answered opens nothing", async () => {
    const gate = createDeferred<string>();
    const server = createServer({ name: "s", version: "1", lifespan: () => gate.promise });
    const peer = await openPeer(server, revision, { closed: true });
    const id = peer.start("initialize", { protocolVersion: revision, capabilities: {}, clientInfo });
    peer.notify("notifications/cancelled", { requestId: id });
    await peer.settle();
    gate.resolve("open");
    await peer.settle();
    expect(peer.messages).toEqual([]);
    expect((await peer.fail("tools/list")).code).toBe(unopened(revision));
    await peer.open();
    expect(peer.opening.protocolVersion).toBe(revision);
  });

  test("between its answer and `initialized` requests are served, but the server asks and announces nothing", async () => {
    covers(["lifecycle-server-no-early-requests"], revision);
    const { server } = createQuietServer();
    server.tool("roots", {}, async (_, ctx) => {
      ctx.log.info("before");
      return `${(await ctx.roots()).length} roots`;
    });
    server.resource("x://a", {}, () => "");
    const peer = await openPeer(server, revision, { closed: true });
    await peer.call("initialize", { protocolVersion: revision, capabilities: { roots: {} }, clientInfo });
    expect((await peer.call("tools/list")).tools).toHaveLength(1);
    await peer.call("resources/subscribe", { uri: "x://a" });
    const id = peer.start("tools/call", { name: "roots" });
    server.tool("another", {}, () => "");
    server.resourceUpdated("x://a");
    await peer.settle();
    expect(peer.messages.flatMap(({ method }) => method ?? [])).toEqual(["notifications/message"]);
    expect(await peer.call("ping")).toEqual({});

    peer.notify("notifications/initialized");
    const ask = await peer.asked();
    expect(ask.method).toBe("roots/list");
    peer.answer(ask, { roots: [{ uri: "file:///a" }] });
    await peer.settle();
    expect(textOf(peer.messages.find((message) => message.id === id && !message.method)?.result ?? {})).toBe("1 roots");
  });

  test("an ask that waits for `initialized` ends with its call", async () => {
    const { server } = createQuietServer();
    const errors: unknown[] = [];
    server.tool("roots", {}, async (_, ctx) => {
      await ctx.roots().catch((error: unknown) => errors.push(error));
    });
    const peer = await openPeer(server, revision, { closed: true });
    await peer.call("initialize", { protocolVersion: revision, capabilities: { roots: {} }, clientInfo });
    const requestId = peer.start("tools/call", { name: "roots" });
    await peer.settle();
    peer.notify("notifications/cancelled", { requestId, reason: "enough" });
    await peer.settle();
    expect(errors).toMatchObject([{ code: "aborted", cause: { message: "enough" } }]);
  });

  test("an ask does not wait for `initialized` for ever", async () => {
    const { server } = createQuietServer();
    const errors: unknown[] = [];
    server.tool("roots", {}, async (_, ctx) => {
      await ctx.roots().catch((error: unknown) => errors.push(error));
    });
    const peer = await openPeer(server, revision, { closed: true, askTimeoutMs: 5 });
    await peer.call("initialize", { protocolVersion: revision, capabilities: { roots: {} }, clientInfo });
    await peer.call("tools/call", { name: "roots" });
    expect(errors).toMatchObject([{ code: "timeout" }]);
  });

  test("an ask that waits for `initialized` is not sent when its call is over", async () => {
    const { server } = createQuietServer();
    const errors: unknown[] = [];
    server.tool("careless", {}, (_, ctx) => {
      ctx.roots().catch((error: unknown) => errors.push(error));
    });
    // The default patience, which no busy machine uses up between the ask and the end of its call.
    const peer = await openPeer(server, revision, { closed: true });
    await peer.call("initialize", { protocolVersion: revision, capabilities: { roots: {} }, clientInfo });
    await peer.call("tools/call", { name: "careless" });
    peer.notify("notifications/initialized");
    await vi.waitFor(() => expect(errors).toMatchObject([{ code: "aborted" }]));
    await peer.settle();
    expect(peer.messages.filter(({ method }) => method === "roots/list")).toEqual([]);
  });
});

describe.each(sessioned)("capabilities in a session of %s", (revision) => {
  test("hold as they were declared: what is registered later belongs to the next session", async () => {
    covers(["lifecycle-respect-declared-capabilities"], revision);
    const { server } = createQuietServer();
    const early = await openPeer(server, revision);
    expect(early.opening.capabilities).toEqual({ logging: {} });
    server.tool("late", {}, () => "");
    server.resource("x://a", {}, () => "");
    await early.settle();
    expect((await early.fail("tools/list")).code).toBe(-32601);
    expect((await early.fail("resources/subscribe", { uri: "x://a" })).code).toBe(-32601);
    expect(early.notifications()).toEqual([]);

    const late = await openPeer(server, revision);
    expect(Object.keys(late.opening.capabilities as Obj).sort()).toEqual(["logging", "resources", "tools"]);
    expect((await late.call("tools/list")).tools).toHaveLength(1);
    expect((await early.fail("tools/list")).code).toBe(-32601);
  });

  test("stay when all that stood behind them is removed", async () => {
    covers(["lifecycle-respect-declared-capabilities"], revision);
    const { server, tool } = createFull();
    const peer = await openPeer(server, revision);
    tool.remove();
    expect((await peer.call("tools/list")).tools).toEqual([]);
    expect(await peer.fail("tools/call", { name: "t" })).toEqual({ code: -32602, message: 'Unknown tool: "t"' });
  });

  test("listChanged says whether changes are told", async () => {
    covers(["lifecycle-subcapability-list-changed"], revision);
    const change = (server: ReturnType<typeof createFull>["server"]): void => {
      server.tool("new", {}, () => "");
      server.prompt("new", {}, () => "");
      server.resource("x://new", {}, () => "");
    };
    const without = createQuietServer({ capabilities: { tools: {}, prompts: { listChanged: false }, resources: {} } });
    const quiet = await openPeer(without.server, revision);
    change(without.server);
    await quiet.settle();
    expect(quiet.notifications()).toEqual([]);

    const { server } = createFull();
    const told = await openPeer(server, revision);
    change(server);
    change(createFull().server);
    await told.settle();
    expect(told.notifications().map(({ method }) => method)).toEqual([
      "notifications/tools/list_changed",
      "notifications/prompts/list_changed",
      "notifications/resources/list_changed",
    ]);
  });

  test("of the client decide what it is asked: a missing one fails the ask here, and nothing is sent", async () => {
    covers(
      [
        "lifecycle-operation-capabilities",
        "lifecycle-operation-capabilities-2025-06",
        "lifecycle-handle-capability-failure",
      ],
      revision,
    );
    const { server } = createQuietServer();
    server.tool("form", {}, (_, ctx) => ctx.elicit("?", jsonSchema({ type: "object", properties: {} })));
    server.tool("url", {}, (_, ctx) => ctx.elicitUrl("?", "https://example.com/"));
    server.tool("sample", {}, (_, ctx) => ctx.sample({ messages: [], maxTokens: 1 }));
    server.tool("roots", {}, (_, ctx) => ctx.roots());
    const peer = await openPeer(server, revision);
    for (const name of ["form", "url", "sample", "roots"]) {
      const result = await peer.call("tools/call", { name });
      expect(result.isError, name).toBe(true);
      expect(textOf(result)).toMatch(/needs the client capability|has no/);
    }
    expect(peer.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  test("experimental ones and ones that nobody knows survive in both directions", async () => {
    covers(["lifecycle-experimental-capability"], revision);
    const experimental = { "com.example/x": { a: [1, { b: null }] } };
    const { server } = createQuietServer({ capabilities: { experimental } });
    server.tool("seen", {}, (_, ctx) => JSON.stringify(ctx.client.capabilities));
    const capabilities = { experimental, unheardOf: { deep: true }, extensions: { "com.example/e": {} } };
    const peer = await openPeer(server, revision, { capabilities });
    expect((peer.opening.capabilities as Obj).experimental).toEqual(experimental);
    expect(JSON.parse(textOf(await peer.call("tools/call", { name: "seen" })))).toEqual(capabilities);
  });

  test("that the server declares and no schema knows are sent as they stand", async () => {
    const { server } = createQuietServer({ capabilities: { unheardOf: { deep: [true] } } });
    const raw = createRawPeer(server);
    const params = { protocolVersion: revision, capabilities: {}, clientInfo };
    const { result } = (await raw.request("initialize", params)) as { result: { capabilities: Obj } };
    expect(result.capabilities).toEqual({ logging: {}, unheardOf: { deep: [true] } });
    raw.close();
  });
});

describe.each(sessioned)("the end of a session of %s", (revision) => {
  test("has no message of its own: the channel closes", async () => {
    covers(["lifecycle-shutdown-by-transport"], revision);
    const { server } = createFull();
    const peer = await openPeer(server, revision);
    await peer.settle();
    const before = peer.messages.length;
    await server.close();
    await peer.ended();
    expect(peer.messages).toHaveLength(before);
  });

  test("answers what is still open with an error, and aborts it before its lifespan is disposed of", async () => {
    covers(["lifecycle-shutdown-by-transport"], revision);
    const steps: string[] = [];
    const server = createServer({
      name: "s",
      version: "1",
      lifespan: () => ({ [Symbol.asyncDispose]: async () => void steps.push("disposed") }),
    });
    server.tool("wait", {}, (_, ctx) => {
      return new Promise<void>((resolve) => {
        ctx.signal.addEventListener("abort", () => {
          steps.push(`aborted with lifespan: ${ctx.lifespan !== undefined}`);
          resolve();
        });
      });
    });
    const peer = await openPeer(server, revision);
    const id = peer.start("tools/call", { name: "wait" });
    await peer.settle();
    await server.close();
    await peer.ended();
    expect(steps).toEqual(["aborted with lifespan: true", "disposed"]);
    const error = { code: -32603, message: "The server is closing" };
    expect(peer.messages.at(-1)).toEqual({ jsonrpc: "2.0", id, error });
  });

  test("by one peer leaves the others alone", async () => {
    const { server } = createFull();
    const [one, other] = [await openPeer(server, revision), await openPeer(server, revision)];
    one.raw.close();
    await other.settle();
    expect((await other.call("tools/list")).tools).toHaveLength(1);
  });
});
