// Which requests and notifications a server sends in each revision, and what the newest puts into results instead.
import { createServer, revisions, type Server } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { isOneChannel, knowsClient, modern, type Obj, openPeer, type Peer } from "./peer.ts";

/** A server that uses all it has. */
function createLoud(): Server {
  const server = createServer({ name: "loud", version: "1.0.0", logLevel: "debug", onError: () => {} });
  server.tool("all", {}, async (_, ctx) => {
    ctx.progress(1, 2, "half");
    ctx.log.warning("careful");
    const asks = [
      () => ctx.elicit("?", z.object({})),
      () => ctx.elicitUrl("?", "https://a.example"),
      () => ctx.sample({ messages: [], maxTokens: 1 }),
      () => ctx.roots(),
    ];
    return (await Promise.allSettled(asks.map((ask) => ask()))).map(({ status }) => status).join(" ");
  });
  server.resource("a:x", {}, () => "");
  server.prompt("p", {}, () => "");
  return server;
}

const capabilities = { roots: {}, sampling: { tools: {} }, elicitation: { form: {}, url: {} } };

const methodsOf = (peer: Peer, kind: "request" | "notification"): string[] => {
  const sent = peer.messages.filter(({ method, id }) => method && (id !== undefined) === (kind === "request"));
  return [...new Set(sent.map(({ method }) => method as string))].sort();
};

const changes = ["prompts/list_changed", "resources/list_changed", "resources/updated", "tools/list_changed"];
const notifications = ["cancelled", "message", "progress", ...changes].map((name) => `notifications/${name}`).sort();

describe.each(revisions)("a server that does all it can in %s", (revision) => {
  test.runIf(knowsClient(revision))("sends the requests and notifications of the revision and no others", async () => {
    covers(["schema-server-requests", "schema-server-requests-2025-06", "schema-server-requests-2025-11"], revision);
    covers(["schema-server-notifications", "schema-server-notifications-2026", "schema-updated-params"], revision);
    covers(["schema-jsonrpc-request", "schema-jsonrpc-notification"], revision);
    if (revision === modern) covers("schema-empty-result", revision);
    const server = createLoud();
    const peer = await openPeer(server, revision, {
      capabilities: revision === modern ? {} : capabilities,
      askTimeoutMs: 1,
    });
    const meta = { progressToken: "t", ...(peer.isModern && { "io.modelcontextprotocol/logLevel": "debug" }) };
    if (peer.isModern) {
      const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      peer.start("subscriptions/listen", { notifications: { ...filter, resourceSubscriptions: ["a:x"] } }, "listen");
    } else await peer.call("resources/subscribe", { uri: "a:x" });
    const { content } = await peer.call("tools/call", { name: "all", _meta: meta });
    expect(content).toEqual([{ type: "text", text: "rejected rejected rejected rejected" }]);
    server.tool("more", {}, () => "");
    server.prompt("more", {}, () => "");
    server.resource("a:more", {}, () => "");
    server.resourceUpdated("a:x");
    await peer.settle();
    if (peer.isModern) {
      await server.close();
      await peer.settle();
      const ended = peer.messages.find(({ id, result }) => id === "listen" && result)?.result;
      expect(Object.keys(ended ?? {}).sort()).toEqual(["_meta", "resultType"]);
    }
    const asks =
      revision < "2025-06-18"
        ? ["roots/list", "sampling/createMessage"]
        : ["elicitation/create", "roots/list", "sampling/createMessage"];
    expect(methodsOf(peer, "request")).toEqual(peer.isModern ? [] : asks);
    // Where a subscription has a stream of its own, nothing is ever cancelled by the server.
    const modernOnes = notifications.filter((name) => isOneChannel || name !== "notifications/cancelled");
    expect(methodsOf(peer, "notification")).toEqual(
      peer.isModern ? [...modernOnes, "notifications/subscriptions/acknowledged"].sort() : notifications,
    );
  });

  test("params and results with members beyond those named are understood", async () => {
    covers("schema-open-members", revision);
    const server = createLoud();
    server.resource("n:///{id}", { complete: { id: () => ["1"] } }, ({ id }) => id);
    const peer = await openPeer(server, revision, { capabilities: { ...capabilities, unknown: { a: 1 } } });
    const extra = { "x-extra": { deep: [1] }, uriTemplate: "n:///{id}", contents: [], messages: 5, values: null };
    expect((await peer.call("resources/read", { uri: "n:///7", ...extra })).contents).toMatchObject([{ text: "7" }]);
    await peer.call("resources/list", extra);
    await peer.call("prompts/get", { name: "p", ...extra });
    const completed = await peer.call("completion/complete", {
      ref: { type: "ref/resource", uri: "n:///{id}", extra: 1 },
      argument: { name: "id", value: "", extra: 1 },
      ...extra,
    });
    expect(completed.completion).toEqual({ values: ["1"], hasMore: false });
  });

  test("lists take no params, empty ones and a cursor", async () => {
    covers(["schema-paginated-request", "schema-list-results"], revision);
    const peer = await openPeer(createLoud(), revision);
    for (const method of ["resources/list", "resources/templates/list", "prompts/list"]) {
      expect(await peer.call(method)).toEqual(await peer.call(method, {}));
      expect((await peer.fail(method, { cursor: 5 })).message).toBe(
        `Invalid params for ${method}: params.cursor must be a string`,
      );
      expect((await peer.fail(method, { cursor: "made up" })).code).toBe(-32602);
    }
  });
});

