// Pairs requests with responses over one channel, in both directions: those of the peer here, our own in requests.ts.
// What is in flight is in one object, and is changed only here. What cancels a request and what counts as
// progress is the protocol's business.
import type { Channel, Receiver } from "./channel.ts";
import { type Answer, Exchange, type Outlet } from "./exchange.ts";
import {
  type ErrorObject,
  type ErrorResponse,
  formatMessage,
  type Incoming,
  type Invalid,
  type JsonObject,
  type Notification,
  type Request,
  type RequestId,
  type Response,
  refusal,
  rpcCodes,
  type Single,
} from "./message.ts";
import type { createRequests, Outcome, RequestOptions, Requests, RequestsOptions } from "./requests.ts";

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
  /** An answer could not be written as it is; the peer gets this error instead. Default: an internal error. */
  readonly onUnwritable?: (error: unknown, method: string) => ErrorObject;
  /** Requests of the peer that may be worked on at once; a cancelled one counts until its handler ends. Default 10 000. */
  readonly maxInFlight?: number | undefined;
  /** What sends requests of our own. Default: loaded by the first one, for who mostly answers. */
  readonly requests?: typeof createRequests;
}

/** One peer, both directions. */
export interface Connection {
  /** Begins to receive. Called once, by whoever has everything ready for what may come at once. */
  open(): void;
  readonly closed: boolean;
  /** Requests unanswered in either direction. */
  readonly inFlight: number;
  /** Sends a request. Its outcome is a value, see `Outcome`. */
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
  return new PeerConnection(channel, options);
}

/** What an answer is to. */
type Asked = Pick<Request, "id" | "method">;

/** Of a server there may be thousands that are idle: what only a request needs is made with it, and goes with it. */
class PeerConnection implements Connection, Outlet {
  readonly #channel: Channel;
  /** Called as methods: what is given may be an object that has more to it. */
  readonly #options: ConnectionOptions;
  #requests: Requests | undefined;
  /** The peer's requests that are open; absent while there are none. */
  #received: Map<RequestId, Exchange> | undefined;
  /** Handlers at work, those of cancelled requests included. */
  #running = 0;
  #isClosed = false;

