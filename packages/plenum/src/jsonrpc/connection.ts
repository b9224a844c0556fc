// Pairs requests with responses over one channel, in both directions: those of the peer here, our own in requests.ts.
// What is in flight is in one record, `state`, and is changed only here. What cancels a request and what counts as
// progress is the protocol's business.
import type { Channel } from "./channel.ts";
import { Exchange } from "./exchange.ts";
import {
  type ErrorObject,
  type ErrorResponse,
  formatMessage,
  type Invalid,
  type JsonObject,
  type Notification,
  type PreparedJson,
  type Request,
  type RequestId,
  type Response,
  rpcCodes,
  type Single,
} from "./message.ts";
import type { createRequests, Outcome, RequestOptions, Requests, RequestsOptions } from "./requests.ts";

export type Answer = { readonly result: JsonObject | PreparedJson } | { readonly error: ErrorObject };

export type { Outcome, RequestOptions } from "./requests.ts";

export interface ConnectionOptions extends RequestsOptions {
  /** Whatever it throws or rejects with, even `undefined`, the peer gets exactly one answer; none if it returns undefined. */
  readonly onRequest: (request: Request, exchange: Exchange) => Answer | Promise<Answer> | undefined;
  readonly onNotification: (notification: Notification, sender: unknown) => void;
  /** Why this batch is refused as a whole; undefined when batches are spoken here. Default: refused. */
  readonly refuseBatch?: (members: readonly Single[]) => string | undefined;
  readonly onClose?: (cause: unknown) => void;
  /** See `Receiver.noted`. */
  readonly onNoted?: (problem: string) => void;
  /** See `Receiver.interrupted`. */
  readonly onInterrupted?: ((cause?: unknown) => void) | undefined;
  /** What the peer sent is no message, or a batch that is refused. Given, it takes the place of the error sent back. */
  readonly onInvalid?: (invalid: Invalid) => void;
  /** An answer could not be written as it is; the peer gets an internal error instead. */
  readonly onUnwritable?: (error: unknown) => void;
  /** Requests of the peer that may be worked on at once; a cancelled one counts until its handler ends. Default 10 000. */
  readonly maxInFlight?: number;
  /** What sends requests of our own. Default: loaded by the first one, for who mostly answers. */
  readonly requests?: typeof createRequests;
}

type Reply = (response: Response | undefined, about: RequestId | undefined) => void;

interface Open {
  readonly exchange: Exchange;
  /** To be called exactly once: with undefined when the request was cancelled. */
  readonly reply: Reply;
}

/** One peer, both directions. */
export interface Connection {
  /** Begins to receive. Called once, by whoever has everything ready for what may come at once. */
  open(): void;
  readonly closed: boolean;
  /** Requests unanswered in either direction. */
  readonly inFlight: number;
  /** Sends a request. Its outcome is a value, see `Outcome`; it rejects only when params cannot be written as JSON. */
  request(method: string, params: JsonObject | undefined, options?: RequestOptions): Promise<Outcome>;
  /** Sends a notification. Throws when params cannot be written as JSON. */
  notify(method: string, params?: JsonObject, about?: RequestId): void;
  /** Something was heard about a request of ours: its clock starts anew. False when it is over. */
  touch(id: RequestId): boolean;
  /** Nobody waits for this request of ours any more: it ends as aborted. The peer hears of it only if it is to. */
  drop(id: RequestId, reason?: unknown, isTold?: boolean): void;
  /**
   * Stops the clocks of the requests sent so far until the returned function is called, which starts them anew: the peer
   * waits for us, and not we for the peer. `maxTimeoutMs` runs on. What is sent meanwhile may be needed for the answer.
   */
  hold(): () => void;
  /** The peer no longer wants this request answered: its handler is aborted and nothing more is sent for it. */
  cancel(id: RequestId, reason?: unknown): boolean;
  /** Answers every request of the peer that is still open with an error, gives up on ours, and closes the channel. */
  close(reason?: string): void;
}

