// The stateless era on the serving side: every request is complete in itself, and nothing is remembered between two.
// Only open listen requests are held, as long as they are open. Specification: basic of 2026-07-28.
import type { Answer, Exchange } from "../../jsonrpc/exchange.ts";
import type { JsonObject, Request } from "../../jsonrpc/message.ts";
import { addMembers } from "../../util/members.ts";
import { isThenable } from "../../util/thenable.ts";
import { hasCapability } from "../capabilities.ts";
import type { Ask, Call, Description, Result } from "../endpoint.ts";
import type { Era, Ground } from "../era.ts";
import { methodNotFound, toErrorObject, toSeen } from "../errors.ts";
import { type LinkEnds, toCall } from "../link.ts";
import { metaKeys, metaOf } from "../meta.ts";
import { findMethod, type Method, requestIn } from "../methods.ts";
import type { LogLevel } from "../model.ts";
import { assertResult, toToolFault } from "../revise.ts";
import { factsOf, isRevision, type Revision } from "../revisions.ts";
import { encodeResult, readCaller, toDiscoverResult } from "./codec.ts";
import type { Round } from "./replay.ts";
import type { Filter, Subscription, Told, Watch } from "./watch.ts";

/** Made for every call: quicker than what copies more than JSON. */
function toCopy<T>(value: T): T {
  if (typeof value !== "object" || !value) return value;
  if (Array.isArray(value)) return value.map(toCopy) as T;
  return addMembers({}, value as JsonObject, undefined, toCopy) as T;
}

/** What only a client that begins in the wrong way is told. */
const loadRefusals = () => import("../refusals.ts");

let watching: Promise<typeof import("./watch.ts")> | undefined;

/** What only listen requests take, for all by one promise: they go on in their order. What changes meanwhile is kept for them. */
function loadWatching({ subscriptions }: Watch, missed: Told[]): Promise<typeof import("./watch.ts")> {
  const early: Subscription = { size: 0, changed: (change) => missed.push(change), end() {} };
  subscriptions.add(early);
  watching ??= import("./watch.ts");
  return watching.finally(() => subscriptions.delete(early));
}

export function openStateless(ground: Ground): Era {
  const { endpoint, oneStream, supported, limits } = ground;
  const spoken = supported.filter((revision) => factsOf(revision).era === "stateless");
  const subscriptions = new Set<Subscription>();
  const isDeclared = (path: string): boolean => hasCapability(endpoint.describe().capabilities, path);
  const { maxSubscriptions } = limits;
  const watch: Watch = { subscriptions, oneStream, maxSubscriptions, isDeclared, isClosing: false };

  return {
    request: (request, exchange) => new Turn(ground, spoken, watch, request, exchange).answer(),

    // Nothing but cancellation concerns this era, and that is the same in both.
    notification() {},

    changed(change) {
      for (const subscription of subscriptions) subscription.changed(change);
    },

    close() {
      watch.isClosing = true;
      for (const subscription of subscriptions) subscription.end(oneStream);
    },
  };
}

/** One request while it is answered. It waits for nothing but what must be waited for: most calls are quick. */
class Turn implements LinkEnds {
  readonly #ground: Ground;
  readonly #spoken: readonly Revision[];
  readonly #watch: Watch;
  readonly #request: Request;
  readonly #exchange: Exchange;
  /** An error about the version itself is written as the newest revision writes it. */
  #revision: Revision;
  #method: Method | undefined;
  #call: Call | undefined;
  /** What only asking takes is loaded when somebody asks. */
  #opening: Promise<Round> | undefined;

  constructor(ground: Ground, spoken: readonly Revision[], watch: Watch, request: Request, exchange: Exchange) {
    this.#ground = ground;
    this.#spoken = spoken;
    this.#watch = watch;
    this.#request = request;
    this.#exchange = exchange;
    this.#revision = spoken[0] ?? "2026-07-28";
  }

