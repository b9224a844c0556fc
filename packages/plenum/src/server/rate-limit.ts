// A middleware that limits how often methods are called, per caller where one is known.

import type { Call } from "../protocol/endpoint.ts";
import { McpError } from "../protocol/errors.ts";
import type { Middleware } from "../protocol/middleware.ts";
import { createRate, type Rate } from "../util/rate.ts";

export interface RateLimitOptions {
  /** Default: tools/call and completion/complete. */
  readonly methods?: readonly string[];
  /** Average number allowed per second. */
  readonly perSecond: number;
  /** Number allowed at once after a pause. Default: `perSecond`, at least 1. */
  readonly burst?: number;
  /** Who shares a limit. Default: the authenticated subject or client; all that have none together. */
  readonly key?: (call: Call) => string;
}

// Callers remembered at a time. The one longest unused is forgotten first, and starts anew with a full bucket.
const maxKeys = 10_000;

/** For `server.use`. The excess is refused with an error that says so; nothing is queued. */
export function rateLimit(options: RateLimitOptions): Middleware {
  const { perSecond, burst = Math.max(1, perSecond), methods = ["tools/call", "completion/complete"] } = options;
  const key = options.key ?? keyOf;
  const rates = new Map<string, Rate>();
  createRate({ perSecond, burst }); // says at once when the numbers make no sense

  return (call, next) => {
    if (!methods.includes(call.method)) return next(call);
    const id: unknown = key(call);
    if (typeof id !== "string") throw new TypeError(`rateLimit: "key" must give a string, not ${typeof id}`);
    const rate = rates.get(id) ?? createRate({ perSecond, burst });
    rates.delete(id);
    rates.set(id, rate);
    if (rates.size > maxKeys) rates.delete(rates.keys().next().value as string);
    if (!rate.take()) throw new McpError("rate_limited", `Too many calls of ${call.method}; try again later`);
    return next(call);
  };
}

/** Marked by kind: a client that is named like a subject is somebody else. */
function keyOf({ auth }: Call): string {
  if (auth?.subject !== undefined) return `subject ${auth.subject}`;
  return auth?.clientId === undefined ? "" : `client ${auth.clientId}`;
}
