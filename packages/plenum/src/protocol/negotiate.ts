// One of the two files that know both eras; the other is dial.ts. It serves an endpoint on a channel: each message is
// read once for the era it belongs to, so that clients of either may use one connection, even at the same time.
import type { Channel } from "../jsonrpc/channel.ts";
import { type Answer, type Connection, type ConnectionOptions, createConnection } from "../jsonrpc/connection.ts";
import type { Exchange } from "../jsonrpc/exchange.ts";
import { isRequestId, type Notification, type Request, type RequestId, type Single } from "../jsonrpc/message.ts";
import { toLine } from "../util/quote.ts";
import type { Change, Endpoint } from "./endpoint.ts";
import type { Era } from "./era.ts";
import { metaKeys, metaOf } from "./meta.ts";
import { findMethod } from "./methods.ts";
import { factsOf, type Revision, revisions } from "./revisions.ts";
import { Sessioned, type SessionedGround } from "./sessioned/open.ts";
import { openStateless } from "./stateless/open.ts";

export interface ServeOptions {
  /** The revisions to speak. Default: all. */
  readonly revisions?: readonly Revision[];
  /** Resources that one peer may watch at a time. Default 1000. */
  readonly maxSubscriptions?: number;
  /** How long an ask (elicitation, sampling, roots) waits for its answer. Default 10 minutes. */
  readonly askTimeoutMs?: number;
  /** Requests of one peer that may be open at once. Default 10 000. */
  readonly maxInFlight?: number;
}

/** An endpoint at work on one channel. */
export interface Serving {
  /**
   * Ends subscriptions, gives what is open `graceMs` to be answered (default 0), answers the rest with an error, closes the
   * channel. Called again, the shorter time holds.
   */
  close(graceMs?: number): void;
  /** Settles when the channel is closed, from whichever side. */
  readonly closed: Promise<void>;
  /** What a handshake agreed on, if there was one. */
  revision(): Revision | undefined;
}

/** Requests that are each answered by themselves, whoever sent them: nothing is kept from one to the next. */
export interface EachServing {
  /** The error's HTTP status is `statusOf` its answer. */
  request(request: Request, exchange: Exchange): Answer | Promise<Answer>;
  /** Answers the subscriptions that are open. */
  close(): void;
}

/** Serves the stateless era where every request has a stream of its own. */
export function serveEach(endpoint: Endpoint, options: ServeOptions = {}): EachServing {
  const stateless = openStateless({ ...toCommon(endpoint, options), connection: noConnection, oneStream: false });
  const unwatch = endpoint.watch((change) => {
    if (change.kind !== "closing") return stateless.changed(change);
    unwatch();
    stateless.close();
  });
  return {
    request: (request, exchange) => stateless.request(request, exchange),
    close() {
      unwatch();
      stateless.close();
    },
  };
}

/**
 * Serves a sessioned revision without sessions: a handshake opens nothing, and calls come without one. The client is
 * nobody that can be asked.
 */
export function serveUnbound(endpoint: Endpoint, revision: Revision, options: ServeOptions = {}): EachServing {
  const common = toCommon(endpoint, options);
  return {
    request: (request, exchange) =>
      new Sessioned(common, noConnection, request.method === "initialize" ? undefined : revision).request(
        request,
        exchange,
      ),
    close() {},
  };
}

/** For what no revision sends without a session: questions, and changes that nobody asked about. */
const noConnection: Connection = {
  open() {},
  closed: true,
  inFlight: 0,
  request: async () => ({ kind: "lost", cause: undefined }),
  notify() {},
  touch: () => false,
  drop() {},
  hold: () => () => {},
  cancel: () => false,
  close() {},
};

/** What all channels of an endpoint have in common. */
interface Common extends SessionedGround {
  readonly speaksStateless: boolean;
  readonly maxInFlight: number | undefined;
}

function toCommon(
  endpoint: Endpoint,
  { revisions: spoken = revisions, maxSubscriptions = 1000, askTimeoutMs = 600_000, maxInFlight }: ServeOptions,
): Common {
  const supported = [...revisions].reverse().filter((revision) => spoken.includes(revision));
  if (supported.length === 0) throw new TypeError("No revision to serve");
  const offered = supported.filter((revision) => factsOf(revision).era === "sessioned");
  const speaksStateless = offered.length < supported.length;
  return { endpoint, supported, offered, speaksStateless, maxInFlight, limits: { maxSubscriptions, askTimeoutMs } };
}

/** Serves an endpoint to whoever is at the other end of the channel, in every revision. */
export function serve(endpoint: Endpoint, channel: Channel, options: ServeOptions = {}): Serving {
  return serveMany(endpoint, options)(channel);
}

