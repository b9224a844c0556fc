// A server with one tool that asks, for the suites about asks: what the handler got is kept for the test to look at.
import { type Context, createServer, type Revision, revisions, type Server } from "plenum";
import { expect } from "vitest";
import { type Message, modern, type Obj, openPeer, type Peer, type PeerOptions } from "./peer.ts";

/** The revisions in which a server sends requests. */
export const sessioned: readonly Revision[] = revisions.filter((revision) => revision !== modern);

export interface Outcome {
  value?: unknown;
  error?: unknown;
}

export interface Asking {
  readonly server: Server;
  readonly outcome: Outcome;
}

/** The tool `ask` runs this and says "done" whatever comes of it; `blind` leaves its errors to the server. */
export function createAsking(run: (ctx: Context) => unknown): Asking {
  const server = createServer({ name: "asker", version: "1.0.0", onError: () => {} });
  const outcome: Outcome = {};
  server.tool("ask", {}, async (_, ctx) => {
    try {
      outcome.value = await run(ctx);
    } catch (error) {
      outcome.error = error;
    }
    return "done";
  });
  server.tool("blind", {}, async (_, ctx) => {
    await run(ctx);
    return "done";
  });
  return { server, outcome };
}

/** Opens a session whose client declares these capabilities, and calls the tool. */
export async function openAsking(
  { server }: Asking,
  revision: Revision,
  capabilities: Obj,
  options: PeerOptions = {},
): Promise<Peer> {
  const peer = await openPeer(server, revision, { ...options, capabilities });
  peer.start("tools/call", { name: "ask" }, "call");
  return peer;
}

/** The whole exchange: the request that was sent, and what the handler made of the answer. */
export async function exchange(
  run: (ctx: Context) => unknown,
  revision: Revision,
  capabilities: Obj,
  answer: Obj,
): Promise<{ request: Message; outcome: Outcome }> {
  const asking = createAsking(run);
  const peer = await openAsking(asking, revision, capabilities);
  const request = await peer.asked();
  peer.answer(request, answer);
  await peer.settle();
  expect(peer.messages.find(({ id, result }) => id === "call" && result)?.result).toMatchObject({
    content: [{ type: "text", text: "done" }],
  });
  return { request, outcome: asking.outcome };
}

/** What the handler got when nothing could be asked: its error; the test fails if anything was sent. */
export async function refusal(run: (ctx: Context) => unknown, revision: Revision, capabilities: Obj): Promise<unknown> {
  const asking = createAsking(run);
  const peer = await openAsking(asking, revision, capabilities);
  await peer.settle();
  expect(peer.messages.filter(({ method, id }) => method !== undefined && id !== undefined)).toEqual([]);
  expect(asking.outcome).not.toHaveProperty("value");
  return asking.outcome.error;
}
