// How a request of ours ended, as its result or as the error that tells. Apart from the other errors, because a server that
// asks nobody anything needs none of it.
import type { Outcome } from "../jsonrpc/connection.ts";
import type { JsonObject } from "../jsonrpc/message.ts";
import { toLine } from "../util/quote.ts";
import { McpError } from "./errors.ts";

/**
 * The result of a request of ours, or the error that tells how it ended.
 * @param what the request in words, such as `elicitation/create`, for the message
 * @param heard what was heard about it meanwhile, in words
 */
export function resultOf(outcome: Outcome, what: string, heard = ""): JsonObject {
  switch (outcome.kind) {
    case "result":
      return outcome.result;
    case "error": {
      const { code, message, data } = outcome.error;
      throw new McpError("peer_error", `${what} was answered with error ${code}: ${toLine(message)}`, {
        rpcCode: code,
        data,
      });
    }
    case "broken":
      throw new McpError(
        "invalid_result",
        `${what} was answered with ${outcome.why ?? "what is no JSON-RPC response"}`,
      );
    case "unsent": {
      const { cause } = outcome;
      if (cause instanceof McpError) throw cause;
      const why = toLine(cause instanceof Error ? cause.message : String(cause));
      throw new McpError("invalid_params", `${what} cannot be sent: ${why}`, { cause });
    }
    case "timeout":
      throw new McpError(
        "timeout",
        `${what} gave no answer in ${outcome.afterMs} ms${heard}. The peer was told to stop.`,
      );
    case "aborted":
      throw new McpError("aborted", `${what} was aborted`, { cause: outcome.reason });
    case "lost":
      // Where the transport was answered, though not by the protocol, it says so itself.
      if (outcome.cause instanceof McpError) throw outcome.cause;
      throw connectionLost(`before ${what} was answered`, outcome.cause);
  }
}

/** @param when in words, such as `before it was open` */
export function connectionLost(when: string, cause: unknown): McpError {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return new McpError("connection_lost", `The connection was lost ${when}${why}`, { cause });
}

/** Whether the peer answered with an error; with one of these numbers, where any are given. */
export function isPeerError(error: unknown, ...numbers: readonly number[]): error is McpError {
  if (!(error instanceof McpError) || error.code !== "peer_error") return false;
  return numbers.length === 0 || numbers.includes(error.rpcCode as number);
}
