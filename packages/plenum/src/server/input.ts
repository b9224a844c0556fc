// The explicit form of asking: a handler returns its questions, and is run again from its start with the answers. For
// who wants to carry the state of a call himself; everybody else has `ctx.elicit` and its siblings.
// Specification: basic/patterns/mrtr.
import { isObject, type Json, type JsonObject } from "../jsonrpc/message.ts";
import type { ElicitResult, Root, SampleRequest, SampleResult } from "../protocol/model.ts";

export type InputRequest =
  | {
      readonly method: "elicitation/create";
      readonly params:
        | { readonly mode?: "form"; readonly message: string; readonly requestedSchema: JsonObject }
        | { readonly mode: "url"; readonly message: string; readonly url: string };
    }
  | { readonly method: "sampling/createMessage"; readonly params: SampleRequest }
  | { readonly method: "roots/list" };

/** What the client answered, by the keys of the requests: of the shape that its method has, but not checked further. */
export interface InputResponses {
  readonly [key: string]: ElicitResult | SampleResult | { readonly roots: readonly Root[] };
}

/** A page for the user to visit. */
export interface PageOptions {
  /** The name by which `server.elicitationComplete` says later that it is dealt with. Default: random. */
  readonly id?: string;
}

// Tells it from a value that happens to have such members.
const brand: unique symbol = Symbol("plenum.inputRequired");

/** What `inputRequired` gives, for a handler to return. */
export interface InputRequired {
  readonly [brand]: true;
  readonly resultType: "input_required";
  readonly inputRequests: { readonly [key: string]: InputRequest };
  readonly state: Json | undefined;
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
  return { [brand]: true, resultType: "input_required", inputRequests: requests, state };
}

export function isInputRequired(value: unknown): value is InputRequired & JsonObject {
  return isObject(value) && brand in value;
}
