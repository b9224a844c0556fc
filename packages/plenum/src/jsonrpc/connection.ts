// Pairs requests with responses over one channel, in both directions. All in-flight state is in one record,
// `#state`, and is changed only here. Knows nothing of MCP: what cancels a request and what counts as progress
// is the protocol's business, which calls `cancel` and `touch`.
import type { Channel, Receiver } from "./channel.ts";
import {
  type ErrorObject,
  type ErrorResponse,
  formatMessage,
  type Incoming,
  type JsonObject,
  type Notification,
  type PreparedJson,
  type Request,
  type RequestId,
  type Response,
  rpcCodes,
} from "./message.ts";

export type Answer = { readonly result: JsonObject | PreparedJson } | { readonly error: ErrorObject };

/** How a request that we sent ended. A value, not an exception: the room above chooses its own error for each. */
export type Outcome =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly error: ErrorObject }
  | { readonly kind: "timeout"; readonly afterMs: number }
  | { readonly kind: "aborted"; readonly reason: unknown }
  | { readonly kind: "lost"; readonly cause: unknown };

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Without an answer or a `touch` for this long the request is given up. 0 or Infinity: never. Default 60 000. */
  readonly timeoutMs?: number;
  /** Given up after this long whatever is touched. 0 or Infinity: never. Default Infinity. */
  readonly maxTimeoutMs?: number;
  /** The incoming request on whose behalf this one is sent. */
  readonly about?: RequestId;
  /** Told the id before anything is sent, so that the caller can put it to use (a progress token, say). */
  readonly onId?: (id: RequestId) => void;
}

export interface ConnectionOptions {
  /** Answers a request. Whatever it throws or rejects with, even `undefined`, the peer gets exactly one answer. */
  readonly onRequest: (request: Request, exchange: Exchange) => Answer | Promise<Answer>;
  readonly onNotification: (notification: Notification, sender: unknown) => void;
  /** Why this batch is refused as a whole; undefined when batches are spoken here. Default: refused. */
  readonly refuseBatch?: (members: readonly Incoming[]) => string | undefined;
  /** A request of ours was given up on (time, abort): the peer may want to know. */
  readonly onAbandon?: (id: RequestId, method: string, reason: string) => void;
  readonly onClose?: (cause: unknown) => void;
  /** Requests of the peer that may be in flight at once; more are refused. Default 10 000. */
  readonly maxInFlight?: number;
}

interface Pending {
  readonly method: string;
  readonly settle: (outcome: Outcome) => void;
  readonly timeoutMs: number;
  readonly startedAt: number;
  readonly maxTimeoutMs: number;
  /** When the clock was last reset. A timer that fires early re-arms itself, so a reset costs one assignment. */
  touchedAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** An incoming request while it is answered. */
export class Exchange {
  readonly id: RequestId;
  readonly sender: unknown;
  readonly #connection: Connection;
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;

  constructor(connection: Connection, id: RequestId, sender: unknown) {
    this.#connection = connection;
    this.id = id;
    this.sender = sender;
  }

  /** Made on first use: most handlers never look. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#ended) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  /** Answered, cancelled or cut off: nothing more may be sent for this request. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** A notification that belongs to this request; nothing once it has ended. */
  notify(method: string, params: JsonObject): void {
    if (!this.ended) this.#connection.notify(method, params, this.id);
  }

  /** For the connection. A `reason` aborts the handler; without one the exchange merely ends. */
  end(reason?: unknown): void {
    if (this.#ended) return;
    this.#ended = { reason };
    if (reason !== undefined) this.#controller?.abort(reason);
  }
}

type Reply = (response: Response | undefined, about: RequestId | undefined) => void;

interface Open {
  readonly exchange: Exchange;
  /** To be called exactly once: with undefined when the request was cancelled. */
  readonly reply: Reply;
}

const longestTimer = 2 ** 31 - 1;

export class Connection {
  readonly #channel: Channel;
  readonly #options: ConnectionOptions;
  readonly #maxInFlight: number;
  readonly #state = {
    nextId: 1,
    sent: new Map<RequestId, Pending>(),
    received: new Map<RequestId, Open>(),
    closed: false,
  };

  constructor(channel: Channel, options: ConnectionOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#maxInFlight = options.maxInFlight ?? 10_000;
    const receiver: Receiver = {
      receive: (incoming, sender) => this.#receive(incoming, sender),
      closed: (cause) => this.#end(cause),
    };
    channel.open(receiver);
  }

  get closed(): boolean {
    return this.#state.closed;
  }

  /** Requests unanswered in either direction. */
  get inFlight(): number {
    return this.#state.sent.size + this.#state.received.size;
  }

