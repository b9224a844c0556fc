// The sessioned era on the serving side: the handshake, then calls in the session that it opened.
// Specification: basic/lifecycle of 2024-11-05 to 2025-11-25.
import type { Exchange } from "../../jsonrpc/exchange.ts";
import type { JsonObject, Request } from "../../jsonrpc/message.ts";
import { hasCapability } from "../capabilities.ts";
import type { Call, Caller, Description } from "../endpoint.ts";
import type { Era, Ground } from "../era.ts";
import { McpError, methodNotFound, toErrorObject } from "../errors.ts";
import { type LinkEnds, toCall } from "../link.ts";
import { findMethod, isIn, type Method, requestIn } from "../methods.ts";
import type { ClientCapabilities, Implementation, LogLevel } from "../model.ts";
import { toToolFault } from "../revise.ts";
import { factsOf, isRevision, type Revision } from "../revisions.ts";
import { encodeResult, toInitializeResult } from "./codec.ts";
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

/** The era for one connection, and what its handshake agreed on. */
export interface SessionedEra extends Era {
  revision(): Revision | undefined;
}

/** @param unbound no handshake comes before the calls, which are of this revision: nothing is known of the client */
export function openSessioned({ endpoint, connection, supported, limits }: Ground, unbound?: Revision): SessionedEra {
  const offered = supported.filter((revision) => factsOf(revision).era === "sessioned");
  let session = unbound && toSession(toCaller(undefined, unbound), endpoint.describe());
  let isOpening = false;

  const ends: LinkEnds = {
    logLevel: () => (session && hasCapability(session.capabilities, "logging") ? session.logLevel : undefined),
    async ask(ask, exchange) {
      const { askClient } = await loadAsking();
      return askClient(connection, session, ask, exchange, limits.askTimeoutMs);
    },
    step: async (...step) => (await loadAsking()).runStep(...step),
  };

  async function initialize(method: Method, request: Request, exchange: Exchange): Promise<JsonObject> {
    if (session || isOpening) throw (await loadRefusals()).initialized();
    const [newest] = offered;
    const asked = request.params?.protocolVersion;
    if (newest === undefined) throw (await loadRefusals()).noHandshake(supported, asked);
    // A version we lack is no error: the newest we have is offered instead, and the client decides.
    const revision = isRevision(asked) && offered.includes(asked) ? asked : newest;
    isOpening = true;
    try {
      const call = toCall(method, request, exchange, toCaller(request.params, revision), ends);
      const description = (await endpoint.call(call)) as unknown as Description;
      const result = encodeResult(method, toInitializeResult(description, revision), revision) as JsonObject;
      // A cancelled or cut-off handshake opens nothing.
      if (exchange.ended) return result;
      session = toSession(call.client, description);
      return result;
    } finally {
      isOpening = false;
    }
  }

  /** What a call that went well changes in the session. */
  function after(current: Session, { method, params }: Call): void {
    const uri = params.uri as string;
    if (method === "logging/setLevel") current.logLevel = params.level as LogLevel;
    else if (method === "resources/subscribe") subscribe(current, uri, limits.maxSubscriptions);
    else if (method === "resources/unsubscribe") current.subscriptions.delete(uri);
  }

  return {
    revision: () => session?.revision,

    async request(request, exchange) {
      const current = session;
      // Until a handshake has chosen, errors are written as the newest revision writes them.
      const revision = current?.revision ?? offered[0] ?? "2025-11-25";
      const method = requestIn(request.method, revision);
      try {
        if (method?.name === "initialize") return { result: await initialize(method, request, exchange) };
        // A method of the other era comes here only where that era is not spoken: a client that probes hears so.
        const known = findMethod(request.method);
        if (known && !offered.some((spoken) => isIn(known, spoken))) throw methodNotFound(request.method);
        if (!current && method?.name !== "ping")
          throw (await loadRefusals()).uninitialized(request, supported, offered);
        const isMissing = method
          ? method.needs && !(current && hasCapability(current.capabilities, method.needs))
          : known || !endpoint.handles(request.method);
        if (isMissing) throw methodNotFound(request.method);
        const call = toCall(method, request, exchange, current?.client ?? toCaller(undefined, revision), ends);
        let result = await endpoint.call(call);
        if (result.resultType === "input_required" && method?.asks && !endpoint.handles(method.name))
          result = await (await loadAsking()).runRounds(call, result, (next) => endpoint.call(next));
        // What was cancelled meanwhile leaves no trace.
        if (current && !exchange.ended) after(current, call);
        return { result: encodeResult(method, result, revision) };
      } catch (error) {
        const fault = toToolFault(error, method, revision);
        if (current && error instanceof McpError && error.code === "elicitation_required")
          (await loadAsking()).rememberPages(current, error);
        return fault
          ? { result: fault }
          : { error: toErrorObject(error, revision, (hidden) => endpoint.report(hidden, request)) };
      }
    },

    notification({ method }) {
      if (session && method === "notifications/roots/list_changed") session.roots = {};
      if (method !== "notifications/initialized" || !session) return;
      session.initialized = true;
      for (const go of session.waiting) go();
      session.waiting.clear();
    },

    changed(change) {
      if (change.kind === "elicitation")
        void loadAsking().then(({ tellPage }) => tellPage(connection, session, change));
      else if (session) tellChange(connection, session, change);
    },

    close() {
      session = undefined;
    },
  };
}

function toSession(client: Caller, { capabilities, logLevel }: Description): Session {
  return {
    revision: client.revision,
    client,
    capabilities,
    subscriptions: new Set(),
    pages: new Set(),
    roots: {},
    logLevel,
    initialized: false,
    waiting: new Set(),
  };
}

/** Who the handshake says that it is. Read before its params are checked, used after. */
function toCaller(params: JsonObject | undefined, revision: Revision): Caller {
  const capabilities = (params?.capabilities ?? {}) as ClientCapabilities;
  return { info: params?.clientInfo as Implementation | undefined, capabilities, revision };
}
