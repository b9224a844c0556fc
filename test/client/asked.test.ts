// A server by hand that asks what it likes, in sessions: what a client answers, and what it does not.
import { type Client, type ClientOptions, connect, type Revision, revisions } from "plenum";
import { createMemoryPair } from "plenum/memory";
import { expect, test } from "vitest";
import type { Incoming } from "../../packages/plenum/src/jsonrpc/message.ts";
import { covers } from "../requirements/covers.ts";
import { onSample, withForms } from "./asking.ts";
import { modern, openScript, sessioned } from "./harness.ts";
import { createInbox } from "./inbox.ts";
import { createScript, type Obj, opening, type Script, type Sent } from "./script.ts";

const latest = "2025-11-25";
const form = { message: "Name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
const hello = { role: "user", content: { type: "text", text: "hello" } };

interface Asker {
  readonly script: Script;
  readonly client: Client;
  /** Sends a request and gives the client's answer. */
  ask(method: string, params?: Obj, id?: string | number): Promise<Sent>;
  /** All answers so far. */
  readonly replies: readonly Sent[];
  readonly warnings: string[];
}

async function openAsker(revision: Revision, options: ClientOptions = {}): Promise<Asker> {
  const replies = createInbox<Sent>();
  const warnings: string[] = [];
  const script = createScript(
    revision,
    opening(revision, {}, (message) => {
      if (message.method === undefined) replies.put(message);
      return message.method === "ping" ? { result: {} } : undefined;
    }),
  );
  const client = await openScript(script.target, {
    revision,
    onWarning: (problem) => warnings.push(problem),
    ...options,
  });
  let nextId = 1;
  return {
    script,
    client,
    replies: replies.all,
    warnings,
    async ask(method, params, id = `ask-${nextId++}`) {
      const count = replies.all.length + 1;
      script.wire.send({ jsonrpc: "2.0", id, method, ...(params && { params }) });
      return (await replies.first(count)).at(-1) as Sent;
    },
  };
}

test.each(sessioned)("a ping is answered at once in %s", async (revision) => {
  covers(["ping-respond", "schema-empty-result", "rpc-response-same-id", "schema-jsonrpc-response"], revision);
  const { ask, script } = await openAsker(revision, { onSample: () => new Promise(() => {}) });
  // Also while somebody thinks about something else.
  script.wire.send({
    jsonrpc: "2.0",
    id: "slow",
    method: "sampling/createMessage",
    params: { messages: [hello], maxTokens: 1 },
  });
  for (const id of [7, "7", 0, ""])
    expect(await ask("ping", undefined, id)).toEqual({ jsonrpc: "2.0", id, result: {} });
});

test.each(sessioned)("a ping that comes before the handshake is done, in %s", async (revision) => {
  covers(["ping-respond"], revision);
  const replies = createInbox<Sent>();
  const script = createScript(revision, async (message, wire) => {
    if (message.method === undefined) replies.put(message);
    if (message.method !== "initialize") return undefined;
    wire.send({ jsonrpc: "2.0", id: "early", method: "ping" });
    await replies.first(1);
    const serverInfo = { name: "script", version: "1.0.0" };
    return { result: { protocolVersion: revision, capabilities: {}, serverInfo } };
  });
  await openScript(script.target, { revision });
  expect(replies.all).toEqual([{ jsonrpc: "2.0", id: "early", result: {} }]);
});

test.each(sessioned)("what a client cannot do is not found in %s", async (revision) => {
  covers(
    [
      "rpc-code-method-not-found",
      "rpc-error-same-id",
      "schema-client-requests",
      "root-code-unsupported",
      "rpc-error-code-integer",
      "rpc-error-code-and-message",
      "schema-jsonrpc-error",
    ],
    revision,
  );
  const { ask } = await openAsker(revision);
  const foreign = ["tools/list", "tools/call", "resources/read", "prompts/get", "initialize", "logging/setLevel"];
  const offers = ["roots/list", "sampling/createMessage", "elicitation/create"];
  for (const method of ["no/such", "__proto__", ...foreign, ...offers]) {
    const reply = await ask(method, { ...form, messages: [hello], maxTokens: 1 }, method);
    expect(reply).toEqual({
      jsonrpc: "2.0",
      id: method,
      error: { code: -32601, message: expect.stringContaining(method) },
    });
  }
});

test.each(sessioned)("questions that make no sense are refused before anybody sees them, in %s", async (revision) => {
  covers(["rpc-code-invalid-params", "sampling-validate-content", "schema-role", "rpc-params-object"], revision);
  const { ask } = await openAsker(revision, {
    onSample: () => expect.fail("asked"),
    onElicit: () => expect.fail("asked"),
    roots: () => expect.fail("asked"),
  });
  const say = (content: unknown, role = "user"): Obj => ({ messages: [{ role, content }], maxTokens: 1 });
  const wrong: [string, Obj][] = [
    ["sampling/createMessage", {}],
    ["sampling/createMessage", { messages: [hello] }],
    ["sampling/createMessage", { messages: "hello", maxTokens: 1 }],
    ["sampling/createMessage", say({ type: "text" })],
    ["sampling/createMessage", say({ type: "smell", data: "" })],
    ["sampling/createMessage", say({ type: "text", text: "hello" }, "system")],
    ["roots/list", { _meta: { progressToken: 1.5 } }],
  ];
  if (withForms.includes(revision)) {
    wrong.push(
      ["elicitation/create", { message: "Name?" }],
      ["elicitation/create", { ...form, message: 5 }],
      ["elicitation/create", { ...form, requestedSchema: { type: "array" } }],
    );
  }
  for (const [method, params] of wrong) {
    const { error } = await ask(method, params);
    expect(error, JSON.stringify(params)).toMatchObject({ code: -32602, message: expect.any(String) });
  }
});

test.each(sessioned)("content of sampling messages in %s", async (revision) => {
  covers(["sampling-content-single", "sampling-content-audio", "sampling-content-array"], revision);
  const { ask } = await openAsker(revision, { onSample });
  const say = (content: unknown): Obj => ({ messages: [{ role: "user", content }], maxTokens: 1 });
  const text = { type: "text", text: "hello" };
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };
  const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav" };
  const resource = { type: "resource", resource: { uri: "a:b", text: "" } };
  const passes = async (content: unknown): Promise<boolean> => {
    const { error, result } = await ask("sampling/createMessage", say(content));
    expect((error as { code?: number } | undefined)?.code).toBe(result ? undefined : -32602);
    return result !== undefined;
  };
  expect(await passes(text)).toBe(true);
  expect(await passes(image)).toBe(true);
  expect(await passes(audio)).toBe(revision > "2024-11-05");
  expect(await passes(resource)).toBe(false);
  expect(await passes([text, image])).toBe(revision === latest);
});

