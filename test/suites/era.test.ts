// Two eras on one endpoint: each request is served by its own, on one connection or on several, and nothing crosses over.
import { createServer, type Revision, revisions } from "plenum";
import { createRawPeer, type RawPeer } from "plenum/memory";
import { describe, expect, test } from "vitest";
import { createDeferred, type Deferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { hasSession, isOneChannel, isStreamable, type Message, modern, type Obj, openPeer, reachable } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const sessioned = revisions.filter((revision) => revision !== modern);
const clientInfo = { name: "c", version: "1" };
const meta = (capabilities: Obj = {}, more: Obj = {}): Obj => ({
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientCapabilities": capabilities,
  ...more,
});
const initialize = (protocolVersion: string, capabilities: Obj = {}) => ({ protocolVersion, capabilities, clientInfo });
const ask = async (raw: RawPeer, method: string, params?: Obj): Promise<Message> =>
  (await raw.request(method, params)) as Message;

describe.each(sessioned)("one connection with a session of %s", (revision) => {
  test("serves modern requests before, between and after those of the session, each in its own form", async () => {
    covers(["era-dual-server", "era-dual-dispatch", "era-dual-concurrent"]);
    const { server } = createQuietServer();
    server.tool("who", {}, (_, ctx) => `${ctx.client.revision} ${JSON.stringify(ctx.client.capabilities)}`);
    const raw = createRawPeer(server);
    const inModern = async (): Promise<Message> =>
      ask(raw, "tools/call", { name: "who", _meta: meta({ sampling: {} }) });
    const text = `${modern} {"sampling":{}}`;
    expect((await inModern()).result).toMatchObject({ resultType: "complete", content: [{ type: "text", text }] });
    expect((await ask(raw, "tools/call", { name: "who" })).error?.code).toBe(-32602);

    expect((await ask(raw, "initialize", initialize(revision, { roots: {} }))).result?.protocolVersion).toBe(revision);
    raw.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    for (let round = 0; round < 2; round++) {
      const old = await ask(raw, "tools/call", { name: "who" });
      expect(old.result).toEqual({ content: [{ type: "text", text: `${revision} {"roots":{}}` }] });
      expect(textOf((await inModern()).result ?? {})).toBe(text);
    }
    // What only one of them has is refused in the other.
    expect((await ask(raw, "ping")).result).toEqual({});
    expect((await ask(raw, "ping", { _meta: meta() })).error?.code).toBe(-32601);
    expect((await ask(raw, "initialize", { ...initialize(revision), _meta: meta() })).error?.code).toBe(-32601);
    expect((await ask(raw, "server/discover", { _meta: meta() })).result?.supportedVersions).toHaveLength(5);
    raw.close();
  });

  test("takes a request with half of the modern _meta for a modern one that is not whole", async () => {
    const { server } = createQuietServer();
    server.tool("t", {}, () => "");
    const raw = createRawPeer(server);
    await ask(raw, "initialize", initialize(revision));
    for (const key of Object.keys(meta())) {
      const { error } = await ask(raw, "tools/list", { _meta: { [key]: meta()[key] } });
      expect(error?.code, key).toBe(-32602);
      expect(error?.message).toContain("io.modelcontextprotocol/");
    }
    expect((await ask(raw, "tools/list", { _meta: { "com.example/x": 1 } })).result).toBeDefined();
    raw.close();
  });

  test("tells a change once to the session and once to the subscription, each in its own form", async () => {
    const { server } = createQuietServer();
    server.tool("t", {}, () => "");
    const raw = createRawPeer(server);
    await ask(raw, "initialize", initialize(revision));
    raw.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    const params = { notifications: { toolsListChanged: true }, _meta: meta() };
    raw.send({ jsonrpc: "2.0", id: "L", method: "subscriptions/listen", params });
    await raw.settle();
    server.tool("u", {}, () => "");
    await raw.settle();
    const changes = (raw.received as Message[]).filter(({ method }) => method?.endsWith("list_changed"));
    const tagged = { _meta: { "io.modelcontextprotocol/subscriptionId": "L" } };
    expect(changes).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
      { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: tagged },
    ]);
    raw.close();
  });

  test("keeps the level of the session out of modern requests, and theirs out of it", async () => {
    const { server } = createQuietServer();
    server.tool("log", {}, (_, ctx) => {
      ctx.log.debug(`d${ctx.requestId}`);
      ctx.log.error(`e${ctx.requestId}`);
    });
    const raw = createRawPeer(server);
    await ask(raw, "initialize", initialize(revision));
    raw.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await ask(raw, "logging/setLevel", { level: "debug" });
    const level = "io.modelcontextprotocol/logLevel";
    await raw.request("tools/call", { name: "log", _meta: meta() }, 1);
    await raw.request("tools/call", { name: "log", _meta: meta({}, { [level]: "error" }) }, 2);
    await raw.request("tools/call", { name: "log" }, 3);
    const logged = (raw.received as Message[]).flatMap(({ params }) => (params?.level ? [params.data] : []));
    expect(logged).toEqual(["e2", "d3", "e3"]);
    raw.close();
  });
});

