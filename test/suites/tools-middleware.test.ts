// Middleware around every call, and what a handler finds in its context.
import { type Call, createServer, type Middleware, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { knowsClient, modern, type Obj, openPeer } from "./peer.ts";
import { bare, callTool, contentOf, createQuietServer, namesOf, textOf } from "./tool-peer.ts";

describe.each(revisions)("middleware in %s", (revision) => {
  test("the first one used is the outermost", async () => {
    const server = createServer({ name: "s", version: "1" });
    const steps: string[] = [];
    const step =
      (name: string): Middleware =>
      async (call, next) => {
        if (call.method !== "tools/call") return next(call);
        steps.push(`${name} in`);
        const result = await next(call);
        steps.push(`${name} out`);
        return result;
      };
    server.tool("one", {}, () => void steps.push("handler"));
    server.use(step("a"));
    server.use(step("b"));
    const peer = await openPeer(server, revision);
    await callTool(peer, "one");
    expect(steps).toEqual(["a in", "b in", "handler", "b out", "a out"]);
    steps.length = 0;
    // One that comes later is there for those who are connected already.
    server.use(step("c"));
    await callTool(peer, "one");
    expect(steps).toEqual(["a in", "b in", "c in", "handler", "c out", "b out", "a out"]);
  });

  test("it sees every method that the server answers", async () => {
    const server = createServer({ name: "s", version: "1" });
    const seen: string[] = [];
    server.use((call, next) => {
      seen.push(call.method);
      return next(call);
    });
    server.tool("t", {}, () => "1");
    server.prompt(
      "p",
      { arguments: { type: "object", properties: { a: { type: "string" } } }, complete: { a: () => [] } },
      () => "1",
    );
    server.resource("r:1", {}, () => "1");
    server.handle("com.example/own", () => ({}));
    const peer = await openPeer(server, revision);
    const calls: [method: string, params?: Obj][] = [
      ["tools/list"],
      ["tools/call", { name: "t" }],
      ["prompts/list"],
      ["prompts/get", { name: "p" }],
      ["resources/list"],
      ["resources/templates/list"],
      ["resources/read", { uri: "r:1" }],
      ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }],
      ["com.example/own"],
      ...(revision === modern
        ? ([["server/discover"]] as [string][])
        : ([
            ["ping"],
            ["logging/setLevel", { level: "error" }],
            ["resources/subscribe", { uri: "r:1" }],
            ["resources/unsubscribe", { uri: "r:1" }],
          ] as [string, Obj?][])),
    ];
    const answered: string[] = [];
    for (const [method, params] of calls)
      if ((await peer.request(method, params)).error === undefined) answered.push(method);
    const expected = calls.map(([method]) => method);
    if (revision === modern) {
      peer.start("subscriptions/listen", { notifications: {} });
      await peer.settle();
      answered.push("subscriptions/listen");
      expected.push("subscriptions/listen");
    }
    expect(answered).toEqual(expected);
    expect(seen).toEqual([...(revision === modern ? [] : ["initialize"]), ...expected]);
  });

  test("it does not see what never becomes a call", async () => {
    const server = createServer({ name: "s", version: "1" });
    const seen: string[] = [];
    server.use((call, next) => {
      seen.push(call.method);
      return next(call);
    });
    server.tool("t", {}, () => "1");
    const peer = await openPeer(server, revision);
    seen.length = 0;
    await peer.fail("tools/call", { name: 1 });
    await peer.fail("no/such/method");
    await peer.fail("prompts/list");
    peer.notify("notifications/initialized");
    peer.notify("com.example/note");
    await peer.settle();
    expect(seen).toEqual([]);
  });

  test("it changes calls and results, answers itself, and catches errors", async () => {
    const { server, errors } = createQuietServer();
    server.tool("real", { input: { type: "object", properties: { n: { type: "number" } } } }, ({ n }) => `n is ${n}`);
    server.use(async (call, next) => {
      if (call.method !== "tools/call") return next(call);
      if (call.params.name === "alias") return next({ ...call, params: { name: "real", arguments: { n: 42 } } });
      if (call.params.name === "short") return { content: [{ type: "text", text: "not even asked" }] };
      try {
        const result = await next(call);
        return { ...result, _meta: { "com.example/passed": true } };
      } catch (error) {
        return { content: [{ type: "text", text: `caught: ${(error as Error).message}` }] };
      }
    });
    const peer = await openPeer(server, revision);
    expect(textOf(await callTool(peer, "alias"))).toBe("n is 42");
    expect(textOf(await callTool(peer, "short"))).toBe("not even asked");
    expect(textOf(await callTool(peer, "none"))).toBe('caught: Unknown tool: "none"');
    expect(bare(await callTool(peer, "real", { n: 1 }))).toEqual({
      content: [{ type: "text", text: "n is 1" }],
      _meta: { "com.example/passed": true },
    });
    expect(errors).toEqual([]);
  });

  test("it can filter a list for one caller without touching another's", async () => {
    covers(["tool-list-by-authorization", "tool-access-control"], revision);
    const server = createServer({ name: "s", version: "1" });
    for (const name of ["a", "b"]) server.tool(name, {}, () => name);
    server.use(async (call, next) => {
      const result = await next(call);
      if (call.method !== "tools/list" || call.auth?.subject !== "ada") return result;
      return { ...result, tools: (result.tools as { name: string }[]).filter(({ name }) => name === "a") };
    });
    const ada = await openPeer(server, revision, { sender: { auth: { subject: "ada", scopes: [] } } });
    const bob = await openPeer(server, revision);
    expect(await namesOf(bob)).toEqual(["a", "b"]);
    expect(await namesOf(ada)).toEqual(["a"]);
    expect(await namesOf(bob)).toEqual(["a", "b"]);
  });

  test("one that changes a list in place fails, and nobody else's list is changed", async () => {
    covers(["tool-list-not-per-connection", "tool-access-control"], revision);
    const { server, errors } = createQuietServer();
    for (const name of ["a", "b"]) server.tool(name, {}, () => name);
    server.use(async (call, next) => {
      const result = await next(call);
      if (call.method === "tools/list" && call.auth?.subject === "ada") (result.tools as unknown[]).pop();
      return result;
    });
    const ada = await openPeer(server, revision, { sender: { auth: { subject: "ada", scopes: [] } } });
    const bob = await openPeer(server, revision);
    expect((await ada.fail("tools/list")).code).toBe(-32603);
    expect(String(errors[0]?.error)).toMatch(/^TypeError/);
    expect(await namesOf(bob)).toEqual(["a", "b"]);
  });

  test("a result that the revision cannot carry is not sent", async () => {
    covers("schema-jsonrpc-response", revision);
    const { server, errors } = createQuietServer();
    server.tool("one", {}, () => "1");
    let result: unknown;
    server.use((call, next) => (call.method === "tools/call" ? (result as Obj) : next(call)));
    const peer = await openPeer(server, revision);
    for (result of [undefined, null, [], "text", 1, { content: "text" }]) {
      expect((await peer.fail("tools/call", { name: "one" })).code).toBe(-32603);
    }
    expect(errors).toHaveLength(6);
  });

  test("middleware sees the opening and can turn it away", async () => {
    const server = createServer({ name: "s", version: "1" });
    const seen: Call[] = [];
    server.use((call, next) => {
      seen.push(call);
      if (call.client.info?.name === "banned") throw new Error("no");
      return next(call);
    });
    server.tool("one", {}, () => "1");
    const clientInfo = { name: "friend", version: "2.0.0" };
    const capabilities = { roots: {} };
    const peer = await openPeer(server, revision, { clientInfo, capabilities });
    if (revision === modern) await peer.call("server/discover");
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      method: revision === modern ? "server/discover" : "initialize",
      client: { info: clientInfo, capabilities, revision },
    });
  });
});