test.each(sessioned)("what fails here stays here, in %s", async (revision) => {
  covers(["root-code-internal", "rpc-code-internal-error", "rpc-error-message-concise"], revision);
  const thrown = [new Error("the secret of the drawer\nat line 5"), "the secret", undefined, { secret: 1 }];
  const next = thrown.values();
  const { ask, warnings } = await openAsker(revision, {
    roots() {
      throw next.next().value;
    },
  });
  for (const _ of thrown) {
    const { error } = await ask("roots/list");
    expect(error).toEqual({ code: -32603, message: "The client failed to answer roots/list" });
  }
  expect(warnings).toHaveLength(thrown.length);
});

test.each(sessioned)("a root that is no folder of this machine is not told, in %s", async (revision) => {
  covers(["root-file-uri", "root-validate-uris"], revision);
  const wrong = [
    "http://example.com/",
    "file:///a/../../etc",
    "file:///a/%2e%2e/etc",
    "file://host/a",
    "/srv",
    "file:a",
  ];
  const next = wrong.values();
  const { ask, warnings } = await openAsker(revision, { roots: () => [next.next().value as string] });
  for (const uri of wrong) {
    expect((await ask("roots/list")).error).toMatchObject({ code: -32603 });
    expect(warnings.at(-1)).toContain(uri);
  }
});

