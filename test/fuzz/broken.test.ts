// Broken messages, table by table, in every revision they apply to. After each: exactly the right answer or none, no
// handler has run for what was refused, and the server lives: a good request is answered right afterwards.
import { createServer, revisions } from "plenum";
import { createRawPeer, type RawPeer } from "plenum/memory";
import { describe, expect, test } from "vitest";
import type { Answer, Case } from "./broken/case.ts";
import { envelopeCases } from "./broken/envelope.ts";
import { openingCases } from "./broken/opening.ts";
import { paramsCases } from "./broken/params.ts";
import { textCases } from "./broken/text.ts";
import {
  arrival,
  calm,
  createBareServer,
  createTarget,
  handshake,
  modern,
  type Obj,
  openRaw,
  request,
} from "./target.ts";

const tables = { text: textCases, envelope: envelopeCases, params: paramsCases, opening: openingCases };

/** A message in the words of an `Answer`. */
function toAnswer(message: unknown): Answer {
  if (Array.isArray(message)) return message.map(toAnswer);
  const { id, result, error, jsonrpc } = message as {
    id?: unknown;
    jsonrpc?: unknown;
    result?: { isError?: boolean };
    error?: { code: number; message: string };
  };
  expect(jsonrpc).toBe("2.0");
  if (result) return result.isError ? { fault: id } : { result: id };
  // What a peer sent comes back shortened: an answer is never a way to have a megabyte echoed.
  expect(error?.message.length).toBeLessThan(1000);
  expect(error?.message).not.toMatch(/\n/);
  return id === undefined ? { code: error?.code as number } : { code: error?.code as number, id };
}

// One server for all of them: what one message breaks, all later ones would show.
const target = createTarget();
const bare = createBareServer();

async function open(one: Case, revision: (typeof revisions)[number]) {
  const server = one.bare ? bare : target.server;
  const peer: RawPeer & { heard: number } = one.early
    ? Object.assign(createRawPeer(server), { heard: 0 })
    : await openRaw(server, revision);
  return { peer, ran: target.ran };
}

test("the tables hold enough", () => {
  const distinct = new Set(
    Object.values(tables)
      .flat()
      .map((one) => one.what),
  );
  expect(distinct.size).toBeGreaterThanOrEqual(300);
});

describe.each(revisions)("broken messages in %s", (revision) => {
  describe.each(Object.entries(tables))("%s", (_, table) => {
    const cases = table.filter((one) => one.in === undefined || one.in(revision));
    test.each(cases.map((one) => [one.what, one] as const))("%s", async (_what, one) => {
      const { peer, ran } = await open(one, revision);
      const expected = one.gets(revision);
      const count = expected === "silence" ? 0 : 1;

      peer.send(one.send(revision));
      await arrival(peer, peer.heard + count);
      await calm();
      const answers = peer.received.slice(peer.heard).map(toAnswer);
      expect(answers).toEqual(expected === "silence" ? [] : [expected]);
      if (!JSON.stringify(expected).includes("result")) expect(target.ran).toBe(ran);

      const alive: Obj = one.early || revision === modern ? request(modern, "tools/list", {}, "alive") : ping;
      expect(await peer.request(alive.method as string, alive.params, "alive")).toMatchObject({
        id: "alive",
        result: {},
      });
      expect(peer.received.length).toBe(peer.heard + count + 1);
      peer.close();
    });
  });
});

const ping = { jsonrpc: "2.0", id: "alive", method: "ping" };

