// Request ids: echoed exactly as they came, never coerced, never mixed up, whatever order the answers come in.
import { revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { createDeferred, type Deferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { hasSession, isOneChannel, type Message, openPeer, sessioned } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

/** A server whose tool `wait` answers with its request id once the test lets it. */
function createWaiting() {
  const { server } = createQuietServer();
  const open = new Map<string | number, Deferred<void>>();
  server.tool("wait", {}, async (_, ctx) => {
    const gate = createDeferred<void>();
    open.set(ctx.requestId, gate);
    await gate.promise;
    return JSON.stringify(ctx.requestId);
  });
  return { server, open };
}

describe.each(revisions)("ids in %s", (revision) => {
  const ids = [
    "",
    "0",
    0,
    -1,
    7,
    "7",
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    " ",
    "é\n",
    "null",
    "__proto__",
  ];

  test("every id comes back as it went, in the order the work was done", async () => {
    covers(["rpc-response-same-id", "rpc-request-id-type"], revision);
    const { server, open } = createWaiting();
    const peer = await openPeer(server, revision);
    const before = peer.messages.length;
    for (const id of ids) peer.start("tools/call", { name: "wait" }, id);
    await peer.settle();
    expect([...open.keys()]).toEqual(ids);
    expect(peer.messages).toHaveLength(before);

    const shuffled = [...ids].reverse();
    for (const id of shuffled) {
      open.get(id)?.resolve();
      await peer.settle();
    }
    const answers = peer.messages.slice(before);
    expect(answers.map(({ id }) => id)).toEqual(shuffled);
    expect(answers.map(({ result }) => textOf(result ?? {}))).toEqual(shuffled.map((id) => JSON.stringify(id)));
  });

  test.each([
    ["null", "null"],
    ["a fraction", "1.5"],
    ["true", "true"],
    ["an object", "{}"],
    ["an array", "[1]"],
    ["an integer that is not safe", "9007199254740992"],
    ["a number beyond all", "1e400"],
  ])("an id that is %s is -32600 without id, and nothing is run", async (_, id) => {
    covers(["rpc-request-id-type", "rpc-request-id-not-null"], revision);
    const { server, open } = createWaiting();
    const peer = await openPeer(server, revision);
    const before = peer.messages.length;
    const params = JSON.stringify(peer.dress({ name: "wait" }));
    peer.raw.send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`);
    await peer.settle();
    expect(peer.messages.slice(before)).toEqual([
      { jsonrpc: "2.0", error: { code: -32600, message: 'Invalid request: "id" must be a string or an integer' } },
    ]);
    expect(open.size).toBe(0);
  });

  test("an integer may be written with a fraction of nothing or an exponent", async () => {
    const { server } = createQuietServer();
    const peer = await openPeer(server, revision);
    for (const [written, id] of [
      ["5.0", 5],
      ["1e2", 100],
      ["-0", 0],
    ] as const) {
      peer.raw.send(`{"jsonrpc":"2.0","id":${written},"method":"no/such"}`);
      const { id: answered } = (await peer.raw.next(5000)) as { id?: unknown };
      expect(JSON.stringify(answered)).toBe(String(id));
    }
  });

  // Where each request has an HTTP exchange to itself, that says which answer is whose.
  test.runIf(isOneChannel || hasSession(revision))(
    "an id that is still open is refused and does not disturb the one that has it; afterwards it is free",
    async () => {
      const { server, open } = createWaiting();
      const peer = await openPeer(server, revision);
      peer.start("tools/call", { name: "wait" }, "twice");
      await peer.settle();
      const before = peer.messages.length;
      peer.start("tools/call", { name: "wait" }, "twice");
      await peer.settle();
      const refusal = { code: -32600, message: "Invalid request: this id is still open" };
      expect(peer.messages.slice(before)).toEqual([{ jsonrpc: "2.0", id: "twice", error: refusal }]);
      open.get("twice")?.resolve();
      await peer.settle();
      expect(textOf(peer.messages.at(-1)?.result ?? {})).toBe('"twice"');

      peer.start("tools/call", { name: "wait" }, "twice");
      await peer.settle();
      open.get("twice")?.resolve();
      await peer.settle();
      expect(peer.messages).toHaveLength(before + 3);
    },
  );
});

describe.each(sessioned)("ids of the server's own requests in %s", (revision) => {
  test("none is used twice in a session, not after failures or cancellations either", async () => {
    covers(["rpc-request-id-unique", "rpc-request-id-type", "rpc-request-id-not-null"], revision);
    const { server } = createQuietServer();
    server.tool("roots", {}, async (_, ctx) => (await ctx.roots()).length);
    const peer = await openPeer(server, revision, { capabilities: { roots: {} } });
    const seen: unknown[] = [];
    for (let round = 0; round < 30; round++) {
      const call = peer.start("tools/call", { name: "roots" });
      const ask = (await peer.asked()) as Message & { readonly id: string | number };
      expect(ask.method).toBe("roots/list");
      seen.push(ask.id);
      if (round % 3 === 0) peer.answer(ask, { roots: [] });
      else if (round % 3 === 1) peer.raw.send({ jsonrpc: "2.0", id: ask.id, error: { code: -1, message: "no" } });
      else peer.notify("notifications/cancelled", { requestId: call });
      await peer.settle();
    }
    expect(new Set(seen).size).toBe(30);
    expect(seen.every((id) => typeof id === "string" || Number.isSafeInteger(id))).toBe(true);
  });

  test("an answer with another id, or the id in another type, answers nothing", async () => {
    const { server } = createQuietServer();
    server.tool("roots", {}, async (_, ctx) => (await ctx.roots()).length);
    const peer = await openPeer(server, revision, { capabilities: { roots: {} } });
    const call = peer.start("tools/call", { name: "roots" });
    const ask = await peer.asked();
    const wrong = typeof ask.id === "number" ? String(ask.id) : Number(ask.id);
    peer.raw.send({ jsonrpc: "2.0", id: wrong, result: { roots: [{ uri: "file:///wrong" }] } });
    peer.raw.send({ jsonrpc: "2.0", id: 12345, result: { roots: [{ uri: "file:///wrong" }] } });
    await peer.settle();
    expect(peer.messages.some(({ id, method }) => id === call && method === undefined)).toBe(false);
    peer.answer(ask, { roots: [] });
    await peer.settle();
    const answer = peer.messages.find(({ id, method }) => id === call && method === undefined);
    expect(textOf(answer?.result ?? {})).toBe("0");
  });
});