test.each(revisions)("a list of roots is looked at when it is given, in %s", async (revision) => {
  covers(["root-file-uri", "root-validate-uris"], revision);
  const script = createScript(
    revision,
    opening(revision, {}, () => undefined),
  );
  const client = await openScript(script.target, { revision, roots: [] });
  for (const uri of ["http://example.com/", "file:///a/../../etc", "file:///a/%2E%2e/etc", "srv"]) {
    await expect(connect(script.target, { revision, roots: [uri] })).rejects.toThrow(TypeError);
    expect(() => client.setRoots([uri])).toThrow(TypeError);
  }
  expect(script.wires).toHaveLength(1);
  expect(script.of("notifications/roots/list_changed")).toEqual([]);
});

test("how elicitation is asked for in 2025-11-25", async () => {
  covers(["elicitation-mode-default", "elicitation-undeclared-mode-error"], latest);
  const { ask } = await openAsker(latest, {
    onElicit: ({ message }) => ({ action: "accept", content: { name: message } }),
  });
  const accepted = { action: "accept", content: { name: "Name?" } };
  expect((await ask("elicitation/create", form)).result).toEqual(accepted);
  expect((await ask("elicitation/create", { ...form, mode: "form" })).result).toEqual(accepted);
  const page = { mode: "url", message: "Sign in", url: "https://example.com/", elicitationId: "1" };
  expect((await ask("elicitation/create", page)).error).toMatchObject({ code: -32602 });
  expect((await ask("elicitation/create", { ...page, mode: "telepathy" })).error).toMatchObject({ code: -32602 });
});

test("a client that only visits pages fills in no forms", async () => {
  covers(["elicitation-undeclared-mode-error", "elicitation-id-opaque", "elicitation-complete-unknown"], latest);
  const { ask, script, warnings, replies } = await openAsker(latest, { onElicitUrl: () => ({ action: "accept" }) });
  expect((await ask("elicitation/create", form)).error).toMatchObject({ code: -32602 });
  for (const elicitationId of ["", "../../etc", "ключ 🗝 \u0000", "__proto__"]) {
    const page = { mode: "url", message: "Sign in", url: "https://example.com/", elicitationId };
    expect((await ask("elicitation/create", page)).result).toEqual({ action: "accept" });
    const count = replies.length;
    // Once for this one, once too often, and once for one that there never was.
    for (const id of [elicitationId, elicitationId, "never"])
      script.wire.send({
        jsonrpc: "2.0",
        method: "notifications/elicitation/complete",
        params: { elicitationId: id },
      });
    expect((await ask("ping")).result).toEqual({});
    expect(replies).toHaveLength(count + 1);
  }
  expect(warnings.filter((warning) => warning.includes("complete"))).toEqual([]);
});

test("tools in sampling in 2025-11-25", async () => {
  covers(["sampling-tools-undeclared-error", "sampling-invalid-tools", "sampling-tool-choice"], latest);
  const request = { messages: [hello], maxTokens: 1 };
  const tools = [{ name: "weigh", inputSchema: { type: "object" } }];
  const plain = await openAsker(latest, { onSample });
  for (const extra of [{ tools }, { toolChoice: { mode: "none" } }])
    expect((await plain.ask("sampling/createMessage", { ...request, ...extra })).error).toMatchObject({ code: -32602 });

  const modes: unknown[] = [];
  const able = await openAsker(latest, {
    sampleTools: true,
    onSample({ toolChoice }) {
      modes.push(toolChoice);
      return onSample();
    },
  });
  for (const mode of ["auto", "required", "none"]) {
    const { result } = await able.ask("sampling/createMessage", { ...request, tools, toolChoice: { mode } });
    expect(result).toMatchObject({ model: "dummy-1" });
  }
  expect(modes).toEqual([{ mode: "auto" }, { mode: "required" }, { mode: "none" }]);
  const use = { role: "assistant", content: { type: "tool_use", id: "w1", name: "weigh", input: {} } };
  const weight = { type: "tool_result", toolUseId: "w1", content: [] };
  for (const messages of [
    [hello, use],
    [hello, use, hello],
    [hello, use, { role: "user", content: [weight, { type: "text", text: "and" }] }],
  ])
    expect((await able.ask("sampling/createMessage", { ...request, tools, messages })).error).toMatchObject({
      code: -32602,
    });
  expect(modes).toHaveLength(3);
});