/** Serves an endpoint on any number of channels, for which what they have in common is prepared once. */
export function serveMany(endpoint: Endpoint, options: ServeOptions = {}): (channel: Channel) => Serving {
  const common = toCommon(endpoint, options);
  const servings = new Set<ChannelServing>();
  let unwatch = (): void => {};
  const tell = (change: Change): void => {
    for (const serving of servings) {
      try {
        serving.changed(change);
      } catch {
        // One peer's broken wire is no reason not to tell the others.
      }
    }
  };
  const ended = (serving: ChannelServing): void => {
    if (servings.delete(serving) && servings.size === 0) unwatch();
  };
  return (channel) => {
    const serving = new ChannelServing(common, channel, ended);
    if (servings.add(serving).size === 1) unwatch = endpoint.watch(tell);
    serving.open();
    return serving;
  };
}

/** An endpoint at work on one channel: what its connection is told, and what becomes of it. */
class ChannelServing implements Serving, ConnectionOptions {
  readonly #common: Common;
  readonly #channel: Channel;
  readonly #ended: (serving: ChannelServing) => void;
  readonly #connection: Connection;
  readonly #sessioned: Sessioned;
  /** Made by the first request that is of this era. */
  #stateless: Era | undefined;
  /** For those who wait for the end, if anybody does. */
  #closed: Promise<void> | undefined;
  #settle: (() => void) | undefined;

  constructor(common: Common, channel: Channel, ended: (serving: ChannelServing) => void) {
    this.#common = common;
    this.#channel = channel;
    this.#ended = ended;
    this.#connection = createConnection(channel, this);
    this.#sessioned = new Sessioned(common, this.#connection);
  }

  get closed(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      if (this.#connection.closed) resolve();
      else this.#settle = resolve;
    });
    return this.#closed;
  }

  get maxInFlight(): number | undefined {
    return this.#common.maxInFlight;
  }

  open(): void {
    this.#connection.open();
  }

  revision(): Revision | undefined {
    return this.#sessioned.revision;
  }

  changed(change: Change): void {
    if (change.kind === "closing") this.close();
    else {
      this.#sessioned.changed(change);
      this.#stateless?.changed(change);
    }
  }

  close(graceMs = 0): void {
    if (this.#common.speaksStateless) this.#openStateless().close();
    const connection = this.#connection;
    const until = Date.now() + graceMs;
    const look = (): void => {
      if (connection.inFlight > 0 && Date.now() < until) setTimeout(look, 5);
      else connection.close("The server is closing");
    };
    // The results of ended subscriptions are on their way in this turn's microtasks; closing waits for them.
    setTimeout(look);
  }

  onRequest(request: Request, exchange: Exchange): Answer | Promise<Answer> {
    return this.#eraOf(request).request(request, exchange);
  }

  onNotification(notification: Notification): void {
    const { requestId, reason } = notification.params ?? {};
    if (notification.method !== "notifications/cancelled") this.#sessioned.notification(notification);
    else if (isRequestId(requestId)) this.#connection.cancel(requestId, toAbortReason(reason));
  }

  refuseBatch(members: readonly Single[]): string | undefined {
    const { revision } = this.#sessioned;
    const requests = members.flatMap((member) => (member.kind === "request" ? member.message : []));
    if (!revision || !factsOf(revision).batches || requests.some(isStateless))
      return "batches exist only in sessions of 2025-03-26";
    return requests.some(({ method }) => method === "initialize") ? "initialize stands alone" : undefined;
  }

  onUnwritable(error: unknown): void {
    this.#common.endpoint.report(error, { method: "an answer" });
  }

  onAbandon(requestId: RequestId, _method: string, reason: string, about: RequestId | undefined): void {
    this.#connection.notify("notifications/cancelled", { requestId, reason }, about);
  }

  onClose(): void {
    this.#ended(this);
    this.#sessioned.close();
    this.#stateless?.close();
    this.#settle?.();
  }

  #eraOf(request: Request): Era {
    const { speaksStateless, offered } = this.#common;
    if (!speaksStateless) return this.#sessioned;
    // Without sessions only `initialize` belongs to their era, which says what is spoken instead.
    const isModern = isStateless(request) || (offered.length === 0 && request.method !== "initialize");
    return isModern ? this.#openStateless() : this.#sessioned;
  }

  #openStateless(): Era {
    this.#stateless ??= openStateless({
      ...this.#common,
      connection: this.#connection,
      oneStream: this.#channel.oneStream,
    });
    return this.#stateless;
  }
}

/** A request says which era it belongs to: by its `_meta`, or by a method that only one era has. */
export function isStateless(request: Request): boolean {
  const meta = metaOf(request.params);
  if (Object.hasOwn(meta, metaKeys.protocolVersion) || Object.hasOwn(meta, metaKeys.clientCapabilities)) return true;
  const method = findMethod(request.method);
  return method !== undefined && factsOf(method.since).era === "stateless";
}

function toAbortReason(reason: unknown): DOMException | undefined {
  return typeof reason === "string" ? new DOMException(toLine(reason), "AbortError") : undefined;
}
