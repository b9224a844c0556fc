// The sessioned era on the serving side: the handshake, then calls in the session that it opened.
// Specification: basic/lifecycle of 2024-11-05 to 2025-11-25.
import type { Answer, Exchange } from "../../jsonrpc/connection.ts";
import type { JsonObject, Notification, Request } from "../../jsonrpc/message.ts";
import { quote } from "../../util/quote.ts";
import { hasCapability } from "../capabilities.ts";
import type { Ask, Call, Caller, Change, Description, Link, Result, Sender } from "../endpoint.ts";
import type { Era, Ground } from "../era.ts";
import { isTellable, McpError, methodNotFound, toErrorObject } from "../errors.ts";
import { findMethod, type Method, methodIn } from "../methods.ts";
import { type ClientCapabilities, type Implementation, type LogLevel, logLevels } from "../model.ts";
import { readParams, reviseNotification, toToolFault } from "../revise.ts";
import { factsOf, isRevision, type Revision } from "../revisions.ts";
import { askClient } from "./ask.ts";
import { encodeResult, toInitializeResult } from "./codec.ts";
import { createSession, type Session } from "./session.ts";
import { subscribe, tellChange } from "./watch.ts";

/** The era for one connection; `Era` and the session it has opened. */
export class SessionedEra implements Era {
  readonly #ground: Ground;
  readonly #offered: readonly Revision[];
  #session: Session | undefined;
  #opening = false;

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#offered = ground.supported.filter((revision) => factsOf(revision).era === "sessioned");
  }

  /** What was agreed, once it was. */
  get revision(): Revision | undefined {
    return this.#session?.revision;
  }

  async request(request: Request, exchange: Exchange): Promise<Answer> {
    // Until a handshake has chosen, errors are written as the newest revision writes them.
    const revision = this.#session?.revision ?? this.#offered[0] ?? "2025-11-25";
    const method = methodIn(request.method, revision, "client");
    try {
      if (method?.name === "initialize") return { result: await this.#initialize(method, request, exchange) };
      // A method of the other era comes here only where that era is not spoken: a client that probes hears so.
      if (isStatelessOnly(request.method)) throw methodNotFound(request.method);
      if (!this.#session && method?.name !== "ping") throw this.#uninitialized(request);
      const session = this.#session;
      if (!method && (findMethod(request.method) || !this.#ground.endpoint.handles(request.method)))
        throw methodNotFound(request.method);
      if (method?.needs && !(session && hasCapability(session.capabilities, method.needs)))
        throw methodNotFound(request.method);
      const call = this.#toCall(method, request, exchange, revision);
      const result = await this.#ground.endpoint.call(call);
      if (session && method) this.#after(session, call);
      return { result: encodeResult(method, result, revision) };
    } catch (error) {
      const fault = toToolFault(error, method, revision);
      if (fault) return { result: fault };
      const masked = !(error instanceof McpError) || !isTellable(error);
      const errorId = masked ? this.#ground.endpoint.report(error, request) : undefined;
      return { error: toErrorObject(error, revision, errorId) };
    }
  }

  notification(notification: Notification): void {
    const session = this.#session;
    if (notification.method === "notifications/initialized" && session) {
      session.initialized = true;
      session.ready.resolve();
    }
  }

  changed(change: Exclude<Change, { kind: "closing" }>): void {
    if (this.#session) tellChange(this.#ground.connection, this.#session, change);
  }

  close(): void {
    this.#session = undefined;
  }

  async #initialize(method: Method, request: Request, exchange: Exchange): Promise<JsonObject> {
    if (this.#session || this.#opening)
      throw new McpError("invalid_request", "Invalid request: this session is initialized already");
    const newest = this.#offered[0];
    const asked = request.params?.protocolVersion;
    if (newest === undefined) {
      const supported = this.#ground.supported;
      throw new McpError(
        "unsupported_version",
        `This server speaks ${supported.join(", ")}, which have no initialize`,
        {
          data: { supported, requested: typeof asked === "string" ? asked : "" },
        },
      );
    }
    // A version we lack is no error: the newest we have is offered instead, and the client decides.
    const revision = isRevision(asked) && this.#offered.includes(asked) ? asked : newest;
    this.#opening = true;
    try {
      const call = this.#toCall(method, request, exchange, revision);
      const description = (await this.#ground.endpoint.call(call)) as unknown as Description;
      const result = encodeResult(method, toInitializeResult(description, revision), revision) as Result;
      // A cancelled or cut-off handshake opens nothing.
      if (!exchange.ended) this.#session = createSession(call.client, description.capabilities, description.logLevel);
      return result;
    } finally {
      this.#opening = false;
    }
  }

  #toCall(method: Method | undefined, request: Request, exchange: Exchange, revision: Revision): Call {
    const { params, meta } = readParams(method, request, revision);
    const client = this.#session?.client ?? toCaller(params, revision);
    const auth = (exchange.sender as Sender | undefined)?.auth;
    const link = new SessionedLink(this.#ground, this.#session, exchange, revision);
    return { method: request.method, params, meta, id: request.id, client, auth, link };
  }

  /** What a call that went well changes in the session. */
  #after(session: Session, call: Call): void {
    if (call.method === "logging/setLevel") session.logLevel = call.params.level as LogLevel;
    else if (call.method === "resources/subscribe") {
      subscribe(session, call.params.uri as string, this.#ground.limits.maxSubscriptions);
    } else if (call.method === "resources/unsubscribe") session.subscriptions.delete(call.params.uri as string);
  }

  #uninitialized(request: Request): McpError {
    const modern = this.#ground.supported.some((revision) => factsOf(revision).era === "stateless");
    const remedy = modern
      ? ', or put "io.modelcontextprotocol/protocolVersion" and "…/clientCapabilities" into params._meta'
      : "";
    return new McpError(
      "incomplete_meta",
      `${quote(request.method)} came before the session was opened: send initialize first${remedy}`,
      {
        data: { supported: this.#ground.supported },
      },
    );
  }
}

class SessionedLink implements Link {
  readonly #ground: Ground;
  readonly #session: Session | undefined;
  readonly #exchange: Exchange;
  readonly #revision: Revision;

  constructor(ground: Ground, session: Session | undefined, exchange: Exchange, revision: Revision) {
    this.#ground = ground;
    this.#session = session;
    this.#exchange = exchange;
    this.#revision = revision;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  notify(name: string, params: JsonObject): void {
    const method = methodIn(name, this.#revision, "server");
    // A notification that no revision defines is the application's own; one that only others define is not sent.
    if (!method && findMethod(name)) return;
    this.#exchange.notify(name, method ? reviseNotification(method, params, this.#revision) : params);
  }

  wantsLog(level: LogLevel): boolean {
    const session = this.#session;
    if (!session || !hasCapability(session.capabilities, "logging")) return false;
    return logLevels.indexOf(level) >= logLevels.indexOf(session.logLevel);
  }

  ask(ask: Ask): Promise<JsonObject> {
    if (!this.#session) throw new McpError("missing_capability", `${ask.method} needs an open session`);
    return askClient(this.#ground.connection, this.#session, ask, {
      about: this.#exchange.id,
      signal: this.signal,
      timeoutMs: this.#ground.limits.askTimeoutMs,
    });
  }
}

function isStatelessOnly(name: string): boolean {
  const method = findMethod(name);
  return method !== undefined && factsOf(method.since).era === "stateless";
}

function toCaller(params: JsonObject, revision: Revision): Caller {
  const capabilities = (params.capabilities ?? {}) as ClientCapabilities;
  return { info: params.clientInfo as Implementation | undefined, capabilities, revision };
}
