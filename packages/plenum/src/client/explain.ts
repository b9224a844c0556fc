// Errors of a server, told as what they mean to who called it. Loaded by the first that needs it.
import { isObject } from "../jsonrpc/message.ts";
import { hasCapability } from "../protocol/capabilities.ts";
import { McpError } from "../protocol/errors.ts";
import { isPeerError } from "../protocol/outcome.ts";
import { quote } from "../util/quote.ts";

/** Servers give "not found" two numbers; -32602 is the newer, and `uri` is all that could be wrong with the params. */
export function toNotFound(error: unknown, uri: string): unknown {
  if (!isPeerError(error, -32002, -32602)) return error;
  return new McpError("resource_not_found", `The server has no resource ${quote(uri)}`, {
    data: error.data,
    cause: error,
  });
}

const remedies = {
  "elicitation.form": "onElicit",
  "elicitation.url": "onElicitUrl",
  sampling: "onSample",
  roots: "roots",
};

/** A server that lacks a capability of ours says so in its words; what to do about it is for us to say. */
export function withRemedy(error: unknown): unknown {
  if (!isPeerError(error, -32021) || !isObject(error.data)) return error;
  const { requiredCapabilities } = error.data;
  if (!isObject(requiredCapabilities)) return error;
  const options = Object.entries(remedies).flatMap(([path, option]) =>
    hasCapability(requiredCapabilities, path) ? [option] : [],
  );
  if (options.length === 0) return error;
  const { data, rpcCode, cause } = error;
  return new McpError("peer_error", `${error.message}. To answer that, give connect ${options.join(", ")}`, {
    data,
    cause,
    ...(rpcCode !== undefined && { rpcCode }),
  });
}
