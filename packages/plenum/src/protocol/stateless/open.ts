// The stateless era on the serving side: every request is complete in itself, and nothing is remembered between two.
// Only open listen requests are held, as long as they are open. Specification: basic of 2026-07-28.
import type { Answer, Exchange } from "../../jsonrpc/connection.ts";
import type { JsonObject, Notification, Request } from "../../jsonrpc/message.ts";
import { hasCapability } from "../capabilities.ts";
import type { Ask, Call, Caller, Change, Description, Link, Result, Sender } from "../endpoint.ts";
import type { Era, Ground } from "../era.ts";
import { isTellable, McpError, methodNotFound, toErrorObject } from "../errors.ts";
import { metaKeys, metaOf } from "../meta.ts";
import { findMethod, type Method, methodIn } from "../methods.ts";
import { type LogLevel, logLevels } from "../model.ts";
import { readParams, reviseNotification, toToolFault } from "../revise.ts";
import { factsOf, type Revision } from "../revisions.ts";
import { askNowhere } from "./ask.ts";
import { encodeResult, readCaller, readRevision, toDiscoverResult } from "./codec.ts";
import { type Filter, Subscription, toHonoured } from "./watch.ts";

export class StatelessEra implements Era {
  readonly #ground: Ground;
  readonly #spoken: readonly Revision[];
  readonly #subscriptions = new Set<Subscription>();

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#spoken = ground.supported.filter((revision) => factsOf(revision).era === "stateless");
  }

  async request(request: Request, exchange: Exchange): Promise<Answer> {
    const { endpoint } = this.#ground;
    // An error about the version itself is written as the newest revision writes it.
    let revision: Revision = this.#spoken[0] ?? "2026-07-28";
    let method: Method | undefined;
    try {
      revision = readRevision(request, this.#spoken, this.#ground.supported);
      const client = readCaller(metaOf(request.params), revision);
      method = methodIn(request.method, revision, "client");
      if (!method && (findMethod(request.method) || !endpoint.handles(request.method)))
        throw methodNotFound(request.method);
      if (method?.needs && !hasCapability(endpoint.describe().capabilities, method.needs))
        throw methodNotFound(request.method);
      const call = this.#toCall(method, request, exchange, client);
      const result = await endpoint.call(call);
      if (method?.name === "server/discover") return this.#encode(method, this.#discovered(result), revision);
      if (method?.name === "subscriptions/listen")
        return this.#encode(method, await this.#listen(call, exchange), revision);
      return this.#encode(method, result, revision);
    } catch (error) {
      const fault = toToolFault(error, method, revision);
      if (fault) return this.#encode(method, fault, revision);
      const masked = !(error instanceof McpError) || !isTellable(error);
      return { error: toErrorObject(error, revision, masked ? endpoint.report(error, request) : undefined) };
    }
  }

  /** Nothing but cancellation concerns this era, and that is the same in both. */
  notification(_notification: Notification): void {}

  changed(change: Exclude<Change, { kind: "closing" }>): void {
    for (const subscription of this.#subscriptions) subscription.changed(change);
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.end(this.#ground.oneStream);
  }

  #encode(method: Method | undefined, result: Result, revision: Revision): Answer {
    return { result: encodeResult(method, result, revision, this.#ground.endpoint) };
  }

  #discovered(result: Result): Result {
    return toDiscoverResult(result as unknown as Description, this.#ground.supported);
  }

  /** Open until the client cancels, the connection ends or the endpoint closes. */
  async #listen(call: Call, exchange: Exchange): Promise<Result> {
    const { endpoint, limits } = this.#ground;
    const requested = call.params.notifications as Filter;
    const subscription = new Subscription(
      exchange,
      toHonoured(requested, endpoint.describe().capabilities, limits.maxSubscriptions),
    );
    exchange.signal.addEventListener("abort", () => this.#subscriptions.delete(subscription), { once: true });
    if (exchange.signal.aborted) return {};
    // Acknowledged and registered in one turn: no change can come before, none can be missed after.
    subscription.acknowledge();
    this.#subscriptions.add(subscription);
    try {
      return await subscription.ended;
    } finally {
      this.#subscriptions.delete(subscription);
    }
  }

  #toCall(method: Method | undefined, request: Request, exchange: Exchange, client: Caller): Call {
    const { params, meta } = readParams(method, request, client.revision);
    const auth = (exchange.sender as Sender | undefined)?.auth;
    const link = new StatelessLink(this.#ground, exchange, client, meta[metaKeys.logLevel] as LogLevel | undefined);
    return { method: request.method, params, meta, id: request.id, client, auth, link };
  }
}

class StatelessLink implements Link {
  readonly #ground: Ground;
  readonly #exchange: Exchange;
  readonly #client: Caller;
  readonly #logLevel: LogLevel | undefined;

  constructor(ground: Ground, exchange: Exchange, client: Caller, logLevel: LogLevel | undefined) {
    this.#ground = ground;
    this.#exchange = exchange;
    this.#client = client;
    this.#logLevel = logLevel;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  notify(name: string, params: JsonObject): void {
    const method = methodIn(name, this.#client.revision, "server");
    // A notification that no revision defines is the application's own; one that only others define is not sent.
    if (!method && findMethod(name)) return;
    this.#exchange.notify(name, method ? reviseNotification(method, params, this.#client.revision) : params);
  }

  /** Only a request that names a level gets log messages, and only its own. */
  wantsLog(level: LogLevel): boolean {
    if (!this.#logLevel || !hasCapability(this.#ground.endpoint.describe().capabilities, "logging")) return false;
    return logLevels.indexOf(level) >= logLevels.indexOf(this.#logLevel);
  }

  ask(ask: Ask): Promise<JsonObject> {
    return askNowhere(this.#client, ask);
  }
}
