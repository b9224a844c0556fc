// The stateless era on the calling side: every request says who asks, in which revision and with which capabilities.
// A result that asks for input is answered and the request sent again; changes come on a listen request.
// Specification: basic of 2026-07-28, basic/patterns/mrtr, basic/patterns/subscriptions.
import { isObject, isRequestId, type JsonObject, type RequestId } from "../../jsonrpc/message.ts";
import { quote } from "../../util/quote.ts";
import type { Ask } from "../endpoint.ts";
import { McpError, methodNotFound, toErrorObject } from "../errors.ts";
import { metaKeys, metaOf } from "../meta.ts";
import { findMethod, type Method, methodIn } from "../methods.ts";
import type { LogLevel } from "../model.ts";
import { assertOffered, checkResult, createOutgoing, hear, type Outgoing } from "../outgoing.ts";
import type { DialedEra, Remote, RemoteDescription, RemoteGround, RemoteRequestOptions } from "../remote.ts";
import type { Revision } from "../revisions.ts";
import { wireOf } from "../wire/wire.ts";
import { createListening } from "./listen.ts";

/** `_meta` of a request: what makes it complete in itself. */
function toMeta({ info, listener }: RemoteGround, revision: Revision, logLevel?: LogLevel | false): JsonObject {
  return {
    [metaKeys.protocolVersion]: revision,
    [metaKeys.clientCapabilities]: wireOf(revision).fit("ClientCapabilities", listener.capabilities),
    [metaKeys.clientInfo]: wireOf(revision).fit("Info", info),
    ...(logLevel && { [metaKeys.logLevel]: logLevel }),
  };
}

/** Asks a server what it is. Its answer, as it came: whoever probes has to judge it. */
export function discover(ground: RemoteGround, revision: Revision, options: RemoteRequestOptions): Promise<JsonObject> {
  const outgoing = createOutgoing(ground.connection, revision, ground.listener);
  return outgoing.send("server/discover", {}, { ...options.meta, ...toMeta(ground, revision) }, options);
}

/** A discover result that is one, however sparse. Throws McpError `invalid_result`. */
export function readDiscovery(answer: JsonObject, revision: Revision): JsonObject {
  return checkResult(findMethod("server/discover"), complete(findMethod("server/discover"), answer), revision);
}

