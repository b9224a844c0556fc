// Compares what came for a group of messages that were sent in one go with what each of them deserved.
import type { Revision } from "plenum";
import type { RawPeer } from "plenum/memory";
import { expect } from "vitest";
import { isObject, type Verdict } from "./oracle.ts";
import { arrival, calm, modern, type Obj, prefix, request } from "./target.ts";

type Answered = Extract<Verdict, { kind: "answer" | "error" }>;

interface Came {
  readonly id?: unknown;
  readonly error?: { readonly code: number };
}

/** How many messages there will be at the least. */
export function countOwed(verdicts: readonly Verdict[], texts: readonly string[]): number {
  const cancelled = texts.flatMap(cancelledBy);
  const isOwed = (verdict: Verdict): boolean => {
    if (verdict.kind === "batch") return verdict.members.some(isOwed);
    if (verdict.kind === "silence") return false;
    return verdict.id === undefined || !cancelled.includes(verdict.id);
  };
  return verdicts.filter(isOwed).length;
}

/** @param received what came for them, without anything else */
export async function expectGroup(
  peer: RawPeer,
  verdicts: readonly Verdict[],
  received: readonly unknown[],
  texts: readonly string[],
): Promise<void> {
  const why = `sent:\n${texts.join("\n")}\nreceived:\n${received.map((message) => JSON.stringify(message)).join("\n")}`;
  const singles = verdicts.flatMap((verdict) => (verdict.kind === "batch" ? verdict.members : [verdict]));
  const owed = singles.filter((verdict): verdict is Answered => verdict.kind === "answer" || verdict.kind === "error");
  const messages = received.flat() as Obj[];
  const listening = messages.filter((message) => message.method === "notifications/subscriptions/acknowledged");
  const listens = listening.map((message) => ((message.params as Obj)._meta as Obj)[`${prefix}subscriptionId`]);
  const cancelled = texts.flatMap(cancelledBy);

  const came = messages.filter((message) => message.method === undefined) as Came[];
  expect(came.length + listening.length, `only answers, ${why}`).toBe(messages.length);
  for (const message of messages) expect(message.jsonrpc, why).toBe("2.0");

  const without = (list: readonly { id?: unknown; code?: number }[]) =>
    list.filter(({ id }) => id === undefined).map(({ code }) => code as number);
  const loose = came.map(({ id, error }) => ({ id, code: error?.code as number }));
  expect(without(loose).sort(), `answers without id, ${why}`).toEqual(without(owed).sort());

  const ids = new Set([...owed, ...came].map(({ id }) => id).filter((id) => id !== undefined));
  for (const id of ids) {
    const wanted = owed.filter((verdict) => Object.is(verdict.id, id) || (verdict.id === 0 && id === 0));
    const got = came.filter((message) => message.id === id);
    const open = listens.filter((listen) => listen === id).length;
    if (!cancelled.includes(id)) expect(got.length + open, `one each for ${String(id)}, ${why}`).toBe(wanted.length);
    for (const { error } of got) {
      const twice = wanted.length > 1 && error?.code === -32600;
      const right = wanted.some((verdict) =>
        verdict.kind === "error" ? error?.code === verdict.code : !error || verdict.codes.includes(error.code),
      );
      expect(right || twice, `the answer ${JSON.stringify(error)} to ${String(id)}, ${why}`).toBe(true);
    }
  }
  await endAll(peer, listens);
}

function cancelledBy(text: string): unknown[] {
  try {
    const messages = [JSON.parse(text)].flat() as Obj[];
    return messages.map((message) => (isObject(message?.params) ? message.params.requestId : undefined));
  } catch {
    return [];
  }
}

/** Ends what the group left open, and makes sure that it has ended: the ids are free again. */
async function endAll(peer: RawPeer, ids: readonly unknown[]): Promise<void> {
  if (ids.length === 0) return;
  for (const requestId of ids) peer.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  const before = peer.received.length;
  await calm();
  await arrival(peer, before);
  expect(peer.received.length, "a cancelled subscription says nothing more").toBe(before);
}

/** As many requests at once as are allowed are all answered: nothing from before is still in flight. */
export async function expectIdle(peer: RawPeer, revision: Revision, maxInFlight: number): Promise<void> {
  const from = peer.received.length;
  const method = revision === modern ? "server/discover" : "ping";
  for (let i = 0; i < maxInFlight; i++) peer.send(request(revision, method, undefined, `idle-${i}`));
  await arrival(peer, from + maxInFlight);
  const answers = peer.received.slice(from) as { id?: unknown; result?: unknown }[];
  const wanted = Array.from({ length: maxInFlight }, (_, i) => `idle-${i}`);
  expect(answers.filter(({ result }) => result !== undefined).map(({ id }) => id)).toEqual(wanted);
  expect(answers.length).toBe(maxInFlight);
}
