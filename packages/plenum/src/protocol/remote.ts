// The seam between a client and the eras: a server as its client sees it. Each era makes one (`dial.ts` in its folder);
// `protocol/dial.ts` finds out which. What a client does for its server, and hears from it, is a Listener.
import type { Connection } from "../jsonrpc/connection.ts";
import type { Answer, Exchange } from "../jsonrpc/exchange.ts";
import type { JsonObject, Notification, Request } from "../jsonrpc/message.ts";
import type { Ask, Result } from "./endpoint.ts";
import type { ClientCapabilities, Implementation, LogLevel, ServerCapabilities } from "./model.ts";
import type { Revision } from "./revisions.ts";

/** What the server said of itself when the connection was opened. */
export interface RemoteDescription {
  /** Absent where a server of the stateless era does not give it. */
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

export interface ProgressUpdate {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface RemoteRequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Without an answer or progress for this long the request is given up. 0 or Infinity: never. Default 60 000. */
  readonly timeoutMs?: number | undefined;
  /** Given up after this long whatever progress there is. 0 or Infinity: never. Default: never. */
  readonly maxTimeoutMs?: number | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** Keys of one's own for the request's `_meta`. */
  readonly meta?: JsonObject | undefined;
}

/** What is watched: an era brings it about and keeps to it. */
export interface Watched {
  readonly lists: readonly ("tools" | "resources" | "prompts")[];
  readonly uris: readonly string[];
}

/** What the server may ask of its client, and tell it. */
export interface Listener {
  /** In the superset model; what a revision lacks is left out. */
  readonly capabilities: ClientCapabilities;
  /**
   * Answers an ask; `params` are checked already. Throws McpError for what the server should be told. `signal` aborts
   * when the server no longer wants the answer.
   */
  answer(ask: Pick<Ask, "method" | "params">, revision: Revision, signal: AbortSignal): Promise<JsonObject>;
  /** A notification of the server's that is not about a request of ours: log messages, changes. Checked already. */
  heard(method: string, params: JsonObject): void;
  /** Something that the peer did wrong and that was dealt with: for people. */
  warn(problem: string): void;
}

export interface Remote {
  readonly revision: Revision;
  /** Nothing is lost with the connection: another one to the same server goes on where this one ended. */
  readonly isResumable: boolean;
  /** The revision has a message that asks whether the peer is there, and nothing else. */
  readonly hasPing: boolean;
  readonly description: RemoteDescription;
  /**
   * What is made of the result of a request, which is checked; questions on the way are answered. Throws McpError:
   * `peer_error`, `timeout`, `aborted`, `connection_lost`, `invalid_result`, or what the Listener or `finish` threw.
   */
  request<T>(
    method: string,
    params: JsonObject,
    options: RemoteRequestOptions,
    finish: (result: Result) => T | Promise<T>,
  ): Promise<T>;
  notify(method: string, params?: JsonObject): void;
  /** Whether the server is there. */
  ping(options?: RemoteRequestOptions): Promise<void>;
  /** Which log messages the server should send from now on. */
  setLogLevel(level: LogLevel, options?: RemoteRequestOptions): Promise<void>;
  /** Watches these, and nothing else any more. Throws when the server does not watch what is new among them. */
  watch(watched: Watched, options?: RemoteRequestOptions): Promise<void>;
  /** The roots are others now: told where the revision has a way to. */
  rootsChanged(): void;
  close(): void;
}

/** What an era makes of a connection: the Remote, and what becomes of the server's messages. */
export interface DialedEra {
  readonly remote: Remote;
  /** Undefined: the era has no answer to any request of a server's. */
  request(request: Request, exchange: Exchange): Answer | Promise<Answer> | undefined;
  notification(notification: Notification): void;
  /** The connection is gone: whoever waits for something else than an answer waits no longer. */
  ended(cause: unknown): void;
}

/** What an era is given to speak to a server on one connection. */
export interface RemoteGround {
  readonly connection: Connection;
  /** As of the channel: a stream that is lost is not the connection where there are several. */
  readonly oneStream: boolean;
  readonly info: Implementation;
  readonly listener: Listener;
  /** Rounds of questions that one request may take before it is given up. */
  readonly maxRounds: number;
  /** Which log messages the server should send; undefined: its choice. */
  readonly logLevel: LogLevel | undefined;
  /** Somebody reads the log messages. */
  readonly readsLog: boolean;
}