  constructor(channel: Channel, options: ConnectionOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#requests = options.requests?.(channel, options);
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  get inFlight(): number {
    return (this.#requests?.size ?? 0) + (this.#received?.size ?? 0);
  }

  open(): void {
    this.#channel.open(new Ear(this));
  }

  request(method: string, params: JsonObject | undefined, options?: RequestOptions): Promise<Outcome> {
    return this.#requests
      ? this.#requests.request(method, params, options)
      : this.#load().then((requests) => requests.request(method, params, options));
  }

  notify(method: string, params?: JsonObject, about?: RequestId): void {
    if (this.#isClosed) return;
    this.#channel.send(params ? { jsonrpc: "2.0", method, params } : { jsonrpc: "2.0", method }, about);
  }

  touch(id: RequestId): boolean {
    return this.#requests?.touch(id) ?? false;
  }

  drop(id: RequestId, reason?: unknown, isTold?: boolean): void {
    this.#requests?.drop(id, reason, isTold);
  }

  hold(): () => void {
    return this.#requests?.hold() ?? (() => {});
  }

  cancel(id: RequestId, reason?: unknown): boolean {
    const exchange = this.#received?.get(id);
    if (!exchange) return false;
    this.#forget(id);
    exchange.end(reason ?? toAbort("The caller cancelled the request"));
    this.#reply(undefined, id, exchange.collect);
    return true;
  }

  close(reason = "The connection was closed"): void {
    if (this.#isClosed) return;
    const error = { code: rpcCodes.internalError, message: reason };
    for (const { id, collect } of [...(this.#received?.values() ?? [])])
      this.#reply({ jsonrpc: "2.0", id, error }, id, collect);
    this.end(undefined, reason);
    this.#channel.close();
  }

  /** For the ear: the channel is closed. */
  end(cause: unknown, reason = "The connection was lost"): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#requests?.lose(cause);
    const left = this.#received?.values() ?? [];
    this.#received = undefined;
    for (const exchange of left) exchange.end(toAbort(reason));
    this.#options.onClose?.(cause);
  }

  /** For the ear. */
  receive(incoming: Incoming, sender: unknown): void {
    if (this.#isClosed) return;
    if (incoming.kind === "batch") this.#receiveBatch(incoming.members, sender);
    else this.#receive(incoming, sender);
  }

  /** For the ear: a request of ours that will not be answered. */
  settle(id: RequestId, outcome: Outcome): void {
    this.#requests?.settle(id, outcome);
  }

  /** For the ear. */
  get options(): ConnectionOptions {
    return this.#options;
  }

  #receive(incoming: Single, sender: unknown, collect?: Exchange["collect"]): void {
    if (incoming.kind === "request") this.#answer(incoming.message, sender, collect);
    else if (incoming.kind === "response") this.#take(incoming.message);
    else if (incoming.kind === "invalid") {
      // A response that is none ends its request all the same.
      if (incoming.id !== undefined && !incoming.answer)
        this.settle(incoming.id, { kind: "broken", why: incoming.why });
      this.#options.onInvalid?.(incoming);
      // Among other messages it is no noise: it has its place in their answer. Nor is what is a request, but too deep.
      if (!this.#options.onInvalid || collect || (incoming.why && incoming.answer?.id !== undefined))
        this.#reply(incoming.answer, undefined, collect);
    } else {
      try {
        this.#options.onNotification(incoming.message, sender);
      } catch {
        // Nobody waits for a notification; its receiver reports its own faults.
      }
    }
  }

  /** JSON-RPC 2.0 § 6: one array back, with one response per request, or nothing when there was no request. */
  #receiveBatch(members: readonly Single[], sender: unknown): void {
    const options = this.#options;
    const why = options.refuseBatch ? (options.refuseBatch(members) ?? mixed(members)) : "batches are not supported";
    if (why) {
      // What was answered like that will not be answered once more.
      for (const member of members) {
        if (member.kind === "response") this.settle(member.message.id as RequestId, { kind: "broken" });
        else if (member.kind === "invalid" && !member.answer) this.settle(member.id as RequestId, { kind: "broken" });
      }
      if (options.onInvalid) options.onInvalid({ kind: "invalid", answer: refusal(why) });
      else this.#reply(refusal(why), undefined);
      return;
    }
    const responses: Response[] = [];
    const requests = members.flatMap((member) => (member.kind === "request" ? member.message : []));
    const about = requests[0]?.id;
    // Requests that are open, and one for the loop itself.
    let open = 1;
    const collect = (response: Response | undefined): void => {
      if (response) responses.push(response);
    };
    const done = (): void => {
      if (--open > 0 || this.#isClosed) return;
      if (responses.length > 0) this.#write(responses, about, requests);
      else if (about !== undefined) this.#channel.dismiss?.(about);
    };
    // They are all open at once, also where the first is answered before the last is looked at.
    const ids = new Set<RequestId>();
    const runs = members.filter((member) => {
      const isTwice = member.kind === "request" && ids.has(member.message.id);
      if (isTwice) collect(refusal("this id is still open", member.message.id));
      else if (member.kind === "request") ids.add(member.message.id);
      return !isTwice;
    });
    for (const member of runs) {
      if (member.kind !== "request") {
        this.#receive(member, sender, collect);
        continue;
      }
      open++;
      this.#receive(member, sender, (response) => {
        collect(response);
        done();
      });
    }
    done();
  }

  #answer(request: Request, sender: unknown, collect: Exchange["collect"]): void {
    const { id } = request;
    const isTaken = this.#received?.has(id) ?? false;
    if (isTaken || this.#running >= (this.#options.maxInFlight ?? 10_000)) {
      this.#reply(refusal(isTaken ? "this id is still open" : "too many open requests", id), id, collect);
      return;
    }
    const exchange = new Exchange(this, request, sender, collect);
    this.#received ??= new Map();
    this.#received.set(id, exchange);
    this.#running++;
    let given: Answer | Promise<Answer> | undefined;
    try {
      given = this.#options.onRequest(request, exchange);
    } catch {
      given = internalError;
    }
    if (given instanceof Promise)
      given.then(
        (answer) => this.#finish(exchange, answer),
        () => this.#finish(exchange, internalError),
      );
    else this.#finish(exchange, given);
  }

  #finish(exchange: Exchange, answer: Answer | undefined): void {
    this.#running--;
    this.answer(exchange, answer);
  }

  answer(exchange: Exchange, answer: Answer | undefined): void {
    if (exchange.ended) return;
    const { id, collect } = exchange;
    this.#forget(id);
    exchange.end();
    this.#reply(answer && toResponse(id, answer), id, collect, exchange);
  }

  #forget(id: RequestId): void {
    this.#received?.delete(id);
    if (this.#received?.size === 0) this.#received = undefined;
  }

  /** @param response undefined when the request was cancelled */
  #reply(
    response: Response | undefined,
    about: RequestId | undefined,
    collect?: Exchange["collect"],
    asked?: Asked,
  ): void {
    if (collect) collect(response);
    else if (this.#isClosed) return;
    else if (response) this.#write(response, about, asked);
    else if (about !== undefined) this.#channel.dismiss?.(about);
  }

  /** Whatever is wrong with the answers, the peer gets one for each request, and nobody gets an exception. */
  #write(
    answers: Response | readonly Response[],
    about: RequestId | undefined,
    asked?: Asked | readonly Asked[],
  ): void {
    try {
      this.#channel.send(answers, about);
    } catch (trouble) {
      this.#writeMended(answers, about, asked, trouble);
    }
  }

  #writeMended(
    answers: Response | readonly Response[],
    about: RequestId | undefined,
    asked: Asked | readonly Asked[] | undefined,
    trouble: unknown,
  ): void {
    const tell = (cause: unknown, id: RequestId | undefined): ErrorObject => {
      const method = [asked].flat().find((one) => one?.id === id)?.method ?? "an answer";
      return this.#options.onUnwritable?.(cause, method) ?? internalError.error;
    };
    // A failure in place of what cannot be written as JSON (a BigInt, a cycle); then, told once, of all: they are too long together.
    const mend = (response: Response): Response => {
      try {
        formatMessage(response);
        return response;
      } catch (error) {
        return { jsonrpc: "2.0", id: response.id, error: tell(error, response.id) };
      }
    };
    let error: ErrorObject | undefined;
    const fail = ({ id }: Response): Response => {
      error ??= tell(trouble, id);
      return { jsonrpc: "2.0", id, error };
    };
    for (const step of [mend, fail]) {
      try {
        this.#channel.send("length" in answers ? answers.map(step) : step(answers), about);
        return;
      } catch {
        // Of a failure nothing is left that could not be written.
      }
    }
  }

  #take(response: Response): void {
    const { id } = response;
    // An error about what the peer could not read: nobody knows whose it is.
    if (id === undefined || id === null)
      this.#options.onInvalid?.({ kind: "invalid", answer: response as ErrorResponse });
    else if ("error" in response) this.settle(id, { kind: "error", error: response.error });
    else this.settle(id, { kind: "result", result: response.result as JsonObject });
  }

