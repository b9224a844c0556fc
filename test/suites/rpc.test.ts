// JSON-RPC as a peer meets it: every message well formed, every fault answered with its code, nothing ends the connection.
import { jsonSchema, revisions } from "plenum";
import { createRawPeer } from "plenum/memory";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { isOneChannel, type Message, modern, type Obj, openPeer } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const text = jsonSchema({ type: "object", properties: { text: { type: "string" } }, required: ["text"] });

function createTour() {
  const { server, errors } = createQuietServer();
  server.tool("say", { input: text }, (args, ctx) => {
    ctx.progress(1, 2);
    ctx.log.error("said");
    return `${(args as { text: string }).text}`;
  });
  server.tool("crash", {}, () => {
    throw new Error("secret detail");
  });
  server.resource("note://a", {}, () => "A");
  server.resource("note://crash", {}, () => {
    throw new Error("secret detail");
  });
  server.prompt("hello", {}, () => "Hello");
  return { server, errors };
}

describe.each(revisions)("messages in %s", (revision) => {
  test("all that is sent on a tour is JSON-RPC 2.0: a request, a notification, or a response with one of result and error", async () => {
    covers(
      [
        "rpc-jsonrpc-2-0",
        "rpc-response-result-or-error",
        "rpc-response-not-both",
        "rpc-notification-no-id",
        "rpc-schema-authoritative",
        "rpc-error-code-integer",
        "rpc-error-code-and-message",
      ],
      revision,
    );
    const peer = await openPeer(createTour().server, revision);
    const logged = peer.isModern ? { "io.modelcontextprotocol/logLevel": "debug" } : {};
    await peer.request("tools/list");
    await peer.request("tools/call", {
      name: "say",
      arguments: { text: "hi" },
      _meta: { progressToken: "t", ...logged },
    });
    await peer.request("tools/call", { name: "crash" });
    await peer.request("tools/call", { name: "nobody" });
    await peer.request("resources/list");
    await peer.request("resources/read", { uri: "note://a" });
    await peer.request("resources/read", { uri: "note://crash" });
    await peer.request("resources/read", { uri: "note://missing" });
    await peer.request("prompts/list");
    await peer.request("prompts/get", { name: "hello" });
    await peer.request("no/such");
    peer.raw.send("{");
    await peer.settle();

    expect(peer.problems()).toEqual([]);
    expect(peer.notifications("notifications/progress")).toHaveLength(1);
    expect(peer.notifications("notifications/message")).toHaveLength(1);
    for (const message of peer.messages) {
      expect(message.jsonrpc).toBe("2.0");
      const isNotification = "method" in message;
      expect(Object.keys(message).sort()).toEqual(
        isNotification
          ? ["jsonrpc", "method", "params"]
          : [
              ...("error" in message ? ["error"] : []),
              ...("id" in message ? ["id"] : []),
              "jsonrpc",
              ...("result" in message ? ["result"] : []),
            ],
      );
      if (!isNotification) expect("result" in message).toBe(!("error" in message));
      const { error } = message;
      if (error) expect([Number.isInteger(error.code), typeof error.message]).toEqual([true, "string"]);
    }
    // One answer for each of the requests, and one for what could not be read.
    const answers = peer.messages.filter((message) => message.method === undefined);
    expect(answers).toHaveLength(peer.isModern ? 12 : 13);
  });

  test("text that is not JSON is -32700 without id, and the connection lives on", async () => {
    covers(["rpc-code-parse-error", "rpc-error-same-id", "rpc-error-id-not-null"], revision);
    const peer = await openPeer(createTour().server, revision);
    const before = peer.messages.length;
    const texts = ["{", '{"jsonrpc":"2.0","id":1,"method":"tools/list"', "", "nonsense", "\u0000", '{"id":01}'];
    for (const bad of texts) peer.raw.send(bad);
    await peer.settle();
    expect(peer.messages.slice(before)).toEqual(
      texts.map(() => ({
        jsonrpc: "2.0",
        error: { code: -32700, message: "Parse error: the message is not valid JSON" },
      })),
    );
    expect((await peer.call("tools/list")).tools).toHaveLength(2);
    expect((await peer.request("no/such", {}, "x")).id).toBe("x");
  });

  test("JSON that is no message is -32600, with the id where there is one to read", async () => {
    covers(["rpc-code-invalid-request", "rpc-params-object"], revision);
    const peer = await openPeer(createTour().server, revision);
    const cases: [unknown, number | string | undefined][] = [
      [{ jsonrpc: "1.0", id: 101, method: "tools/list" }, 101],
      [{ id: 102, method: "tools/list" }, 102],
      [{ jsonrpc: "2.0", id: 103 }, 103],
      [{ jsonrpc: "2.0", id: "4", method: 5 }, "4"],
      [{ jsonrpc: "2.0", id: 106, method: "tools/list", params: [] }, 106],
      [{ jsonrpc: "2.0", id: 107, method: "tools/list", params: "x" }, 107],
      [{ jsonrpc: "2.0", id: 108, method: "tools/list", params: null }, 108],
      [{ jsonrpc: "2.0", id: 109, method: "tools/list", result: {} }, 109],
      [{}, undefined],
      ["null", undefined],
      ["7", undefined],
      ['"tools/list"', undefined],
      [{ JSONRPC: "2.0", Id: 110, Method: "ping" }, undefined],
    ];
    for (const [message, id] of cases) {
      const before = peer.messages.length;
      peer.raw.send(message);
      await peer.settle();
      const answers = peer.messages.slice(before) as Message[];
      expect(
        answers.map(({ id: got, error }) => [got, error?.code]),
        JSON.stringify(message),
      ).toEqual([[id, -32600]]);
    }
    expect((await peer.call("tools/list")).tools).toHaveLength(2);
  });

  test("too deep JSON is refused before it is built", async () => {
    const peer = await openPeer(createTour().server, revision);
    const before = peer.messages.length;
    peer.raw.send(
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`,
    );
    await peer.settle();
    expect(peer.messages.slice(before).map(({ error }) => error?.code)).toEqual([-32600]);
  });

  test("unknown methods, and those of capabilities that are not offered, are -32601 with the request's id", async () => {
    covers(["rpc-code-method-not-found", "rpc-optional-components", "rpc-error-same-id"], revision);
    const { server } = createQuietServer({ logging: false });
    const peer = await openPeer(server, revision);
    const methods = [
      ..."no/such tools/list tools/call prompts/list prompts/get resources/list resources/read".split(" "),
      ..."resources/templates/list completion/complete logging/setLevel resources/subscribe toString".split(" "),
      ..."sampling/createMessage roots/list elicitation/create rpc.discover".split(" "),
    ];
    for (const [index, method] of methods.entries()) {
      const { id, error } = await peer.request(method, {}, `m${index}`);
      expect([id, error?.code], method).toEqual([`m${index}`, -32601]);
      expect(error?.message, method).toBe(`Method not found: "${method}"`);
    }
  });

  test("params that break the method's shape are -32602", async () => {
    covers(["rpc-code-invalid-params"], revision);
    const peer = await openPeer(createTour().server, revision);
    const cases: [string, Obj, string][] = [
      ["tools/call", {}, "Invalid params for tools/call: params.name must be a string"],
      ["tools/call", { name: 5 }, "Invalid params for tools/call: params.name must be a string"],
      [
        "tools/call",
        { name: "say", arguments: [] },
        "Invalid params for tools/call: params.arguments must be an object",
      ],
      ["tools/list", { cursor: 1 }, "Invalid params for tools/list: params.cursor must be a string"],
      [
        "prompts/get",
        { name: "hello", arguments: { a: 1 } },
        "Invalid params for prompts/get: params.arguments.a must be a string",
      ],
      ["resources/read", { uri: "no uri" }, "Invalid params for resources/read: params.uri must be an absolute URI"],
    ];
    for (const [method, params, message] of cases) {
      expect(await peer.fail(method, params)).toEqual({ code: -32602, message });
    }
  });

  test("a handler that fails is -32603, in one line that gives nothing away but an id", async () => {
    covers(["rpc-code-internal-error", "rpc-error-message-concise"], revision);
    const { server, errors } = createTour();
    const peer = await openPeer(server, revision);
    const error = await peer.fail("resources/read", { uri: "note://crash" });
    const [reported] = errors;
    expect(errors).toHaveLength(1);
    expect(reported?.error).toEqual(new Error("secret detail"));
    expect(error).toEqual({
      code: -32603,
      message: `Internal error (${reported?.errorId})`,
      data: { errorId: reported?.errorId },
    });
    expect(JSON.stringify(peer.messages)).not.toMatch(/secret detail|\\n|\.ts:/);
  });

  test("notifications are never answered, whether valid, unknown or malformed", async () => {
    covers(["rpc-notification-no-response"], revision);
    const peer = await openPeer(createTour().server, revision);
    await peer.settle();
    const before = peer.messages.length;
    peer.notify("notifications/initialized");
    peer.notify("notifications/roots/list_changed");
    peer.notify("notifications/nobody/knows", { a: 1 });
    peer.notify("notifications/cancelled");
    peer.notify("notifications/progress", { progressToken: "none", progress: 1 });
    peer.notify("tools/list");
    peer.raw.send({ jsonrpc: "2.0", method: "notifications/initialized", params: [] });
    peer.raw.send({ jsonrpc: "2.0", method: 7 });
    peer.raw.send({ jsonrpc: "1.0", method: "notifications/initialized" });
    peer.raw.send({ method: "notifications/initialized" });
    await peer.settle();
    expect(peer.messages).toHaveLength(before);
  });

  test("responses that nobody waits for, whole or broken, are passed over", async () => {
    const peer = await openPeer(createTour().server, revision);
    const before = peer.messages.length;
    peer.raw.send({ jsonrpc: "2.0", id: 99, result: {} });
    peer.raw.send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "?" } });
    peer.raw.send({ jsonrpc: "2.0", error: { code: -32700, message: "?" } });
    peer.raw.send({ jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "both" } });
    peer.raw.send({ jsonrpc: "2.0", id: 1, result: 5 });
    peer.raw.send({ jsonrpc: "2.0", id: 1, error: "no object" });
    await peer.settle();
    expect(peer.messages).toHaveLength(before);
    expect((await peer.call("tools/list")).tools).toHaveLength(2);
  });

  test("hostile member names do no harm, and text keeps every character", async () => {
    const { server } = createQuietServer();
    server.tool("echo", { input: jsonSchema({ type: "object" }) }, (args) => JSON.stringify(args));
    const peer = await openPeer(server, revision);
    const args = '{"__proto__":{"polluted":true},"constructor":1,"a":1,"a":2,"text":"ä𝄞\\ud800\\u0000"}';
    const meta = peer.isModern ? `,"_meta":${JSON.stringify(peer.dress()?._meta)}` : "";
    peer.raw.send(
      `{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"echo","arguments":${args}${meta}}}`,
    );
    await peer.settle();
    const answer = peer.messages.find(({ id }) => id === "h");
    expect(textOf(answer?.result ?? {})).toBe(
      '{"__proto__":{"polluted":true},"constructor":1,"a":2,"text":"ä𝄞\\ud800\\u0000"}',
    );
    expect(({} as Obj).polluted).toBeUndefined();
  });

  test("a server with nothing to offer still completes the core", async () => {
    covers(["rpc-support-core"], revision);
    const peer = await openPeer(createQuietServer({ logging: false }).server, revision);
    if (peer.isModern) {
      expect((await peer.call("server/discover")).capabilities).toEqual({});
      return;
    }
    expect(peer.opening.capabilities).toEqual({});
    expect(await peer.call("ping")).toEqual({});
  });
});

describe(`messages in ${modern} only`, () => {
  test.each([
    "ping",
    "initialize",
    "notifications/initialized",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
  ])("%s is no method", async (method) => {
    covers("rpc-removed-methods-2026");
    const { server } = createTour();
    const peer = await openPeer(server, modern);
    const params = { protocolVersion: modern, capabilities: {}, clientInfo: {}, level: "info", uri: "note://a" };
    expect((await peer.fail(method, params)).code).toBe(-32601);
  });

  test("every result of every method has a resultType", async () => {
    covers(["rpc-result-type-present"]);
    const { server } = createTour();
    server.prompt("pick", { arguments: text, complete: { text: () => ["a"] } }, () => "");
    server.handle("com.example/own", () => ({ own: true }));
    const peer = await openPeer(server, modern);
    const calls: [string, Obj][] = [
      ["server/discover", {}],
      ["tools/list", {}],
      ["tools/call", { name: "say", arguments: { text: "" } }],
      ["tools/call", { name: "crash" }],
      ["prompts/list", {}],
      ["prompts/get", { name: "hello" }],
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["resources/read", { uri: "note://a" }],
      ["completion/complete", { ref: { type: "ref/prompt", name: "pick" }, argument: { name: "text", value: "" } }],
      ["com.example/own", {}],
    ];
    for (const [method, params] of calls) expect((await peer.call(method, params)).resultType, method).toBe("complete");
    const listening = peer.start("subscriptions/listen", { notifications: {} });
    await peer.settle();
    void server.close();
    await peer.settle();
    expect(peer.messages.find(({ id }) => id === listening)?.result?.resultType).toBe("complete");
  });

  test("a result of a type that nobody declared is not sent", async () => {
    const { server, errors } = createQuietServer();
    server.handle("tools/call", () => ({ resultType: "banana", content: [] }));
    const peer = await openPeer(server, modern);
    expect((await peer.fail("tools/call", { name: "x" })).code).toBe(-32603);
    expect(errors).toHaveLength(1);
  });

  test("request and response, a round of input and a subscription all work", async () => {
    covers(["rpc-support-core-2026", "rpc-request-scoped-notifications"]);
    const { server } = createTour();
    const inputRequests = { name: { method: "roots/list" } };
    server.handle("tools/call", (params, ctx) => {
      ctx.progress(1);
      return params.inputResponses === undefined
        ? { resultType: "input_required", inputRequests, requestState: "s1" }
        : { content: [{ type: "text", text: `${params.requestState} ${JSON.stringify(params.inputResponses)}` }] };
    });
    const peer = await openPeer(server, modern, { capabilities: { roots: {} } });
    const asked = await peer.call("tools/call", { name: "any", _meta: { progressToken: 1 } });
    expect(asked).toMatchObject({ resultType: "input_required", inputRequests, requestState: "s1" });
    const inputResponses = { name: { roots: [] } };
    const done = await peer.call("tools/call", { name: "any", inputResponses, requestState: "s1" });
    expect(done).toMatchObject({
      resultType: "complete",
      content: [{ type: "text", text: 's1 {"name":{"roots":[]}}' }],
    });
    // The notification of the first call came before its answer.
    expect(peer.messages.map(({ method, id }) => method ?? id)).toEqual(["notifications/progress", 1, 2]);
    peer.start("subscriptions/listen", { notifications: { resourcesListChanged: true } });
    await peer.settle();
    expect(peer.notifications("notifications/subscriptions/acknowledged")).toHaveLength(1);
  });

  test("the server never sends a request, whatever its handlers want to ask", async () => {
    covers("rpc-server-no-requests");
    const { server } = createQuietServer();
    server.tool("form", {}, (_, ctx) => ctx.elicit("?", jsonSchema({ type: "object", properties: {} })));
    server.tool("url", {}, (_, ctx) => ctx.elicitUrl("?", "https://example.com/"));
    server.tool("sample", {}, (_, ctx) => ctx.sample({ messages: [], maxTokens: 1 }));
    server.tool("roots", {}, (_, ctx) => ctx.roots());
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
    for (const declared of [{}, capabilities]) {
      const peer = await openPeer(server, modern, { capabilities: declared });
      for (const name of ["form", "url", "sample", "roots"]) await peer.request("tools/call", { name });
      peer.start("subscriptions/listen", { notifications: { toolsListChanged: true } });
      await peer.settle();
      expect(peer.messages.filter(({ method, id }) => method !== undefined && id !== undefined)).toEqual([]);
      expect(peer.messages.filter(({ method }) => method === undefined)).toHaveLength(4);
    }
  });
});

// Over HTTP what is open is counted for all clients together.
test.runIf(isOneChannel)(
  "more requests than may be open at once are refused, and there is room again afterwards",
  async () => {
    const { server } = createQuietServer();
    let release = (): void => {};
    server.tool("wait", {}, () => new Promise<void>((resolve) => (release = resolve)));
    const peer = await openPeer(server, "2025-11-25", { maxInFlight: 1 });
    const first = peer.request("tools/call", { name: "wait" });
    await peer.settle();
    expect(await peer.fail("ping")).toEqual({ code: -32600, message: "Invalid request: too many open requests" });
    release();
    await first;
    expect(await peer.call("ping")).toEqual({});
  },
);

test("a peer that hangs up while a call runs aborts it", async () => {
  const { server } = createQuietServer();
  const reasons: unknown[] = [];
  server.tool("wait", {}, (_, ctx) => {
    return new Promise<void>((resolve) => {
      ctx.signal.addEventListener("abort", () => {
        reasons.push((ctx.signal.reason as DOMException).name);
        resolve();
      });
    });
  });
  const raw = createRawPeer(server);
  const meta = { "io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": {} };
  raw.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wait", _meta: meta } });
  await raw.settle();
  raw.close();
  await raw.serving.closed;
  await raw.settle();
  expect(reasons).toEqual(["AbortError"]);
});
