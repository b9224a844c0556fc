// The sessioned era on the calling side: the handshake, then requests in the session that it opened; what the server
// asks comes as requests. Specification: basic/lifecycle of 2024-11-05 to 2025-11-25.
import type { Answer, Exchange } from "../../jsonrpc/exchange.ts";
import { isRequestId, type JsonObject, type Request } from "../../jsonrpc/message.ts";
import { reasonOf } from "../../util/call-back.ts";
import { toLine } from "../../util/quote.ts";
import { hasCapability } from "../capabilities.ts";
import type { Ask } from "../endpoint.ts";
import { isAbort, McpError, methodNotFound, toErrorObject } from "../errors.ts";
import { findMethod, methodIn } from "../methods.ts";
import type { ClientCapabilities, LogLevel } from "../model.ts";
import { assertOffered, checkResult, createOutgoing, hear } from "../outgoing.ts";
import { readParams, reviseNotification } from "../params.ts";
import type { DialedEra, Remote, RemoteDescription, RemoteGround, RemoteRequestOptions, Watched } from "../remote.ts";
import { factsOf, isRevision, type Revision, revisions } from "../revisions.ts";
import { addRetelling } from "../wire/retell.ts";
import { wireOf } from "../wire/wire.ts";

/**
 * The handshake's request.
 * @param onResult told the server's answer, as it came, before anything that comes behind it is read
 */
export async function initialize(
  { connection, info, listener }: RemoteGround,
  asked: Revision,
  options: RemoteRequestOptions,
  onResult: (answer: JsonObject) => void,
): Promise<void> {
  const params = { protocolVersion: asked, capabilities: toDeclared(listener.capabilities, asked), clientInfo: info };
  await createOutgoing(connection, asked, listener).send("initialize", params, undefined, options, onResult);
}

/** What may be declared in a revision: `elicitation` means forms where there is nothing else. */
function toDeclared({ elicitation, ...rest }: ClientCapabilities, revision: Revision): ClientCapabilities {
  const wire = wireOf(revision);
  const all = wire.fit("ClientCapabilities", { ...rest, ...(elicitation && { elicitation }) });
  const hasModes = all.elicitation !== undefined && "form" in wire.fit("elicitation", { form: {} });
  if (!elicitation || elicitation.form || hasModes) return all;
  const { elicitation: _, ...without } = all;
  return without;
}

/** The session that the server's answer opens. Throws McpError when it speaks what we do not. */
export function openSession(ground: RemoteGround, answer: JsonObject, pinned: Revision | undefined): DialedEra {
  const { connection, listener } = ground;
  const revision = answer.protocolVersion;
  if (!isRevision(revision) || factsOf(revision).era !== "sessioned" || (pinned && revision !== pinned)) {
    const offered = typeof revision === "string" ? toLine(revision, 40) : "no revision";
    const ours = pinned ?? `one of ${revisions.filter((one) => factsOf(one).era === "sessioned").join(", ")}`;
    throw new McpError("unsupported_version", `The server offers ${offered} for a session, not ${ours}`, {
      data: { offered },
    });
  }
  checkResult(findMethod("initialize"), answer, revision);
  const description: RemoteDescription = {
    info: answer.serverInfo as RemoteDescription["info"],
    capabilities: answer.capabilities as RemoteDescription["capabilities"],
    instructions: answer.instructions as string | undefined,
  };
  const { capabilities } = description;
  const outgoing = createOutgoing(connection, revision, listener);
  const watching = new Set<string>();

  const request: Remote["request"] = (name, params, options, finish) => {
    try {
      assertOffered(name, revision, capabilities);
    } catch (error) {
      return Promise.reject(error);
    }
    return outgoing.send(name, params, options.meta, options, (result) =>
      finish(checkResult(methodIn(name, revision, "client"), result, revision)),
    );
  };
  const tell = (name: string, params: JsonObject, options: RemoteRequestOptions = {}): Promise<void> =>
    request(name, params, options, () => {});

  async function watch({ uris }: Watched, options?: RemoteRequestOptions): Promise<void> {
    const wanted = new Set(uris);
    for (const uri of [...watching].filter((one) => !wanted.has(one))) {
      watching.delete(uri);
      await tell("resources/unsubscribe", { uri }, options);
    }
    for (const uri of [...wanted].filter((one) => !watching.has(one))) {
      await tell("resources/subscribe", { uri }, options);
      watching.add(uri);
    }
  }

  const remote: Remote = {
    revision,
    isResumable: false,
    hasPing: true,
    description,
    request,
    notify(name, params) {
      const method = methodIn(name, revision, "client");
      if (!method && findMethod(name)) throw new McpError("method_not_found", `${revision} has no ${name}`);
      connection.notify(name, method ? reviseNotification(method, params ?? {}, revision) : params);
    },
    ping: (options) => tell("ping", {}, options),
    setLogLevel: (level: LogLevel, options) => tell("logging/setLevel", { level }, options),
    watch,
    rootsChanged() {
      if (listener.capabilities.roots) connection.notify("notifications/roots/list_changed");
    },
    close: () => connection.close(),
  };

  async function answerAsk(incoming: Request, exchange: Exchange): Promise<Answer> {
    const method = methodIn(incoming.method, revision as Revision, "server");
    try {
      if (method?.kind !== "request") throw methodNotFound(incoming.method);
      // Before its params are looked at: what was not declared is not there.
      if (method.needs && !hasCapability(listener.capabilities, method.needs)) throw methodNotFound(incoming.method);
      if (method.name !== "ping") (await import("../wire/asking.ts")).addAsking();
      const { params } = readParams(method, incoming, revision as Revision);
      if (method.name === "ping") return { result: {} };
      addRetelling();
      // A person may think about it: meanwhile no request of ours runs out of time.
      const release = connection.hold();
      try {
        const ask = { method: method.name as Ask["method"], params };
        const result = await listener.answer(ask, revision as Revision, exchange.signal);
        return {
          result: checkResult(
            method,
            wireOf(revision as Revision).fit(`${method.stem}Result`, result),
            revision as Revision,
          ),
        };
      } finally {
        release();
      }
    } catch (error) {
      return { error: toErrorObject(error, revision as Revision, () => hide(error, incoming)) };
    }
  }

  /** What is ours to know stays here; the server gets an id. */
  function hide(error: unknown, incoming: Request): string {
    const id = crypto.randomUUID();
    // That the server stopped waiting is no news.
    if (!isAbort(error)) listener.warn(`${toLine(incoming.method, 80)} failed (${id}): ${error}`);
    return id;
  }

  connection.notify("notifications/initialized");
  if (ground.logLevel && capabilities.logging) {
    remote.setLogLevel(ground.logLevel).catch((error) => {
      // That the connection is gone is told by others.
      if (!connection.closed) listener.warn(`The log level could not be set: ${reasonOf(error)}`);
    });
  }

  return {
    remote,
    request: answerAsk,
    // Questions are requests, and end with the connection by themselves.
    ended() {},
    notification(notification) {
      const { method, params = {} } = notification;
      if (method === "notifications/progress") outgoing.progressed(params);
      else if (method === "notifications/cancelled") {
        if (isRequestId(params.requestId)) connection.cancel(params.requestId);
      } else hear(listener, notification, revision);
    },
  };
}
