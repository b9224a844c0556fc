// The seam between the protocol and what answers it: a server, a gateway, a mock. An endpoint is blind to era and
// transport: it is given a Call and gives back a Result in the superset model of `model.ts`.
import type { JsonObject, RequestId } from "../jsonrpc/message.ts";
import type { Store } from "../store/store.ts";
import type { CacheScope, ClientCapabilities, Implementation, LogLevel, ServerCapabilities } from "./model.ts";
import type { Revision } from "./revisions.ts";

export type Result = JsonObject;

/** The client as it describes itself. Never a ground for trust: for that there is `auth`. */
export interface Caller {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  readonly revision: Revision;
}

/** Who sent the request, as an authorization layer established it. */
export interface AuthInfo {
  readonly subject?: string;
  readonly clientId?: string;
  readonly scopes: readonly string[];
  /** In seconds since 1970, as in a token. Over HTTP, who comes later is 401. */
  readonly expiresAt?: number;
  readonly claims?: JsonObject;
}

/** What a transport tells of a message's sender; it travels as the opaque `sender` of the JSON-RPC room. */
export interface Sender {
  readonly auth?: AuthInfo;
  /** A header of the HTTP request that brought the message, by its name in lower case. Absent on other transports. */
  header?(name: string): string | undefined;
  /** What a tool's schema annotates with `x-mcp-header` stands in headers too: the two are compared before the tool runs. */
  readonly mirrorsParams?: boolean;
  /**
   * Ends the connection on which the answer would travel, but not the call: the client comes back for the rest after
   * `retryMs`. Absent where a client could not come back.
   */
  disconnect?(retryMs?: number): void;
}

/** Something a handler asks of the client while it runs. */
export interface Ask {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: JsonObject;
  /** Paths of the client capabilities it takes, such as "elicitation.url". */
  readonly needs: readonly string[];
}

/** The ways back to the caller that the era lends a call while it runs. */
export interface Link {
  /** Aborts when the caller cancels or is gone. */
  readonly signal: AbortSignal;
  /** Answered, cancelled or cut off. Cheaper to look at than the signal. */
  readonly ended: boolean;
  /** Sends a notification about this call, fitted to the revision; nothing once the call has ended. */
  notify(method: string, params: JsonObject): void;
  /** Called when there is an answer, before that goes out: for what was held back. */
  beforeEnd(run: () => void): void;
  /** Whether the caller wants log messages of this level for this call. */
  wantsLog(level: LogLevel): boolean;
  /**
   * Puts a question to the client. Throws McpError `missing_capability` when it did not declare what that takes, and
   * `input_required` when the call is to be run again with the answer: let that one pass.
   */
  ask(ask: Ask): Promise<JsonObject>;
  /**
   * Does something once, however often the call is run; gives back what it returned, as JSON carries it. Its function
   * neither asks nor takes steps.
   */
  step(name: string, run: () => unknown): Promise<unknown>;
  /** Throws a TypeError inside the function of a step. For who is going to ask, but not at once. */
  assertOutsideStep(): void;
}

/** What a call is run with again after it returned `input_required` itself. */
export interface Input {
  /** What the client answered, by the keys of `inputRequests`. A key may be missing. */
  readonly responses: { readonly [key: string]: JsonObject };
  /** The `state` of that result. */
  readonly state: unknown;
}

export interface Call {
  readonly method: string;
  /** Without `_meta`. */
  readonly params: JsonObject;
  /** The same as the client sent them, with `_meta`, whatever middleware makes of them. Absent where there are none. */
  readonly sent?: JsonObject | undefined;
  readonly meta: JsonObject;
  readonly id: RequestId;
  readonly client: Caller;
  readonly auth: AuthInfo | undefined;
  readonly sender: Sender | undefined;
  readonly link: Link;
  readonly input?: Input | undefined;
}

/** What an endpoint is and offers. The result of `initialize` and `server/discover` in the superset model. */
export interface Description {
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
  /** What is logged to a client that has not said what it wants. */
  readonly logLevel: LogLevel;
}

/** How long, and for whom, a client may keep a result. */
export interface CacheHints {
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

export type Change =
  | { readonly kind: "tools" | "resources" | "prompts" }
  | { readonly kind: "resource"; readonly uri: string }
  /** What a user was sent to a page for is done; those who were told this id hear of it. */
  | { readonly kind: "elicitation"; readonly elicitationId: string }
  /** The endpoint ends: subscriptions are answered, connections close. */
  | { readonly kind: "closing" };

/** How the calls of an endpoint are carried over from one round to the next, in the era that keeps nothing meanwhile. */
export interface Rounds {
  /** What seals `requestState`: the first seals, all open. 16 bytes or more each. */
  readonly secrets: readonly Uint8Array[];
  /** Nobody else knows the secrets. */
  readonly isGenerated: boolean;
  /** The longest `requestState`, in characters. */
  readonly maxStateBytes: number;
  /** Remembers which states were used, so that each opens once. */
  readonly store: Store | undefined;
}

/** What a failure is about. */
export interface Reported {
  readonly method: string;
  /** The call was over before: that a handler stops then is no news. */
  readonly ended?: boolean;
}

export interface Endpoint {
  /** Cheap: it is asked for on every stateless request. */
  describe(): Description;
  /** Whether it answers a method by hand, be it one that no revision defines. */
  handles(method: string): boolean;
  /**
   * Answers a method of the client's. Throws McpError for what the peer should be told; of whatever else it throws the peer is
   * told an id, under which it is reported. A result with `resultType`
   * "input_required" has `inputRequests` and `state`, any JSON value, or one of them: the call is made again with `input`.
   * Of a method that it `handles`, params and results are those of the wire.
   */
  call(call: Call): Result | Promise<Result>;
  /** Subscribes to changes; the returned function ends it. */
  watch(listener: (change: Change) => void): () => void;
  /** Told of what went wrong in a way the peer is not told. Gives the id by which the peer may name it. */
  report(error: unknown, about: Reported): string;
  /** How long lists and reads may be kept, where the result does not say so itself. */
  cacheHints(): CacheHints;
  /** The scopes that a call takes, where a caller may be told: a transport that can ask for more does so before it is made. */
  scopesOf?(method: string, params: JsonObject): readonly string[] | undefined;
  /** Default: secrets of this endpoint's own, and states that open any number of times. */
  readonly rounds?: Rounds;
}