describe("a server that speaks the modern version only", () => {
  test("answers initialize with an error that names what it speaks", async () => {
    covers("era-modern-only-names-versions");
    for (const revision of sessioned) {
      const peer = await openPeer(createServer({ name: "s", version: "1" }), revision, {
        closed: true,
        revisions: [modern],
      });
      const { code, message, data } = await peer.fail("initialize", initialize(revision));
      expect(message).toContain(modern);
      // Over HTTP a header is missed first.
      expect(code).toBe(isOneChannel ? -32022 : -32020);
      expect(data).toEqual({ supported: [modern], ...(isOneChannel && { requested: revision }) });
    }
  });

  test.each(["ping", "tools/list", "notifications/initialized", "logging/setLevel"])(
    "wants _meta on %s as on every request",
    async (method) => {
      const { server } = createQuietServer();
      server.tool("t", {}, () => "");
      const raw = createRawPeer(server, { revisions: [modern] });
      const { error } = await ask(raw, method);
      expect(error?.code).toBe(-32602);
      expect(error?.message).toContain("io.modelcontextprotocol/protocolVersion");
      expect(error?.message).not.toContain("initialize");
      raw.close();
    },
  );
});

describe("a server that speaks sessions only", () => {
  test.each(sessioned)("answers server/discover with -32601, in %s as before the handshake", async (revision) => {
    const peer = await openPeer(createServer({ name: "s", version: "1" }), revision, {
      closed: true,
      revisions: sessioned,
    });
    const probe = { _meta: meta() };
    // Streamable HTTP refuses what names no session, whatever it is; a client takes any such error for the older era.
    const isNamed = isStreamable(revision) && hasSession(revision);
    const refusal = isNamed
      ? { code: -32600, message: expect.stringMatching(/^Mcp-Session-Id is missing/) }
      : { code: -32601, message: 'Method not found: "server/discover"' };
    expect(await peer.fail("server/discover", probe)).toEqual(refusal);
    expect((await peer.fail("server/discover")).code).toBe(refusal.code);
    await peer.open();
    expect((await peer.fail("server/discover", probe)).code).toBe(-32601);
    expect((await peer.fail("subscriptions/listen", { notifications: {}, ...probe })).code).toBe(-32601);
  });

  test.runIf(hasSession("2025-06-18"))("names initialize alone as the way to open", async () => {
    const { server } = createQuietServer();
    server.tool("t", {}, () => "");
    const peer = await openPeer(server, "2025-06-18", { closed: true, revisions: ["2025-06-18"] });
    const expected = isOneChannel
      ? {
          code: -32602,
          message: '"tools/list" came before the session was opened: send initialize first',
          data: { supported: ["2025-06-18"] },
        }
      : { code: -32600, message: expect.stringMatching(/ opened with initialize/) };
    expect(await peer.fail("tools/list")).toEqual(expected);
    expect(await peer.fail("tools/list", { _meta: meta() })).toEqual(expected);
  });

  test("takes the modern _meta of a request in a session for what it is there: unknown", async () => {
    const { server } = createQuietServer();
    server.tool("who", {}, (_, ctx) => ctx.client.revision);
    const peer = await openPeer(server, "2025-11-25", { revisions: sessioned });
    expect(await peer.call("tools/call", { name: "who", _meta: meta() })).toEqual({
      content: [{ type: "text", text: "2025-11-25" }],
    });
  });
});

