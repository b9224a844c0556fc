// Errors on their way from one process to another. Their classes do not travel: each side makes them of its own library, and the
// worker's is that of the file which it serves.
import type { ErrorCode, McpError, ToolError } from "plenum";

export interface Fault {
  readonly name: string;
  readonly message: string;
  /** Of an McpError. */
  readonly code?: ErrorCode | undefined;
  readonly rpcCode?: number | undefined;
  readonly data?: unknown;
  /** It was reported where it happened, under this id, and nobody else is told more. */
  readonly errorId?: string | undefined;
}

export interface ErrorClasses {
  readonly McpError: typeof McpError;
  readonly ToolError: typeof ToolError;
}

/** Thrown in the supervisor for what the worker has reported itself. */
export class ReportedError extends Error {
  override readonly name = "ReportedError";
  readonly errorId: string;

  constructor(errorId: string) {
    super(`Reported as ${errorId}`);
    this.errorId = errorId;
  }
}

/** Errors are known by their shape: the library that made them may be another copy. Never throws, whatever was thrown. */
export function toFault(error: unknown): Fault {
  try {
    if (!(error instanceof Error)) return { name: "Error", message: String(error) };
    const { code, rpcCode, data } = error as Partial<McpError>;
    const { name } = error;
    const message = String(error.message);
    if (name !== "McpError" || typeof code !== "string") return { name: String(name), message };
    return { name, message, code, rpcCode, ...(isJson(data) && { data }) };
  } catch {
    return { name: "Error", message: "What was thrown cannot be told" };
  }
}

/** Whether JSON has something for it. */
export function isJson(data: unknown): boolean {
  try {
    return JSON.stringify(data) !== undefined;
  } catch {
    return false;
  }
}

/** Whether a client may be told of it: an McpError with a number of its own, and not one that another peer has sent. */
export function isTellable({ code, rpcCode }: Fault): boolean {
  return code !== undefined && code !== "peer_error" && rpcCode !== undefined;
}

export function fromFault(fault: Fault, { McpError, ToolError }: ErrorClasses, cause?: unknown): Error {
  const { name, message, code, rpcCode, data, errorId } = fault;
  if (errorId !== undefined) return new ReportedError(errorId);
  if (code !== undefined)
    return new McpError(code, message, { data, cause, ...(rpcCode !== undefined && { rpcCode }) });
  const options = cause === undefined ? undefined : { cause };
  if (name === "ToolError") return new ToolError(message, options);
  return Object.assign(new Error(message, options), { name });
}
