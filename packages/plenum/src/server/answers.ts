// What a handler puts together where a plain return value does not say enough: a result in full, or questions.
import type { Json } from "../jsonrpc/message.ts";
import { assertOwnMeta } from "../protocol/meta.ts";
import type { Meta } from "../protocol/model.ts";
import { asked, type InputRequest, type InputRequired } from "./input.ts";
import { type Contents, type WholeResult, whole } from "./result.ts";

/** A tool result in full, for a handler that wants more than its return value says: own text beside structured content, `isError`, `_meta`. */
export function toolResult(parts: {
  readonly content?: Contents;
  readonly structured?: Json;
  readonly isError?: boolean;
  readonly meta?: Meta;
}): WholeResult {
  const { content, structured, isError, meta } = parts;
  assertOwnMeta(meta, "toolResult");
  return { [whole]: true, content, structured, isError, meta };
}

/**
 * Returned by the handler of a tool, prompt or resource, it asks the client all of `requests`; the handler is then run
 * again with `ctx.input`. `state` is any JSON value: the client carries it sealed, and it comes back as `ctx.input.state`.
 * Without requests the client is told to call again at once. Throws a TypeError when there is neither.
 */
export function inputRequired(parts: {
  readonly requests?: { readonly [key: string]: InputRequest };
  readonly state?: Json;
}): InputRequired {
  const { requests = {}, state } = parts;
  if (Object.keys(requests).length === 0 && state === undefined)
    throw new TypeError("inputRequired: give requests, a state, or both");
  return { [asked]: true, resultType: "input_required", inputRequests: requests, state };
}