  async #load(): Promise<Requests> {
    const { createRequests } = await import("./requests.ts");
    this.#requests ??= createRequests(this.#channel, this.#options);
    if (this.#isClosed) this.#requests.lose(undefined);
    return this.#requests;
  }
}

/** What the channel tells a connection. */
class Ear implements Receiver {
  readonly #connection: PeerConnection;

  constructor(connection: PeerConnection) {
    this.#connection = connection;
  }

  receive(incoming: Incoming, sender?: unknown): void {
    this.#connection.receive(incoming, sender);
  }

  failed(id: RequestId, cause: unknown): void {
    this.#connection.settle(id, { kind: "lost", cause });
  }

  noted(problem: string): void {
    this.#connection.options.onNoted?.(problem);
  }

  interrupted(cause?: unknown): void {
    this.#connection.options.onInterrupted?.(cause);
  }

  closed(cause?: unknown): void {
    this.#connection.end(cause);
  }
}

function toResponse(id: RequestId, answer: Answer): Response {
  return "error" in answer
    ? { jsonrpc: "2.0", id, error: answer.error }
    : { jsonrpc: "2.0", id, result: answer.result };
}

function toAbort(reason: string): DOMException {
  return new DOMException(reason, "AbortError");
}

const internalError = { error: { code: rpcCodes.internalError, message: "Internal error" } } as const;

function mixed(members: readonly Single[]): string | undefined {
  const kinds = new Set(members.map(({ kind }) => kind));
  const hasCalls = kinds.has("request") || kinds.has("notification");
  return hasCalls && kinds.has("response") ? "a batch holds either requests or responses, not both" : undefined;
}