export function openStatelessRemote(ground: RemoteGround, discovered: JsonObject, revision: Revision): DialedEra {
  const { connection, listener } = ground;
  const description: RemoteDescription = {
    info: metaOf(discovered)[metaKeys.serverInfo] as RemoteDescription["info"],
    capabilities: discovered.capabilities as RemoteDescription["capabilities"],
    instructions: discovered.instructions as string | undefined,
  };
  const { capabilities } = description;
  // Log messages come only to who asks for them, request by request.
  const logLevel = ground.logLevel ?? (ground.readsLog ? "info" : undefined);
  // Made once: it is the same for all requests.
  let base = toMeta(ground, revision, capabilities.logging && logLevel);
  const meta = (own?: JsonObject): JsonObject => (own ? { ...own, ...base } : base);
  const outgoing: Outgoing = createOutgoing(connection, revision, listener);

  async function request(name: string, params: JsonObject, options: RemoteRequestOptions = {}): Promise<JsonObject> {
    assertOffered(name, revision, capabilities);
    const method = methodIn(name, revision, "client");
    let more: JsonObject = {};
    let spentMs = 0;
    for (let round = 0; ; round++) {
      const since = Date.now();
      const result = await outgoing.send(name, { ...params, ...more }, meta(options.meta), left(options, spentMs));
      spentMs += Date.now() - since;
      const { resultType = "complete" } = result;
      if (resultType === "complete") {
        const whole = checkResult(method, complete(method, result), revision);
        // What answers have gone into is for this call alone.
        return round > 0 && method?.cached ? { ...whole, ttlMs: 0, cacheScope: "private" } : whole;
      }
      if (resultType !== "input_required" || !method?.asks) {
        throw new McpError("invalid_result", `${name} was answered with resultType ${quote(String(resultType))}`);
      }
      if (round >= ground.maxRounds) {
        throw new McpError("invalid_result", `${name} still asks for input after ${round} rounds; see maxRounds`);
      }
      more = await gather(method, result, round, options.signal);
    }
  }

  /** The members of the next round: all answers, and the server's state exactly as it came. */
  async function gather(
    method: Method,
    result: JsonObject,
    round: number,
    signal: AbortSignal | undefined,
  ): Promise<JsonObject> {
    checkResult(method, result, revision);
    const { inputRequests, requestState } = result;
    if (inputRequests === undefined && requestState === undefined) {
      throw new McpError("invalid_result", `${method.name} asks for input but does not say for which`);
    }
    const state = requestState === undefined ? undefined : { requestState };
    if (!isObject(inputRequests)) {
      // A server that is busy may want to be asked again. Once at once, then not too often.
      if (round > 0) await pause(Math.min(100 * 2 ** round, 5000), signal);
      return { ...state };
    }
    const stop = new AbortController();
    const all = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    const release = connection.hold();
    try {
      const entries = Object.entries(inputRequests as { readonly [key: string]: Ask });
      const answers = entries.map(async ([key, ask]) => {
        const stem = findMethod(ask.method)?.stem;
        const answer = await listener.answer({ method: ask.method, params: ask.params ?? {} }, revision, all);
        const fitted = wireOf(revision).fit(`${stem}Result`, answer);
        return [key, fitted] as const;
      });
      return { inputResponses: Object.fromEntries(await Promise.all(answers)), ...state };
    } catch (error) {
      // The rest need not be asked any more, and the server waits for nothing.
      stop.abort(error);
      if (signal?.aborted) throw new McpError("aborted", `${method.name} was aborted`, { cause: signal.reason });
      throw error;
    } finally {
      release();
    }
  }

  const listening = createListening({ connection, revision, capabilities, listener, outgoing, meta });

  const remote: Remote = {
    revision,
    isResumable: true,
    hasPing: false,
    description,
    request,
    notify(name, params) {
      if (findMethod(name)) throw new McpError("method_not_found", `A client of ${revision} sends no ${name}`);
      connection.notify(name, params);
    },
    async ping(options) {
      await request("server/discover", {}, options);
    },
    async setLogLevel(level) {
      assertOffered("notifications/message", revision, capabilities);
      base = toMeta(ground, revision, level);
    },
    watch: listening.watch,
    // Roots are asked for anew with every request.
    rootsChanged() {},
    close: () => connection.close(),
  };

  return {
    remote,
    request: ({ method }) => ({ error: toErrorObject(methodNotFound(method), revision, () => "") }),
    notification(notification) {
      const { method, params = {} } = notification;
      if (method === "notifications/progress") outgoing.progressed(params);
      else if (method === "notifications/cancelled") {
        if (isRequestId(params.requestId)) listening.ended(params.requestId as RequestId);
      } else if (method === "notifications/message") hear(listener, notification, revision);
      else if (listening.isHeard(notification)) hear(listener, notification, revision);
    },
  };
}

/** With what an older or sparse server leaves out: the result is complete, and not to be kept. */
function complete(method: Method | undefined, result: JsonObject): JsonObject {
  const whole = result.resultType === undefined ? { ...result, resultType: "complete" } : result;
  if (!method?.cached) return whole;
  const { ttlMs, cacheScope } = whole;
  const isKept = Number.isInteger(ttlMs) && (ttlMs as number) >= 0;
  const isScoped = cacheScope === "public" || cacheScope === "private";
  if (isKept && isScoped) return whole;
  return { ...whole, ttlMs: isKept ? ttlMs : 0, cacheScope: isScoped ? cacheScope : "private" };
}

/** The options of the next round: the most that it may take is what the rounds before have left. */
function left(options: RemoteRequestOptions, spentMs: number): RemoteRequestOptions {
  const { maxTimeoutMs = 0 } = options;
  return maxTimeoutMs > 0 && spentMs > 0 ? { ...options, maxTimeoutMs: Math.max(1, maxTimeoutMs - spentMs) } : options;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(new McpError("aborted", "The request was aborted", { cause: signal?.reason }));
    };
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