describe("peers of all revisions on one server object at once", () => {
  test("share nothing: answers, progress, logs and asks go to the one they belong to", async () => {
    const { server } = createQuietServer();
    const gates: Deferred<void>[] = [];
    server.tool("work", {}, async (_, ctx) => {
      const me = ctx.client.info?.name;
      const gate = createDeferred<void>();
      gates.push(gate);
      ctx.progress(1, 3, `start ${me}`);
      await gate.promise;
      ctx.log.warning(`log ${me}`);
      const roots = ctx.client.revision === modern ? [] : await ctx.roots();
      ctx.progress(2, 3, `end ${me}`);
      return `${me} ${ctx.client.revision} ${roots.map(({ uri }) => uri).join()}`;
    });
    const twice: Revision[] = [...reachable, ...reachable];
    const peers = await Promise.all(
      twice.map((revision, index) =>
        openPeer(server, revision, {
          capabilities: { roots: {} },
          clientInfo: { name: `peer${index}`, version: "1" },
        }),
      ),
    );
    const logLevel = "io.modelcontextprotocol/logLevel";
    // Everybody uses the same id and the same token.
    for (const peer of peers) {
      const more = peer.isModern ? { [logLevel]: "debug" } : {};
      peer.start("tools/call", { name: "work", _meta: { progressToken: "same", ...more } }, "same");
    }
    await Promise.all(peers.map((peer) => peer.settle()));
    expect(gates).toHaveLength(peers.length);
    for (const gate of gates.reverse()) gate.resolve();
    for (const [index, peer] of peers.entries()) {
      if (!peer.isModern) peer.answer(await peer.asked(), { roots: [{ uri: `file:///of/peer${index}` }] });
    }
    await Promise.all(peers.map((peer) => peer.settle()));

    for (const [index, peer] of peers.entries()) {
      const me = `peer${index}`;
      const root = peer.isModern ? "" : `file:///of/${me}`;
      const answers = peer.messages.filter(({ id, method }) => id === "same" && method === undefined);
      expect(answers.map(({ result }) => textOf(result ?? {}))).toEqual([`${me} ${peer.revision} ${root}`]);
      expect(peer.notifications("notifications/message").map(({ params }) => params?.data)).toEqual([`log ${me}`]);
      const progress = peer.notifications("notifications/progress").map(({ params }) => params);
      const withText = peer.revision > "2024-11-05";
      expect(progress).toEqual([
        { progressToken: "same", progress: 1, total: 3, ...(withText && { message: `start ${me}` }) },
        { progressToken: "same", progress: 2, total: 3, ...(withText && { message: `end ${me}` }) },
      ]);
      expect(peer.messages.filter(({ method, id }) => method && id !== undefined)).toHaveLength(peer.isModern ? 0 : 1);
      expect(
        JSON.stringify(peer.messages)
          .match(/peer\d+/g)
          ?.every((name) => name === me),
      ).toBe(true);
    }
  });

  test.runIf(hasSession("2025-06-18"))("have subscriptions, levels and cancellations of their own", async () => {
    const { server } = createQuietServer();
    const aborted: unknown[] = [];
    server.resource("x://a", {}, () => "");
    server.resource("x://b", {}, () => "");
    server.tool("hang", {}, (_, ctx) => {
      return new Promise<string>((resolve) => {
        ctx.signal.addEventListener("abort", () => {
          aborted.push(ctx.client.info?.name);
          resolve("");
        });
      });
    });
    server.tool("log", {}, (_, ctx) => ctx.log.info("hello"));
    const named = (name: string) => ({ clientInfo: { name, version: "1" } });
    const one = await openPeer(server, "2025-06-18", named("one"));
    const two = await openPeer(server, "2025-06-18", named("two"));
    const three = await openPeer(server, modern, named("three"));
    await one.call("resources/subscribe", { uri: "x://a" });
    await two.call("resources/subscribe", { uri: "x://b" });
    three.start("subscriptions/listen", { notifications: { resourceSubscriptions: ["x://b"] } }, "same");
    await one.call("logging/setLevel", { level: "error" });
    for (const peer of [one, two, three]) peer.start("tools/call", { name: "hang" }, "hang");
    await three.settle();
    one.notify("notifications/cancelled", { requestId: "hang" });
    one.notify("notifications/cancelled", { requestId: "same" });
    server.resourceUpdated("x://a");
    await one.settle();
    expect(aborted).toEqual(["one"]);
    for (const peer of [one, two, three]) await peer.call("tools/call", { name: "log" });
    server.resourceUpdated("x://b");
    await three.settle();
    const updates = [one, two, three].map((peer) =>
      peer.notifications("notifications/resources/updated").map(({ params }) => params?.uri),
    );
    expect(updates).toEqual([["x://a"], ["x://b"], ["x://b"]]);
    const logs = [one, two, three].map((peer) => peer.notifications("notifications/message").length);
    expect(logs).toEqual([0, 1, 0]);
  });
});