  /** Sends a request. Never rejects: see `Outcome`. Throws only when params cannot be written as JSON. */
  request(method: string, params: JsonObject | undefined, options: RequestOptions = {}): Promise<Outcome> {
    const { signal, about } = options;
    if (this.#state.closed) return Promise.resolve({ kind: "lost", cause: undefined });
    if (signal?.aborted) return Promise.resolve({ kind: "aborted", reason: signal.reason });
    const id = this.#state.nextId++;
    options.onId?.(id);
    const message: Request = params ? { jsonrpc: "2.0", id, method, params } : { jsonrpc: "2.0", id, method };

    return new Promise<Outcome>((resolve, reject) => {
      const onAbort = (): void => this.#abandon(id, { kind: "aborted", reason: signal?.reason });
      const now = Date.now();
      const pending: Pending = {
        method,
        timeoutMs: toLimit(options.timeoutMs ?? 60_000),
        maxTimeoutMs: toLimit(options.maxTimeoutMs ?? 0),
        startedAt: now,
        touchedAt: now,
        timer: undefined,
        settle: (outcome) => {
          clearTimeout(pending.timer);
          signal?.removeEventListener("abort", onAbort);
          resolve(outcome);
        },
      };
      this.#state.sent.set(id, pending);
      try {
        this.#channel.send(message, about);
      } catch (error) {
        this.#state.sent.delete(id);
        reject(error);
        return;
      }
      // The channel may have closed, or even answered, while it sent.
      if (!this.#state.sent.has(id)) return;
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#arm(id, pending);
    });
  }

  /** Sends a notification. Throws when params cannot be written as JSON. */
  notify(method: string, params?: JsonObject, about?: RequestId): void {
    if (this.#state.closed) return;
    const message: Notification = params ? { jsonrpc: "2.0", method, params } : { jsonrpc: "2.0", method };
    this.#channel.send(message, about);
  }

  /** Something was heard about a request of ours: its clock starts anew. */
  touch(id: RequestId): void {
    const pending = this.#state.sent.get(id);
    if (pending) pending.touchedAt = Date.now();
  }

  /** The peer no longer wants this request answered: its handler is aborted and nothing more is sent for it. */
  cancel(id: RequestId, reason: unknown): boolean {
    const open = this.#state.received.get(id);
    if (!open) return false;
    this.#state.received.delete(id);
    open.exchange.end(reason ?? new DOMException("The caller cancelled the request", "AbortError"));
    open.reply(undefined, id);
    return true;
  }

  /** Answers every request of the peer that is still open with an error, gives up on ours, and closes the channel. */
  close(reason = "The connection was closed"): void {
    if (this.#state.closed) return;
    for (const id of this.#state.received.keys()) {
      this.#reply({ jsonrpc: "2.0", id, error: { code: rpcCodes.internalError, message: reason } }, id);
    }
    this.#end(undefined, reason);
    this.#channel.close();
  }

  #end(cause: unknown, reason = "The connection was lost"): void {
    if (this.#state.closed) return;
    this.#state.closed = true;
    const { sent, received } = this.#state;
    for (const pending of sent.values()) pending.settle({ kind: "lost", cause });
    sent.clear();
    for (const { exchange } of received.values()) exchange.end(new DOMException(reason, "AbortError"));
    received.clear();
    this.#options.onClose?.(cause);
  }

  #receive(incoming: Incoming, sender: unknown): void {
    if (this.#state.closed) return;
    if (incoming.kind === "batch") this.#receiveBatch(incoming.members, sender);
    else this.#receiveOne(incoming, sender, (response, about) => this.#reply(response, about));
  }

  #receiveOne(incoming: Exclude<Incoming, { kind: "batch" }>, sender: unknown, reply: Reply): void {
    switch (incoming.kind) {
      case "request":
        this.#answer(incoming.message, sender, reply);
        break;
      case "notification":
        try {
          this.#options.onNotification(incoming.message, sender);
        } catch {
          // Nobody waits for a notification; its receiver reports its own faults.
        }
        break;
      case "response":
        this.#settle(incoming.message);
        break;
      case "invalid":
        if (incoming.answer) reply(incoming.answer, undefined);
        break;
    }
  }

  /** JSON-RPC 2.0 § 6: one array back, with one response per request, or nothing when there was no request. */
  #receiveBatch(members: readonly Incoming[], sender: unknown): void {
    const refusal = this.#options.refuseBatch
      ? (this.#options.refuseBatch(members) ?? mixed(members))
      : "batches are not supported";
    if (refusal) {
      const error = { code: rpcCodes.invalidRequest, message: `Invalid request: ${refusal}` };
      this.#reply({ jsonrpc: "2.0", error }, undefined);
      return;
    }
    const responses: Response[] = [];
    let open = 1;
    const done = (): void => {
      if (--open > 0 || responses.length === 0 || this.#state.closed) return;
      try {
        this.#channel.send(responses);
      } catch {
        this.#channel.send(responses.map(toWritable));
      }
    };
    for (const member of members) {
      if (member.kind === "batch") continue; // never nested: members are sorted one by one
      if (member.kind === "request") {
        open++;
        this.#answer(member.message, sender, (response) => {
          if (response) responses.push(response);
          done();
        });
      } else {
        this.#receiveOne(member, sender, (response) => {
          if (response) responses.push(response);
        });
      }
    }
    done();
  }

