// The seam between the eras and everybody else: what an era does with a peer's messages on one connection. There
// are two, `sessioned/` and `stateless/`, with the same file names; `negotiate.ts` alone chooses between them.
import type { Answer, Exchange } from "../jsonrpc/exchange.ts";
import type { Notification, Request } from "../jsonrpc/message.ts";
import type { Change, Endpoint } from "./endpoint.ts";
import { metaKeys, metaOf } from "./meta.ts";
import { findMethod } from "./methods.ts";
import { factsOf, type Revision } from "./revisions.ts";

/** What an era is given to serve one connection. */
export interface Ground {
  readonly endpoint: Endpoint;
  /** All messages travel on one stream: see `Channel.oneStream`. */
  readonly oneStream: boolean;
  /** Every revision that is served here, of either era, newest first. */
  readonly supported: readonly Revision[];
  readonly limits: Limits;
}

/** What the connections of one endpoint share. */
export interface SessionedGround extends Omit<Ground, "oneStream"> {
  /** Those of `supported` that are of this era. */
  readonly offered: readonly Revision[];
}

export interface Limits {
  /** Resources that one peer may watch at a time. */
  readonly maxSubscriptions: number;
  /** How long an ask waits for the client's answer: a person may have to think. */
  readonly askTimeoutMs: number;
}

export interface Era {
  request(request: Request, exchange: Exchange): Answer | Promise<Answer>;
  notification(notification: Notification): void;
  /** Tells the peer of a change, if it is one that it should hear of. */
  changed(change: Exclude<Change, { kind: "closing" }>): void;
  /** The connection is gone, or about to be: release what is held for it. */
  close(): void;
}

/** A request says which era it belongs to: by its `_meta`, or by a method that only one era has. */
export function isStateless(request: Request): boolean {
  const meta = metaOf(request.params);
  if (Object.hasOwn(meta, metaKeys.protocolVersion) || Object.hasOwn(meta, metaKeys.clientCapabilities)) return true;
  const method = findMethod(request.method);
  return method !== undefined && factsOf(method.since).era === "stateless";
}
