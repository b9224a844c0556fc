// One of the two files that know both eras; the other is dial.ts. It serves an endpoint on a channel: each message is
// read once for the era it belongs to, so that clients of either may use one connection, even at the same time.
import type { Channel } from "../jsonrpc/channel.ts";
import { createConnection } from "../jsonrpc/connection.ts";
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
}

/** Serves an endpoint to whoever is at the other end of the channel, in every revision. */
export function serve(endpoint: Endpoint, channel: Channel, options: ServeOptions = {}): Serving {
  const supported = [...revisions].reverse().filter((revision) => (options.revisions ?? revisions).includes(revision));
  if (supported.length === 0) throw new TypeError("No revision to serve");
  const speaksStateless = supported.some((revision) => factsOf(revision).era === "stateless");
  const speaksSessioned = supported.some((revision) => factsOf(revision).era === "sessioned");

  let stop = (_graceMs?: number): void => {};
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
      onAbandon: (requestId, _method, reason) => connection.notify("notifications/cancelled", { requestId, reason }),
      onClose: () => {
        unwatch();
        sessioned.close();
        stateless.close();
        resolve();
      },
    });
    const ground: Ground = {
      endpoint,
      connection,
      oneStream: channel.oneStream,
      supported,
      limits: { maxSubscriptions: options.maxSubscriptions ?? 1000, askTimeoutMs: options.askTimeoutMs ?? 600_000 },
    };
    const sessioned = openSessioned(ground);
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
  return { close: (graceMs) => stop(graceMs), closed };
}

/** A request says which era it belongs to: by its `_meta`, or by a method that only one era has. */
function isStateless(request: Request): boolean {
  const meta = metaOf(request.params);
  if (Object.hasOwn(meta, metaKeys.protocolVersion) || Object.hasOwn(meta, metaKeys.clientCapabilities)) return true;
  const method = findMethod(request.method);
  return method !== undefined && factsOf(method.since).era === "stateless";
}

function toAbortReason(reason: unknown): DOMException | undefined {
  return new DOMException(
    typeof reason === "string" ? toLine(reason) : "The caller cancelled the request",
    "AbortError",
  );
}