describe.each(revisions)("the context of a call in %s", (revision) => {
  test("knows the request, the client, the sender and the meta data", async () => {
    covers(["schema-request-meta-open", "schema-capabilities-open"], revision);
    const server = createServer({ name: "s", version: "1" });
    const seen: Obj[] = [];
    server.tool("look", {}, (_, { requestId, client, auth, meta, trace, signal, lifespan }) => {
      seen.push({ requestId, client, auth, meta, trace, aborted: signal.aborted, lifespan });
    });
    const auth = { subject: "ada", clientId: "c", scopes: ["x"], expiresAt: 4_000_000_000, claims: { a: 1 } };
    const clientInfo = { name: "looker", version: "3", title: "Looker" };
    const capabilities = { sampling: {}, "com.example/unknown": { deep: true } };
    const peer = await openPeer(server, revision, { sender: { auth }, clientInfo, capabilities });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const _meta = { traceparent, tracestate: "a=1", baggage: "k=v", "com.example/x": [1], progressToken: "p" };
    await peer.request("tools/call", { name: "look", _meta }, "id-7");
    const own = revision === modern ? (peer.dress()?._meta as Obj) : {};
    expect(seen).toEqual([
      {
        requestId: "id-7",
        client: knowsClient(revision)
          ? { info: clientInfo, capabilities, revision }
          : { info: undefined, capabilities: {}, revision },
        auth,
        meta: { ...own, ..._meta },
        trace: { traceparent, tracestate: "a=1", baggage: "k=v" },
        aborted: false,
        lifespan: undefined,
      },
    ]);
  });

  test("trace members that break their format are left out, and the call goes on", async () => {
    const server = createServer({ name: "s", version: "1" });
    const seen: unknown[] = [];
    server.tool("look", {}, (_, ctx) => void seen.push(ctx.trace));
    const peer = await openPeer(server, revision);
    const bad = [
      { traceparent: "00-zz", tracestate: "a=1" },
      { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` },
      { traceparent: 7, baggage: "a\u0000b" },
    ];
    for (const _meta of bad) await peer.call("tools/call", { name: "look", _meta });
    await peer.call("tools/call", { name: "look" });
    expect(seen).toEqual([{ tracestate: "a=1" }, {}, {}, {}]);
  });

  test("two peers and two calls never see each other's", async () => {
    covers("tool-call", revision);
    const server = createServer({ name: "s", version: "1" });
    const gates = new Map<string, () => void>();
    server.tool(
      "who",
      { input: { type: "object", properties: { key: { type: "string" } }, required: ["key"] } },
      async ({ key }, ctx) => {
        await new Promise<void>((resolve) => gates.set(key, resolve));
        return `${key} ${ctx.requestId} ${ctx.client.info?.name} ${ctx.auth?.subject}`;
      },
    );
    const ada = await openPeer(server, revision, {
      clientInfo: { name: "A", version: "1" },
      sender: { auth: { subject: "ada", scopes: [] } },
    });
    const bob = await openPeer(server, revision, {
      clientInfo: { name: "B", version: "1" },
      sender: { auth: { subject: "bob", scopes: [] } },
    });
    const answers = [
      ada.request("tools/call", { name: "who", arguments: { key: "k1" } }, 7),
      bob.request("tools/call", { name: "who", arguments: { key: "k2" } }, 7),
      ada.request("tools/call", { name: "who", arguments: { key: "k3" } }, "7"),
    ];
    for (const peer of [ada, bob]) await peer.settle();
    for (const key of ["k3", "k2", "k1"]) gates.get(key)?.();
    const texts = (await Promise.all(answers)).map(({ result }) => textOf(result ?? {}));
    const [a, b] = knowsClient(revision) ? ["A", "B"] : [undefined, undefined];
    expect(texts).toEqual([`k1 7 ${a} ada`, `k2 7 ${b} bob`, `k3 7 ${a} ada`]);
  });

  test("a tool reads a resource of its server as its caller would", async () => {
    const { server } = createQuietServer();
    server.resource(
      "secret:1",
      { visible: (ctx) => ctx.auth?.subject === "ada" },
      (_, ctx) => `for ${ctx.auth?.subject}`,
    );
    server.tool("read", {}, async (_, ctx) => (await ctx.readResource("secret:1")).contents[0]);
    const ada = await openPeer(server, revision, { sender: { auth: { subject: "ada", scopes: [] } } });
    const bob = await openPeer(server, revision);
    expect(JSON.parse(String((await contentOf(ada, "read"))[0]?.text))).toMatchObject({
      uri: "secret:1",
      text: "for ada",
    });
    expect((await bob.fail("tools/call", { name: "read" })).code).toBe(revision === modern ? -32602 : -32002);
  });
});
