// The stateless era on the calling side: every request says who asks, in which revision and with which capabilities.
// A result that asks for input is answered and the request sent again; changes come on a listen request.
// Specification: basic of 2026-07-28, basic/patterns/mrtr, basic/patterns/subscriptions.
import { isObject, isRequestId, type JsonObject, type RequestId } from "../../jsonrpc/message.ts";
import { createLimit, onAbort } from "../../util/abort.ts";
import { reasonOf } from "../../util/call-back.ts";
import { quote } from "../../util/quote.ts";
import { clientHas } from "../capabilities.ts";
import type { Ask } from "../endpoint.ts";
import { McpError, methodNotFound } from "../errors.ts";
import { metaKeys, metaOf } from "../meta.ts";
import { findMethod, type Method, methodIn } from "../methods.ts";
import type { ClientCapabilities, LogLevel } from "../model.ts";
import { connectionLost } from "../outcome.ts";
import { assertOffered, checkResult, createOutgoing, describe, hear, type Outgoing } from "../outgoing.ts";
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

/**
 * Asks a server what it is.
 * @param onResult told its answer, as it came, before anything that comes behind it is read: who probes has to judge it
 */
export async function discover(
  ground: RemoteGround,
  revision: Revision,
  options: RemoteRequestOptions,
  onResult: (answer: JsonObject) => void,
): Promise<void> {
  const outgoing = createOutgoing(ground.connection, revision, ground.listener);
  const meta = { ...options.meta, ...toMeta(ground, revision) };
  await outgoing.send("server/discover", {}, meta, options, onResult);
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
  const gone = new AbortController();
  const outgoing: Outgoing = createOutgoing(connection, revision, listener);

  const request: Remote["request"] = (name, params, options, finish) => {
    try {
      assertOffered(name, revision, capabilities);
    } catch (error) {
      return Promise.reject(error);
    }
    const method = methodIn(name, revision, "client");
    const since = Date.now();
    return outgoing.send(name, params, meta(options.meta), options, (first) =>
      isComplete(first)
        ? finish(checkResult(method, complete(method, first), revision))
        : goOn(name, method, params, first, options, since).then(finish),
    );
  };

  /** The rounds of a request whose first answer is no result yet. However long people think, `maxTimeoutMs` holds for all. */
  async function goOn(
    name: string,
    method: Method | undefined,
    params: JsonObject,
    first: JsonObject,
    options: RemoteRequestOptions,
    since: number,
  ): Promise<JsonObject> {
    const what = describe(name, params);
    const { maxTimeoutMs = 0 } = options;
    // What the first answer took is spent; where that is all of it, the next turn is the end.
    const leftMs = maxTimeoutMs > 0 ? Math.max(1, since + maxTimeoutMs - Date.now()) : 0;
    const limit = createLimit(leftMs, options.signal, gone.signal);
    const { signal } = limit;
    try {
      let result = first;
      for (let round = 0; !isComplete(result); round++) {
        const resultType = quote(JSON.stringify(result.resultType));
        if (result.resultType !== "input_required" || !method?.asks)
          throw new McpError("invalid_result", `${what} was answered with resultType ${resultType}`);
        if (round >= ground.maxRounds)
          throw new McpError("invalid_result", `${what} still asks for input after ${round} rounds; see maxRounds`);
        const more = await gather(what, method, result, round, signal);
        const next = { ...options, signal, maxTimeoutMs: 0 };
        result = await outgoing.send(name, { ...params, ...more }, meta(options.meta), next, (round) => round);
      }
      const whole = checkResult(method, complete(method, result), revision);
      // What answers have gone into is for this call alone.
      return method?.cached ? { ...whole, ttlMs: 0, cacheScope: "private" } : whole;
    } catch (error) {
      if (gone.signal.aborted) throw connectionLost(`before ${what} was answered`, gone.signal.reason);
      if (!limit.isOver) throw error;
      throw new McpError("timeout", `${what} was not done in ${maxTimeoutMs} ms. The peer was told to stop.`);
    } finally {
      limit.release();
    }
  }

  /** The members of the next round: all answers, and the server's state exactly as it came. */
  async function gather(
    what: string,
    method: Method,
    result: JsonObject,
    round: number,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    checkResult(method, result, revision);
    const { inputRequests, requestState } = result;
    if (inputRequests === undefined && requestState === undefined) {
      throw new McpError("invalid_result", `${what} asks for input but does not say for which`);
    }
    const state = requestState === undefined ? undefined : { requestState };
    if (!isObject(inputRequests)) {
      // A server that is busy may want to be asked again. Once at once, then not too often.
      if (round > 0) await pause(Math.min(100 * 2 ** round, 5000), signal);
      return { ...state };
    }
    const entries = Object.entries(inputRequests as { readonly [key: string]: Ask });
    if (entries.length > maxQuestions)
      throw new McpError(
        "invalid_result",
        `${what} asks ${entries.length} questions at once; ${maxQuestions} are answered`,
      );
    // Before anybody is asked anything: one question that cannot be answered ends the call.
    for (const [, { method: asked, params = {} }] of entries) {
      const missing = needsOf(asked, params).find((path) => !clientHas(listener.capabilities, path));
      if (missing) throw toUnanswered(notDeclared(asked, missing, listener.capabilities), what, asked);
    }
    const stop = createLimit(0, signal);
    const all = stop.signal;
    const release = connection.hold();
    try {
      const answers = entries.map(async ([key, ask]) => {
        const stem = findMethod(ask.method)?.stem;
        const asked = { method: ask.method, params: ask.params ?? {} };
        const answer = await listener.answer(asked, revision, all).catch((error) => {
          throw toUnanswered(error, what, ask.method);
        });
        return [key, wireOf(revision).fit(`${stem}Result`, answer)] as const;
      });
      return { inputResponses: Object.fromEntries(await Promise.all(answers)), ...state };
    } catch (error) {
      // The rest need not be asked any more, and the server waits for nothing.
      stop.abort(error);
      if (signal.aborted) throw new McpError("aborted", `${what} was aborted`, { cause: signal.reason });
      throw error;
    } finally {
      release();
      stop.release();
    }
  }

  const listening = createListening({
    connection,
    revision,
    capabilities,
    listener,
    outgoing,
    meta,
    oneStream: ground.oneStream,
    gone: gone.signal,
  });

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
    ping: (options = {}) => request("server/discover", {}, options, () => {}),
    async setLogLevel(level) {
      assertOffered("notifications/message", revision, capabilities);
      const problem = wireOf(revision).check("level", level, "level");
      if (problem) throw new McpError("invalid_params", `The log level cannot be set: ${problem}`);
      base = toMeta(ground, revision, level);
    },
    watch: listening.watch,
    // Roots are asked for anew with every request.
    rootsChanged() {},
    close: () => connection.close(),
  };

  return {
    remote,
    ended: (cause) => gone.abort(cause),
    request({ method }) {
      // Clients of this era send no responses, not even to say so.
      listener.warn(`The server sent the request ${quote(method)}, which servers of ${revision} do not`);
      return undefined;
    },
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

// Nobody puts more to a user at once.
const maxQuestions = 100;

/** The capabilities that a question takes. */
function needsOf(method: string, { mode, tools, toolChoice }: JsonObject): readonly string[] {
  if (method === "elicitation/create") return [mode === "url" ? "elicitation.url" : "elicitation.form"];
  if (method === "sampling/createMessage") return [tools || toolChoice ? "sampling.tools" : "sampling"];
  return ["roots"];
}

function notDeclared(method: string, path: string, capabilities: ClientCapabilities): McpError {
  const [kind = ""] = path.split(".");
  const isOffered = clientHas(capabilities, kind);
  return isOffered ? new McpError("invalid_params", `this client has not declared ${path}`) : methodNotFound(method);
}

/** An older server does not say so. */
function isComplete({ resultType = "complete" }: JsonObject): boolean {
  return resultType === "complete";
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

/** Why a call cannot go on: nobody but its caller hears of it. */
function toUnanswered(error: unknown, what: string, asked: string): unknown {
  if (!(error instanceof McpError)) return error;
  // What went wrong in the application is for its author; the server never hears of it.
  const reason = error.code === "internal_error" && error.cause !== undefined ? reasonOf(error.cause) : error.message;
  const why = error.code === "method_not_found" ? "which this client does not offer" : `but ${reason}`;
  const { rpcCode, data } = error;
  const options = { data, cause: error, ...(rpcCode !== undefined && { rpcCode }) };
  return new McpError(error.code, `${what} cannot go on: the server asks for ${asked}, ${why}`, options);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new McpError("aborted", "The request was aborted", { cause: signal.reason }));
    };
    const timer = setTimeout(() => {
      end();
      resolve();
    }, ms);
    const end = onAbort(signal, stop);
  });
}
