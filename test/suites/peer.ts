// A client by hand, the same for every revision: it opens a session where there is one, puts `_meta` on each request
// where there is none, and has every message that the server sends judged: by our own wire shapes, and by the official
// schema of the revision when that is at hand.

import { type Revision, revisions, type Sender } from "plenum";
import { createRawPeer, type RawPeer } from "plenum/memory";
import type { ServeOptions } from "plenum/protocol";
import { afterEach, expect } from "vitest";
import type { Endpoint } from "../../packages/plenum/src/protocol/endpoint.ts";
import { HttpPeer, type HttpTransport } from "./http-peer.ts";
import { judgeSent } from "./judge.ts";

export type Obj = Record<string, unknown>;

export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Obj;
  readonly result?: Obj;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface PeerOptions extends ServeOptions {
  readonly capabilities?: Obj;
  readonly clientInfo?: Obj;
  readonly sender?: Sender;
  /** Leave the handshake to the test. */
  readonly closed?: boolean;
}

export const modern = "2026-07-28";

/** Set by the vitest projects that run the suites over HTTP; memory otherwise. */
const transport = process.env.PLENUM_SUITE_TRANSPORT as HttpTransport | undefined;

// What the server loads when it is first wanted is there already: settle() waits for messages, not for files.
await Promise.all([
  import("../../packages/plenum/src/jsonrpc/requests.ts"),
  import("../../packages/plenum/src/protocol/refusals.ts"),
  import("../../packages/plenum/src/protocol/sessioned/ask.ts"),
  import("../../packages/plenum/src/protocol/stateless/replay.ts"),
  import("../../packages/plenum/src/protocol/stateless/watch.ts"),
  import("../../packages/plenum/src/server/ask.ts"),
  import("../../packages/plenum/src/server/cursor.ts"),
]);

/** One channel for everything, as in memory: one order of messages, ids that stand for one request, both eras on it. */
export const isOneChannel = transport === undefined;

/** Streamable HTTP, where every message of the client is an HTTP request that can be refused by its status. */
export const isStreamable = (revision: Revision): boolean => !isOneChannel && revision !== "2024-11-05";

/** Whether the server knows its client from one request to the next: only then it can ask, announce and remember. */
export const hasSession = (revision: Revision): boolean =>
  revision !== modern && !(transport === "sessionless" && isStreamable(revision));

/** The revisions that have sessions on what the suites run over. */
export const sessioned: readonly Revision[] = revisions.filter(hasSession);

/** Whether the server knows who its client is and what it can: by a session, or because each request says so. */
export const knowsClient = (revision: Revision): boolean => revision === modern || hasSession(revision);

/** The revisions whose clients can be asked, be told of changes, and cancel. */
export const reachable: readonly Revision[] = revisions.filter(knowsClient);

/** Whether requests before the handshake are heard: over Streamable HTTP they have no session to go to. */
export const isHeardUnopened = (revision: Revision): boolean => !isStreamable(revision) || !hasSession(revision);

/** Whether the answers to a batch come as one array; on a stream they come one by one. */
export const answersInArrays = !transport?.endsWith("-stream");

