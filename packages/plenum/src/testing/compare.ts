// What is the same in two messages though ids, tokens, `_meta` and secrets differ, and where two JSON values are not the same.
import { isObject, type JsonObject, type Message, type Notification, type Request } from "../jsonrpc/message.ts";
import { type RedactOptions, redact } from "../protocol/redact.ts";
import { toCanonicalJson } from "../util/digest.ts";
import { toPointerPart } from "../util/json-pointer.ts";
import { toLine } from "../util/quote.ts";
import type { ConversationHeader } from "./conversation.ts";

export interface Difference {
  /** A JSON Pointer; empty for the whole. */
  readonly path: string;
  /** Undefined: there was none. */
  readonly recorded: unknown;
  /** Undefined: there is none now. */
  readonly live: unknown;
}

/** More are not listed. */
const maxDifferences = 100;

/** Where two JSON values differ, outermost first in the order of the recorded one. */
export function listDifferences(recorded: unknown, live: unknown, ignored: readonly RegExp[] = []): Difference[] {
  const found: Difference[] = [];
  const walk = (before: unknown, now: unknown, path: string): void => {
    if (found.length >= maxDifferences || ignored.some((one) => one.test(path))) return;
    if (Array.isArray(before) && Array.isArray(now)) {
      for (let at = 0; at < Math.max(before.length, now.length); at++) walk(before[at], now[at], `${path}/${at}`);
    } else if (isObject(before) && isObject(now)) {
      for (const key of new Set([...Object.keys(before), ...Object.keys(now)]))
        walk(ownOf(before, key), ownOf(now, key), `${path}/${toPointerPart(key)}`);
    } else if (!isSame(before, now)) found.push({ path, recorded: before, live: now });
  };
  walk(recorded, live, "");
  return found;
}

function ownOf(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && toCanonicalJson(a) === toCanonicalJson(b));
}

/**
 * What makes of a live message what the recording would have of it: without secrets, where it has none.
 * @param more what the header does not say: values, and functions
 */
export function createRecordedForm(header: ConversationHeader, more: RedactOptions): (message: Message) => Message {
  if (!header.isRedacted) return (message) => message;
  const options: RedactOptions = {
    ...more,
    keys: [...(header.keys ?? []), ...(more.keys ?? [])],
    paths: [...(header.paths ?? []), ...(more.paths ?? [])],
    // What came out of a recording is marked already.
    markState: (state) => (state.startsWith("[redacted") ? state : "[redacted]"),
  };
  return (message) => redact(message, options);
}

/** What a request or a notification says, without what is another each time. How a client introduces itself is not compared. */
export function toSubstance({ method, params = {} }: Request | Notification): JsonObject {
  if (method === "initialize") return {};
  const { _meta, ...rest } = params;
  return rest;
}

/** One line: the method and its params. */
export function describeRequest(message: Request | Notification): string {
  const substance = toSubstance(message);
  return toLine(`${message.method}${Object.keys(substance).length > 0 ? ` ${JSON.stringify(substance)}` : ""}`, 300);
}

/** One line: where, what was recorded, what is there now. */
export function describeDifference({ path, recorded, live }: Difference): string {
  const show = (value: unknown): string => (value === undefined ? "nothing" : toLine(JSON.stringify(value), 200));
  return `${path || "the whole"}: recorded ${show(recorded)}, now ${show(live)}`;
}
