// Requests of a client, as far as both eras do the same: params fitted to the revision, progress, the clock, the result
// checked. And the other way: what the server says of itself, checked before anybody hears it.
import type { Connection } from "../jsonrpc/connection.ts";
import { isRequestId, type JsonObject, type Notification, type RequestId } from "../jsonrpc/message.ts";
import { onAbort } from "../util/abort.ts";
import { callBack } from "../util/call-back.ts";
import { addMembers } from "../util/members.ts";
import { quote, toLine } from "../util/quote.ts";
import { hasCapability, toCapabilities } from "./capabilities.ts";
import type { Result } from "./endpoint.ts";
import { McpError } from "./errors.ts";
import { findMethod, type Method, methodIn } from "./methods.ts";
import type { ServerCapabilities } from "./model.ts";
import { resultOf } from "./outcome.ts";
import type { Listener, ProgressUpdate, RemoteRequestOptions } from "./remote.ts";
import { factsOf, type Revision, revisions } from "./revisions.ts";
import { wireOf } from "./wire/wire.ts";

interface Watcher {
  id: RequestId | undefined;
  readonly onProgress: (update: ProgressUpdate) => void;
  last: { readonly update: ProgressUpdate; readonly at: number } | undefined;
}

/** What becomes of a result, in the turn in which it is read. */
export type Finish<T> = (result: JsonObject) => T | Promise<T>;

export interface Outgoing {
  /**
   * Sends a request, and gives back what is made of its result. Throws McpError.
   * @param meta `_meta`, where there is any
   * @param onId told the request's id before it is sent
   */
  send<T>(
    name: string,
    params: JsonObject,
    meta: JsonObject | undefined,
    options: RemoteRequestOptions,
    finish: Finish<T>,
    onId?: (id: RequestId) => void,
  ): Promise<T>;
  /** A progress notification: the request's clock starts anew, and whoever waits for it is told. */
  progressed(params: JsonObject): void;
}

export function createOutgoing(connection: Connection, revision: Revision, listener: Listener): Outgoing {
  const watchers = new Map<RequestId, Watcher>();
  let nextToken = 1;

  function send<T>(
    name: string,
    params: JsonObject,
    meta: JsonObject | undefined,
    options: RemoteRequestOptions,
    finish: Finish<T>,
    onId: ((id: RequestId) => void) | undefined,
  ): Promise<T> {
    const { signal, timeoutMs, maxTimeoutMs, onProgress } = options;
    const watcher: Watcher | undefined = onProgress && { id: undefined, onProgress, last: undefined };
    // Unique among all that this client ever sends: progress that comes late is nobody's.
    const token = watcher && nextToken++;
    const _meta = token === undefined ? meta : { ...meta, progressToken: token };
    const given = fitParams(name, _meta ? withMeta(params, _meta) : params, revision);
    if (signal?.aborted) resultOf({ kind: "aborted", reason: signal.reason }, describe(name, params));
    if (watcher && token !== undefined) watchers.set(token, watcher);
    let unlisten: (() => void) | undefined;
    return connection.request(name, _meta || hasMembers(given) ? given : undefined, {
      timeoutMs,
      maxTimeoutMs,
      onId:
        watcher || signal || onId
          ? (id) => {
              if (watcher) watcher.id = id;
              if (signal) unlisten = onAbort(signal, () => connection.drop(id, signal.reason, true));
              onId?.(id);
            }
          : undefined,
      finish(outcome) {
        unlisten?.();
        if (token !== undefined) watchers.delete(token);
        if (outcome.kind === "result") return finish(outcome.result);
        return resultOf(outcome, describe(name, params), watcher?.last && describeProgress(watcher.last));
      },
    }) as Promise<unknown> as Promise<T>;
  }

  return {
    send(name, params, meta, options, finish, onId) {
      try {
        return send(name, params, meta, options, finish, onId);
      } catch (error) {
        return Promise.reject(error);
      }
    },

    progressed(params) {
      const { progressToken, progress, total, message } = params;
      const watcher = isRequestId(progressToken) ? watchers.get(progressToken) : undefined;
      if (watcher?.id === undefined) return;
      const problem = wireOf(revision).check("ProgressParams", params, "params");
      if (problem) {
        listener.warn(`notifications/progress of the server is not valid: ${problem}`);
        return;
      }
      if (!connection.touch(watcher.id)) return;
      // Older revisions have no message, and say nothing of what one must be.
      const update = { progress, total, message: typeof message === "string" ? message : undefined } as ProgressUpdate;
      watcher.last = { update, at: Date.now() };
      callBack(
        () => watcher.onProgress(update),
        (problem) => listener.warn(`onProgress failed: ${problem}`),
      );
    },
  };
}

