// A server by hand, for what no well-behaved one does: the test says what becomes of each message. Whatever our client
// sends is judged: as JSON-RPC, by the shapes of the revision, and by the official schemas where they are at hand.
import {
  type Channel,
  type Client,
  type ClientOptions,
  connect,
  type Receiver,
  type Revision,
  type Target,
} from "plenum";
import { onTestFinished } from "vitest";
import { formatMessage, parseMessage } from "../../packages/plenum/src/jsonrpc/message.ts";
import { isRevision } from "../../packages/plenum/src/protocol/revisions.ts";
import { type Judged, judgeSent } from "../suites/judge.ts";

export type Obj = { readonly [key: string]: unknown };

export interface Sent extends Judged {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Obj;
  readonly result?: Obj;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The server's end of one connection. */
export interface Wire {
  /** Any JSON values. Several arrive in one turn, as the lines of one chunk do. */
  send(...messages: unknown[]): void;
  /** Any text, JSON or not. */
  text(...lines: string[]): void;
  notify(method: string, params?: Obj): void;
  /** Ends the connection from the server's side, with the reason that the client's transport gives for it. */
  close(cause?: unknown): void;
  /** What the client sent on this connection; the members of a batch by themselves. */
  readonly received: readonly Sent[];
  /** How many messages each batch had. */
  readonly batches: readonly number[];
  /** The connection has ended, from whichever side. */
  readonly isClosed: boolean;
}

/** What becomes of a request: its result; an error; undefined for no answer. */
export type Answer = { result: Obj } | { error: { code: number; message: string; data?: unknown } } | undefined;

export type Answerer = (message: Sent, wire: Wire) => Answer | Promise<Answer>;

export interface Script {
  readonly target: Target;
  /** Everything the client sent, on all connections. */
  readonly received: Sent[];
  /** Requests and notifications of one name. */
  of(method: string): Sent[];
  /** Settles when the client has sent that many requests or notifications of the name; gives the last of them. */
  heard(method: string, count?: number): Promise<Sent>;
  /** The same for anything that the client sends. */
  when(test: (message: Sent) => boolean, count?: number): Promise<Sent>;
  /** The methods of all that was sent, in order; answers are "result" and "error". */
  readonly order: string[];
  /** Connections opened so far; the last one is in use. */
  readonly wires: Wire[];
  readonly wire: Wire;
  /** What was wrong with the client's messages. Looked at when the test ends. */
  readonly problems: string[];
}

export interface ScriptOptions extends Partial<Target> {
  /** As of the channel. Default true. */
  readonly oneStream?: boolean;
}

/**
 * @param revision in which the client's messages are judged; undefined: in the one that they name themselves, if any
 * @param answer called for every message of the client's; what it returns for a request is sent back
 */
export function createScript(
  revision: Revision | undefined,
  answer: Answerer,
  { oneStream = true, ...options }: ScriptOptions = {},
): Script {
  const received: Sent[] = [];
  const wires: Wire[] = [];
  const problems: string[] = [];
  const watchers = new Set<() => void>();

  const open = (): Channel => {
    const asked = new Map<unknown, string>();
    const ids = new Set<unknown>();
    const ours: Sent[] = [];
    const batches: number[] = [];
    let receiver: Receiver | undefined;
    let isClosed = false;
    const wire: Wire = {
      send(...messages) {
        for (const message of messages) {
          const { id, method } = (message ?? {}) as Sent;
          if (id !== undefined && method !== undefined) asked.set(id, method);
        }
        wire.text(...messages.map((message) => JSON.stringify(message)));
      },
      text(...lines) {
        queueMicrotask(() => {
          for (const line of lines) if (!isClosed) receiver?.receive(parseMessage(line));
        });
      },
      notify: (method, params) => wire.send({ jsonrpc: "2.0", method, ...(params && { params }) }),
      close(cause) {
        queueMicrotask(() => end(cause));
      },
      received: ours,
      batches,
      get isClosed() {
        return isClosed;
      },
    };
    wires.push(wire);

    function end(cause?: unknown): void {
      if (isClosed) return;
      isClosed = true;
      receiver?.closed(cause);
    }

    function hear(text: string): void {
      const message = JSON.parse(text) as Sent | Sent[];
      if (!Array.isArray(message)) return void hearOne(message);
      batches.push(message.length);
      if (revision !== "2025-03-26" || message.length === 0) problems.push(`a batch: ${text}`);
      for (const one of message) void hearOne(one);
    }

    async function hearOne(message: Sent): Promise<void> {
      received.push(message);
      ours.push(message);
      for (const look of watchers) look();
      const problem = judge(message, revision, asked, ids);
      if (problem) problems.push(`${problem}: ${JSON.stringify(message)}`);
      const given = await answer(message, wire);
      if (given && message.id !== undefined && message.method !== undefined)
        wire.send({ jsonrpc: "2.0", id: message.id, ...given });
    }

    return {
      oneStream,
      open(given) {
        receiver = given;
      },
      send(message) {
        const text = formatMessage(message);
        if (!isClosed) queueMicrotask(() => isClosed || hear(text));
      },
      close: () => queueMicrotask(end),
    };
  };
  onTestFinished(() => {
    if (problems.length > 0) throw new Error(`The client's messages are not right:\n${problems.join("\n")}`);
  });

  const script: Script = {
    target: { name: "script", open, ...options },
    received,
    of: (method) => received.filter((message) => message.method === method),
    heard: (method, count) => script.when((message) => message.method === method, count),
    when: (test, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = received.filter(test)[count - 1];
          if (!found) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
    get order() {
      return received.map(({ method, error }) => method ?? (error ? "error" : "result"));
    },
    wires,
    get wire() {
      return wires.at(-1) as Wire;
    },
    problems,
  };
  return script;
}

/** What is wrong with a message of the client's on one connection. */
function judge(
  message: Sent,
  given: Revision | undefined,
  asked: ReadonlyMap<unknown, string>,
  ids: Set<unknown>,
): string | undefined {
  const { id, method, params } = message;
  if (message.jsonrpc !== "2.0") return "not JSON-RPC 2.0";
  if (method !== undefined && "id" in message) {
    if (typeof id !== "string" && !Number.isInteger(id)) return "a request with a strange id";
    if (ids.has(id)) return "an id that was used before";
    ids.add(id);
  }
  if (method === "notifications/cancelled" && !ids.has(params?.requestId)) return "cancels what was never asked";
  const revision = revisionOf(message) ?? given;
  return revision && judgeSent(message, revision, asked.get(id), "client");
}

/** Of those messages that name one. */
function revisionOf(message: Sent): Revision | undefined {
  const { method, params } = message;
  const named =
    method === "initialize" ? params?.protocolVersion : metaOf(message)["io.modelcontextprotocol/protocolVersion"];
  return isRevision(named) ? named : undefined;
}

/** The `_meta` of a message's params. */
export function metaOf(message: Sent | undefined): Obj {
  return (message?.params?._meta ?? {}) as Obj;
}

/** A client of the script that is closed when the test ends. */
export async function openScript(script: Script, options: ClientOptions = {}): Promise<Client> {
  const client = await connect(script.target, options);
  onTestFinished(() => client.close());
  return client;
}

/** Settles when all that is under way in memory has been delivered: what has not arrived by then is not coming by itself. */
export async function settle(turns = 50): Promise<void> {
  // Microtasks only, so that it does the same under false clocks.
  for (let i = 0; i < turns; i++) await Promise.resolve();
}

export const serverInfo = { name: "script", version: "1.0.0" };

/** The answer to `server/discover` of a server with these capabilities. */
export function discovered(capabilities: Obj = {}, supportedVersions: readonly string[] = ["2026-07-28"]): Obj {
  return {
    resultType: "complete",
    supportedVersions,
    capabilities,
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
  };
}

export const notFound = { error: { code: -32601, message: "Method not found" } };

/** Opens as a server of the revision does, with these capabilities; everything else is the test's. */
export function opening(revision: Revision, capabilities: Obj, rest: Answerer = () => undefined): Answerer {
  return (message, wire) => {
    const { method } = message;
    if (revision === "2026-07-28") {
      if (method === "server/discover") return { result: discovered(capabilities) };
    } else {
      if (method === "server/discover") return notFound;
      if (method === "initialize") return { result: { protocolVersion: revision, capabilities, serverInfo } };
    }
    return rest(message, wire);
  };
}

/** A result as the revision has them. */
export function resultIn(revision: Revision, members: Obj): { result: Obj } {
  return { result: revision === "2026-07-28" ? { resultType: "complete", ...members } : members };
}

/** The same for lists and reads. */
export function listIn(revision: Revision, members: Obj): { result: Obj } {
  return resultIn(revision, revision === "2026-07-28" ? { ttlMs: 0, cacheScope: "private", ...members } : members);
}

const source = "../../packages/plenum/src";

/** Loads what a client loads on demand. For tests whose clock stands still: it waits for no file. */
export async function loadClient(): Promise<void> {
  const rooms = [
    "client/questions",
    "client/cache",
    "client/pings",
    "client/reopen",
    "client/subscriptions",
    "client/explain",
  ];
  const eras = ["protocol/stateless/input", "protocol/stateless/listen"];
  for (const room of [...rooms, ...eras]) await import(`${source}/${room}.ts`);
}
