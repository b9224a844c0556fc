// What a server does with the HTTP headers of a tool's marked arguments: it holds them against the arguments. Whoever
// routed the request by a header that says something else went by another value than the tool would. Loaded by the
// first call that has such headers.
// Specification: basic/transports/streamable-http § Server Behavior for Custom Headers.
import type { JsonObject } from "../jsonrpc/message.ts";
import { decodeHeaderValue } from "../util/header-value.ts";
import type { Sender } from "./endpoint.ts";
import { McpError } from "./errors.ts";
import type { HeaderParam } from "./header-marks.ts";

/** The value of a parameter; undefined when there is none. */
export function valueAt(args: JsonObject, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const name of path) {
    if (typeof value !== "object" || !value || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

/** What the headers say of the arguments is what the arguments say. Throws McpError `header_mismatch`. */
export function assertMirrored(params: readonly HeaderParam[], args: JsonObject, sender: Sender): void {
  for (const { header, path } of params) {
    const name = `Mcp-Param-${header}`;
    const problem = checkHeader(sender.header?.(name.toLowerCase()), valueAt(args, path));
    if (problem) throw new McpError("header_mismatch", `Header mismatch: ${name} ${problem}`);
  }
}

/** What is wrong with a header, for a value that is undefined or null where the argument has none. */
function checkHeader(sent: string | undefined, value: unknown): string | undefined {
  const isAbsent = value === undefined || value === null;
  if (isAbsent) return sent === undefined ? undefined : "is there, but the arguments have no value for it";
  if (sent === undefined) return "is missing, but the arguments have a value for it";
  return saysSame(decodeHeaderValue(sent), value) ? undefined : "does not say what the arguments say";
}

// By what the value is: a wrong type is for the schema to tell. Integers beyond those that are exact are not told from
// their neighbours, and no header can carry anything else.
function saysSame(text: string | undefined, value: unknown): boolean {
  if (text === undefined) return false;
  if (typeof value === "string") return text === value;
  if (typeof value === "boolean") return text === String(value);
  return Number.isSafeInteger(value) && /^-?\d+(\.0+)?$/.test(text) && Number(text) === value;
}
