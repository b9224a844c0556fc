// What a client hears that does not begin a session as it should. Loaded by the first one.
import type { Request } from "../../jsonrpc/message.ts";
import { quote } from "../../util/quote.ts";
import { McpError } from "../errors.ts";
import type { Revision } from "../revisions.ts";

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
