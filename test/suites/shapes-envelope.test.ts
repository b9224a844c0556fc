// The JSON-RPC envelopes around everything, and which methods a server sends in each revision. That all params and
// results fit the official schemas is judged by the peer after every test.
import { createServer, revisions } from "plenum";
import { createRawPeer } from "plenum/memory";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { hasSession, isOneChannel, knowsClient, type Message, modern, type Obj, openPeer } from "./peer.ts";
import { callTool, createQuietServer, textOf } from "./tool-peer.ts";

const keysOf = (message: object | undefined): string[] => Object.keys(message ?? {}).sort();

describe.each(revisions)("envelopes in %s", (revision) => {
  test("a success has jsonrpc, id and an object, whatever the handler returns", async () => {
    covers("schema-jsonrpc-response", revision);
    const { server } = createQuietServer();
    server.tool("nothing", {}, () => undefined);
    server.handle("com.example/empty", () => ({}));
    const peer = await openPeer(server, revision);
    for (const id of ["", "0", 0, -1, Number.MAX_SAFE_INTEGER, "ü".repeat(500)]) {
      const answer = await peer.request("tools/call", { name: "nothing" }, id);
      expect(keysOf(answer)).toEqual(["id", "jsonrpc", "result"]);
      expect(answer).toMatchObject({ jsonrpc: "2.0", id, result: { content: [] } });
    }
    expect((await peer.request("com.example/empty")).result).toBeTypeOf("object");
  });

  test("a handler by hand that returns no object gives an error, not a broken result", async () => {
    covers("schema-jsonrpc-response", revision);
    const { server } = createQuietServer();
    const returns = [undefined, null, [], "text", 1, true];
    for (const [index, value] of returns.entries()) server.handle(`com.example/${index}`, () => value as never);
    const peer = await openPeer(server, revision);
    for (const index of returns.keys()) {
      const answer = await peer.request(`com.example/${index}`);
      expect(keysOf(answer)).toEqual(["error", "id", "jsonrpc"]);
      expect(answer.error?.code).toBe(-32603);
    }
  });

  test("an error has jsonrpc, the id of its request, and a code and a message in one line", async () => {
    covers("schema-jsonrpc-error", revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("one", {}, () => 1);
    const peer = await openPeer(server, revision);
    const answers = [
      await peer.request("tools/call", { name: "none\nof\nthem" }, "e1"),
      await peer.request("no/such/method", {}, 2),
      await peer.request("tools/list", { cursor: "x" }, "e3"),
    ];
    expect(answers.map(({ id }) => id)).toEqual(["e1", 2, "e3"]);
    for (const { error, ...rest } of answers) {
      expect(keysOf(rest)).toEqual(["id", "jsonrpc"]);
      expect(keysOf(error)).toEqual(["code", "message"]);
      expect(error?.code).toSatisfy(Number.isInteger);
      expect(error?.message).toMatch(/^.+$/);
    }
  });

  test("a request that lacks a member is invalid; one whose id cannot be read is answered without id", async () => {
    covers(["schema-jsonrpc-request", "schema-jsonrpc-error-id-optional"], revision);
    const server = createServer({ name: "s", version: "1" });
    let ran = 0;
    server.tool("one", {}, () => ++ran);
    const peer = await openPeer(server, revision);
    const params = peer.dress({ name: "one" });
    const whole = { jsonrpc: "2.0", id: "w", method: "tools/call", params };
    const broken: readonly [message: Obj, id: string | undefined][] = [
      [{ id: "a", method: "tools/call", params }, "a"],
      [{ ...whole, id: "b", jsonrpc: "1.0" }, "b"],
      [{ jsonrpc: "2.0", id: "c", params }, "c"],
      [{ ...whole, id: "d", method: 1 }, "d"],
      [{ ...whole, id: "e", params: ["one"] }, "e"],
      [{ ...whole, id: null }, undefined],
      [{ ...whole, id: 1.5 }, undefined],
      [{ ...whole, id: {} }, undefined],
    ];
    for (const [message, id] of broken) {
      const before = peer.messages.length;
      peer.raw.send(message);
      await peer.settle();
      const [answer, ...more] = peer.messages.slice(before);
      expect(more).toEqual([]);
      expect(answer).toEqual({
        jsonrpc: "2.0",
        ...(id !== undefined && { id }),
        error: { code: -32600, message: expect.stringMatching(/^Invalid request: /) },
      });
    }
    expect(ran).toBe(0);
    peer.raw.send(whole);
    await peer.settle();
    expect(ran).toBe(1);
  });

  test("a message without id is a notification and gets no answer, whatever is wrong with it", async () => {
    covers("schema-jsonrpc-notification", revision);
    const server = createServer({ name: "s", version: "1" });
    let ran = 0;
    server.tool("one", {}, () => ++ran);
    const peer = await openPeer(server, revision);
    const before = peer.messages.length;
    const method = "notifications/progress";
    for (const message of [
      { jsonrpc: "2.0", method: "tools/call", params: peer.dress({ name: "one" }) },
      { jsonrpc: "2.0", method, params: { progressToken: "x" } },
      { jsonrpc: "2.0", method, params: { progressToken: "x", progress: "half" } },
      { jsonrpc: "2.0", method, params: { progressToken: "x", progress: 1, message: 5 } },
      { jsonrpc: "2.0", method, params: [] },
      { jsonrpc: "2.0", method: "notifications/unheard/of" },
      { jsonrpc: "1.0", method },
    ]) {
      peer.raw.send(message);
    }
    await peer.settle();
    expect(peer.messages.slice(before)).toEqual([]);
    expect(ran).toBe(0);
    expect(textOf(await callTool(peer, "one"))).toBe("1");
  });

  test("a success without data is an empty object", async () => {
    covers("schema-empty-result", revision);
    const server = createServer({ name: "s", version: "1" });
    server.resource("r:1", {}, () => "r");
    const peer = await openPeer(server, revision);
    if (revision !== modern) {
      expect(await peer.call("ping")).toEqual({});
      expect(await peer.call("logging/setLevel", { level: "error" })).toEqual({});
      expect(await peer.call("resources/subscribe", { uri: "r:1" })).toEqual({});
      expect(await peer.call("resources/unsubscribe", { uri: "r:1" })).toEqual({});
      return;
    }
    // There the only request without data is one that listens, when the server ends it.
    peer.start("subscriptions/listen", { notifications: {} }, "L");
    await peer.settle();
    await server.close();
    await peer.settle();
    expect(peer.messages.find(({ id }) => id === "L")?.result).toEqual({
      resultType: "complete",
      _meta: {
        "io.modelcontextprotocol/subscriptionId": "L",
        "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" },
      },
    });
  });

  test("the requests of a server are those of its revision, each with jsonrpc, id and method", async () => {
    covers(
      [
        ...["schema-jsonrpc-request", "schema-server-requests", "schema-server-requests-2025-06"],
        ...["schema-server-requests-2025-11"],
      ],
      revision,
    );
    const { server } = createQuietServer();
    const message = { role: "user" as const, content: { type: "text", text: "hi" } };
    server.tool("roots", {}, async (_, ctx) => (await ctx.roots()).length);
    server.tool("sample", {}, async (_, ctx) => (await ctx.sample({ messages: [message], maxTokens: 5 })).model);
    server.tool("elicit", {}, async (_, ctx) => (await ctx.elicit("Name?", z.object({ name: z.string() }))).action);
    const capabilities = { roots: {}, sampling: {}, elicitation: {} };
    const peer = await openPeer(server, revision, { capabilities });
    const answers: { readonly [method: string]: Obj } = {
      "roots/list": { roots: [] },
      "sampling/createMessage": { role: "assistant", content: { type: "text", text: "" }, model: "m" },
      "elicitation/create": { action: "decline" },
    };
    const asked: Message[] = [];
    for (const name of ["roots", "sample", "elicit"]) {
      const id = peer.start("tools/call", { name });
      const answerOf = () => peer.messages.find((one) => one.id === id && one.method === undefined);
      const requestOf = () =>
        peer.messages.find((one) => one.method !== undefined && one.id !== undefined && !asked.includes(one));
      await expect.poll(() => answerOf() ?? requestOf()).toBeDefined();
      const request = requestOf();
      if (request) {
        asked.push(request);
        peer.answer(request, answers[request.method ?? ""] ?? {});
      }
      await expect.poll(answerOf).toBeDefined();
      const answer = answerOf();
      // What the revision lacks is refused here, not sent.
      if (!request && revision !== modern) expect(answer?.result?.isError).toBe(true);
    }
    const methods = [
      "roots/list",
      "sampling/createMessage",
      ...(revision >= "2025-06-18" ? ["elicitation/create"] : []),
    ];
    expect(asked.map(({ method }) => method)).toEqual(hasSession(revision) ? methods : []);
    for (const request of asked) {
      expect(request.jsonrpc).toBe("2.0");
      expect(request.id).toBeTypeOf("number");
      expect(keysOf(request).filter((key) => key !== "params")).toEqual(["id", "jsonrpc", "method"]);
    }
    expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length);
  });

  test.runIf(knowsClient(revision))(
    "the notifications of a server are those of its revision, each with jsonrpc and method",
    async () => {
      covers(
        [
          ...["schema-jsonrpc-notification", "schema-server-notifications", "schema-server-notifications-2026"],
          ...["schema-progress-notification", "schema-progress-message"],
        ],
        revision,
      );
      const { server } = createQuietServer();
      server.tool("busy", {}, (_, ctx) => {
        ctx.progress(1, 4, "begun");
        ctx.progress(2.5);
        ctx.log.warning({ n: 1 }, "db");
      });
      server.prompt("p", {}, () => "p");
      server.resource("r:1", {}, () => "r");
      const peer = await openPeer(server, revision);
      if (revision === modern) {
        const notifications = {
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: ["r:1"],
        };
        peer.start("subscriptions/listen", { notifications }, "L");
      } else await peer.call("resources/subscribe", { uri: "r:1" });
      await peer.settle();
      const logLevel = revision === modern ? { "io.modelcontextprotocol/logLevel": "info" } : {};
      await peer.call("tools/call", { name: "busy", _meta: { progressToken: "token", ...logLevel } });
      server.tool("t2", {}, () => 1);
      server.prompt("p2", {}, () => "p");
      server.resource("r:2", {}, () => "r");
      server.resourceUpdated("r:1");
      await peer.settle();
      await server.close();
      await peer.settle();

      const sent = peer.notifications();
      for (const message of sent) {
        expect(message.jsonrpc).toBe("2.0");
        expect(keysOf(message).filter((key) => key !== "params")).toEqual(["jsonrpc", "method"]);
      }
      const all = [
        "progress",
        "message",
        "tools/list_changed",
        "prompts/list_changed",
        "resources/list_changed",
        "resources/updated",
      ];
      if (revision === modern) all.push("subscriptions/acknowledged");
      // The end of a subscription, where it has no stream of its own that ends.
      if (revision === modern && isOneChannel) all.push("cancelled");
      expect(new Set(sent.map(({ method }) => method))).toEqual(new Set(all.map((name) => `notifications/${name}`)));
      expect(peer.notifications("notifications/progress").map(({ params }) => params)).toEqual([
        { progressToken: "token", progress: 1, total: 4, ...(revision >= "2025-03-26" && { message: "begun" }) },
        { progressToken: "token", progress: 2.5 },
      ]);
    },
  );

  test("members that nobody knows do no harm, and are not taken for others", async () => {
    covers("schema-open-members", revision);
    const server = createServer({ name: "s", version: "1" });
    const seen: unknown[] = [];
    server.tool("keep", { input: { type: "object" } }, (args) => void seen.push(args));
    server.use(async (call, next) => {
      const result = await next(call);
      return call.method === "tools/call" ? { ...result, "com.example": { own: true } } : result;
    });
    // Not the peer of the other tests: it tolerates no such member in what a server sends.
    const raw = createRawPeer(server);
    const strange = { Arguments: { no: 1 }, args: { no: 2 }, NAME: "other", nested: { name: "other" } };
    const meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    if (revision !== modern) {
      const clientInfo = { name: "c", version: "1", strange };
      const opened = (await raw.request("initialize", {
        protocolVersion: revision,
        capabilities: {},
        clientInfo,
        strange,
      })) as Message;
      expect(opened.result?.protocolVersion).toBe(revision);
      raw.send({ jsonrpc: "2.0", method: "notifications/initialized", params: { strange } });
    }
    const params = { name: "keep", arguments: { yes: 1 }, ...strange, ...(revision === modern && { _meta: meta }) };
    const answer = (await raw.request("tools/call", params)) as Message;
    expect(answer.result).toMatchObject({ content: [], "com.example": { own: true } });
    expect(seen).toEqual([{ yes: 1 }]);
    raw.close();
  });
});
