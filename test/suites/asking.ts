// A server with one tool that asks, for the suites about asks: what the handler got is kept for the test to look at. In
// 2026-07-28 the handler is run again with the answer; what is kept is what it got in the last run.
import { type Context, createServer, McpError, type Revision, type Server } from "plenum";
import { expect } from "vitest";
import { type Message, modern, type Obj, openPeer, type Peer, type PeerOptions } from "./peer.ts";

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
    delete outcome.value;
    delete outcome.error;
    try {
      outcome.value = await run(ctx);
    } catch (error) {
      outcome.error = error;
      if (error instanceof McpError && error.code === "input_required") throw error;
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
  if (revision === modern) return exchangeInRounds(asking, capabilities, answer);
  const peer = await openAsking(asking, revision, capabilities);
  const request = await peer.asked();
  peer.answer(request, answer);
  await expect.poll(() => resultOf(peer, "call")).toMatchObject({ content: [{ type: "text", text: "done" }] });
  return { request, outcome: asking.outcome };
}

/** The same by a result that asks: the request is what it asks for, in the words of a session. */
async function exchangeInRounds(
  asking: Asking,
  capabilities: Obj,
  answer: Obj,
): Promise<{ request: Message; outcome: Outcome }> {
  const peer = await openPeer(asking.server, modern, { capabilities });
  const { inputRequests, requestState } = await peer.call("tools/call", { name: "ask" });
  const [[key, question] = [], ...others] = Object.entries(inputRequests as { [key: string]: Obj });
  expect(others).toEqual([]);
  const request = { jsonrpc: "2.0", id: key, ...question } as Message;
  const params = { name: "ask", requestState, inputResponses: { [key as string]: answer } };
  const { result, error } = await peer.request("tools/call", params);
  // What is not even an answer is refused before the handler hears of it.
  if (error)
    asking.outcome.error = new McpError(error.code === -32602 ? "invalid_result" : "peer_error", error.message);
  else expect(result).toMatchObject({ content: [{ type: "text", text: "done" }] });
  return { request, outcome: asking.outcome };
}

function resultOf(peer: Peer, id: string): Obj | undefined {
  return peer.messages.find((message) => message.id === id && message.result)?.result;
}

/** What the handler got when nothing could be asked: its error; the test fails if anything was sent. */
export async function refusal(run: (ctx: Context) => unknown, revision: Revision, capabilities: Obj): Promise<unknown> {
  const asking = createAsking(run);
  const peer = await openAsking(asking, revision, capabilities);
  await expect.poll(() => resultOf(peer, "call")).toMatchObject({ content: [{ type: "text", text: "done" }] });
  expect(peer.messages.filter(({ method, id }) => method !== undefined && id !== undefined)).toEqual([]);
  expect(asking.outcome).not.toHaveProperty("value");
  return asking.outcome.error;
}
