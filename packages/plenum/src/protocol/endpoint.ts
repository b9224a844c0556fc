// The seam between the protocol and what answers it: a server, a gateway, a mock. An endpoint is blind to era and
// transport: it is given a Call and gives back a Result in the superset model of `model.ts`.
import type { JsonObject, RequestId } from "../jsonrpc/message.ts";
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
  readonly expiresAt?: number;
  readonly claims?: JsonObject;
}

/** What a transport tells of a message's sender; it travels as the opaque `sender` of the JSON-RPC room. */
export interface Sender {
  readonly auth?: AuthInfo;
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
  /** Whether the caller wants log messages of this level for this call. */
  wantsLog(level: LogLevel): boolean;
  /** Puts a question to the client. Throws McpError `missing_capability` when it did not declare what that takes. */
  ask(ask: Ask): Promise<JsonObject>;
}

export interface Call {
  readonly method: string;
  /** Without `_meta`. */
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly id: RequestId;
  readonly client: Caller;
  readonly auth: AuthInfo | undefined;
  readonly link: Link;
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
  /** The endpoint ends: subscriptions are answered, connections close. */
  | { readonly kind: "closing" };

export interface Endpoint {
  /** Cheap: it is asked for on every stateless request. */
  describe(): Description;
  /** Whether it answers a method that no revision defines. */
  handles(method: string): boolean;
  /** Answers a method of the client's. Throws McpError for what the peer should be told. */
  call(call: Call): Result | Promise<Result>;
  /** Subscribes to changes; the returned function ends it. */
  watch(listener: (change: Change) => void): () => void;
  /** Told of what went wrong in a way the peer is not told. Gives the id by which the peer may name it. */
  report(error: unknown, about: { readonly method: string }): string;
  /** How long lists and reads may be kept, where the result does not say so itself. */
  cacheHints(): CacheHints;
}