describe.each(revisions)("cursors in %s", (revision) => {
  const lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];

  test.each(lists)("a cursor of %s is good for nothing else", async (method) => {
    const page = async (peer: RawPeer, list: string, cursor?: string) => {
      const { params } = request(revision, list, cursor === undefined ? {} : { cursor });
      return (await peer.request(list, params)) as { result?: { nextCursor: string }; error?: { code: number } };
    };
    const peer = await openRaw(target.server, revision);
    const cursor = (await page(peer, method)).result?.nextCursor as string;
    expect(cursor).toBeTypeOf("string");
    expect((await page(peer, method, cursor)).error).toBeUndefined();
    for (const other of lists.filter((list) => list !== method)) {
      expect((await page(peer, other, cursor)).error?.code, other).toBe(-32602);
    }
    const dot = cursor.indexOf(".");
    const forged = [
      cursor.slice(1),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      ` ${cursor}`,
      cursor.slice(0, dot),
    ]
      .concat([cursor.slice(dot), `A${cursor}`, `${cursor}.${cursor}`, cursor.replace(".", ""), cursor.toUpperCase()])
      .concat([`OTk5LjA${cursor.slice(dot)}`, cursor.replace(/.$/, (last) => (last === "A" ? "E" : "A"))]);
    for (const made of forged) expect((await page(peer, method, made)).error?.code, made).toBe(-32602);
    const stranger = await openRaw(createTarget().server, revision);
    expect((await page(stranger, method, cursor)).error?.code).toBe(-32602);
    peer.close();
    stranger.close();
  });
});

describe.each(revisions.filter((revision) => revision !== modern))("answers to asks in %s", (revision) => {
  test("one that is not for it neither settles an ask nor ends it", async () => {
    const server = createServer({ name: "asking", version: "1.0.0" });
    server.tool("look", {}, async (_, ctx) => (await ctx.roots()).map((root) => root.uri));
    const peer = createRawPeer(server);
    await peer.request("initialize", handshake(revision, 0, { roots: {} }).params, 0);
    peer.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    peer.send(request(revision, "tools/call", { name: "look" }));
    await arrival(peer, 2);
    const { id } = peer.received[1] as { id: number };
    const right = { jsonrpc: "2.0", id, result: { roots: [{ uri: "file:///right" }] } };
    const wrong: readonly unknown[] = [
      { ...right, id: String(id) },
      { ...right, id: id + 0.5 },
      { ...right, id: [id] },
      { ...right, id: null },
      { ...right, id: id + 1 },
      { jsonrpc: "2.0", ID: id, result: right.result },
      { jsonrpc: "2.0", error: { code: 1, message: "whose?" } },
    ];
    for (const message of wrong) peer.send(message);
    await calm();

    expect(peer.received.slice(2).map(toAnswer)).toEqual([]);
    peer.send(right);
    peer.send({ ...right, result: { roots: [{ uri: "file:///late" }] } });
    await arrival(peer, 3);
    await calm();
    expect(peer.received.slice(2)).toEqual([
      { jsonrpc: "2.0", id: "x", result: { content: [{ type: "text", text: "file:///right" }] } },
    ]);
    peer.close();
  });

  test.each<[string, Obj]>([
    ["another version", { jsonrpc: "1.0", result: { roots: [] } }],
    ["no version", { jsonrpc: undefined, result: { roots: [] } }],
    ["a list for a result", { result: [] }],
    ["null for a result", { result: null }],
    ["a string for a result", { result: "roots" }],
    ["both a result and an error", { result: { roots: [] }, error: { code: 1, message: "both" } }],
    ["a string for an error", { error: "no" }],
    ["a string for a code", { error: { code: "1", message: "no" } }],
    ["no message", { error: { code: 1 } }],
  ])("a broken one ends the ask at once: %s", async (_, answer) => {
    const server = createServer({ name: "asking", version: "1.0.0", onError: () => {} });
    let seen: unknown;
    server.tool("look", {}, async (__, ctx) => {
      seen = await ctx.roots().catch((error) => error);
      return "done";
    });
    const peer = createRawPeer(server);
    await peer.request("initialize", handshake(revision, 0, { roots: {} }).params, 0);
    peer.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    peer.send(request(revision, "tools/call", { name: "look" }));
    await arrival(peer, 2);
    const { id } = peer.received[1] as { id: number };
    peer.send({ jsonrpc: "2.0", id, ...answer });
    await arrival(peer, 3);
    expect(seen).toMatchObject({ code: "invalid_result" });
    expect(peer.received[2]).toMatchObject({ id: "x", result: { content: [{ text: "done" }] } });
    peer.close();
  });
});
