// The stateless era on the serving side: every request is complete in itself, and nothing is remembered between two.
// Only open listen requests are held, as long as they are open. Specification: basic of 2026-07-28.
import type { Answer } from "../../jsonrpc/connection.ts";
import { hasCapability } from "../capabilities.ts";
import type { Description, Result } from "../endpoint.ts";
import type { Era, Ground } from "../era.ts";
import { methodNotFound, toErrorObject } from "../errors.ts";
import { toCall } from "../link.ts";
import { metaKeys, metaOf } from "../meta.ts";
import { findMethod, type Method, requestIn } from "../methods.ts";
import type { LogLevel } from "../model.ts";
import { toToolFault } from "../revise.ts";
import { factsOf, isRevision, type Revision } from "../revisions.ts";
import { encodeResult, readCaller, toDiscoverResult } from "./codec.ts";
import type { Round } from "./replay.ts";
import type { Filter, Subscription, Told, Watch } from "./watch.ts";

/** Made for every call: quicker than what copies more than JSON. */
function toCopy<T>(value: T): T {
  if (typeof value !== "object" || !value) return value;
  if (Array.isArray(value)) return value.map(toCopy) as T;
  const copy = { ...value };
  for (const name in copy) copy[name] = toCopy(copy[name]);
  return copy;
}

/** What only a client that begins in the wrong way is told. */
const loadRefusals = () => import("../refusals.ts");

/** What only listen requests take. What changes while it is loaded is kept for them. */
function loadWatching({ subscriptions }: Watch, missed: Told[]): Promise<typeof import("./watch.ts")> {
  const early: Subscription = { size: 0, changed: (change) => missed.push(change), end() {} };
  subscriptions.add(early);
  return import("./watch.ts").finally(() => subscriptions.delete(early));
}

export function openStateless(ground: Ground): Era {
  const { endpoint, oneStream, supported, limits } = ground;
  const spoken = supported.filter((revision) => factsOf(revision).era === "stateless");
  const subscriptions = new Set<Subscription>();
  const isDeclared = (path: string): boolean => hasCapability(endpoint.describe().capabilities, path);
  const { maxSubscriptions } = limits;
  const watch: Watch = { subscriptions, oneStream, maxSubscriptions, isDeclared, isClosing: false };
  const encode = (method: Method | undefined, result: Result, revision: Revision): Answer => ({
    result: encodeResult(method, result, revision, endpoint),
  });

  return {
    async request(request, exchange) {
      // An error about the version itself is written as the newest revision writes it.
      let revision: Revision = spoken[0] ?? "2026-07-28";
      let method: Method | undefined;
      // Open for days, maybe: it holds on to nothing of the request but what it watches.
      let listening: Promise<Result>;
      const about = { method: request.method };
      try {
        const meta = metaOf(request.params);
        const requested = meta[metaKeys.protocolVersion];
        if (!isRevision(requested) || !spoken.includes(requested))
          throw (await loadRefusals()).unspoken(metaKeys.protocolVersion, requested, supported);
        revision = requested;
        const caller = readCaller(meta, revision);
        if (!caller) throw (await loadRefusals()).undeclared(metaKeys.clientCapabilities);
        method = requestIn(request.method, revision);
        const isMissing = method
          ? method.needs && !isDeclared(method.needs)
          : findMethod(request.method) || !endpoint.handles(request.method);
        if (isMissing) throw methodNotFound(request.method);
        // What only asking takes is loaded when somebody asks.
        let opening: Promise<Round> | undefined;
        let giveUp: (result: Result) => void;
        const round = (): Promise<Round> => {
          opening ??= import("./replay.ts").then(({ openRound }) =>
            openRound(ground, call, method, sent, () => giveUp({})),
          );
          return opening;
        };
        let call = toCall(method, request, exchange, caller, {
          // Only a request that names a level gets log messages, and only its own.
          logLevel: () => (isDeclared("logging") ? (meta[metaKeys.logLevel] as LogLevel | undefined) : undefined),
          ask: async (ask) => (await round()).ask(ask),
          step: async (...step) => (await round()).step(...step),
        });
        // Before anybody can change them: a call that goes on is bound to what the client sent.
        const sent = method?.asks ? toCopy(call.params) : call.params;
        call = { ...call, sent };
        if (method?.asks && (call.params.requestState ?? call.params.inputResponses) !== undefined)
          call = (await round()).call;
        const wanted = call.params.notifications as Filter;
        const missed: Told[] = [];
        const watching = method?.name === "subscriptions/listen" ? await loadWatching(watch, missed) : undefined;
        // Before anybody looks for each of the resources.
        watching?.assertFew(wanted, watch);
        let result: Result = {};
        let failure: { readonly error: unknown } | undefined;
        try {
          result = await new Promise<Result>((resolve, reject) => {
            giveUp = resolve;
            Promise.resolve(endpoint.call(call)).then(resolve, reject);
          });
        } catch (error) {
          if (!opening) throw error;
          failure = { error };
        }
        if (opening || result.resultType === "input_required") result = await (await round()).settle(result, failure);
        if (method?.name === "server/discover") result = toDiscoverResult(result as unknown as Description, supported);
        if (!watching) return encode(method, result, revision);
        const tag = { [metaKeys.subscriptionId]: exchange.id };
        listening = watching.listen(watch, exchange, { ...wanted, ...result }, tag, missed);
      } catch (error) {
        const fault = toToolFault(error, method, revision);
        if (fault) return encode(method, fault, revision);
        return { error: toErrorObject(error, revision, (hidden) => endpoint.report(hidden, about)) };
      }
      return listening.then((result) => encode(method, result, revision));
    },

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
