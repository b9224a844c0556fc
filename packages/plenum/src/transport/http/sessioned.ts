// Streamable HTTP of 2025-03-26 to 2025-11-25: a session opened by initialize, POST for what the client says, GET for what it
// listens to, DELETE for the end. Specification: basic/transports § Streamable HTTP.
import { formatMessage, type Incoming, type RequestId, refusal } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { serveMany } from "../../protocol/negotiate.ts";
import { toPrincipal } from "../../protocol/principal.ts";
import { factsOf, isRevision, type Revision, sessionedOf } from "../../protocol/revisions.ts";
import { Bag } from "../../util/bag.ts";
import { assertBatch, requestsOf } from "./batch.ts";
import { HttpFault, type HttpHead } from "./exchange.ts";
import { accepts } from "./headers.ts";
import type { HttpSettings, SessionSettings } from "./options.ts";
import type { Pulse } from "./pulse.ts";
import type { Reply } from "./reply.ts";
import { EventBudget, parseEventId } from "./resume.ts";
import { HttpSender } from "./sender.ts";
import { SessionChannel, type SessionGround } from "./session-channel.ts";
import type { SessionStream } from "./session-stream.ts";
import { assertBrief, createSessionId, createTable, type Table } from "./sessions.ts";

export interface Sessioned {
  post(incoming: Incoming, head: HttpHead, auth: AuthInfo | undefined, reply: Reply): void;
  get(head: HttpHead, auth: AuthInfo | undefined, reply: Reply): void;
  delete(head: HttpHead, auth: AuthInfo | undefined, reply: Reply): void;
  /** Ends the connections of all streams; clients that can poll come back for the rest. */
  disconnect(retryMs?: number): void;
  close(graceMs: number): Promise<void>;
}

const sessionMissing = "Mcp-Session-Id is missing. A session is opened with initialize, without that header";
/** For whoever speaks the era without sessions, but not so that it is noticed. */
const statelessNeeds = ". 2026-07-28 has no sessions: it needs MCP-Protocol-Version, Mcp-Method and _meta";

/** Of all sessions together, for each byte that one may have: most keep nothing most of the time. */
const sharedEvents = 32;

/**
 * The version of a request without `_meta`. Throws an HttpFault, 400, for one that is not served.
 * @returns undefined where the header is absent
 */
export function readVersion(head: HttpHead, spoken: readonly Revision[]): Revision | undefined {
  const version = head.header("mcp-protocol-version");
  if (version === undefined) return undefined;
  if (isRevision(version) && spoken.includes(version)) return version;
  throw new HttpFault(400, `MCP-Protocol-Version is not one that is spoken here: ${spoken.join(", ")}`);
}

export function createSessioned(
  endpoint: Endpoint,
  settings: HttpSettings,
  limits: SessionSettings,
  pulse: Pulse,
): Sessioned {
  const spoken = sessionedOf(settings.revisions);
  const { maxSubscriptions, askTimeoutMs, maxInFlight } = settings;
  // Calls go on when their connection is lost: what one client can set going is bounded by itself.
  const serve = serveMany(endpoint, { revisions: spoken, maxSubscriptions, askTimeoutMs, maxInFlight });
  const table: Table<SessionChannel> = createTable(limits);
  const budget = new EventBudget(limits.maxEventBytes * sharedEvents);
  const left = new Bag<SessionStream>();
  const ended = (session: SessionChannel): void => table.delete(session);
  const ground: SessionGround = { settings, limits, pulse, budget, left, serve, ended };

  function find(head: HttpHead, auth: AuthInfo | undefined, id = head.header("mcp-session-id")): SessionChannel {
    if (id === undefined)
      throw new HttpFault(400, sessionMissing + (settings.revisions.length > spoken.length ? statelessNeeds : ""));
    readVersion(head, spoken);
    return table.find(id, toPrincipal(auth));
  }

  function initialize(
    incoming: Incoming,
    id: RequestId,
    head: HttpHead,
    auth: AuthInfo | undefined,
    reply: Reply,
  ): void {
    table.assertRoom();
    assertBrief(incoming);
    const session = new SessionChannel(
      createSessionId(limits, (taken) => table.has(taken)),
      toPrincipal(auth),
      ground,
    );
    // A handshake that opens nothing leaves nothing: what was made for it goes with its answer.
    const opened = (isHeard: boolean): string | undefined => {
      if (!isHeard || session.serving.revision() === undefined) {
        session.serving.close();
        return undefined;
      }
      table.add(session);
      return session.id;
    };
    session.receive(incoming, [id], new HttpSender(head, auth), reply, opened);
    // Most are answered by now.
    if (session.isBusy) table.claim(session);
  }

  return {
    post(incoming, head, auth, reply) {
      const sessionId = head.header("mcp-session-id");
      if (sessionId === undefined && incoming.kind === "request" && incoming.message.method === "initialize")
        return initialize(incoming, incoming.message.id, head, auth, reply);
      const session = find(head, auth, sessionId);
      const ids = idsOf(incoming, session.serving.revision());
      const taken = ids.find((id) => session.isOpen(id));
      if (taken !== undefined) {
        return reply.json(400, formatMessage(refusal("this id is still open", taken)));
      }
      // Of all sessions together: to open one more costs nothing. Who cancels, or ends a session, is let in.
      if (ids.length > 0 && left.size >= maxInFlight)
        throw new HttpFault(503, "Too many requests are open. Try again later", -32603, { "retry-after": "1" });
      if (ids.length > 0) return session.receive(incoming, ids, new HttpSender(head, auth), reply);
      session.take(incoming, new HttpSender(head, auth));
      reply.empty(202);
    },

    get(head, auth, reply) {
      if (!accepts(head.header("accept"), "text/event-stream"))
        throw new HttpFault(406, "Not acceptable: GET opens a stream of text/event-stream, which Accept must have");
      const session = find(head, auth);
      reply.assertMayStream();
      const last = head.header("last-event-id");
      if (last === undefined || last === "") return session.listen(reply);
      const at = parseEventId(last);
      if (!at || !session.resume(at.stream, at.number, reply))
        throw new HttpFault(400, "What came after this Last-Event-ID is not kept, or not any more");
    },

    delete(head, auth, reply) {
      const session = find(head, auth);
      table.delete(session);
      session.serving.close();
      reply.empty(204);
    },

    disconnect(retryMs) {
      for (const session of table.values()) session.disconnect(retryMs);
    },

    close: (graceMs) => table.close(graceMs),
  };
}

/** The requests of a body. Throws an HttpFault, 400, for a batch that is refused as a whole. */
function idsOf(incoming: Incoming, revision: Revision | undefined): readonly RequestId[] {
  if (incoming.kind === "request") return [incoming.message.id];
  if (incoming.kind !== "batch") return [];
  assertBatch(incoming.members, revision !== undefined && factsOf(revision).batches);
  return requestsOf(incoming.members).map(({ id }) => id);
}
