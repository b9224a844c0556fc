// What of a message of 2026-07-28 stands in headers too, so that who routes it need not read bodies.
// Specification: basic/transports/streamable-http § Standard Headers.
import type { Request } from "../../jsonrpc/message.ts";
import { McpError } from "../../protocol/errors.ts";
import { metaKeys, metaOf } from "../../protocol/meta.ts";
import { isRevision, type Revision } from "../../protocol/revisions.ts";
import { decodeHeaderValue } from "../../util/header-value.ts";
import type { HttpHead } from "./exchange.ts";

const named: { readonly [method: string]: "name" | "uri" | "taskId" } = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** What the header Mcp-Name says of a request; undefined where it has none. */
export function nameOf({ method, params }: { readonly method: string; readonly params?: Request["params"] }): unknown {
  const member = Object.hasOwn(named, method) ? named[method] : undefined;
  return member && params?.[member];
}

/**
 * Compares the headers of a request with its body, as far as a version that we speak demands it. Throws McpError
 * `header_mismatch`, or `unsupported_version` where the body has none; of whatever else it lacks, others tell.
 */
export function assertMirrored(head: HttpHead, request: Request, supported: readonly Revision[]): void {
  const version = readVersion(head, supported);
  const stated = metaOf(request.params)[metaKeys.protocolVersion];
  if (typeof stated === "string" && stated !== version)
    throw mismatch("MCP-Protocol-Version is not the version in _meta");
  if (stated === undefined) assertSpoken(head, supported);
  if (!isRevision(version) || !supported.includes(version)) return;
  const method = head.header("mcp-method");
  if (method === undefined) throw mismatch("Mcp-Method is missing");
  if (method !== request.method) throw mismatch("Mcp-Method is not the method of the body");
  const name = nameOf(request);
  if (typeof name !== "string") return;
  const header = head.header("mcp-name");
  if (header === undefined) throw mismatch("Mcp-Name is missing");
  const decoded = decodeHeaderValue(header);
  if (decoded === undefined) throw mismatch("Mcp-Name is not encoded as it should be");
  if (decoded !== name) throw mismatch("Mcp-Name is not what the body names");
}

/** The same for a message that says its version nowhere else. Throws McpError `header_mismatch` or `unsupported_version`. */
export function assertSpoken(head: HttpHead, supported: readonly Revision[]): void {
  const requested = readVersion(head, supported);
  if (isRevision(requested) && supported.includes(requested)) return;
  const message = `Unsupported protocol version. Spoken here: ${supported.join(", ")}`;
  throw new McpError("unsupported_version", message, { data: { supported, requested } });
}

/** Whoever speaks an older revision can show nothing but this error: it says what is spoken. */
function readVersion(head: HttpHead, supported: readonly Revision[]): string {
  const version = head.header("mcp-protocol-version");
  if (version !== undefined) return version;
  const message = `Header mismatch: MCP-Protocol-Version is missing; send one of ${supported.join(", ")}`;
  throw new McpError("header_mismatch", message, { data: { supported } });
}

function mismatch(why: string): McpError {
  return new McpError("header_mismatch", `Header mismatch: ${why}`);
}
