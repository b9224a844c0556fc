// The stateless era on the calling side: every request says who asks, in which revision and with which capabilities.
// A result that asks for input is answered and the request sent again; changes come on a listen request.
// Specification: basic of 2026-07-28, basic/patterns/mrtr, basic/patterns/subscriptions.
import { isRequestId, type JsonObject, type RequestId } from "../../jsonrpc/message.ts";
import { toFixed } from "../../util/fixed.ts";
import { quote } from "../../util/quote.ts";
import { McpError } from "../errors.ts";
import { metaKeys, metaOf } from "../meta.ts";
import { findMethod, type Method, methodIn } from "../methods.ts";
import type { LogLevel } from "../model.ts";
import { assertOffered, checkResult, createOutgoing, hear, isComplete, type Outgoing } from "../outgoing.ts";
import type { DialedEra, Remote, RemoteDescription, RemoteGround, RemoteRequestOptions } from "../remote.ts";
import type { Revision } from "../revisions.ts";
import { wireOf } from "../wire/wire.ts";
import type { Asked } from "./input.ts";
import type { Listening } from "./listen.ts";

/** `_meta` of a request: what makes it complete in itself. */
function toMeta({ info, listener }: RemoteGround, revision: Revision, logLevel?: LogLevel | false): JsonObject {
  // The same for all requests.
  return toFixed({
    [metaKeys.protocolVersion]: revision,
    [metaKeys.clientCapabilities]: wireOf(revision).fit("ClientCapabilities", listener.capabilities),
    [metaKeys.clientInfo]: wireOf(revision).fit("Info", info),
    ...(logLevel && { [metaKeys.logLevel]: logLevel }),
  });
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
    // Needed only where the whole of it has a limit.
    const since = options.maxTimeoutMs ? Date.now() : 0;
    return outgoing.send(name, params, meta(options.meta), options, (first) =>
      isComplete(first)
        ? finish(checkResult(method, complete(method, first), revision))
        : goOn(name, method, params, first, options, since).then(finish),
    );
  };

  /** The rounds of a request whose first answer is no result yet. */
  async function goOn(
    name: string,
    method: Method | undefined,
    params: JsonObject,
    first: JsonObject,
    options: RemoteRequestOptions,
    since: number,
  ): Promise<JsonObject> {
    const { answerRounds } = await import("./input.ts");
    const asked: Asked = { name, method, params, options, since };
    const result = await answerRounds({ ground, outgoing, revision, meta, gone: gone.signal }, asked, first);
    const whole = checkResult(method, complete(method, result), revision);
    // What answers have gone into is for this call alone.
    return method?.cached ? { ...whole, ttlMs: 0, cacheScope: "private" } : whole;
  }

  /** What only those who watch something need. */
  let listening: Listening | undefined;
  let loading: Promise<Listening> | undefined;
  const loadListening = (): Promise<Listening> => {
    loading ??= import("./listen.ts").then(({ createListening }) => {
      const { oneStream } = ground;
      const told = { connection, revision, capabilities, listener, outgoing, meta, oneStream, gone: gone.signal };
      listening = createListening(told);
      return listening;
    });
    return loading;
  };

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
    async watch(watched, options) {
      const isNothing = watched.lists.length + watched.uris.length === 0;
      if (!isNothing || loading) await (await loadListening()).watch(watched, options);
    },
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
        if (isRequestId(params.requestId)) listening?.ended(params.requestId as RequestId);
      } else if (method === "notifications/message") hear(listener, notification, revision);
      else if (listening?.isHeard(notification)) hear(listener, notification, revision);
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
