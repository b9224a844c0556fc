// The way back to the caller while a call runs: what both eras' links have in common. An era adds how it asks and
// which log messages its caller wants.
import type { Exchange } from "../jsonrpc/exchange.ts";
import type { JsonObject, Request } from "../jsonrpc/message.ts";
import type { Ask, Call, Caller, Link, Sender } from "./endpoint.ts";
import { findMethod, type Method, methodIn } from "./methods.ts";
import { type LogLevel, logLevels } from "./model.ts";
import { readParams, reviseNotification } from "./params.ts";

export interface LinkEnds {
  /** The least severe level that the caller wants; undefined when it wants none. */
  logLevel(): LogLevel | undefined;
  ask(ask: Ask, exchange: Exchange): Promise<JsonObject>;
  step(name: string, run: () => unknown, exchange: Exchange): Promise<unknown>;
}

class CallLink implements Link {
  readonly #exchange: Exchange;
  readonly #caller: Caller;
  readonly #ends: LinkEnds;
  /** The function of a step is running, up to its first `await`. */
  #isStepping = false;

  constructor(exchange: Exchange, caller: Caller, ends: LinkEnds) {
    this.#exchange = exchange;
    this.#caller = caller;
    this.#ends = ends;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get ended(): boolean {
    return this.#exchange.ended;
  }

  notify(name: string, params: JsonObject): void {
    const { revision } = this.#caller;
    const method = methodIn(name, revision, "server");
    // A notification that no revision defines is the application's own; one that only others define is not sent.
    if (!method && findMethod(name)) return;
    this.#exchange.notify(name, method ? reviseNotification(method, params, revision) : params);
  }

  beforeEnd(run: () => void): void {
    this.#exchange.beforeEnd(run);
  }

  wantsLog(level: LogLevel): boolean {
    const wanted = this.#ends.logLevel();
    return wanted !== undefined && logLevels.indexOf(level) >= logLevels.indexOf(wanted);
  }

  async ask(ask: Ask): Promise<JsonObject> {
    this.assertOutsideStep();
    return this.#ends.ask(ask, this.#exchange);
  }

  async step(name: string, run: () => unknown): Promise<unknown> {
    this.assertOutsideStep();
    return this.#ends.step(
      name,
      () => {
        this.#isStepping = true;
        try {
          return run();
        } finally {
          this.#isStepping = false;
        }
      },
      this.#exchange,
    );
  }

  assertOutsideStep(): void {
    if (this.#isStepping) throw new TypeError("Ask, and take steps, before a step or after it, not inside");
  }
}

/**
 * The call that a request makes, with its params checked. Throws McpError `invalid_params`.
 * @param copy makes what is in the params theirs alone, so that they stay as they were sent whatever a handler does with its own
 */
export function toCall(
  method: Method | undefined,
  request: Request,
  exchange: Exchange,
  client: Caller,
  ends: LinkEnds,
  copy?: (value: unknown) => unknown,
): Call {
  const { params, meta } = readParams(method, request, client.revision, copy);
  const sender = exchange.sender as Sender | undefined;
  return {
    method: request.method,
    params,
    sent: request.params,
    meta,
    id: request.id,
    client,
    auth: sender?.auth,
    sender,
    link: new CallLink(exchange, client, ends),
  };
}
