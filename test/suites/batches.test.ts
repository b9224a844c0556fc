// JSON-RPC batches: part of an open 2025-03-26 session, and of nothing else.
import { revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { createDeferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { answersInArrays, hasSession, isOneChannel, isStreamable, type Message, openPeer } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const batching = "2025-03-26";

function createBatched() {
  const { server } = createQuietServer();
  const gate = createDeferred<void>();
  const cancelled: unknown[] = [];
  server.tool("slow", {}, async () => {
    await gate.promise;
    return "slow";
  });
  server.tool("fast", {}, () => "fast");
  server.tool("stuck", {}, (_, ctx) => {
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => {
        cancelled.push(ctx.requestId);
        reject(ctx.signal.reason);
      });
    });
  });
  server.handle("com.example/big", () => ({ big: 1n }) as never);
  return { server, gate, cancelled };
}

const call = (id: unknown, name: string) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name } });
const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });
const notice = { jsonrpc: "2.0", method: "notifications/roots/list_changed" };

async function openBatching() {
  const batched = createBatched();
  const peer = await openPeer(batched.server, batching);
  await peer.settle();
  const before = peer.messages.length;
  const sent = (): unknown[] => peer.messages.slice(before);
  /** The answers to one batch. */
  const all = (): readonly Message[] => {
    expect(sent().map(Array.isArray)).toEqual(answersInArrays ? [true] : sent().map(() => false));
    return sent().flat() as readonly Message[];
  };
  return { ...batched, peer, sent, all };
}

