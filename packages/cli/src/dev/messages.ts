// What the supervisor and a worker tell each other, as JSON over the channel between two processes of Node. A worker's messages
// travel in lists: all that it says in one turn arrives in one turn, so that questions put together stay together.
import type { Ask, AuthInfo, CacheHints, Call, Change, Description, Input, JsonObject, LogLevel } from "plenum";
import type { FileSpec } from "../target/spec.ts";
import type { Fault } from "./fault.ts";

/** A call without its ways back. */
export interface CallData extends Pick<Call, "method" | "params" | "sent" | "meta" | "id" | "client"> {
  readonly auth?: AuthInfo | undefined;
  readonly input?: Input | undefined;
  /** Absent where the transport tells nothing of the sender. */
  readonly sender?: SenderData | undefined;
  /** The levels of log messages that the caller wants. */
  readonly levels: readonly LogLevel[];
}

export interface SenderData {
  readonly auth?: AuthInfo | undefined;
  /** By their names in lower case. Absent where there are no headers. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly mirrorsParams?: boolean | undefined;
  readonly canDisconnect: boolean;
}

/** What a server says of itself at once, whenever it is asked. */
export interface Facts {
  readonly description: Description;
  readonly hints: CacheHints;
  /** Methods of the protocol that it answers by hand. */
  readonly byHand: readonly string[];
  readonly maxStateBytes: number | undefined;
}

export const listKinds = ["tools", "resources", "prompts"] as const;

export type ListKind = (typeof listKinds)[number];

/** What tells one state of a list from another; empty for an empty list, absent where it cannot be told. */
export type Digests = { readonly [K in ListKind]?: string | undefined };

/** The outcome of something that was asked for: a value, or what went wrong. */
export interface Outcome {
  readonly value?: unknown;
  readonly fault?: Fault | undefined;
}

/** To a worker. `call` names a call, `key` what is asked for. */
export type Order =
  | {
      readonly type: "load";
      readonly spec: FileSpec;
      /** The requests of a client's that the protocol defines. */
      readonly methods: readonly string[];
      /** A folder with packages that the file may import besides its own. */
      readonly extras: string | undefined;
    }
  | { readonly type: "call"; readonly call: number; readonly data: CallData }
  /** Nobody waits for it any more. With a reason its signal aborts. */
  | { readonly type: "end"; readonly call: number; readonly reason?: string | undefined }
  | { readonly type: "levels"; readonly call: number; readonly levels: readonly LogLevel[] }
  /** The answer to an `ask` or a `step`. */
  | { readonly type: "answer"; readonly call: number; readonly key: number; readonly outcome: Outcome }
  /** The function of a step is to run. */
  | { readonly type: "run"; readonly call: number; readonly key: number }
  | { readonly type: "lists"; readonly call: number }
  | { readonly type: "close" };

/** From a worker. */
export type Report =
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "ready"; readonly facts: Facts }
  | { readonly type: "failed"; readonly message: string; readonly hint: string | undefined; readonly code: string }
  | { readonly type: "changed"; readonly change: Change; readonly facts: Facts }
  /** The end of a call, or of `lists`. `isAnyRoot` stands for a mark that JSON lacks. */
  | {
      readonly type: "done";
      readonly call: number;
      readonly outcome: Outcome;
      readonly isAnyRoot?: boolean | undefined;
    }
  | { readonly type: "notify"; readonly call: number; readonly method: string; readonly params: JsonObject }
  | { readonly type: "ask"; readonly call: number; readonly key: number; readonly ask: Ask }
  | { readonly type: "step"; readonly call: number; readonly key: number; readonly name: string }
  /** The function of a step has run. `isNoJson`: what it gave back cannot travel. */
  | {
      readonly type: "ran";
      readonly call: number;
      readonly key: number;
      readonly outcome: Outcome & { readonly isNoJson?: boolean };
    }
  | { readonly type: "disconnect"; readonly call: number; readonly retryMs: number | undefined };
