// The sessioned era on the serving side: the handshake, then calls in the session that it opened.
// Specification: basic/lifecycle of 2024-11-05 to 2025-11-25.
import type { Connection } from "../../jsonrpc/connection.ts";
import type { Answer, Exchange } from "../../jsonrpc/exchange.ts";
import type { JsonObject, Notification, Request } from "../../jsonrpc/message.ts";
import { isThenable } from "../../util/thenable.ts";
import { hasCapability } from "../capabilities.ts";
import type { Ask, Call, Caller, Change, Description, Result } from "../endpoint.ts";
import type { Era, SessionedGround } from "../era.ts";
import { McpError, methodNotFound, toErrorObject, toSeen } from "../errors.ts";
import { type LinkEnds, toCall } from "../link.ts";
import { findMethod, isIn, type Method, requestIn } from "../methods.ts";
import type { ClientCapabilities, Implementation, LogLevel } from "../model.ts";
import { assertResult, toToolFault } from "../revise.ts";
import { isRevision, type Revision } from "../revisions.ts";
import { encodeResult, loadWrapping } from "./codec.ts";
import type { Session } from "./session.ts";
import { subscribe, tellChange } from "./watch.ts";

let asking: Promise<typeof import("./ask.ts")> | undefined;

/** What only asking takes. One promise: who comes first goes on first, and a page is known before it is dealt with. */
function loadAsking(): NonNullable<typeof asking> {
  asking ??= import("./ask.ts");
  return asking;
}

/** What only a client that begins in the wrong way is told. */
const loadRefusals = () => import("../refusals.ts");

/** The era for one connection: its session, once a handshake has opened one. */
export class Sessioned implements Era, LinkEnds {
  readonly #ground: SessionedGround;
  readonly #connection: Connection;
  #session: Session | undefined;
  #isOpening = false;

  /** @param unbound no handshake comes before the calls, which are of this revision: nothing is known of the client */
  constructor(ground: SessionedGround, connection: Connection, unbound?: Revision) {
    this.#ground = ground;
    this.#connection = connection;
    this.#session = unbound && toSession(toCaller(undefined, unbound), ground.endpoint.describe());
  }

  /** What the handshake agreed on. */
  get revision(): Revision | undefined {
    return this.#session?.revision;
  }

  request(request: Request, exchange: Exchange): Answer | Promise<Answer> {
    const { endpoint, offered } = this.#ground;
    const session = this.#session;
    // Until a handshake has chosen, errors are written as the newest revision writes them.
    const revision = session?.revision ?? offered[0] ?? "2025-11-25";
    const method = requestIn(request.method, revision);
    const run: Run = { method, request, exchange, revision, session };
    try {
      if (method?.name === "initialize") return this.#initialize(method, run);
      if ((!method || offered.length === 0) && isForeign(request.method, offered)) throw methodNotFound(request.method);
      if (!session && method?.name !== "ping")
        return this.#refuse(({ uninitialized }) => uninitialized(request, this.#ground.supported, offered), run);
      const isMissing = method
        ? method.needs && !(session && hasCapability(session.capabilities, method.needs))
        : findMethod(request.method) || !endpoint.handles(request.method);
      if (isMissing) throw methodNotFound(request.method);
      const call = toCall(method, request, exchange, session?.client ?? toCaller(undefined, revision), this);
      const given = endpoint.call(call);
      // What is here already needs no promise.
      return isThenable(given) || given?.resultType === "input_required"
        ? this.#wait(given, call, run)
        : this.#finish(given, call, run);
    } catch (error) {
      return this.#fail(error, run);
    }
  }

  notification({ method }: Notification): void {
    const session = this.#session;
    if (session && method === "notifications/roots/list_changed") session.roots = undefined;
    if (method !== "notifications/initialized" || !session) return;
    session.initialized = true;
    for (const go of session.waiting ?? []) go();
    session.waiting = undefined;
  }