describe("in 2025-03-26", () => {
  test("a batch is answered by one array with one response a request, when the last is done", async () => {
    covers([
      "rpc-batch-receive",
      "rpc-batch-response-per-request",
      "rpc-batch-request-members",
      "rpc-batch-response-members",
    ]);
    const { peer, sent, gate, all } = await openBatching();
    peer.raw.send([call("s", "slow"), notice, call(5, "fast"), ping("5")]);
    await peer.settle();
    expect(sent()).toEqual([]);
    gate.resolve();
    await peer.settle();
    const answers = all();
    expect(new Map(answers.map(({ id, result }) => [id, result?.content ? textOf(result) : result]))).toEqual(
      new Map<unknown, unknown>([
        ["s", "slow"],
        [5, "fast"],
        ["5", {}],
      ]),
    );
    expect(answers).toHaveLength(3);
    for (const answer of answers) expect(Object.keys(answer).sort()).toEqual(["id", "jsonrpc", "result"]);
  });

  test("one that holds no request is not answered", async () => {
    covers("rpc-batch-no-empty-response");
    const { peer, sent } = await openBatching();
    peer.raw.send([notice, notice]);
    peer.raw.send([
      { jsonrpc: "2.0", id: 77, result: {} },
      { jsonrpc: "2.0", id: 78, result: {} },
    ]);
    await peer.settle();
    expect(sent()).toEqual([]);
  });

  test("an empty one is one error, not an array", async () => {
    covers("rpc-batch-empty-array-invalid");
    const { peer, sent } = await openBatching();
    peer.raw.send([]);
    await peer.settle();
    const error = { code: -32600, message: "Invalid request: a batch must not be empty" };
    expect(sent()).toEqual([{ jsonrpc: "2.0", error }]);
  });

  test("a member that is no message has an error of its own and does not spoil the others", async () => {
    covers("rpc-batch-invalid-member");
    const { peer, all } = await openBatching();
    peer.raw.send([
      1,
      ping("good"),
      { jsonrpc: "1.0", id: "old", method: "ping" },
      [ping("nested")],
      { jsonrpc: "2.0", id: null, method: "ping" },
    ]);
    await peer.settle();
    const answers = all();
    expect(answers.filter(({ error }) => error).map(({ id, error }) => [id, error?.code])).toEqual([
      [undefined, -32600],
      ["old", -32600],
      [undefined, -32600],
      [undefined, -32600],
    ]);
    expect(answers.filter(({ error }) => !error)).toEqual([{ jsonrpc: "2.0", id: "good", result: {} }]);
  });

  test("one that mixes requests and responses is refused whole", async () => {
    covers("rpc-batch-request-members");
    const { peer, sent } = await openBatching();
    peer.raw.send([ping(1), { jsonrpc: "2.0", id: 2, result: {} }]);
    await peer.settle();
    const error = { code: -32600, message: "Invalid request: a batch holds either requests or responses, not both" };
    expect(sent()).toEqual([{ jsonrpc: "2.0", error }]);
  });

  test("one of more than a thousand messages is refused whole", async () => {
    const { peer, sent } = await openBatching();
    peer.raw.send(Array.from({ length: 1001 }, (_, index) => ping(`p${index}`)));
    await peer.settle();
    const error = { code: -32600, message: "Invalid request: a batch holds at most 1000 messages" };
    expect(sent()).toEqual([{ jsonrpc: "2.0", error }]);
    peer.raw.send(Array.from({ length: 1000 }, (_, index) => ping(`p${index}`)));
    await peer.settle();
    expect(sent().slice(1).flat()).toHaveLength(1000);
  });

  test("initialize has no place in it", async () => {
    covers("lifecycle-init-not-batched");
    const params = { protocolVersion: batching, capabilities: {}, clientInfo: { name: "c", version: "1" } };
    const peer = await openPeer(createBatched().server, batching, { closed: true });
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    peer.raw.send([initialize]);
    await peer.settle();
    expect(peer.messages.map(({ id, error }) => [id, error?.code])).toEqual([[undefined, -32600]]);
    await peer.open();
    peer.raw.send([initialize, ping(2)]);
    await peer.settle();
    const error = { code: -32600, message: "Invalid request: initialize stands alone" };
    expect(peer.messages.at(-1)).toEqual({ jsonrpc: "2.0", error });
  });

  test.runIf(hasSession(batching))("a cancelled member is left out of the answer", async () => {
    const { peer, sent, cancelled, all } = await openBatching();
    peer.raw.send([call("gone", "stuck"), ping("here")]);
    await peer.settle();
    expect(sent()).toEqual([]);
    peer.notify("notifications/cancelled", { requestId: "gone" });
    await peer.settle();
    expect(cancelled).toEqual(["gone"]);
    expect(all()).toEqual([{ jsonrpc: "2.0", id: "here", result: {} }]);
  });

  test("two members of one id: the second is refused, both are answered", async () => {
    const { peer, gate, all } = await openBatching();
    peer.raw.send([call("same", "slow"), call("same", "fast")]);
    gate.resolve();
    await peer.settle();
    const answers = all();
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      ["same", -32600],
      ["same", undefined],
    ]);
  });

  test("a result that cannot be written as JSON costs its own answer only", async () => {
    const { peer, all } = await openBatching();
    peer.raw.send([{ jsonrpc: "2.0", id: "big", method: "com.example/big" }, ping("small")]);
    await peer.settle();
    const answers = new Map(all().map((answer) => [answer.id, answer.error?.code]));
    expect(answers).toEqual(
      new Map([
        ["big", -32603],
        ["small", undefined],
      ]),
    );
  });
});

describe.each(revisions.filter((revision) => revision !== batching))("in %s", (revision) => {
  test("an array is no message: one error without id, and none is ever sent", async () => {
    covers("rpc-batch-not-a-message", revision);
    const peer = await openPeer(createBatched().server, revision);
    const before = peer.messages.length;
    const request = { ...call(1, "fast"), params: peer.dress({ name: "fast" }) };
    for (const batch of [[request], [request, notice], [notice], [[]], [1]]) peer.raw.send(batch);
    peer.raw.send([]);
    await peer.settle();
    const sent = peer.messages.slice(before);
    expect(sent.map(({ id, error }) => [id, error?.code])).toEqual(Array(6).fill([undefined, -32600]));
    if (!isStreamable(revision))
      expect(sent[0]?.error?.message).toBe("Invalid request: batches exist only in sessions of 2025-03-26");
    expect(peer.messages.some(Array.isArray)).toBe(false);
  });
});

test.runIf(hasSession(batching))("before a session is opened an array is refused as well", async () => {
  const peer = await openPeer(createBatched().server, batching, { closed: true });
  peer.raw.send([ping(1)]);
  await peer.settle();
  expect(peer.messages).toEqual([{ jsonrpc: "2.0", error: { code: -32600, message: expect.any(String) } }]);
  const message = isOneChannel ? "batches exist only in sessions of 2025-03-26" : "Mcp-Session-Id is missing";
  expect(peer.messages[0]?.error?.message).toContain(message);
});