const text = { type: "text", text: "Hi" };
const message = { role: "user", content: text };
const field = (schema: Obj): Obj => ({ type: "object", properties: { a: schema } });
const elicit = (params: Obj): Obj => ({ method: "elicitation/create", params });
const sample = (params: Obj): Obj => ({ method: "sampling/createMessage", params });
const form = (schema: Obj): Obj => elicit({ message: "?", requestedSchema: field(schema) });
const result = { type: "tool_result", toolUseId: "u", content: [text] };

describe("asks inside results of 2026-07-28", () => {
  const give = async (ask: Obj): Promise<{ peer: Peer; ask: Obj }> => {
    const server = createServer({ name: "asker", version: "1.0.0", onError: () => {} });
    server.handle("tools/call", () => ({ resultType: "input_required", inputRequests: { q: ask }, requestState: "s" }));
    return { peer: await openPeer(server, modern, { capabilities }), ask };
  };

  test.each<[what: string, ask: Obj]>([
    [
      "a form",
      elicit({
        mode: "form",
        message: "?",
        requestedSchema: { ...field({ type: "boolean", default: true }), required: ["a"] },
      }),
    ],
    ["a form without mode", form({ type: "string", minLength: 1, maxLength: 2, format: "email", default: "a@b.c" })],
    ["a number", form({ type: "number", minimum: 0.5, maximum: 1, default: 0.75 })],
    ["an integer", form({ type: "integer", title: "A", description: "B" })],
    ["a choice", form({ type: "string", enum: ["a"], enumNames: ["A"] })],
    ["a titled choice", form({ type: "string", oneOf: [{ const: "a", title: "A" }], default: "a" })],
    [
      "several choices",
      form({ type: "array", items: { type: "string", enum: ["a"] }, minItems: 1, maxItems: 1, default: ["a"] }),
    ],
    ["several titled choices", form({ type: "array", items: { anyOf: [{ const: "a", title: "A" }] } })],
    ["a page", elicit({ mode: "url", message: "?", url: "https://a.example" })],
    ["roots", { method: "roots/list" }],
    [
      "sampling",
      sample({
        messages: [message],
        maxTokens: 1,
        metadata: { a: 1 },
        modelPreferences: { hints: [{ name: "a", other: 1 }, {}], costPriority: 1 },
      }),
    ],
    [
      "sampling with tool results",
      sample({
        messages: [{ role: "user", content: [{ ...result, structuredContent: [1], isError: true }] }],
        maxTokens: 1,
      }),
    ],
  ])("%s passes as it is", async (_, ask) => {
    covers(
      ["schema-elicit-request", "elicitation-params", "elicitation-mode-omitted", "elicitation-form-types"],
      modern,
    );
    covers(["elicitation-flat-schema-2025-11", "elicitation-string-schema-2025-11", "elicitation-enum-single"], modern);
    covers(["elicitation-number-schema-2025-11", "elicitation-boolean-schema", "elicitation-enum-names"], modern);
    covers(["elicitation-enum-multi", "elicitation-url-params-2026", "schema-create-message-request"], modern);
    covers(["schema-model-hint", "schema-tool-result", "sampling-metadata", "sampling-content-array"], modern);
    const { peer } = await give(ask);
    const answer = await peer.call("tools/call", { name: "any" });
    expect(answer).toMatchObject({ resultType: "input_required", inputRequests: { q: ask }, requestState: "s" });
  });

  test.each<[what: string, ask: Obj]>([
    ["a form without message", elicit({ requestedSchema: field({ type: "string" }) })],
    ["a form without schema", elicit({ message: "?" })],
    ["a schema without properties", elicit({ message: "?", requestedSchema: { type: "object" } })],
    ["a schema that is no object", elicit({ message: "?", requestedSchema: { type: "string", properties: {} } })],
    ["an unknown mode", elicit({ mode: "voice", message: "?", requestedSchema: field({ type: "string" }) })],
    ["a nested object", form({ type: "object", properties: {} })],
    ["an unknown format", form({ type: "string", format: "ipv4" })],
    ["a text default on a boolean", form({ type: "boolean", default: "yes" })],
    ["an enum without type", form({ enum: ["a"] })],
    ["choices without const", form({ type: "string", oneOf: [{ title: "A" }] })],
    ["a page without URL", elicit({ mode: "url", message: "?" })],
    ["a page that is none", elicit({ mode: "url", message: "?", url: "not a url" })],
    ["sampling without messages", sample({ maxTokens: 1 })],
    ["sampling without maxTokens", sample({ messages: [message] })],
    ["an unknown role", sample({ messages: [{ role: "system", content: text }], maxTokens: 1 })],
    ["a temperature in words", sample({ messages: [message], maxTokens: 1, temperature: "hot" })],
    ["too high a priority", sample({ messages: [message], maxTokens: 1, modelPreferences: { costPriority: 1.1 } })],
    ["a hint that is no object", sample({ messages: [message], maxTokens: 1, modelPreferences: { hints: ["a"] } })],
    [
      "a tool result without its use",
      sample({ messages: [{ role: "user", content: { type: "tool_result", content: [] } }], maxTokens: 1 }),
    ],
    ["an unknown ask", { method: "ping" }],
  ])("%s is refused", async (_, ask) => {
    covers(["schema-elicit-request", "elicitation-params", "elicitation-url-valid", "elicitation-form-types"], modern);
    covers(["elicitation-flat-schema-2025-11", "elicitation-string-schema-2025-11", "elicitation-enum-single"], modern);
    covers(["elicitation-boolean-schema", "elicitation-enum-names", "elicitation-url-params-2026"], modern);
    covers(
      ["schema-create-message-request", "schema-model-hint", "schema-tool-result", "sampling-message-role"],
      modern,
    );
    covers(["sampling-priorities-range"], modern);
    const { peer } = await give(ask);
    expect((await peer.fail("tools/call", { name: "any" })).code).toBe(-32603);
  });
});

