// Results kept as long as the server allows: lists page by page, and reads. Nothing here asks the server for anything
// and no timer runs: what has gone stale is found to be so when it is wanted. Specification: server/utilities/caching.
//
// A cache belongs to one client and so to one authorization context; nothing is ever shared, whatever `cacheScope`
// says. When the client's authorization changes, `clear` makes it another context's.
import type { JsonObject } from "../jsonrpc/message.ts";
import type { Result } from "../protocol/endpoint.ts";
import { findMethod } from "../protocol/methods.ts";
import { freezeJson, measureJson } from "../util/json-tree.ts";
import { createLru } from "../util/lru.ts";

export interface CacheOptions {
  /** Default 1000. */
  readonly maxEntries?: number;
  /** All entries together, in characters of JSON, roughly; no single one may take more than a quarter. Default 16 Mi. */
  readonly maxChars?: number;
  /** However long the server allows. Default 24 hours. */
  readonly maxTtlMs?: number;
  /** Milliseconds from any start. Default: `Date.now`, which also counts the time a computer sleeps. */
  readonly now?: () => number;
}

/** A request under way whose result may be kept. It holds nothing and may be dropped. */
export interface Ticket {
  readonly method: string;
  /** Absent: its result is never kept. */
  readonly key: string | undefined;
  readonly uri: string | undefined;
  /** Of two requests for the same, the later one knows better. */
  readonly order: number;
  readonly generation: number;
}

export interface Cache {
  /** The kept result, if it is fresh. It is frozen. */
  get(method: string, params: JsonObject): Result | undefined;
  /** Call it before the request is sent: what is dropped while it is under way makes its result too old to be kept. */
  begin(method: string, params: JsonObject): Ticket;
  /**
   * Keeps the result if that is allowed, and freezes it then: others will be given the same object. Otherwise what was
   * kept before for the same request is forgotten.
   * @param withInput the request, or a later round of it, carried `inputResponses` or `requestState`: never kept
   */
  keep(ticket: Ticket, result: Result, withInput?: boolean): void;
  /** A list has changed. Reads stay: what a resource holds is told by `dropRead`. */
  drop(kind: "tools" | "resources" | "prompts"): void;
  /**
   * A resource has changed. What it may be a part of is dropped too, and what may be a part of it, because a server may
   * name a part of what was subscribed to: reads of a URI above or below it, and reads whose contents name it.
   */
  dropRead(uri: string): void;
  /** Forgets all pages of one list, and says whether there were any. */
  dropPages(method: string): boolean;
  clear(): void;
  readonly size: number;
}

interface Entry {
  readonly method: string;
  readonly uri: string | undefined;
  readonly result: Result;
  readonly order: number;
  readonly from: number;
  readonly until: number;
}

const lists: { readonly [kind in "tools" | "resources" | "prompts"]: readonly string[] } = {
  tools: ["tools/list"],
  resources: ["resources/list", "resources/templates/list"],
  prompts: ["prompts/list"],
};

const readMethod = "resources/read";

export function createCache(options: CacheOptions = {}): Cache {
  const { maxEntries = 1000, maxChars = 16 * 1024 * 1024, maxTtlMs = 86_400_000, now = () => Date.now() } = options;
  const entries = createLru<Entry>({ maxEntries, maxWeight: maxChars });
  /** How often entries of a method were dropped. Only methods that have results to keep are ever in here. */
  const drops = new Map<string, number>();
  let clears = 0;
  let nextOrder = 1;

  // Both only ever rise, so that their sum changes whenever one of them does.
  const generationOf = (method: string): number => clears + (drops.get(method) ?? 0);

  function dropWhere(method: string, isDropped?: (entry: Entry) => boolean): boolean {
    if (findMethod(method)?.cached) drops.set(method, (drops.get(method) ?? 0) + 1);
    let any = false;
    for (const [key, entry] of entries.entries()) {
      if (entry.method === method && (!isDropped || isDropped(entry))) any = entries.delete(key) || any;
    }
    return any;
  }

  return {
    get(method, params) {
      const key = toKey(method, params);
      const entry = key === undefined ? undefined : entries.get(key);
      if (!entry) return undefined;
      const time = now();
      // Before it was received: the clock was set back, and nobody knows how old it is.
      if (time >= entry.from && time < entry.until) return entry.result;
      entries.delete(key as string);
      return undefined;
    },
    begin: (method, params) => ({
      method,
      key: toKey(method, params),
      uri: params.uri as string | undefined,
      order: nextOrder++,
      generation: generationOf(method),
    }),
    keep({ method, key, uri, order, generation }, result, withInput = false) {
      if (key === undefined || generation !== generationOf(method)) return;
      const known = entries.get(key);
      if (known && known.order > order) return;
      entries.delete(key);
      const isFinal = !withInput && (result.resultType ?? "complete") === "complete";
      const ttlMs = isFinal ? toTtl(result.ttlMs, maxTtlMs) : 0;
      if (ttlMs === 0) return;
      const maxSize = maxChars / 4;
      const size = key.length + measureJson(result, maxSize);
      if (size > maxSize) return;
      freezeJson(result);
      const from = now();
      entries.set(key, { method, uri, result, order, from, until: from + ttlMs }, size);
    },
    drop(kind) {
      for (const method of lists[kind]) dropWhere(method);
    },
    dropRead(uri) {
      dropWhere(readMethod, (entry) => isRelated(entry, uri));
    },
    dropPages: (method) => dropWhere(method),
    clear() {
      clears++;
      entries.clear();
    },
    get size() {
      return entries.size;
    },
  };
}

/**
 * One text for each request that may have its result kept, and no text for two. Params that are not known here may
 * change the result, so that a request with one is none of those.
 */
function toKey(method: string, params: JsonObject): string | undefined {
  if (!findMethod(method)?.cached) return undefined;
  const { cursor, uri, ...others } = params;
  if (!isTextOrAbsent(cursor) || !isTextOrAbsent(uri)) return undefined;
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  return JSON.stringify([method, cursor ?? null, uri ?? null]);
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** Absent, negative or no number: 0. JSON can carry numbers that are read as Infinity. */
function toTtl(ttlMs: unknown, maxTtlMs: number): number {
  return typeof ttlMs === "number" && ttlMs > 0 ? Math.min(ttlMs, maxTtlMs) : 0;
}

// More contents than this are not looked through for every update: the read is just dropped.
const maxContents = 100;

function isRelated({ uri = "", result }: Entry, changed: string): boolean {
  if (isAtOrBelow(uri, changed) || isAtOrBelow(changed, uri)) return true;
  const contents = Array.isArray(result.contents) ? (result.contents as readonly { readonly uri?: unknown }[]) : [];
  return contents.length > maxContents || contents.some((item) => item.uri === changed);
}

/** Whether one URI is the other, or begins with it up to where a part of a URI ends. */
function isAtOrBelow(uri: string, above: string): boolean {
  if (!uri.startsWith(above)) return false;
  return uri.length === above.length || above.endsWith("/") || "/?#".includes(uri.charAt(above.length));
}
