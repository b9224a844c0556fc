// What a handler is given beside its arguments: the caller, and the ways to tell or ask it something while it runs.
import { isRequestId, type Json, type JsonObject, type RequestId } from "../jsonrpc/message.ts";
import type { AuthInfo, Call, Caller, Link, Sender } from "../protocol/endpoint.ts";
import { traceContextOf } from "../protocol/meta.ts";
import type { Next } from "../protocol/middleware.ts";
import {
  type ElicitResult,
  type LogLevel,
  logLevels,
  type ReadResourceResult,
  type Root,
  type SampleRequest,
  type SampleResult,
} from "../protocol/model.ts";
import type { InferOutput } from "../schema/infer.ts";
import type { AnySchema } from "../schema/standard.ts";
import { toJsonCopy } from "../util/json-copy.ts";
import { createRate, type Rate } from "../util/rate.ts";
import type * as Asks from "./ask.ts";
import { type InputResponses, isInputRequired, type PageOptions } from "./input.ts";

export interface LogEntry {
  readonly level: LogLevel;
  readonly logger?: string;
  readonly data: unknown;
}

type LogAt = (data: unknown, logger?: string) => void;

/**
 * `log.info(data, "db")`, and the same for every level of RFC 5424. Data is any JSON value, or an error, of which name
 * and message are told. Anything else is a TypeError, whatever the caller listens to.
 */
export type Log = { readonly [L in LogLevel]: LogAt };

export interface Context<Lifespan = unknown> {
  /** Aborts when the caller cancels or is gone. Hand it to whatever you await. */
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  /** Who calls, as it says itself, and the revision it speaks. Never a ground for trust. */
  readonly client: Caller;
  /** Who calls, as the authorization layer established it. */
  readonly auth: AuthInfo | undefined;
  /**
   * What the transport tells of the request; undefined where it tells nothing, as stdio does. Over HTTP `header(name)` reads
   * a header of the request, by its name in lower case. `disconnect(retryMs)` ends the connection that the answer would
   * travel on while the handler goes on, and the client comes back for the answer: for work that takes longer than a
   * connection should be held. Where a client could not come back, there is no `disconnect`.
   */
  readonly sender: Sender | undefined;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  /** W3C `traceparent`, `tracestate` and `baggage` of the request, where they are well-formed. */
  readonly trace: { readonly [key: string]: string };
  /** What the server's `lifespan` gave. */
  readonly lifespan: Lifespan;
  /**
   * Reports progress to the caller. Does nothing when it did not ask for any; values that do not increase are left
   * out, and a flood is thinned (the last value always arrives).
   */
  progress(progress: number, total?: number, message?: string): void;
  /**
   * Log messages for the caller, at the level it chose.
   * @deprecated The protocol deprecates logging from 2026-07-28 on; prefer your own logs or OpenTelemetry.
   */
  readonly log: Log;
  /** Asks the user to fill in a form; the answer is checked and typed by the schema. */
  elicit<const S extends AnySchema>(message: string, schema: S): Promise<ElicitResult<InferOutput<S>>>;
  /** Asks the user to visit a page, for what must not pass through the client (secrets, payments). */
  elicitUrl(
    message: string,
    url: string,
    options?: PageOptions,
  ): Promise<{ readonly action: "accept" | "decline" | "cancel" }>;
  /**
   * Asks the client's model.
   * @deprecated The protocol deprecates sampling from 2026-07-28 on.
   */
  sample(request: SampleRequest): Promise<SampleResult>;
  /**
   * Asks for the client's roots.
   * @deprecated The protocol deprecates roots from 2026-07-28 on.
   */
  roots(): Promise<readonly Root[]>;
  /**
   * Does something once per call, however often the handler is run, and gives back what the function returns as JSON
   * carries it: a Date comes back as text, and what JSON lacks is a TypeError. For whatever has an effect before or
   * between asks. Its name tells it from other steps; steps of one name are told apart by their order. The function
   * neither asks nor takes steps itself.
   */
  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>>;
  /** After a return of `inputRequired`: what the client answered, and the state given there. */
  readonly input: { readonly responses: InputResponses; readonly state: Json | undefined } | undefined;
  /** Reads a resource of this server, as this caller would: through the middleware, and by `handle` where it is used. */
  readResource(uri: string): Promise<ReadResourceResult>;
}

/** What a server lends all its contexts. */
export interface ContextOptions {
  readonly lifespan: { readonly value: unknown };
  /** Answers a call as if it had come from outside: middleware and all. */
  readonly run: Next;
  readonly redactLog: ((entry: LogEntry) => LogEntry | undefined) | undefined;
  readonly progressPerSecond: number;
  readonly logsPerSecond: number;
}

/** What JSON makes of a type: a Date is text when it comes back, and what has no JSON has no type. */
export type AsJson<T> = T extends { toJSON(): infer J }
  ? AsJson<J>
  : T extends bigint | symbol | ((...args: never[]) => unknown)
    ? never
    : T extends object
      ? { [K in keyof T]: AsJson<T[K]> }
      : T;

/** On a call that a handler makes itself: the context it makes it from. A symbol, to survive a middleware's spread. */
const within: unique symbol = Symbol();

const noArguments = Object.freeze({});

export class CallContext implements Context<never> {
  /** For completers: the other arguments that are filled in already. */
  arguments: { readonly [name: string]: string } = noArguments;
  /** As it was when the call began: it may end before the call does. */
  readonly lifespan: never;
  readonly #call: Call & { readonly [within]?: CallContext };
  readonly #options: ContextOptions;
  #log: Log | undefined;
  #progress: Progress | undefined;