test("in 2026-07-28 a page has no id of its own", async () => {
  covers(["elicitation-url-params-2026", "elicitation-no-completion-2026"], modern);
  const params = { mode: "url", message: "?", url: "https://a.example" };
  const server = createServer({ name: "asker", version: "1.0.0" });
  const q = elicit({ ...params, elicitationId: "e1" });
  server.handle("tools/call", () => ({ resultType: "input_required", inputRequests: { q } }));
  const peer = await openPeer(server, modern, { capabilities });
  expect((await peer.call("tools/call", { name: "any" })).inputRequests).toEqual({ q: elicit(params) });
});

describe("answers in retries of 2026-07-28", () => {
  const ask = async (answer: Obj) => {
    const server = createServer({ name: "asker", version: "1.0.0" });
    server.handle("tools/call", (params) => ({
      content: [{ type: "text", text: JSON.stringify(params.inputResponses) }],
    }));
    const peer = await openPeer(server, modern, { capabilities });
    return peer.request("tools/call", { name: "any", inputResponses: { q: answer }, requestState: "s" });
  };
  const sampled = { role: "assistant", content: text, model: "m" };
  const use = { type: "tool_use", id: "u", name: "t", input: {} };

  test.each<[what: string, answer: Obj]>([
    ["an accepted form", { action: "accept", content: { a: "x", b: 1.5, c: true, d: ["x"] } }],
    ["a refusal", { action: "decline" }],
    ["sampling", { ...sampled, stopReason: "tired" }],
    ["sampling with tools", { ...sampled, content: [use, text] }],
    ["roots", { roots: [{ uri: "file:///a", name: "a" }] }],
    ["no roots", { roots: [] }],
  ])("%s reach the handler", async (_, answer) => {
    covers(
      ["schema-elicit-result", "schema-create-message-result", "schema-tool-use", "schema-list-roots-result"],
      modern,
    );
    covers(["elicitation-content-values-2025-11", "sampling-stop-reason-open", "sampling-content-array"], modern);
    const { result } = await ask(answer);
    expect(result?.content).toEqual([{ type: "text", text: JSON.stringify({ q: answer }) }]);
  });

  test.each<[what: string, answer: Obj]>([
    ["an unknown action", { action: "maybe" }],
    ["an object in a field", { action: "accept", content: { a: {} } }],
    ["sampling without model", { role: "assistant", content: text }],
    ["a list as tool input", { ...sampled, content: { ...use, input: [1] } }],
    ["an unknown role", { ...sampled, role: "system" }],
    ["roots without URI", { roots: [{ name: "a" }] }],
    ["none of them", {}],
  ])("%s is invalid params", async (_, answer) => {
    covers(
      ["schema-elicit-result", "schema-create-message-result", "schema-tool-use", "schema-list-roots-result"],
      modern,
    );
    covers(["schema-role", "elicitation-content-values-2025-11", "sampling-validate-content"], modern);
    const { error } = await ask(answer);
    expect(error?.code).toBe(-32602);
    expect(error?.message).toMatch(/^Invalid params for tools\/call: params\.inputResponses\.q/);
  });
});
