// What a client hears that does not begin as it should, with a session or without. Loaded by the first one.
import type { Request } from "../jsonrpc/message.ts";
import { quote } from "../util/quote.ts";
import { McpError } from "./errors.ts";
import type { Revision } from "./revisions.ts";

/** A request came before the handshake. */
export function uninitialized(
  { method }: Request,
  supported: readonly Revision[],
  offered: readonly Revision[],
): McpError {
  const remedy = supported.length > offered.length ? ", or put the protocol version into params._meta" : "";
  const message = `${quote(method)} came before the session was opened: send initialize first${remedy}`;
  return new McpError("incomplete_meta", message, { data: { supported } });
}

/** A second handshake came. */
export function initialized(): McpError {
  return new McpError("invalid_request", "Invalid request: this session is initialized already");
}

/** A handshake came where only revisions without one are spoken. */
export function noHandshake(supported: readonly Revision[], asked: unknown): McpError {
  const message = `This server speaks ${supported.join(", ")}, which have no initialize`;
  const requested = typeof asked === "string" ? asked : "";
  return new McpError("unsupported_version", message, { data: { supported, requested } });
}

/**
 * A request names no version that is spoken here. An unknown one is told apart from a missing one: the first is answered
 * with what we speak, the second is a request that is not complete.
 * @param key where the version stands
 */
export function unspoken(key: string, requested: unknown, supported: readonly Revision[]): McpError {
  if (typeof requested !== "string") return incomplete(key, "a string such as 2026-07-28");
  return new McpError("unsupported_version", "Unsupported protocol version", { data: { supported, requested } });
}

/**
 * A request does not say what its client can do.
 * @param key where that stands
 */
export function undeclared(key: string): McpError {
  return incomplete(key, "an object; {} means none");
}

function incomplete(key: string, form: string): McpError {
  return new McpError("incomplete_meta", `Invalid params: params._meta["${key}"] must be ${form}`);
}
