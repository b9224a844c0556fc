// The life of an ask in the sessioned era: when it is sent, how it ends, and that it belongs to its call.
import { createServer, McpError, revisions, type Server } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { createAsking, openAsking } from "./asking.ts";
import { type Message, modern, type Obj, openPeer, type Peer, sessioned } from "./peer.ts";

const capabilities = { roots: {}, sampling: {}, elicitation: {} };
const answer = { roots: [{ uri: "file:///a" }] };

const requestsOf = (peer: Peer): readonly Message[] =>
  peer.messages.filter(({ method, id }) => method !== undefined && id !== undefined);
const answered = (peer: Peer, id: string | number): boolean =>
  peer.messages.some((message) => message.id === id && message.method === undefined);

describe.each(sessioned)("in %s", (revision) => {
  test("an ask waits until the client has said that it is ready", async () => {
    covers("lifecycle-server-no-early-requests", revision);
    const asking = createAsking((ctx) => ctx.roots());
    const peer = await openPeer(asking.server, revision, { closed: true });
    await peer.call("initialize", { protocolVersion: revision, capabilities, clientInfo: peer.clientInfo });
    peer.start("tools/call", { name: "ask" }, "call");
    await peer.settle();
    expect(requestsOf(peer)).toEqual([]);
    peer.notify("notifications/initialized");
    peer.answer(await peer.asked(), answer);
    await peer.settle();
    expect(asking.outcome).toEqual({ value: answer.roots });
    expect(answered(peer, "call")).toBe(true);
  });

  test("an ask that waits for the client to be ready ends with its call", async () => {
    const asking = createAsking((ctx) => ctx.roots());
    const peer = await openPeer(asking.server, revision, { closed: true });
    await peer.call("initialize", { protocolVersion: revision, capabilities, clientInfo: peer.clientInfo });
    peer.start("tools/call", { name: "ask" }, "call");
    await peer.settle();
    peer.notify("notifications/cancelled", { requestId: "call" });
    peer.notify("notifications/initialized");
    await peer.settle();
    expect(requestsOf(peer)).toEqual([]);
    expect(asking.outcome.error).toBeDefined();
  });

  test("asks started together are paired by id, in whatever order the answers come", async () => {
    covers("root-unavailable", revision);
    const asking = createAsking((ctx) => Promise.allSettled([ctx.roots(), ctx.roots(), ctx.roots()]));
    const peer = await openAsking(asking, revision, capabilities);
    const asks = [await peer.asked(), await peer.asked(), await peer.asked()];
    expect(new Set(asks.map(({ id }) => id)).size).toBe(3);
    peer.answer(asks[2] as Message, { roots: [{ uri: "file:///2" }] });
    peer.raw.send({ jsonrpc: "2.0", id: asks[1]?.id, error: { code: -32603, message: "No disk" } });
    peer.answer(asks[0] as Message, { roots: [{ uri: "file:///0" }] });
    await peer.settle();
    expect(asking.outcome.value).toMatchObject([
      { status: "fulfilled", value: [{ uri: "file:///0" }] },
      { status: "rejected", reason: { code: "peer_error" } },
      { status: "fulfilled", value: [{ uri: "file:///2" }] },
    ]);
  });

  test("an error of the client's is told to the handler, and to nobody else", async () => {
    covers("sampling-human-in-loop", revision);
    const asking = createAsking((ctx) => ctx.sample({ messages: [], maxTokens: 1 }));
    const peer = await openAsking(asking, revision, capabilities);
    const error = { code: -1, message: "User rejected sampling", data: { why: "cost" } };
    peer.raw.send({ jsonrpc: "2.0", id: (await peer.asked()).id, error });
    await peer.settle();
    expect(asking.outcome.error).toBeInstanceOf(McpError);
    expect(asking.outcome.error).toMatchObject({
      code: "peer_error",
      rpcCode: -1,
      data: { why: "cost" },
      message: "sampling/createMessage was answered with error -1: User rejected sampling",
    });

    const blind = peer.call("tools/call", { name: "blind" });
    peer.raw.send({ jsonrpc: "2.0", id: (await peer.asked()).id, error });
    expect(await blind).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(/^Internal error \([0-9a-f-]{36}\)$/) }],
    });
  });

  test("an ask that is not answered in time is given up, the client told, and a late answer ignored", async () => {
    covers(["timeout-every-request", "timeout-cancels", "cancel-sender-ignores-late", "cancel-params"], revision);
    const asking = createAsking((ctx) => ctx.roots());
    const peer = await openPeer(asking.server, revision, { capabilities, askTimeoutMs: 1 });
    const call = peer.call("tools/call", { name: "ask" });
    const request = await peer.asked();
    await call;
    expect(asking.outcome.error).toBeInstanceOf(McpError);
    expect(asking.outcome.error).toMatchObject({
      code: "timeout",
      message: "roots/list gave no answer in 1 ms. The peer was told to stop.",
    });
    const cancelled = peer.notifications("notifications/cancelled");
    expect(cancelled.map(({ params }) => params)).toEqual([{ requestId: request.id, reason: "No answer in 1 ms" }]);
    const before = peer.messages.length;
    peer.answer(request, answer);
    await peer.settle();
    expect(peer.messages).toHaveLength(before);
  });

  test("an ask after the call was answered goes nowhere", async () => {
    let late: Promise<unknown> | undefined;
    const asking = createAsking((ctx) => {
      late = new Promise((resolve) => setTimeout(resolve)).then(() => ctx.roots());
      late.catch(() => {});
    });
    const peer = await openPeer(asking.server, revision, { capabilities });
    await peer.call("tools/call", { name: "ask" });
    await expect(late).rejects.toMatchObject({ code: "aborted" });
    expect(peer.messages.filter(({ id, method }) => id !== undefined && method !== undefined)).toEqual([]);
  });

  test("a cancelled call takes its asks with it", async () => {
    covers(["cancel-same-direction", "cancel-either-side", "cancel-params", "cancel-no-response"], revision);
    const asking = createAsking((ctx) => ctx.roots());
    const peer = await openAsking(asking, revision, capabilities);
    const request = await peer.asked();
    peer.notify("notifications/cancelled", { requestId: "call", reason: "Never mind" });
    await peer.settle();
    expect(asking.outcome.error).toBeInstanceOf(McpError);
    expect(asking.outcome.error).toMatchObject({ code: "aborted", message: "roots/list was aborted" });
    const cancelled = peer.notifications("notifications/cancelled");
    expect(cancelled.map(({ params }) => params)).toEqual([{ requestId: request.id, reason: "Never mind" }]);
    expect(answered(peer, "call")).toBe(false);
  });

  test("a lost connection ends the ask", async () => {
    const asking = createAsking((ctx) => ctx.roots());
    const peer = await openAsking(asking, revision, capabilities);
    await peer.asked();
    peer.raw.close();
    await expect.poll(() => asking.outcome.error).toMatchObject({ code: "connection_lost" });
  });

  test("the answer goes to the session that was asked", async () => {
    const values: unknown[] = [];
    const server = createServer({ name: "asker", version: "1.0.0" });
    server.tool("ask", {}, async (_, ctx) => {
      const [root] = await ctx.roots();
      values.push([ctx.client.info?.name, root?.uri]);
      return "done";
    });
    const open = (name: string) => openPeer(server, revision, { capabilities, clientInfo: { name, version: "1" } });
    const [ada, bob] = [await open("ada"), await open("bob")];
    for (const peer of [ada, bob]) peer.start("tools/call", { name: "ask" }, "call");
    const [toAda, toBob] = [await ada.asked(), await bob.asked()];
    expect(requestsOf(ada)).toHaveLength(1);
    expect(requestsOf(bob)).toHaveLength(1);
    bob.answer(toBob, { roots: [{ uri: "file:///bob" }] });
    ada.answer(toAda, { roots: [{ uri: "file:///ada" }] });
    for (const peer of [ada, bob]) await peer.settle();
    expect(values).toHaveLength(2);
    expect(values).toContainEqual(["ada", "file:///ada"]);
    expect(values).toContainEqual(["bob", "file:///bob"]);
  });
});

