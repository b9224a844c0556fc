// A server with one tool, for the suites about calls that go on: what it reports is kept, and a client opened on it can
// be asked everything.
import { type Context, createServer, type Server, type ServerOptions } from "plenum";
import { expect } from "vitest";
import { type Message, modern, type Obj, openPeer, type Peer, type PeerOptions } from "../suites/peer.ts";
import { type Answer, capabilities, type Leg, toLeg } from "./rounds.ts";

export interface Stage {
  readonly server: Server;
  /** What `onError` was told. */
  readonly errors: Error[];
  open(options?: PeerOptions): Promise<Peer>;
}

export const secret = "a secret of enough bytes";

/** The tool is called `run` and takes any arguments. */
export function createStage(
  handler: (ctx: Context, args: Obj) => unknown,
  options: Partial<ServerOptions<undefined>> = {},
): Stage {
  const errors: Error[] = [];
  const server = createServer({
    name: "stage",
    version: "1.0.0",
    secret,
    onError: (error) => void errors.push(error as Error),
    ...options,
  });
  server.tool("run", { input: { type: "object" } }, (args, ctx) => handler(ctx, args as Obj));
  return { server, errors, open: (peerOptions) => openPeer(server, modern, { capabilities, ...peerOptions }) };
}

/** The result of a call that asks; anything else fails the test. */
export async function leg(peer: Peer, more: Obj = {}, name = "run"): Promise<Leg> {
  const response = await peer.request("tools/call", { name, ...more });
  const asking = toLeg(response);
  expect(asking, JSON.stringify(response)).toBeDefined();
  return asking as Leg;
}

/** The params with which a client goes on. */
export function onward({ state, questions }: Leg, answer: Answer = accept): Obj {
  const inputResponses = Object.fromEntries(Object.entries(questions).map(([key, one]) => [key, answer(one)]));
  return { requestState: state, inputResponses };
}

export const accept: Answer = ({ method, params }) => {
  if (method === "roots/list") return { roots: [{ uri: "file:///a" }] };
  if (method === "elicitation/create")
    return { action: "accept", ...(params?.mode !== "url" && { content: { ok: true } }) };
  return { role: "assistant", content: { type: "text", text: "Ho" }, model: "m" };
};

/** What a tool said. */
export function textOf({ result }: Message): unknown {
  const [block] = (result?.content ?? []) as { text?: string }[];
  return block?.text;
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