export function createConnection(channel: Channel, options: ConnectionOptions): Connection {
  const maxInFlight = options.maxInFlight ?? 10_000;
  const state = {
    received: new Map<RequestId, Open>(),
    /** Handlers at work, those of cancelled requests included. */
    running: 0,
    closed: false,
  };
  const { received } = state;
  let requests = options.requests?.(channel, options);

  async function load(): Promise<Requests> {
    const { createRequests } = await import("./requests.ts");
    requests ??= createRequests(channel, options);
    if (state.closed) requests.lose(undefined);
    return requests;
  }

  function end(cause: unknown, reason = "The connection was lost"): void {
    if (state.closed) return;
    state.closed = true;
    requests?.lose(cause);
    for (const { exchange } of received.values()) exchange.end(toAbort(reason));
    received.clear();
    options.onClose?.(cause);
  }

  /** Whatever is wrong with the answers, the peer gets one for each request, and nobody gets an exception. */
  function write(
    answers: readonly Response[],
    wrap: (responses: Response[]) => Response | Response[],
    about?: RequestId,
  ): void {
    for (const repair of [asIs, toWritable, toFailure]) {
      try {
        channel.send(wrap(answers.map(repair)), about);
        return;
      } catch (error) {
        if (repair === asIs) options.onUnwritable?.(error);
      }
    }
  }

  const send: Reply = (response, about) => {
    if (state.closed) return;
    if (response) write([response], ([one]) => one as Response, about);
    else if (about !== undefined) channel.dismiss?.(about);
  };

  function receive(incoming: Single, sender: unknown, reply: Reply): void {
    if (incoming.kind === "request") answer(incoming.message, sender, reply);
    else if (incoming.kind === "response") settle(incoming.message);
    else if (incoming.kind === "invalid") {
      // A response that is none ends its request all the same.
      if (incoming.id !== undefined && !incoming.answer) requests?.settle(incoming.id, { kind: "broken" });
      options.onInvalid?.(incoming);
      // Among other messages it is no noise: it has its place in their answer.
      if (!options.onInvalid || reply !== send) reply(incoming.answer, undefined);
    } else {
      try {
        options.onNotification(incoming.message, sender);
      } catch {
        // Nobody waits for a notification; its receiver reports its own faults.
      }
    }
  }

  /** JSON-RPC 2.0 § 6: one array back, with one response per request, or nothing when there was no request. */
  function receiveBatch(members: readonly Single[], sender: unknown): void {
    const why = options.refuseBatch ? (options.refuseBatch(members) ?? mixed(members)) : "batches are not supported";
    if (why) {
      // What was answered like that will not be answered once more.
      for (const member of members) {
        if (member.kind === "response") requests?.settle(member.message.id as RequestId, { kind: "broken" });
        else if (member.kind === "invalid" && !member.answer)
          requests?.settle(member.id as RequestId, { kind: "broken" });
      }
      if (options.onInvalid) options.onInvalid({ kind: "invalid", answer: refusal(why) });
      else send(refusal(why), undefined);
      return;
    }
    const responses: Response[] = [];
    const about = members.find((member) => member.kind === "request")?.message.id;
    // Requests that are open, and one for the loop itself.
    let open = 1;
    const collect = (response: Response | undefined): void => {
      if (response) responses.push(response);
    };
    const done = (): void => {
      if (--open > 0 || state.closed) return;
      if (responses.length > 0) write(responses, asIs, about);
      else if (about !== undefined) channel.dismiss?.(about);
    };
    for (const member of members) {
      if (member.kind !== "request") {
        receive(member, sender, collect);
        continue;
      }
      open++;
      receive(member, sender, (response) => {
        collect(response);
        done();
      });
    }
    done();
  }

  function answer(request: Request, sender: unknown, reply: Reply): void {
    const { id } = request;
    const isTaken = received.has(id);
    if (isTaken || state.running >= maxInFlight) {
      reply(refusal(isTaken ? "this id is still open" : "too many open requests", id), id);
      return;
    }
    const exchange = new Exchange(connection, id, sender);
    received.set(id, { exchange, reply });
    state.running++;
    const finish = (given: Answer | undefined): void => {
      state.running--;
      if (exchange.ended) return;
      received.delete(id);
      exchange.end();
      reply(given && { jsonrpc: "2.0", id, ...given }, id);
    };
    let given: Answer | Promise<Answer> | undefined;
    try {
      given = options.onRequest(request, exchange);
    } catch {
      given = internalError;
    }
    if (given instanceof Promise) given.then(finish, () => finish(internalError));
    else finish(given);
  }

  function settle(response: Response): void {
    const { id } = response;
    // An error about what the peer could not read: nobody knows whose it is.
    if (id === undefined || id === null) options.onInvalid?.({ kind: "invalid", answer: response as ErrorResponse });
    else if ("error" in response) requests?.settle(id, { kind: "error", error: response.error });
    else requests?.settle(id, { kind: "result", result: response.result as JsonObject });
  }

  const connection: Connection = {
    open() {
      channel.open({
        receive(incoming, sender) {
          if (state.closed) return;
          if (incoming.kind === "batch") receiveBatch(incoming.members, sender);
          else receive(incoming, sender, send);
        },
        failed: (id, cause) => requests?.settle(id, { kind: "lost", cause }),
        noted: (problem) => options.onNoted?.(problem),
        interrupted: (cause) => options.onInterrupted?.(cause),
        closed: end,
      });
    },
    get closed() {
      return state.closed;
    },
    get inFlight() {
      return (requests?.size ?? 0) + received.size;
    },
    request: (...given) => (requests ? requests.request(...given) : load().then((loaded) => loaded.request(...given))),
    notify(method, params, about) {
      if (!state.closed) channel.send({ jsonrpc: "2.0", method, ...(params && { params }) }, about);
    },
    touch: (id) => requests?.touch(id) ?? false,
    drop: (...given) => requests?.drop(...given),
    hold: () => requests?.hold() ?? (() => {}),
    cancel(id, reason) {
      const open = received.get(id);
      if (!open) return false;
      received.delete(id);
      open.exchange.end(reason ?? toAbort("The caller cancelled the request"));
      open.reply(undefined, id);
      return true;
    },
    close(reason = "The connection was closed") {
      if (state.closed) return;
      const error = { code: rpcCodes.internalError, message: reason };
      for (const [id, { reply }] of [...received]) reply({ jsonrpc: "2.0", id, error }, id);
      end(undefined, reason);
      channel.close();
    },
  };
  return connection;
}

function toAbort(reason: string): DOMException {
  return new DOMException(reason, "AbortError");
}

const internalError = { error: { code: rpcCodes.internalError, message: "Internal error" } } as const;

function asIs<T>(value: T): T {
  return value;
}

/** Itself, or a failure in place of what cannot be written as JSON (a BigInt, a cycle). */
function toWritable(response: Response): Response {
  try {
    formatMessage(response);
    return response;
  } catch {
    return toFailure(response);
  }
}

function toFailure({ id }: Response): Response {
  return { jsonrpc: "2.0", ...(id !== undefined && { id }), ...internalError };
}

function refusal(why: string, id?: RequestId): ErrorResponse {
  const error = { code: rpcCodes.invalidRequest, message: `Invalid request: ${why}` };
  return { jsonrpc: "2.0", ...(id !== undefined && { id }), error };
}

function mixed(members: readonly Single[]): string | undefined {
  const kinds = new Set(members.map(({ kind }) => kind));
  const hasCalls = kinds.has("request") || kinds.has("notification");
  return hasCalls && kinds.has("response") ? "a batch holds either requests or responses, not both" : undefined;
}