  constructor(call: Call, options: ContextOptions) {
    this.#call = call;
    this.#options = options;
    this.lifespan = options.lifespan.value as never;
  }

  get signal(): AbortSignal {
    return this.#call.link.signal;
  }
  get requestId(): RequestId {
    return this.#call.id;
  }
  get client(): Caller {
    return this.#call.client;
  }
  get auth(): AuthInfo | undefined {
    return this.#call.auth;
  }
  /** For the tool itself, and not for its handler. */
  get sent(): JsonObject | undefined {
    return this.#call.sent;
  }
  get sender(): Sender | undefined {
    return this.#call.sender;
  }
  get meta(): JsonObject {
    return this.#call.meta;
  }
  get trace(): { readonly [key: string]: string } {
    return traceContextOf(this.#call.meta);
  }

  get log(): Log {
    this.#log ??= this.#call[within]?.log ?? createLog(this.#call.link, this.#options);
    return this.#log;
  }

  // Getters, so that handlers may take them out of the context (`{ progress }`) and those who do not pay nothing.

  get progress(): Context["progress"] {
    const token = this.#call.meta.progressToken;
    const outer = this.#call[within];
    // What a handler calls goes on with its progress, it does not begin anew.
    if (outer) return outer.progress;
    return (progress, total, message) => {
      if (!isRequestId(token)) return;
      this.#progress ??= new Progress(this.#call, token, this.#options.progressPerSecond);
      this.#progress.report(progress, total, message);
    };
  }

  get elicit(): Context["elicit"] {
    return (message, schema) => this.#ask("elicitForm", message, schema) as never;
  }

  get elicitUrl(): Context["elicitUrl"] {
    return (message, url, { id } = {}) => this.#ask("elicitUrl", message, url, id) as never;
  }

  get sample(): Context["sample"] {
    return (request) => this.#ask("sample", request) as never;
  }

  get roots(): Context["roots"] {
    return () => this.#ask("listRoots") as never;
  }

  get step(): Context["step"] {
    return (name, run) => hush(this.#call.link.step(name, run)) as never;
  }

  get input(): never {
    return this.#call.input as never;
  }

  get readResource(): Context["readResource"] {
    const { run } = this.#options;
    const read = async (uri: string): Promise<never> => {
      const call = {
        ...this.#call,
        method: "resources/read",
        params: { uri },
        input: undefined,
        [within]: this,
      };
      const result = await run(call);
      return (isInputRequired(result) ? await (await loadAsks()).runRounds(call, result, run) : result) as never;
    };
    return (uri) => hush(read(uri));
  }

  #ask(name: Exclude<keyof typeof Asks, "runRounds">, ...given: readonly unknown[]): Promise<unknown> {
    return hush(
      (async () => {
        this.#call.link.assertOutsideStep();
        // At once: what the handler does with its messages afterwards is no part of the question.
        const own = name === "sample" ? toJsonCopy(given, name) : given;
        return (await loadAsks())[name](this.#call, ...(own as [never, never, never]));
      })(),
    );
  }

  /** Answered, cancelled or cut off. */
  get ended(): boolean {
    return this.#call.link.ended;
  }
}

let asking: Promise<typeof Asks> | undefined;

/** What only asking takes. One promise: asks that are made together go on together. */
function loadAsks(): Promise<typeof Asks> {
  asking ??= import("./ask.ts");
  return asking;
}

/** An ask that nobody waits for may fail: that must not end the process. */
function hush<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

class Progress {
  readonly #call: Call;
  readonly #token: RequestId;
  readonly #rate: Rate;
  #highest = Number.NEGATIVE_INFINITY;
  #held: JsonObject | undefined;

  constructor(call: Call, token: RequestId, perSecond: number) {
    this.#call = call;
    this.#token = token;
    this.#rate = createRate({ perSecond, burst: Math.max(1, perSecond) });
    // What is held back then goes out before the answer.
    call.link.beforeEnd(() => this.flush());
  }

  report(progress: number, total: number | undefined, message: string | undefined): void {
    const strange = [progress, total ?? 0].find((value) => !Number.isFinite(value));
    if (strange !== undefined) throw new TypeError(`progress must be finite, not ${strange}`);
    // Now, and not when it goes out.
    if (typeof (message ?? "") !== "string") throw new TypeError("progress: message must be a string");
    if (progress <= this.#highest) return;
    this.#highest = progress;
    // Members that are undefined are absent on the wire.
    this.#held = { progressToken: this.#token, progress, total, message };
    if (this.#rate.take()) this.flush();
  }

  flush(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#call.link.notify("notifications/progress", held);
  }
}

/**
 * Log messages for the caller. The era decides whether it wants them; here they are redacted, checked and kept from
 * flooding. Specification: server/utilities/logging.
 */
function createLog(link: Link, { redactLog, logsPerSecond }: ContextOptions): Log {
  const rate = createRate({ perSecond: logsPerSecond, burst: Math.max(1, logsPerSecond) });
  const logAt =
    (level: LogLevel): LogAt =>
    (given, logger) => {
      // Found at the line that logs it, and whoever listens: a call must not fail by the level that its caller chose.
      const data = toJsonCopy(given ?? null, "Log data");
      if (!link.wantsLog(level)) return;
      const entry: LogEntry = logger === undefined ? { level, data } : { level, logger, data };
      const shown = redactLog ? redactLog(entry) : entry;
      if (shown && rate.take())
        link.notify("notifications/message", { ...shown, data: toJsonCopy(shown.data, "Log data") });
    };
  return Object.fromEntries(logLevels.map((level) => [level, logAt(level)])) as Log;
}
