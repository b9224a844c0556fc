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
export const asked: unique symbol = Symbol("plenum.inputRequired");

/** What `inputRequired` gives, for a handler to return. */
export interface InputRequired {
  readonly [asked]: true;
  readonly resultType: "input_required";
  readonly inputRequests: { readonly [key: string]: InputRequest };
  readonly state: Json | undefined;
}

export function isInputRequired(value: unknown): value is InputRequired & JsonObject {
  return isObject(value) && asked in value;
}
