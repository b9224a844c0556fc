// One broken message: what is sent, where, and the one right answer to it.
import type { Revision } from "plenum";
import { methodsIn, modern, type Obj, request } from "../target.ts";

/** An error with its code and id (none when absent), a result, a tool result that says what failed, or no answer. */
export type Answer =
  | { readonly code: number; readonly id?: unknown }
  | { readonly result: unknown }
  | { readonly fault: unknown }
  | readonly Answer[]
  | "silence";

export interface Case {
  readonly what: string;
  /** A string is sent as it stands. */
  readonly send: (revision: Revision) => unknown;
  readonly gets: (revision: Revision) => Answer;
  /** Default: every revision. */
  readonly in?: (revision: Revision) => boolean;
  /** Before anything is opened. Default: in an open session, where there are sessions. */
  readonly early?: true;
  /** The server without resources, prompts, completion and logging. */
  readonly bare?: true;
}

type Given<T> = T | ((revision: Revision) => T);

const toFunction = <T>(given: Given<T>): ((revision: Revision) => T) =>
  typeof given === "function" ? (given as (revision: Revision) => T) : () => given;

/** A JSON value or a text, or how to write it for a revision. */
type Sent = Given<object | string | number | boolean | null | undefined>;

type Rest = Pick<Case, "in" | "early" | "bare">;

/** A message as it stands. */
export function raw(what: string, send: Sent, gets: Given<Answer>, rest: Rest = {}): Case {
  return { what, send: toFunction(send), gets: toFunction(gets), ...rest };
}

/** A request that is right but for what the case is about. Where the revision lacks the method, that is the answer. */
export function call(method: string, params: Obj | undefined, gets: Given<Answer>, rest: Rest = {}): Case {
  const answer = toFunction(gets);
  return {
    what: `${method} with ${JSON.stringify(params)?.slice(0, 100)}`,
    send: (revision) => request(revision, method, params),
    gets: (revision) => {
      if (methodsIn(revision).includes(method)) return answer(revision);
      // A method of the stateless era says itself which era it wants; what it lacks is `_meta`.
      return { code: methodsIn(modern).includes(method) ? -32602 : -32601, id: "x" };
    },
    ...rest,
  };
}

/** Params that break the method's shape. */
export function bad(method: string, ...list: readonly (Obj | undefined)[]): readonly Case[] {
  return list.map((params) => call(method, params, { code: -32602, id: "x" }));
}

export const invalidParams: Answer = { code: -32602, id: "x" };
export const invalidRequest: Answer = { code: -32600, id: "x" };
export const noId: Answer = { code: -32600 };
export const parseError: Answer = { code: -32700 };
export const answered: Answer = { result: "x" };

export const isSessioned = (revision: Revision): boolean => revision !== modern;
export const isModern = (revision: Revision): boolean => revision === modern;
export const since =
  (first: Revision) =>
  (revision: Revision): boolean =>
    revision >= first;
export const until =
  (last: Revision) =>
  (revision: Revision): boolean =>
    revision <= last;