  answer(): Answer | Promise<Answer> {
    const { endpoint, supported } = this.#ground;
    const { method: name, params } = this.#request;
    try {
      const meta = metaOf(params);
      const requested = meta[metaKeys.protocolVersion];
      if (!isRevision(requested) || !this.#spoken.includes(requested))
        return this.#refuse(({ unspoken }) => unspoken(metaKeys.protocolVersion, requested, supported));
      this.#revision = requested;
      const caller = readCaller(meta, requested);
      if (!caller) return this.#refuse(({ undeclared }) => undeclared(metaKeys.clientCapabilities));
      const method = requestIn(name, requested);
      this.#method = method;
      const isMissing = method
        ? method.needs && !this.#watch.isDeclared(method.needs)
        : findMethod(name) || !endpoint.handles(name);
      if (isMissing) throw methodNotFound(name);
      // Before anybody can change them: a call that goes on is bound to what the client sent.
      const call = toCall(method, this.#request, this.#exchange, caller, this, method?.asks ? toCopy : undefined);
      this.#call = call;
      if (name === "subscriptions/listen") return this.#listen(call);
      const isRetry = method?.asks && (call.params.requestState ?? call.params.inputResponses) !== undefined;
      return isRetry ? this.#retry() : this.#run(call);
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** Only a request that names a level gets log messages, and only its own. */
  logLevel(): LogLevel | undefined {
    const isLogged = this.#watch.isDeclared("logging");
    return isLogged ? (metaOf(this.#request.params)[metaKeys.logLevel] as LogLevel | undefined) : undefined;
  }

  async ask(ask: Ask): Promise<JsonObject> {
    return (await this.#round()).ask(ask);
  }

  async step(name: string, run: () => unknown, exchange: Exchange): Promise<unknown> {
    return (await this.#round()).step(name, run, exchange);
  }

  #round(): Promise<Round> {
    const call = this.#call as Call;
    // Answers before the handler is done.
    const giveUp = () => this.#settle({}).then((answer) => this.#exchange.answer(answer));
    this.#opening ??= import("./replay.ts").then(({ openRound }) =>
      openRound(this.#ground, call, this.#method, call.sent ?? call.params, () => void giveUp().catch(() => {})),
    );
    return this.#opening;
  }

  async #retry(): Promise<Answer> {
    try {
      const { call } = await this.#round();
      return await this.#run(call);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #run(call: Call): Answer | Promise<Answer> {
    const given = this.#ground.endpoint.call(call);
    if (!isThenable(given)) return this.#conclude(given);
    return Promise.resolve(given).then(
      (result) => this.#conclude(result),
      (error) => this.#miss(error),
    );
  }

  /** No result: a round that was opened ends all the same. */
  #miss(error: unknown): Answer | Promise<Answer> {
    return this.#opening ? this.#settle({}, { error }) : this.#fail(error);
  }

  /** A call in which somebody asked is settled by its round. */
  #conclude(result: Result): Answer | Promise<Answer> {
    try {
      assertResult(result, this.#request.method);
      const isAsking = this.#opening || result.resultType === "input_required";
      return isAsking ? this.#settle(result) : this.#encode(result);
    } catch (error) {
      return this.#miss(error);
    }
  }

  async #settle(result: Result, failure?: { readonly error: unknown }): Promise<Answer> {
    try {
      return this.#encode(await (await this.#round()).settle(result, failure));
    } catch (error) {
      return this.#fail(error);
    }
  }

  async #listen(call: Call): Promise<Answer> {
    const { endpoint } = this.#ground;
    const [method, revision, watch] = [this.#method, this.#revision, this.#watch];
    // Open for days, maybe: it holds on to nothing of the request but what it watches.
    let listening: Promise<Result>;
    try {
      const wanted = call.params.notifications as Filter;
      const missed: Told[] = [];
      const watching = await loadWatching(watch, missed);
      // Before anybody looks for each of the resources.
      watching.assertFew(wanted, watch);
      const result = await endpoint.call(call);
      // Nothing of it is no leave to hear all that was asked for.
      assertResult(result, call.method);
      const tag = { [metaKeys.subscriptionId]: this.#exchange.id };
      listening = watching.listen(watch, this.#exchange, { ...wanted, ...result }, tag, missed);
    } catch (error) {
      return this.#fail(error);
    }
    return listening.then((result) => ({ result: encodeResult(method, result, revision, endpoint) }));
  }

  #encode(result: Result): Answer {
    const { endpoint, supported } = this.#ground;
    const isDiscovery = this.#method?.name === "server/discover";
    const told = isDiscovery ? toDiscoverResult(result as unknown as Description, supported) : result;
    return { result: encodeResult(this.#method, told, this.#revision, endpoint) };
  }

  async #refuse(toError: (refusals: Awaited<ReturnType<typeof loadRefusals>>) => unknown): Promise<Answer> {
    return this.#fail(toError(await loadRefusals()));
  }

  #fail(thrown: unknown): Answer {
    const error = toSeen(thrown);
    const { endpoint } = this.#ground;
    const { method } = this.#request;
    const { ended } = this.#exchange;
    const fault = toToolFault(error, this.#method, this.#revision);
    if (fault) return { result: encodeResult(this.#method, fault, this.#revision, endpoint) };
    return { error: toErrorObject(error, this.#revision, (hidden) => endpoint.report(hidden, { method, ended })) };
  }
}
