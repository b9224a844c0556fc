// What an application gives to `connect`, and to a single call.
import type { JsonObject } from "../jsonrpc/message.ts";
import type { ElicitResult, Implementation, LogLevel, Root, SampleRequest, SampleResult } from "../protocol/model.ts";
import type { ProgressUpdate } from "../protocol/remote.ts";
import type { Revision } from "../protocol/revisions.ts";

/** A question to the user as a form. `schema` is the JSON Schema of the answer: an object of flat fields. */
export interface ElicitForm {
  readonly message: string;
  readonly schema: JsonObject;
  /** The values that the schema's defaults give. What the answer leaves out is filled in from here. */
  readonly defaults: JsonObject;
}

/** A page that the user is asked to visit. Show the whole URL, and open it only with the user's consent. */
export interface ElicitPage {
  readonly message: string;
  /** http or https. */
  readonly url: string;
}

export type Action = "accept" | "decline" | "cancel";

export interface AnswerContext {
  /** Aborts when the server no longer wants the answer, or the connection is gone. */
  readonly signal: AbortSignal;
  readonly revision: Revision;
  /** Who asks, as it says itself: show it to the user. Undefined where it has not said. */
  readonly server: Implementation | undefined;
}

/**
 * `restarting`: lost, and being opened again; calls wait. `reconnecting`: a stream on which the server sends by itself broke
 * and could not be taken up again at once; calls can be made.
 */
export type ConnectionState = "connecting" | "open" | "reconnecting" | "restarting" | "closed";

export interface RestartOptions {
  /** Tries in a row before the client gives up. Default 5. */
  readonly maxAttempts?: number;
  /** Before the first try; doubled for each further one, with jitter. Default 250. */
  readonly delayMs?: number;
  /** Default 10 000. */
  readonly maxDelayMs?: number;
}

export interface ClientOptions {
  /** What the server is told of us. Default: plenum and its version. */
  readonly info?: Implementation;
  /** Speak this revision and no other. Default: the newest that both sides know. */
  readonly revision?: Revision;
  /** For all requests of this client: see `CallOptions`. */
  readonly timeoutMs?: number;
  readonly maxTimeoutMs?: number;
  /** How long a server may take to say what it is before it is taken for one of an older revision. Default 5000. */
  readonly probeTimeoutMs?: number;
  /** How long opening may take in all. Default 60 000. */
  readonly connectTimeoutMs?: number;
  readonly signal?: AbortSignal;

  /** Answers questions to the user that are forms. */
  readonly onElicit?: (ask: ElicitForm, ctx: AnswerContext) => ElicitResult | Promise<ElicitResult>;
  /** Sends the user to a page. `accept` says that the user consented, not that the page was dealt with. */
  readonly onElicitUrl?: (ask: ElicitPage, ctx: AnswerContext) => { action: Action } | Promise<{ action: Action }>;
  /**
   * Asks a model on the server's behalf. Throw `userRejected()` to refuse; of what is no McpError the server learns nothing.
   * @deprecated The protocol deprecates sampling from 2026-07-28 on; older servers go on asking.
   */
  readonly onSample?: (ask: SampleRequest, ctx: AnswerContext) => SampleResult | Promise<SampleResult>;
  /** `onSample` can let the model use tools. Default false. */
  readonly sampleTools?: boolean;
  /** `onSample` honours `includeContext`. Default false. */
  readonly sampleContext?: boolean;
  /**
   * Folders that the server may look at, as file:// URIs: a list, or a function that gives it each time it is asked for.
   * A server may keep the answer: when a function would give another one, say so with `setRoots`.
   * @deprecated The protocol deprecates roots from 2026-07-28 on; older servers go on asking.
   */
  readonly roots?: RootsOption;
  readonly extensions?: { readonly [id: string]: JsonObject };
  /** Questions of the server per minute; more are refused. Default 60. */
  readonly asksPerMinute?: number;
  /** Rounds of questions that one call may take. Default 16. */
  readonly maxRounds?: number;

  readonly onLog?: (entry: { level: LogLevel; logger?: string; data: unknown }) => void;
  /** Which log messages the server should send. Default: the server's choice; in 2026-07-28 "info" where `onLog` is given. */
  readonly logLevel?: LogLevel;
  readonly onListChanged?: (kind: "tools" | "resources" | "prompts") => void;
  readonly onResourceUpdated?: (uri: string) => void;
  /** Told of every change of state, with the reason where there is one. */
  readonly onStateChange?: (state: ConnectionState, cause: unknown) => void;
  /** Told of what a server does wrong where the client copes, for people. Default: `console.warn`. */
  readonly onWarning?: (problem: string) => void;

  /** Pings the server this often, where the revision has pings, and takes silence for a lost connection. Default: never. */
  readonly pingIntervalMs?: number;
  /** Default 10 000. */
  readonly pingTimeoutMs?: number;
  /** Unanswered pings in a row after which the connection is lost. Default 3. */
  readonly maxPingFailures?: number;
  /**
   * Opens a lost connection again, with all subscriptions. Default: true in 2026-07-28, where a connection has no state to
   * lose, and for a session over HTTP that the server has forgotten.
   */
  readonly restart?: boolean | RestartOptions;
  /** The server's word on its tools is believed: a call of one that it marks read-only or idempotent is repeated after a restart. Default false. */
  readonly trusted?: boolean;

  /** Keep lists and reads as long as the server allows. Default true. */
  readonly cache?: boolean;
  /** Check structured content against the tool's output schema. Default true. */
  readonly validateOutput?: boolean;
  /** Pages of one list before it is taken to be endless. Default 1000. */
  readonly maxPages?: number;
}

export type RootsOption =
  | readonly (string | Root)[]
  | (() => readonly (string | Root)[] | Promise<readonly (string | Root)[]>);

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Without an answer or progress for this long the call is given up and the server told. 0 or Infinity: never. Default 60 000. */
  readonly timeoutMs?: number;
  /** Given up after this long whatever progress there is. 0 or Infinity: never. Default: never. */
  readonly maxTimeoutMs?: number;
  /** Told of progress, which also resets the clock of `timeoutMs`. */
  readonly onProgress?: (update: ProgressUpdate) => void;
  /** Keys of your own for the request's `_meta`. A key that is MCP's, or none at all, is a TypeError. */
  readonly meta?: JsonObject;
  /** Repeat the call once if the connection is lost and opened again, though it may have had an effect. Default false. */
  readonly retry?: boolean;
  /** Ask the server even if a kept result could be used. Default false. */
  readonly fresh?: boolean;
}
