// Results of the stateless era that ask for input, on the calling side: what they ask is answered, and the request sent
// again. Loaded by the first of them. Specification: basic/patterns/mrtr.
import { isObject, type JsonObject } from "../../jsonrpc/message.ts";
import { createLimit, onAbort } from "../../util/abort.ts";
import { reasonOf } from "../../util/call-back.ts";
import { quote } from "../../util/quote.ts";
import { clientHas } from "../capabilities.ts";
import type { Ask } from "../endpoint.ts";
import { McpError, methodNotFound } from "../errors.ts";
import { findMethod, type Method } from "../methods.ts";
import type { ClientCapabilities } from "../model.ts";
import { connectionLost } from "../outcome.ts";
import { checkResult, describe, isComplete, type Outgoing } from "../outgoing.ts";
import type { RemoteGround, RemoteRequestOptions } from "../remote.ts";
import type { Revision } from "../revisions.ts";
import { addAsking } from "../wire/asking.ts";
import { wireOf } from "../wire/wire.ts";

/** What the era lends. */
export interface InputGround {
  readonly ground: RemoteGround;
  readonly outgoing: Outgoing;
  readonly revision: Revision;
  readonly meta: (own?: JsonObject) => JsonObject;
  /** Aborts with the connection. */
  readonly gone: AbortSignal;
}

/** The request that is answered with questions. */
export interface Asked {
  readonly name: string;
  readonly method: Method | undefined;
  readonly params: JsonObject;
  readonly options: RemoteRequestOptions;
  /** When it was sent. */
  readonly since: number;
}

/**
 * The complete result, which is not checked yet, after as many rounds as it takes. However long people think,
 * `maxTimeoutMs` holds for all. Throws McpError.
 * @param first what the request was answered with
 */
export async function answerRounds(era: InputGround, asked: Asked, first: JsonObject): Promise<JsonObject> {
  addAsking();
  const { ground, outgoing, meta, gone } = era;
  const { name, method, params, options, since } = asked;
  const what = describe(name, params);
  const { maxTimeoutMs = 0 } = options;
  // What the first answer took is spent; where that is all of it, the next turn is the end.
  const leftMs = maxTimeoutMs > 0 ? Math.max(1, since + maxTimeoutMs - Date.now()) : 0;
  const limit = createLimit(leftMs, options.signal, gone);
  const { signal } = limit;
  try {
    let result = first;
    for (let round = 0; !isComplete(result); round++) {
      const resultType = quote(JSON.stringify(result.resultType));
      if (result.resultType !== "input_required" || !method?.asks)
        throw new McpError("invalid_result", `${what} was answered with resultType ${resultType}`);
      if (round >= ground.maxRounds)
        throw new McpError("invalid_result", `${what} still asks for input after ${round} rounds; see maxRounds`);
      const more = await gather(era, what, method, result, round, signal);
      const next = { ...options, signal, maxTimeoutMs: 0 };
      result = await outgoing.send(name, { ...params, ...more }, meta(options.meta), next, (round) => round);
    }
    return result;
  } catch (error) {
    if (gone.aborted) throw connectionLost(`before ${what} was answered`, gone.reason);
    if (!limit.isOver) throw error;
    throw new McpError("timeout", `${what} was not done in ${maxTimeoutMs} ms. The peer was told to stop.`);
  } finally {
    limit.release();
  }
}

/** The members of the next round: all answers, and the server's state exactly as it came. */
async function gather(
  { ground, revision }: InputGround,
  what: string,
  method: Method,
  result: JsonObject,
  round: number,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { connection, listener } = ground;
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
