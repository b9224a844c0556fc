// Broken messages, table by table, in every revision they apply to. After each: exactly the right answer or none, no
// handler has run for what was refused, and the server lives: a good request is answered right afterwards.
import { revisions } from "plenum";
import { createRawPeer, type RawPeer } from "plenum/memory";
import { describe, expect, test } from "vitest";
import type { Answer, Case } from "./broken/case.ts";
import { envelopeCases } from "./broken/envelope.ts";
import { openingCases } from "./broken/opening.ts";
import { paramsCases } from "./broken/params.ts";
import { textCases } from "./broken/text.ts";
import { arrival, calm, createBareServer, createTarget, modern, type Obj, openRaw, request } from "./target.ts";

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
