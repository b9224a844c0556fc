// What of a message stands in headers too when a client sends it: in the stateless era what it says of itself, in a
// session the session's id and revision.
import type { Mirror } from "../../jsonrpc/channel.ts";
import { isObject, type Message } from "../../jsonrpc/message.ts";
import { McpError } from "../../protocol/errors.ts";
import { metaKeys, metaOf } from "../../protocol/meta.ts";
import { encodeHeaderValue } from "../../util/header-value.ts";
import type { HeaderRecord } from "./client-carrier.ts";
import { headerNames } from "./headers.ts";
import { nameOf } from "./mirror.ts";

/** What the channel has learned from the messages that passed. */
export interface Standing {
  /** The session that the server opened. Undefined: none, or one without an id. */
  readonly session: string | undefined;
  /** The revision of the session, once it is agreed on. */
  readonly agreed: string | undefined;
  /** The revision of the last request of the stateless era. */
  readonly stateless: string | undefined;
}

/** The version that a message of the stateless era says in its `_meta`. */
export function versionOf(message: Message): string | undefined {
  if (!("method" in message) || !isObject(message.params)) return undefined;
  const version = metaOf(message.params)[metaKeys.protocolVersion];
  return typeof version === "string" ? version : undefined;
}

/** The first revision that has the header. */
const firstWithHeader = "2025-06-18";

/** The headers of every request in a session; none before there is one. */
export function sessionHeaders(standing: Standing): HeaderRecord {
  const kept = made.get(standing);
  if (kept) return kept;
  const { session, agreed } = standing;
  const headers = {
    ...(session !== undefined && { [headerNames.session]: session }),
    ...(agreed !== undefined && agreed >= firstWithHeader && { [headerNames.revision]: agreed }),
  };
  made.set(standing, headers);
  return headers;
}

/** They are the same for many requests. */
const made = new WeakMap<Standing, HeaderRecord>();

/**
 * Throws McpError for a request that cannot be sent with the headers that it needs.
 * @param version that of the message itself
 */
export function headersOf(
  message: Message,
  version: string | undefined,
  standing: Standing,
  mirror: Mirror | undefined,
): HeaderRecord {
  if (version === undefined || !("method" in message)) {
    const isInSession = standing.agreed !== undefined || standing.stateless === undefined;
    // A new session begins without the old one's id.
    if ("method" in message && message.method === "initialize") return {};
    return isInSession ? sessionHeaders(standing) : statelessHeaders(message, standing.stateless as string);
  }
  const own = statelessHeaders(message, version);
  const mirrored = "id" in message ? mirror?.(message) : undefined;
  return mirrored ? { ...mirrored, ...own } : own;
}

function statelessHeaders(message: Message, version: string): HeaderRecord {
  if (!("method" in message)) return { [headerNames.revision]: version };
  const name = nameOf(message);
  const headers: { [name: string]: string } = {
    [headerNames.revision]: version,
    [headerNames.method]: encode(message.method, "method"),
  };
  if (typeof name === "string") headers[headerNames.name] = encode(name, "name");
  return headers;
}

function encode(text: string, what: string): string {
  try {
    return encodeHeaderValue(text);
  } catch (error) {
    throw new McpError("invalid_params", `The ${what} is sent as a header too: ${(error as Error).message}`);
  }
}
