// Results from the superset model to one revision, for whatever both eras have in common: fitted and checked, and the few
// values that must be rebuilt rather than trimmed. Params are in params.ts.
import { isObject } from "../jsonrpc/message.ts";
import type { Result } from "./endpoint.ts";
import { McpError } from "./errors.ts";
import type { Method } from "./methods.ts";
import { factsOf, type Revision } from "./revisions.ts";
import { wireOf } from "./wire/wire.ts";

/** Of what a handler, or a middleware, has returned in place of a result. Throws a TypeError. */
export function assertResult(result: unknown, method: string): asserts result is Result {
  if (!isObject(result)) throw new TypeError(`The result of ${method} must be an object`);
}

/** The result as the revision may carry it. Throws McpError `invalid_result` when no fitting makes it right. */
export function reviseResult(method: Method | undefined, result: Result, revision: Revision): Result {
  if (!method) return result;
  const shape = method.resultShape;
  const wire = wireOf(revision);
  const fitted = wire.fit(shape, result);
  const problem = wire.check(shape, fitted, "result");
  if (problem)
    throw new McpError("invalid_result", `The result of ${method.name} is not valid in ${revision}: ${problem}`);
  return fitted;
}

/**
 * The tool result that says what went wrong, where the revision wants the model rather than the program to know:
 * bad arguments from 2025-11-25 on, in the sessioned era a capability that the client lacks, and pages to visit where
 * there is no error for that.
 */
export function toToolFault(error: unknown, method: Method | undefined, revision: Revision): Result | undefined {
  if (method?.name !== "tools/call" || !(error instanceof McpError)) return undefined;
  const facts = factsOf(revision);
  const asResult =
    (error.code === "invalid_arguments" && facts.badArguments === "result") ||
    (error.code === "missing_capability" && facts.era === "sessioned") ||
    (error.code === "elicitation_required" && revision !== "2025-11-25");
  return asResult ? toFault(error.message) : undefined;
}

/** The result of a tool that failed, for a model to read. */
export function toFault(text: string): Result {
  return { content: [{ type: "text", text }], isError: true };
}

/**
 * On a tool result whose output schema admits more than objects: revisions that carry objects only wrap the value,
 * whatever it is this time, because they were shown a wrapped schema. A symbol, so that it survives a middleware's
 * spread and never reaches the wire; one that every copy of the library knows, since another may serve the result.
 */
export const anyRoot: unique symbol = Symbol.for("plenum.anyRoot");

// A result that will be given out again unchanged, such as a page of a list: an era may keep its encoded text.
const stable = new WeakSet<Result>();

/** Frozen, with its lists: it goes to many callers, and a middleware that changed it for one would change it for all. */
export function markStable<R extends Result>(result: R): R {
  for (const member of Object.values(result)) Object.freeze(member);
  stable.add(Object.freeze(result));
  return result;
}

export function isStable(result: Result): boolean {
  return stable.has(result);
}
