// The raw peer of the suites over HTTP: the same messages by hand, each in a POST of its own, on either feed. What a request
// needs besides its body (headers, session, the stream to listen on) is added here; 2024-11-05 goes over HTTP+SSE.
import { createServer as createNodeServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type FetchHandler, type HttpOptions, toFetchHandler } from "plenum/http";
import { type NodeHandler, toNodeHandler } from "plenum/http/node";
import type { RawPeer } from "plenum/memory";
import type { Endpoint } from "../../packages/plenum/src/protocol/endpoint.ts";
import type { Message, Obj, PeerOptions } from "./peer.ts";

/** What the suites run over, by the vitest project: see vitest.config.ts. */
export type HttpTransport = "http" | "http-stream" | "web" | "web-stream" | "sessionless";

const protocolVersion = "io.modelcontextprotocol/protocolVersion";
const named: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

// Some tests put something else in place of these.
const { fetch: send, setTimeout: startTimer, clearTimeout: stopTimer, setImmediate: nextTurn } = globalThis;
const wait = (ms: number): Promise<void> => new Promise((resolve) => startTimer(resolve, ms));

interface Feed {
  /** How many POSTs the server has read to their end. */
  readonly arrivals: number;
  fetch(path: string, init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** Throws for options that make no sense; not async, so that it does so at once. */
function openFeed(endpoint: Endpoint, transport: HttpTransport, options: HttpOptions): Promise<Feed> {
  return transport.startsWith("web")
    ? openWebFeed(toFetchHandler(endpoint, options))
    : openNodeFeed(toNodeHandler(endpoint, options));
}

async function openWebFeed(handler: FetchHandler): Promise<Feed> {
  const feed = {
    arrivals: 0,
    fetch(path: string, init: RequestInit) {
      const answer = handler(new Request(`http://localhost${path}`, init));
      // A body in memory is read without waiting for anything.
      nextTurn(() => nextTurn(() => feed.arrivals++));
      return answer;
    },
    close: () => handler.close(0),
  };
  return feed;
}

async function openNodeFeed(handler: NodeHandler): Promise<Feed> {
  const server = createNodeServer((request, response) => {
    request.on("end", () => nextTurn(() => feed.arrivals++));
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const feed = {
    arrivals: 0,
    fetch: (path: string, init: RequestInit) => send(`http://127.0.0.1:${port}${path}`, init),
    async close() {
      server.close();
      await handler.close(0);
      server.closeAllConnections();
    },
  };
  return feed;
}

export class HttpPeer implements RawPeer {
  readonly received: unknown[] = [];
  /** Settles when the server has ended the stream that this peer listens to, or the peer is closed. */
  readonly closed: Promise<void>;
  readonly #revision: string;
  readonly #hasSessions: boolean;
  readonly #feed: Promise<Feed>;
  readonly #taken = new Set<unknown>();
  /** Errors that came with an HTTP status, by what they answer: the ids of requests are not in all of them. */
  readonly #refusals = new Map<unknown, unknown>();
  readonly #wakers = new Set<() => void>();
  readonly #ends = new Map<unknown, AbortController>();
  #session: string | undefined;
  #negotiated: string | undefined;
  /** HTTP+SSE: where messages are posted. */
  #messages: Promise<string> | undefined;
  /** What was sent is on its way. */
  #posted: Promise<unknown> = Promise.resolve();
  /** What was sent has arrived, and was answered if that could be done at once. */
  #arrived: Promise<unknown> = Promise.resolve();
  #nextId = 1;
  #isClosed = false;
  #onClosed: () => void = () => {};

  constructor(endpoint: Endpoint, revision: string, transport: HttpTransport, options: PeerOptions) {
    const { sender, revisions, maxSubscriptions, askTimeoutMs } = options;
    const auth = sender?.auth;
    this.#revision = revision;
    const isOld = revision === "2024-11-05" && (!revisions || revisions.some((one) => one !== "2026-07-28"));
    this.#hasSessions = transport !== "sessionless" || isOld;
    this.#feed = openFeed(endpoint, transport, {
      ...(revisions && { revisions }),
      ...(maxSubscriptions !== undefined && { maxSubscriptions }),
      ...(askTimeoutMs !== undefined && { askTimeoutMs }),
      ...(auth && { auth: () => auth, allowedHosts: ["localhost", "127.0.0.1"] }),
      ...(transport.endsWith("-stream") && { answers: "stream" as const }),
      ...(this.#hasSessions ? { sse: isOld } : { sessions: false as const }),
      path: "/mcp",
    });
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    if (isOld) this.#messages = this.#openOld();
    this.#messages?.catch(() => {});
  }

  send(message: unknown): void {
    if (this.#isClosed) return;
    const text = typeof message === "string" ? message : JSON.stringify(message);
    const one = parse(text);
    // One after the other, as on one wire: each when the one before has arrived. Only a cancellation may overtake.
    const before = one?.method === "notifications/cancelled" ? this.#posted : this.#arrived;
    const posted = before.then(() => this.#post(text, one));
    this.#posted = posted.catch(() => {});
    this.#arrived = Promise.all([this.#arrived, posted.then(({ arrived }) => arrived)]).catch(() => {});
  }

  next(timeoutMs = 2000): Promise<unknown> {
    return this.#take("A message", () => true, timeoutMs);
  }

  request(method: string, params?: unknown, id: string | number = `raw-${this.#nextId++}`): Promise<unknown> {
    const answer = this.#take(
      `An answer to ${method} (${JSON.stringify(id)})`,
      (message) => {
        const { id: of = this.#refusals.get(message), result, error } = message as Message;
        return of === id && (result !== undefined || error !== undefined);
      },
      5000,
    );
    this.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? undefined : { params }) });
    return answer;
  }

  /** When nothing was under way for a few turns: sockets are in this process too. */
  async settle(): Promise<void> {
    for (let seen = -1, calm = 0; calm < 5; ) {
      await this.#arrived;
      await wait(2);
      calm = this.received.length === seen ? calm + 1 : 0;
      seen = this.received.length;
    }
  }

  /** When what was sent so far has arrived, and the stream is open that a session listens to. */
  get arrived(): Promise<unknown> {
    return this.#arrived;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const end of this.#ends.values()) end.abort();
    for (const wake of this.#wakers) wake();
    void this.#feed.then((feed) => feed.close()).then(() => this.#onClosed());
  }

  /** Settles when the message is on its way. */
  async #post(text: string, one: Message | undefined): Promise<{ arrived: Promise<void> }> {
    const isModern = this.#revision === "2026-07-28";
    // What a client of 2026-07-28 cancels, it stops listening to.
    if (isModern && one?.method === "notifications/cancelled") {
      this.#ends.get(one.params?.requestId)?.abort();
      return { arrived: Promise.resolve() };
    }
    const feed = await this.#feed;
    const path = (await this.#messages) ?? "/mcp";
    const end = new AbortController();
    const key = one?.id !== undefined && one.method !== undefined ? one.id : Symbol("post");
    this.#ends.set(key, end);
    const before = feed.arrivals;
    let isAnswered = false;
    const begun = feed.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...this.#headers(one) },
      body: text,
      signal: end.signal,
    });
    const answered = begun
      .then((response) => this.#read(response, one))
      .catch(() => {})
      .finally(() => {
        isAnswered = true;
        this.#ends.delete(key);
      });
    const arrive = async (): Promise<void> => {
      while (!isAnswered && feed.arrivals === before) await wait(1);
      // What is answered at once comes before the next is sent; a subscription is acknowledged at once.
      const isListening = one?.method === "subscriptions/listen";
      await Promise.race(isListening ? [begun, wait(2000)] : [answered, wait(15)]);
      if (one?.method === "notifications/initialized" && this.#session !== undefined) await this.#listen();
    };
    return { arrived: arrive() };
  }

  #headers(message: Message | undefined): Record<string, string> {
    const accept = "application/json, text/event-stream";
    // Whoever asks for a session speaks no revision yet.
    const isOpening = message?.method === "initialize" && message.params?._meta === undefined;
    if (this.#revision !== "2026-07-28" || isOpening) {
      return {
        accept,
        ...(this.#session !== undefined && { "mcp-session-id": this.#session }),
        ...(this.#negotiated !== undefined && { "mcp-protocol-version": this.#negotiated }),
      };
    }
    const params = (message?.params ?? {}) as Obj;
    const stated = (params._meta as Obj | undefined)?.[protocolVersion];
    const name = named[message?.method ?? ""];
    const value = name && params[name];
    return {
      accept,
      "mcp-protocol-version": typeof stated === "string" ? stated : this.#revision,
      ...(typeof message?.method === "string" && { "mcp-method": encode(message.method) }),
      ...(typeof value === "string" && { "mcp-name": encode(value) }),
    };
  }

  async #read(response: Response, about: Message | undefined): Promise<void> {
    const session = response.headers.get("mcp-session-id");
    if (session !== null) this.#session = session;
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) await this.#events(response);
    else {
      const text = await response.text();
      if (text !== "") this.#answer(JSON.parse(text), response.ok, about);
    }
    if (about?.method === "initialize" && (this.#revision >= "2025-06-18" || !this.#hasSessions))
      this.#negotiated = this.#agreed();
  }

  #answer(message: unknown, isGood: boolean, about: Message | undefined): void {
    if (!isGood) {
      // The body of a bad status says why. To a notification or a response that is no answer.
      if (about && isUnanswered(about)) return;
      this.#refusals.set(message, about?.id);
    }
    this.#put(message);
  }

  #agreed(): string | undefined {
    for (const message of this.received as readonly Message[])
      if (typeof message.result?.protocolVersion === "string") return message.result.protocolVersion;
    return undefined;
  }

  async #listen(): Promise<void> {
    const response = await this.#open("/mcp", this.#headers(undefined));
    if (!response.ok) return;
    this.#events(response)
      .catch(() => {})
      .finally(() => this.#onClosed());
  }

  async #openOld(): Promise<string> {
    const response = await this.#open("/sse");
    return new Promise((resolve, reject) => {
      this.#events(response, (event, data) => {
        if (event === "endpoint") resolve(data);
        else this.#put(JSON.parse(data));
      })
        .then(() => this.#onClosed())
        .catch(reject);
    });
  }