test.each(revisions)("nothing is answered that is no question, in %s", async (revision) => {
  covers(["rpc-notification-no-response", "rpc-client-no-responses", "schema-open-members"], revision);
  const { script, client, replies } = await openAsker(revision, { onSample, roots: [] });
  const strays: Obj[] = [
    { method: "notifications/nothing" },
    { method: "notifications/message" },
    { method: "notifications/message", params: { level: "loud", data: 1 } },
    { method: "notifications/progress", params: { progressToken: "never", progress: 1 } },
    { method: "notifications/cancelled", params: { requestId: "never" } },
    { method: "notifications/tools/list_changed", params: { more: "than needed" } },
    { method: "ping" },
    { id: "never", result: {} },
    { id: 12345, error: { code: 1, message: "never asked" } },
    { error: { code: -32700, message: "Parse error" } },
  ];
  // From 2026-07-28 on a client answers no request at all.
  if (revision === modern) strays.push(...["ping", "roots/list", "no/such"].map((method) => ({ id: method, method })));
  for (const stray of strays) script.wire.send({ jsonrpc: "2.0", ...stray });
  // All of it is read before the answer to this.
  await client.ping();
  expect(replies).toEqual([]);
  const probe = revision === modern ? ["server/discover"] : ["initialize", "notifications/initialized"];
  expect(script.order).toEqual([...probe, revision === modern ? "server/discover" : "ping"]);
});

test("batches in 2025-03-26", async () => {
  covers(
    [
      "rpc-batch-receive",
      "rpc-batch-response-members",
      "rpc-batch-response-per-request",
      "rpc-batch-no-empty-response",
    ],
    "2025-03-26",
  );
  const logs = createInbox<unknown>();
  const batches = createInbox<Incoming>();
  const [near, far] = createMemoryPair();
  const log = (data: number) => ({
    jsonrpc: "2.0" as const,
    method: "notifications/message",
    params: { level: "info", data },
  });
  far.open({
    receive(incoming) {
      if (incoming.kind === "batch") batches.put(incoming);
      else if (incoming.kind === "request") {
        const serverInfo = { name: "batches", version: "1.0.0" };
        const result = { protocolVersion: "2025-03-26", capabilities: { logging: {} }, serverInfo };
        far.send({ jsonrpc: "2.0", id: incoming.message.id, result });
      } else if (incoming.kind === "notification") {
        far.send([log(1), log(2)]);
        far.send([{ jsonrpc: "2.0", id: 1, method: "ping" }, log(3), { jsonrpc: "2.0", id: "2", method: "no/such" }]);
      } else expect.fail(`the client sent ${JSON.stringify(incoming)}`);
    },
    closed() {},
  });
  await openScript(
    { name: "batches", open: () => near },
    { revision: "2025-03-26", onLog: ({ data }) => logs.put(data) },
  );
  const [batch] = await batches.first(1);
  const answers = (batch as unknown as { members: { message: Sent }[] }).members.map(({ message }) => message);
  expect(answers.find(({ id }) => id === 1)).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  expect(answers.find(({ id }) => id === "2")?.error).toMatchObject({ code: -32601 });
  expect(answers).toHaveLength(2);
  expect(await logs.first(3)).toEqual([1, 2, 3]);
  expect(batches.all).toHaveLength(1);
});

test.each(revisions.filter((revision) => revision !== "2025-03-26"))("no batches in %s", async (revision) => {
  covers(["rpc-batch-not-a-message"], revision);
  const { script, client, warnings, replies } = await openAsker(revision);
  script.wire.send([{ jsonrpc: "2.0", id: 1, method: "ping" }]);
  script.wire.send([]);
  await client.ping();
  expect(replies).toEqual([]);
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toContain("no message of the protocol");
});
