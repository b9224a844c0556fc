// One of the two files that know both eras; the other is dial.ts. It serves an endpoint on a channel: each message is
// read once for the era it belongs to, so that clients of either may use one connection, even at the same time.
import type { Channel } from "../jsonrpc/channel.ts";
import { type Answer, type Connection, createConnection } from "../jsonrpc/connection.ts";
import type { Exchange } from "../jsonrpc/exchange.ts";
import { isRequestId, type Request } from "../jsonrpc/message.ts";
import { toLine } from "../util/quote.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Era, Ground } from "./era.ts";
import { metaKeys, metaOf } from "./meta.ts";
import { findMethod } from "./methods.ts";
import { factsOf, type Revision, revisions } from "./revisions.ts";
import { openSessioned } from "./sessioned/open.ts";
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
  request(request: Request, exchange: Exchange): Promise<Answer>;
  /** Answers the subscriptions that are open. */
  close(): void;
}

/** Serves the stateless era where every request has a stream of its own. */
export function serveEach(endpoint: Endpoint, options: ServeOptions = {}): EachServing {
  const supported = toSupported(options);
  const stateless = openStateless(toGround(endpoint, noConnection, false, supported, options));
  const unwatch = endpoint.watch((change) => {
    if (change.kind !== "closing") return stateless.changed(change);
    unwatch();
    stateless.close();
  });
  return {
    request: async (request, exchange) => stateless.request(request, exchange),
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
  const ground = toGround(endpoint, noConnection, false, toSupported(options), options);
  return {
    request: async (request, exchange) =>
      openSessioned(ground, request.method === "initialize" ? undefined : revision).request(request, exchange),
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

function toSupported({ revisions: spoken = revisions }: ServeOptions): readonly Revision[] {
  const supported = [...revisions].reverse().filter((revision) => spoken.includes(revision));
  if (supported.length === 0) throw new TypeError("No revision to serve");
  return supported;
}

function toGround(
  endpoint: Endpoint,
  connection: Connection,
  oneStream: boolean,
  supported: readonly Revision[],
  { maxSubscriptions = 1000, askTimeoutMs = 600_000 }: ServeOptions,
): Ground {
  return { endpoint, connection, oneStream, supported, limits: { maxSubscriptions, askTimeoutMs } };
}

/** Serves an endpoint to whoever is at the other end of the channel, in every revision. */
export function serve(endpoint: Endpoint, channel: Channel, options: ServeOptions = {}): Serving {
  const supported = toSupported(options);
  const speaksStateless = supported.some((revision) => factsOf(revision).era === "stateless");
  const speaksSessioned = supported.some((revision) => factsOf(revision).era === "sessioned");

  let stop = (_graceMs?: number): void => {};
  let spoken = (): Revision | undefined => undefined;
  const closed = new Promise<void>((resolve) => {
    const connection = createConnection(channel, {
      ...(options.maxInFlight === undefined ? undefined : { maxInFlight: options.maxInFlight }),
      onRequest: (request, exchange) => eraOf(request).request(request, exchange),
      onNotification: (notification) => {
        if (notification.method !== "notifications/cancelled") return sessioned.notification(notification);
        const { requestId, reason } = notification.params ?? {};
        if (isRequestId(requestId)) connection.cancel(requestId, toAbortReason(reason));
      },
      refuseBatch: (members) => {
        const revision = sessioned.revision();
        const requests = members.flatMap((member) => (member.kind === "request" ? member.message : []));
        if (!revision || !factsOf(revision).batches || requests.some(isStateless))
          return "batches exist only in sessions of 2025-03-26";
        return requests.some(({ method }) => method === "initialize") ? "initialize stands alone" : undefined;
      },
      onUnwritable: (error) => endpoint.report(error, { method: "an answer" }),
      onAbandon: (requestId, _method, reason, about) =>
        connection.notify("notifications/cancelled", { requestId, reason }, about),
      onClose: () => {
        unwatch();
        sessioned.close();
        stateless.close();
        resolve();
      },
    });
    const ground = toGround(endpoint, connection, channel.oneStream, supported, options);
    const sessioned = openSessioned(ground);
    spoken = sessioned.revision;
    const stateless = openStateless(ground);
    const eraOf = (request: Request): Era => {
      // Without sessions only `initialize` belongs to their era, which says what is spoken instead.
      if (!speaksSessioned) return request.method === "initialize" && !isStateless(request) ? sessioned : stateless;
      return speaksStateless && isStateless(request) ? stateless : sessioned;
    };

    const unwatch = endpoint.watch((change) => {
      if (change.kind === "closing") return stop();
      sessioned.changed(change);
      stateless.changed(change);
    });
    connection.open();
    stop = (graceMs = 0) => {
      stateless.close();
      const until = Date.now() + graceMs;
      const look = (): void => {
        if (connection.inFlight > 0 && Date.now() < until) setTimeout(look, 5);
        else connection.close("The server is closing");
      };
      // The results of ended subscriptions are on their way in this turn's microtasks; closing waits for them.
      setTimeout(look);
    };
  });
  return { close: (graceMs) => stop(graceMs), closed, revision: () => spoken() };
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