function withMeta(params: JsonObject, _meta: JsonObject): JsonObject {
  const whole = addMembers({}, params);
  whole._meta = _meta;
  return whole;
}

function hasMembers(value: JsonObject): boolean {
  for (const _ in value) return true;
  return false;
}

/** A request in words: its method and what it is about. */
export function describe(name: string, { name: subject, uri = subject }: JsonObject): string {
  return typeof uri === "string" ? `${name} ${quote(uri)}` : name;
}

function describeProgress({ update, at }: NonNullable<Watcher["last"]>): string {
  const said = update.message === undefined ? `${update.progress}` : quote(update.message);
  return ` (last progress ${((Date.now() - at) / 1000).toFixed(1)} s ago: ${said})`;
}

/** The params as the revision may carry them. Throws McpError `invalid_params` for what no fitting makes right. */
function fitParams(name: string, params: JsonObject, revision: Revision): JsonObject {
  const method = methodIn(name, revision, "client");
  if (!method) {
    if (findMethod(name))
      throw new McpError("method_not_found", `${revision}, which this server speaks, has no ${name}`);
    return params;
  }
  const shape = method.paramsShape;
  const wire = wireOf(revision);
  const fitted = wire.fit(shape, params);
  const problem = wire.check(shape, fitted, "params");
  if (problem) throw new McpError("invalid_params", `${describe(name, params)} cannot be sent: ${problem}`);
  return fitted;
}

/** Throws McpError `method_not_found` for what the server did not declare: asking for it anyway has no use. */
export function assertOffered(name: string, revision: Revision, capabilities: ServerCapabilities): void {
  const needs = findMethod(name)?.needs;
  if (!needs || hasCapability(capabilities, needs)) return;
  // A revision that does not know the capability has the method without it.
  if (!hasCapability(wireOf(revision).fit("ServerCapabilities", toCapabilities(needs)), needs)) return;
  const declared = Object.keys(capabilities).map((key) => toLine(key, 40));
  throw new McpError(
    "method_not_found",
    `${name} needs the server capability ${needs}; this server declares ${declared.slice(0, 20).join(", ") || "none"}`,
  );
}

/** Throws McpError `invalid_result` for a result that neither the revision nor a later one of its era allows. */
export function checkResult(method: Method | undefined, result: JsonObject, revision: Revision): Result {
  if (!method) return result;
  const shape = method.resultShape;
  const problem = wireOf(revision).check(shape, result, "result");
  if (problem && !isOfLater(shape, result, revision)) {
    throw new McpError(
      "invalid_result",
      `The server's answer to ${method.name} is not valid in ${revision}: ${problem}`,
    );
  }
  return result;
}

/** Many servers send what they know, whatever was agreed: content kinds of a later revision do no harm. */
function isOfLater(shape: string, value: JsonObject, revision: Revision): boolean {
  const { era } = factsOf(revision);
  return revisions.some(
    (later) => later > revision && factsOf(later).era === era && !wireOf(later).check(shape, value),
  );
}

/** Hands a notification to the listener, if it is one that a server may send and its params are right. */
export function hear(listener: Listener, { method: name, params = {} }: Notification, revision: Revision): void {
  const method = methodIn(name, revision, "server");
  if (!method) return;
  const shape = method.paramsShape;
  const problem = wireOf(revision).check(shape, params, "params");
  if (problem && !isOfLater(shape, params, revision)) listener.warn(`${name} of the server is not valid: ${problem}`);
  else listener.heard(name, params);
}

/** Whether a result is one already, and asks for nothing. An older server does not say so. */
export function isComplete({ resultType = "complete" }: JsonObject): boolean {
  return resultType === "complete";
}