  changed(change: Exclude<Change, { kind: "closing" }>): void {
    const session = this.#session;
    if (change.kind === "elicitation")
      void loadAsking().then(({ tellPage }) => tellPage(this.#connection, this.#session, change));
    else if (session) tellChange(this.#connection, session, change);
  }

  close(): void {
    this.#session = undefined;
  }

  logLevel(): LogLevel | undefined {
    const session = this.#session;
    return session && hasCapability(session.capabilities, "logging") ? session.logLevel : undefined;
  }

  async ask(ask: Ask, exchange: Exchange): Promise<JsonObject> {
    const { askClient } = await loadAsking();
    return askClient(this.#connection, this.#session, ask, exchange, this.#ground.limits.askTimeoutMs);
  }

  async step(...step: Parameters<LinkEnds["step"]>): Promise<unknown> {
    return (await loadAsking()).runStep(...step);
  }

  #initialize(method: Method, run: Run): Answer | Promise<Answer> {
    const { endpoint, supported, offered } = this.#ground;
    const { request, exchange } = run;
    if (this.#session || this.#isOpening) return this.#refuse(({ initialized }) => initialized(), run);
    const [newest] = offered;
    const asked = request.params?.protocolVersion;
    if (newest === undefined) return this.#refuse(({ noHandshake }) => noHandshake(supported, asked), run);
    // A version we lack is no error: the newest we have is offered instead, and the client decides.
    const revision = isRevision(asked) && offered.includes(asked) ? asked : newest;
    const call = toCall(method, request, exchange, toCaller(request.params, revision), this);
    const given = endpoint.call(call);
    if (!isThenable(given)) return this.#open(given, call, method);
    this.#isOpening = true;
    const opening = Promise.resolve(given)
      .then((result) => this.#open(result, call, method))
      .finally(() => {
        this.#isOpening = false;
      });
    return this.#settle(opening, run);
  }

  #open(given: Result, { client, link }: Call, method: Method): Answer {
    assertResult(given, method.name);
    const result = encodeResult(method, given, client.revision) as JsonObject;
    // A cancelled or cut-off handshake opens nothing.
    if (!link.ended) this.#session = toSession(client, given as unknown as Description);
    return { result };
  }

  #refuse(say: (refusals: Awaited<ReturnType<typeof loadRefusals>>) => McpError, run: Run): Promise<Answer> {
    const refusing = loadRefusals().then((refusals) => {
      throw say(refusals);
    });
    return this.#settle(refusing, run);
  }

  async #wait(given: Result | PromiseLike<Result>, call: Call, run: Run): Promise<Answer> {
    const { endpoint } = this.#ground;
    try {
      let result = await given;
      if (result?.resultType === "input_required" && run.method?.asks && !endpoint.handles(run.method.name))
        result = await (await loadAsking()).runRounds(call, result, (next) => endpoint.call(next));
      return this.#finish(result, call, run);
    } catch (error) {
      return this.#fail(error, run);
    }
  }

  #settle(answer: Promise<Answer>, run: Run): Promise<Answer> {
    return answer.catch((error) => this.#fail(error, run));
  }

  #finish(result: Result, { params }: Call, run: Run): Answer | Promise<Answer> {
    const { method, request, exchange, revision, session } = run;
    assertResult(result, request.method);
    // What a call that went well changes in the session. One that was cancelled meanwhile leaves no trace.
    if (session && !exchange.ended) {
      const uri = params.uri as string;
      if (method?.name === "logging/setLevel") session.logLevel = params.level as LogLevel;
      else if (method?.name === "resources/subscribe") subscribe(session, uri, this.#ground.limits.maxSubscriptions);
      else if (method?.name === "resources/unsubscribe") session.subscriptions?.delete(uri);
    }
    const encoded = encodeResult(method, result, revision);
    return encoded ? { result: encoded } : this.#settle(this.#wrap(result, run), run);
  }

  async #wrap(result: Result, { method, revision }: Run): Promise<Answer> {
    await loadWrapping();
    return { result: encodeResult(method, result, revision) as JsonObject };
  }

  #fail(thrown: unknown, run: Run): Answer | Promise<Answer> {
    const error = toSeen(thrown);
    const { endpoint } = this.#ground;
    const { method, revision, session } = run;
    const about = { method: run.request.method, ended: run.exchange.ended };
    const fault = toToolFault(error, method, revision);
    const answer = fault
      ? { result: fault }
      : { error: toErrorObject(error, revision, (hidden) => endpoint.report(hidden, about)) };
    if (!session || !(error instanceof McpError) || error.code !== "elicitation_required") return answer;
    return loadAsking().then(({ rememberPages }) => {
      rememberPages(session, error);
      return answer;
    });
  }
}

/** A request at work. */
interface Run {
  readonly method: Method | undefined;
  readonly request: Request;
  readonly exchange: Exchange;
  readonly revision: Revision;
  readonly session: Session | undefined;
}

/** A method of the other era comes here only where that era is not spoken: a client that probes hears so. */
function isForeign(name: string, offered: readonly Revision[]): boolean {
  const known = findMethod(name);
  return known !== undefined && !offered.some((spoken) => isIn(known, spoken));
}

function toSession(client: Caller, { capabilities, logLevel }: Description): Session {
  return {
    revision: client.revision,
    client,
    capabilities,
    subscriptions: undefined,
    pages: undefined,
    roots: undefined,
    logLevel,
    initialized: false,
    waiting: undefined,
  };
}

/** Who the handshake says that it is. Read before its params are checked, used after. */
function toCaller(params: JsonObject | undefined, revision: Revision): Caller {
  const capabilities = (params?.capabilities ?? {}) as ClientCapabilities;
  return { info: params?.clientInfo as Implementation | undefined, capabilities, revision };
}
