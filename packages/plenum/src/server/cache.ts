// Hints on how long, and for whom, a client may keep a result. Specification: server/utilities/caching.
import type { CacheHints } from "../protocol/endpoint.ts";
import type { CacheScope } from "../protocol/model.ts";

export interface CacheOptions {
  /** How long it may be kept. */
  readonly ttlMs: number;
  /** Whether caches may share it between callers. Default: private. */
  readonly scope?: CacheScope;
}

/** Throws a TypeError that begins with `what` for values that the protocol does not have. */
export function toCacheHints({ ttlMs, scope = "private" }: CacheOptions, what: string): CacheHints {
  if (!(Number.isInteger(ttlMs) && ttlMs >= 0))
    throw new TypeError(`${what}: cache.ttlMs is a whole number of milliseconds, 0 or more, not ${ttlMs}`);
  if (scope !== "public" && scope !== "private")
    throw new TypeError(`${what}: cache.scope is "public" or "private", not ${JSON.stringify(scope)}`);
  return { ttlMs, cacheScope: scope };
}