/** A server that asks in every place where a handler runs. */
function createEverywhere(): Server {
  const server = createServer({ name: "asker", version: "1.0.0", onError: () => {} });
  const first = async (ctx: { roots(): Promise<readonly { uri: string }[]> }): Promise<string> =>
    (await ctx.roots()).map(({ uri }) => uri).join();
  server.tool("t", {}, (_, ctx) => first(ctx));
  server.prompt("p", {}, (_, ctx) => first(ctx));
  server.resource("a:x", {}, (_, ctx) => first(ctx));
  return server;
}

const places: [method: string, params: Obj, member: string][] = [
  ["tools/call", { name: "t" }, "content"],
  ["prompts/get", { name: "p" }, "messages"],
  ["resources/read", { uri: "a:x" }, "contents"],
];

describe.each(places)("%s", (method, params, member) => {
  test.each(sessioned)("may ask in %s", async (revision) => {
    const peer = await openPeer(createEverywhere(), revision, { capabilities });
    const result = peer.call(method, params);
    peer.answer(await peer.asked(), answer);
    expect(JSON.stringify((await result)[member])).toContain("file:///a");
  });

  test.each(revisions)("says what the client lacks in %s", async (revision) => {
    covers("root-check-capability", revision);
    const peer = await openPeer(createEverywhere(), revision);
    const { result, error } = await peer.request(method, params);
    if (revision === modern) {
      const message = "roots/list needs the client capability roots";
      expect(error).toEqual({ code: -32021, message, data: { requiredCapabilities: { roots: {} } } });
      return;
    }
    const text = "roots/list needs the client capability roots";
    if (method === "tools/call") expect(result).toEqual({ content: [{ type: "text", text }], isError: true });
    else expect(error).toEqual({ code: -32600, message: text });
    expect(requestsOf(peer)).toEqual([]);
  });
});

test.each<[what: string, declared: Obj, ask: Parameters<typeof createAsking>[0], required: Obj]>([
  ["forms", {}, (ctx) => ctx.elicit("?", z.object({})), { elicitation: { form: {} } }],
  ["forms", { elicitation: { url: {} } }, (ctx) => ctx.elicit("?", z.object({})), { elicitation: { form: {} } }],
  ["pages", { elicitation: {} }, (ctx) => ctx.elicitUrl("?", "https://a.example"), { elicitation: { url: {} } }],
  ["sampling", {}, (ctx) => ctx.sample({ messages: [], maxTokens: 1 }), { sampling: {} }],
  [
    "sampling with tools",
    { sampling: {} },
    (ctx) => ctx.sample({ messages: [], maxTokens: 1, tools: [] }),
    { sampling: { tools: {} } },
  ],
])("in 2026-07-28 %s with %j declared is answered with what to declare", async (_, declared, ask, required) => {
  covers(["elicitation-mode-supported", "elicitation-empty-is-form", "sampling-tools-undeclared"], modern);
  const { server } = createAsking(ask);
  const peer = await openPeer(server, modern, { capabilities: declared });
  const { code, data } = await peer.fail("tools/call", { name: "blind" });
  expect({ code, data }).toEqual({ code: -32021, data: { requiredCapabilities: required } });
});
