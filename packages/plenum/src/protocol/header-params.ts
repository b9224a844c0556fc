// The HTTP headers that a client writes for a tool's marked arguments, for those who route requests without reading
// bodies. A server reads them in header-match.ts.
// Specification: basic/transports/streamable-http § Custom Headers from Tool Parameters.
import type { JsonObject } from "../jsonrpc/message.ts";
import { encodeHeaderValue } from "../util/header-value.ts";
import { quote } from "../util/quote.ts";
import { McpError } from "./errors.ts";
import type { HeaderParam } from "./header-marks.ts";
import { valueAt } from "./header-match.ts";

export { type HeaderParam, readHeaderParams } from "./header-marks.ts";

const prefix = "Mcp-Param-";

/**
 * The headers of a call, by their full names. An argument that is absent or null has none. Throws McpError
 * `invalid_arguments` for one that no header can carry: the call would be refused, or routed by another value.
 */
export function toHeaderValues(params: readonly HeaderParam[], args: JsonObject): { [header: string]: string } {
  const values: { [header: string]: string } = {};
  for (const { header, path } of params) {
    const value = valueAt(args, path);
    // The prefix keeps any name apart from those that objects inherit.
    if (value !== undefined && value !== null) values[prefix + header] = toText(value, path);
  }
  return values;
}

// By what the value is, not by what it should be: a wrong type is for the server to tell, which knows the whole schema.
function toText(value: unknown, path: readonly string[]): string {
  const refuse = (why: string): never => {
    throw new McpError("invalid_arguments", `The argument ${quote(path.join("."))} is sent as a header too: ${why}`);
  };
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return String(value);
  if (typeof value === "number") return refuse("it must be an integer within ±(2^53−1)");
  if (typeof value !== "string") return refuse("it must be a string, an integer or a boolean");
  try {
    return encodeHeaderValue(value);
  } catch (error) {
    return refuse((error as Error).message);
  }
}