  async #open(path: string, headers?: Record<string, string>): Promise<Response> {
    const { fetch } = await this.#feed;
    const end = new AbortController();
    this.#ends.set(Symbol(path), end);
    return fetch(path, { headers: { ...headers, accept: "text/event-stream" }, signal: end.signal });
  }

  async #events(
    response: Response,
    take = (_event: string, data: string): void => this.#put(JSON.parse(data)),
  ): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = events.pop() as string;
      for (const event of events) {
        const lines = event.split("\n");
        const read = (field: string) => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
        const data = read("data");
        if (data) take(read("event") ?? "message", data);
      }
    }
  }

  #put(message: unknown): void {
    if (this.#isClosed) return;
    this.received.push(message);
    for (const wake of [...this.#wakers]) wake();
  }

  #take(what: string, wanted: (message: unknown) => boolean, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        stopTimer(timer);
        this.#wakers.delete(look);
      };
      const look = (): void => {
        const found = this.received.find((message) => !this.#taken.has(message) && wanted(message));
        if (found === undefined && !this.#isClosed) return;
        finish();
        this.#taken.add(found);
        if (found === undefined) reject(new Error("Closed before it sent what was waited for"));
        else resolve(found);
      };
      const timer = startTimer(() => {
        finish();
        reject(new Error(`${what} did not come in ${timeoutMs} ms; received: ${JSON.stringify(this.received)}`));
      }, timeoutMs);
      this.#wakers.add(look);
      look();
    });
  }
}

function parse(text: string): Message | undefined {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return undefined;
  }
}

/** Notifications and responses, good or bad. */
function isUnanswered(message: Message): boolean {
  const has = (name: string): boolean => typeof message === "object" && Object.hasOwn(message, name);
  return has("method") ? !has("id") : has("result") || has("error");
}

/** As 2026-07-28 writes what no header can carry. */
function encode(text: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(text) && text.trim() === text && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
