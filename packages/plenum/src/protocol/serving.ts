// What serving has in common, on a channel or request by request, whichever the era.
import type { Answer, Exchange } from "../jsonrpc/exchange.ts";
import type { Request } from "../jsonrpc/message.ts";
import type { Endpoint } from "./endpoint.ts";
import type { SessionedGround } from "./era.ts";
import { type Revision, revisions, sessionedOf } from "./revisions.ts";

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

/** What all channels of an endpoint have in common. */
export interface Common extends SessionedGround {
  readonly speaksStateless: boolean;
  readonly maxInFlight: number | undefined;
}

export function toCommon(
  endpoint: Endpoint,
  { revisions: spoken = revisions, maxSubscriptions = 1000, askTimeoutMs = 600_000, maxInFlight }: ServeOptions,
): Common {
  const supported = [...revisions].reverse().filter((revision) => spoken.includes(revision));
  if (supported.length === 0) throw new TypeError("No revision to serve");
  const offered = sessionedOf(supported);
  const speaksStateless = offered.length < supported.length;
  return { endpoint, supported, offered, speaksStateless, maxInFlight, limits: { maxSubscriptions, askTimeoutMs } };
}