/** Messages in the order in which they must come: those of several HTTP exchanges have none. */
export const inOrder = <T>(list: readonly T[]): readonly T[] =>
  isOneChannel ? list : [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

export class Peer {
  readonly revision: Revision;
  readonly raw: RawPeer;
  readonly capabilities: Obj;
  readonly clientInfo: Obj;
  /** The result of the handshake, where there is one. */
  opening: Obj = {};
  #nextId = 1;
  readonly #methods = new Map<string | number, string>();

  constructor(endpoint: Endpoint, revision: Revision, options: PeerOptions) {
    const { capabilities = {}, clientInfo = { name: "test-client", version: "1.0.0" }, closed: _, ...rest } = options;
    this.revision = revision;
    this.capabilities = capabilities;
    this.clientInfo = clientInfo;
    this.raw = transport ? new HttpPeer(endpoint, revision, transport, rest) : createRawPeer(endpoint, rest);
  }

  get isModern(): boolean {
    return this.revision === modern;
  }

  /** Params with the `_meta` that the revision wants; what is given goes before. */
  dress(params: Obj = {}): Obj | undefined {
    if (!this.isModern) return Object.keys(params).length > 0 ? params : undefined;
    const meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientCapabilities": this.capabilities,
      "io.modelcontextprotocol/clientInfo": this.clientInfo,
      ...(params._meta as Obj | undefined),
    };
    return { ...params, _meta: meta };
  }

  /** The whole response, error or not. */
  async request(method: string, params?: Obj, id: string | number = this.#nextId++): Promise<Message> {
    this.#methods.set(id, method);
    return (await this.raw.request(method, this.dress(params), id)) as Message;
  }

  /** Sends a request whose answer is not waited for; its id comes back. */
  start(method: string, params?: Obj, id: string | number = this.#nextId++): string | number {
    this.#methods.set(id, method);
    this.raw.send({ jsonrpc: "2.0", id, method, ...withParams(this.dress(params)) });
    return id;
  }

  /** The result; an error fails the test. */
  async call(method: string, params?: Obj): Promise<Obj> {
    const { result, error } = await this.request(method, params);
    expect(error, `${method} in ${this.revision}`).toBeUndefined();
    return result as Obj;
  }

  /** The error; a result fails the test. */
  async fail(method: string, params?: Obj): Promise<NonNullable<Message["error"]>> {
    const { result, error } = await this.request(method, params);
    expect(result, `${method} in ${this.revision}`).toBeUndefined();
    return error as NonNullable<Message["error"]>;
  }

  notify(method: string, params?: Obj): void {
    this.raw.send({ jsonrpc: "2.0", method, ...withParams(params) });
  }

  /** Answers a request of the server's. */
  answer(request: Message, result: Obj): void {
    this.raw.send({ jsonrpc: "2.0", id: request.id, result });
  }

  /** The next request that the server sends. */
  async asked(): Promise<Message> {
    for (;;) {
      const message = (await this.raw.next()) as Message;
      if (message.method !== undefined && message.id !== undefined) return message;
    }
  }

  get messages(): readonly Message[] {
    return this.raw.received as readonly Message[];
  }

  /** Notifications received so far, all or of one method. */
  notifications(method?: string): readonly Message[] {
    return this.messages.filter(
      (message) => message.id === undefined && message.method !== undefined && (!method || message.method === method),
    );
  }

  settle(): Promise<void> {
    return this.raw.settle();
  }

  /** When the server has hung up: its channel, or the stream that a session listens to. Without either, when all is said. */
  ended(): Promise<void> {
    return isOneChannel || hasSession(this.revision) ? this.raw.closed : this.settle();
  }

  async open(): Promise<void> {
    if (this.isModern) return;
    this.opening = await this.call("initialize", {
      protocolVersion: this.revision,
      capabilities: this.capabilities,
      clientInfo: this.clientInfo,
    });
    this.notify("notifications/initialized");
    if (this.raw instanceof HttpPeer) await this.raw.arrived;
  }

  /** What is wrong with the messages the server sent, one line each. */
  problems(): string[] {
    return this.messages.flat().flatMap((message) => {
      const sent = message as Message;
      const problem = judgeSent(sent, this.revision, sent.id === undefined ? undefined : this.#methods.get(sent.id));
      return problem === undefined ? [] : [`${this.revision} ${JSON.stringify(message)}: ${problem}`];
    });
  }
}

function withParams(params: Obj | undefined): Obj {
  return params === undefined ? {} : { params };
}

const peers = new Set<Peer>();

/** Connects to a server in memory, in one revision. */
export async function openPeer(endpoint: Endpoint, revision: Revision, options: PeerOptions = {}): Promise<Peer> {
  const peer = new Peer(endpoint, revision, options);
  peers.add(peer);
  if (!options.closed) await peer.open();
  return peer;
}

// Whatever a test does, what the server said meanwhile was valid, and nothing lives on after it.
afterEach(() => {
  const problems = [...peers].flatMap((peer) => peer.problems());
  for (const peer of peers) peer.raw.close();
  peers.clear();
  expect(problems).toEqual([]);
});