  #answer(request: Request, sender: unknown, reply: Reply): void {
    const { id } = request;
    const { received } = this.#state;
    const taken = received.has(id);
    if (taken || received.size >= this.#maxInFlight) {
      reply(refusal(id, taken ? "a request with this id is still open" : "too many requests are open"), id);
      return;
    }
    const exchange = new Exchange(this, id, sender);
    received.set(id, { exchange, reply });

    const settle = (answer: Answer): void => {
      if (exchange.ended) return;
      received.delete(id);
      exchange.end();
      reply({ jsonrpc: "2.0", id, ...answer }, id);
    };
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.#options.onRequest(request, exchange);
    } catch {
      answer = internalError;
    }
    if (answer instanceof Promise) answer.then(settle, () => settle(internalError));
    else settle(answer);
  }

  #reply(response: Response | undefined, about: RequestId | undefined): void {
    if (!response || this.#state.closed) return;
    try {
      this.#channel.send(response, about);
    } catch {
      this.#channel.send(toWritable(response), about);
    }
  }

  #settle(response: Response): void {
    if (response.id === undefined || response.id === null) return;
    const pending = this.#state.sent.get(response.id);
    // Late, or never asked for: of no interest to anybody.
    if (!pending) return;
    this.#state.sent.delete(response.id);
    if ("error" in response) pending.settle({ kind: "error", error: response.error });
    else pending.settle({ kind: "result", result: response.result as JsonObject });
  }

  #abandon(id: RequestId, outcome: Outcome): void {
    const pending = this.#state.sent.get(id);
    if (!pending) return;
    this.#state.sent.delete(id);
    pending.settle(outcome);
    const why = outcome.kind === "timeout" ? `No answer in ${outcome.afterMs} ms` : toReason(outcome);
    this.#options.onAbandon?.(id, pending.method, why);
  }

  #arm(id: RequestId, pending: Pending): void {
    const now = Date.now();
    const idleLeft = pending.timeoutMs - (now - pending.touchedAt);
    const totalLeft = pending.maxTimeoutMs - (now - pending.startedAt);
    const left = Math.min(idleLeft, totalLeft);
    if (left <= 0) {
      this.#abandon(id, { kind: "timeout", afterMs: idleLeft <= 0 ? pending.timeoutMs : pending.maxTimeoutMs });
    } else if (left !== Number.POSITIVE_INFINITY) {
      pending.timer = setTimeout(() => this.#arm(id, pending), Math.min(left, longestTimer));
    }
  }
}

const internalError = { error: { code: rpcCodes.internalError, message: "Internal error" } } as const;

/** For a result that cannot be written as JSON (a BigInt, a cycle): the peer still gets its one answer. */
function toWritable(response: Response): Response {
  try {
    formatMessage(response);
    return response;
  } catch {
    const { id } = response;
    return id === undefined ? { jsonrpc: "2.0", ...internalError } : { jsonrpc: "2.0", id, ...internalError };
  }
}

function refusal(id: RequestId, why: string): ErrorResponse {
  return { jsonrpc: "2.0", id, error: { code: rpcCodes.invalidRequest, message: `Invalid request: ${why}` } };
}

function mixed(members: readonly Incoming[]): string | undefined {
  const responses = members.filter((member) => member.kind === "response").length;
  const calls = members.filter((member) => member.kind === "request" || member.kind === "notification").length;
  return responses > 0 && calls > 0 ? "a batch holds either requests or responses, not both" : undefined;
}

function toLimit(ms: number): number {
  return ms > 0 ? ms : Number.POSITIVE_INFINITY;
}

function toReason(outcome: Outcome): string {
  const reason = outcome.kind === "aborted" ? outcome.reason : undefined;
  if (typeof reason === "string") return reason;
  return reason instanceof Error && reason.message ? reason.message : "The caller gave up";
}
