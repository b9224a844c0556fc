// One table of everything that can go wrong, by string code: its JSON-RPC number and its HTTP status. Explained to
// people in docs/errors.md. Two classes: McpError for the protocol, ToolError for what a model should read.
import type { ErrorObject } from "../jsonrpc/message.ts";
import { quote } from "../util/quote.ts";
import { factsOf, type Revision } from "./revisions.ts";

interface ErrorRow {
  /** Absent: never sent to a peer as such. */
  readonly rpc?: number;
  readonly http?: number;
}

export type ErrorCode =
  | "parse_error"
  | "invalid_request"
  | "method_not_found"
  | "invalid_params"
  | "internal_error"
  | "incomplete_meta"
  | "invalid_arguments"
  | "resource_not_found"
  | "rate_limited"
  | "insufficient_scope"
  | "header_mismatch"
  | "missing_capability"
  | "elicitation_required"
  | "unsupported_version"
  | "input_required"
  | "application"
  | "timeout"
  | "aborted"
  | "connection_lost"
  | "peer_error"
  | "invalid_result";

const table: { readonly [C in ErrorCode]: ErrorRow } = {
  parse_error: { rpc: -32700, http: 400 },
  invalid_request: { rpc: -32600, http: 400 },
  method_not_found: { rpc: -32601, http: 404 },
  invalid_params: { rpc: -32602, http: 200 },
  internal_error: { rpc: -32603, http: 200 },

  // A required `_meta` key of the stateless era is missing.
  incomplete_meta: { rpc: -32602, http: 400 },
  // The tool's arguments break its input schema. A result with `isError` where the revision wants one.
  invalid_arguments: { rpc: -32602, http: 200 },
  // The number is -32602 from 2026-07-28 on.
  resource_not_found: { rpc: -32002, http: 200 },
  rate_limited: { rpc: -32603, http: 429 },
  // Over HTTP the transport says it first, with what to ask for.
  insufficient_scope: { rpc: -32600, http: 403 },

  header_mismatch: { rpc: -32020, http: 400 },
  // -32021 exists in the stateless era only; before it the number is -32600.
  missing_capability: { rpc: -32021, http: 400 },
  unsupported_version: { rpc: -32022, http: 400 },
  // A page has to be visited first. The number is of 2025-11-25 alone; elsewhere it is -32603.
  elicitation_required: { rpc: -32042, http: 200 },

  // Thrown into a handler whose call goes on when the client has answered. It has a number only to pass unmasked.
  input_required: { rpc: -32603, http: 200 },

  // A number of the application's own, given as `rpcCode`.
  application: { http: 200 },

  // Local: what happened to a request of ours.
  timeout: {},
  aborted: {},
  connection_lost: {},
  peer_error: {},
  invalid_result: {},
};

export interface McpErrorOptions {
  readonly data?: unknown;
  /** For `application`: the number to send, outside -32768 to -32000. For `peer_error`: the number received. */
  readonly rpcCode?: number;
  readonly cause?: unknown;
}

/**
 * Makes `instanceof` know an error by a mark that every copy of the library sets: an installation may have several, and what
 * one throws another catches. Of a class that extends it, as ever, by its prototype.
 */
function markClass(type: typeof McpError | typeof ToolError, name: string): void {
  const mark = Symbol.for(`plenum.${name}`);
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value);
      return value instanceof Error && mark in value;
    },
  });
}

export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: ErrorCode;
  readonly data: unknown;
  readonly rpcCode: number | undefined;

  constructor(code: ErrorCode, message: string, options: McpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const number = options.rpcCode;
    if (
      code === "application" &&
      (!Number.isInteger(number) || (number !== undefined && number >= -32768 && number <= -32000))
    ) {
      throw new TypeError(`rpcCode must be an integer outside -32768 to -32000, not ${number}`);
    }
    this.code = code;
    this.data = options.data;
    // Elsewhere the table decides: a number of one's own must not stand where the specification has its own meaning.
    this.rpcCode = code === "application" || code === "peer_error" ? number : rowOf(code).rpc;
  }

  static {
    markClass(McpError, "McpError");
  }
}

/** Thrown by a tool's handler for the model to read: the message is sent as it is, with `isError`. */
export class ToolError extends Error {
  override readonly name = "ToolError";

  static {
    markClass(ToolError, "ToolError");
  }
}

export const errorCodes: readonly ErrorCode[] = Object.keys(table) as ErrorCode[];

export function rowOf(code: ErrorCode): ErrorRow {
  return table[code];
}

/** For what makes no sense once the call is over. */
export function assertOpen({ ended }: { readonly ended: boolean }): void {
  if (ended) throw new McpError("aborted", "The call has ended");
}

/** Whether an error only says that somebody stopped waiting. */
export function isAbort(error: unknown): boolean {
  return error instanceof McpError ? error.code === "aborted" : error instanceof Error && error.name === "AbortError";
}

/** What was thrown; or, where that refuses to be looked at, as a proxy may, how it does so. */
export function toSeen(thrown: unknown): unknown {
  try {
    isAbort(thrown);
    return thrown;
  } catch (error) {
    return error;
  }
}

export function methodNotFound(name: string): McpError {
  return new McpError("method_not_found", `Method not found: ${quote(name)}`);
}

/** Whether a peer may be told of it. Errors about our own requests are nobody else's business. */
export function isTellable(error: McpError): boolean {
  return rowOf(error.code)?.rpc !== undefined || error.code === "application";
}

/**
 * The error as the revision writes it. What is not meant for the peer becomes an internal error.
 * @param report takes the details of that, and gives the id under which they can be found
 */
export function toErrorObject(error: unknown, revision: Revision, report: (error: unknown) => string): ErrorObject {
  if (!(error instanceof McpError) || !isTellable(error)) return toHidden(report(error));
  // Data that is undefined is absent on the wire.
  const object = { code: numberIn(error, revision), message: error.message, data: error.data };
  codes.set(object, error.code);
  return object;
}

/** What the peer is told in place of what it is not told. */
export function toHidden(errorId: string): ErrorObject {
  return { code: -32603, message: `Internal error (${errorId})`, data: { errorId } };
}

// Codes that share a number do not all share a status.
const codes = new WeakMap<ErrorObject, ErrorCode>();

/** The HTTP status under which an error of `toErrorObject` is sent, where the transport has one. */
export function statusOf(error: ErrorObject): number {
  const code = codes.get(error);
  return (code && rowOf(code).http) ?? 200;
}

function numberIn(error: McpError, revision: Revision): number {
  const facts = factsOf(revision);
  if (error.code === "resource_not_found") return facts.notFound;
  if (error.code === "missing_capability" && facts.era === "sessioned") return -32600;
  if (error.code === "elicitation_required" && revision !== "2025-11-25") return -32603;
  return error.rpcCode ?? -32603;
}
