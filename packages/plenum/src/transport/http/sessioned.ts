// Streamable HTTP of 2025-03-26 to 2025-11-25: a session opened by initialize, POST for what the client says, GET for what it
// listens to, DELETE for the end. Specification: basic/transports § Streamable HTTP.
import { formatMessage, type Incoming, type RequestId, type Single } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import type { ServeOptions } from "../../protocol/negotiate.ts";
import { toPrincipal } from "../../protocol/principal.ts";
import { factsOf, isRevision, type Revision } from "../../protocol/revisions.ts";
import { assertBatch, requestsOf } from "./batch.ts";
import { HttpFault, type HttpHead } from "./exchange.ts";
import { accepts } from "./headers.ts";
import type { HttpSettings, SessionSettings } from "./options.ts";
import type { Pulse } from "./pulse.ts";
import type { Reply } from "./reply.ts";
import { EventBudget, parseEventId } from "./resume.ts";
import type { SessionChannel } from "./session-channel.ts";
import { createSessionId, createTable, openSession, type Table } from "./sessions.ts";

interface Session {
  readonly id: string;
  readonly owner: string;
  readonly createdAt: number;
  usedAt: number;
  readonly channel: SessionChannel;
  readonly serving: ReturnType<typeof openSession>["serving"];
  readonly isBusy: boolean;
  forget(before: number): void;
}

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

/** The revisions that have sessions, of those that are served. */
export function sessionedOf(revisions: readonly Revision[]): readonly Revision[] {
  return revisions.filter((revision) => factsOf(revision).era === "sessioned");
}

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
  const options: ServeOptions = { revisions: spoken, maxSubscriptions, askTimeoutMs, maxInFlight };
  const table: Table<Session> = createTable(limits);
  const budget = new EventBudget(limits.maxEventBytes * sharedEvents);

  function find(head: HttpHead, auth: AuthInfo | undefined): Session {
    const id = head.header("mcp-session-id");
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
    const owner = toPrincipal(auth);
    const sessionId = createSessionId(limits, (taken) => table.has(taken));
    const { channel, serving } = openSession(endpoint, settings, limits, options, budget, pulse);
    table.claim(sessionId, serving);
    void serving.closed.then(() => table.delete(sessionId, serving));
    // A handshake that opens nothing leaves nothing: what was made for it goes with its answer.
    const opened = (isHeard: boolean): string | undefined => {
      if (!isHeard || serving.revision() === undefined) {
        serving.close();
        return undefined;
      }
      const now = Date.now();
      const session: Session = {
        id: sessionId,
        owner,
        createdAt: now,
        usedAt: now,
        channel,
        serving,
        get isBusy() {
          return channel.isBusy;
        },
        forget: (before) => channel.forget(before),
      };
      table.add(sessionId, session);
      return sessionId;
    };
    channel.receive(incoming, [id], toSender(head, auth), reply, opened);
  }

  return {
    post(incoming, head, auth, reply) {
      const hasSession = head.header("mcp-session-id") !== undefined;
      if (!hasSession && incoming.kind === "request" && incoming.message.method === "initialize")
        return initialize(incoming, incoming.message.id, head, auth, reply);
      const { channel, serving } = find(head, auth);
      const revision = serving.revision();
      const members: readonly Single[] = incoming.kind === "batch" ? incoming.members : [incoming];
      if (incoming.kind === "batch") assertBatch(members, revision !== undefined && factsOf(revision).batches);
      const ids = requestsOf(members).map(({ id }) => id);
      const taken = ids.find((id) => channel.isOpen(id));
      if (taken !== undefined) {
        const error = { code: -32600, message: "Invalid request: this id is still open" };
        return reply.json(400, formatMessage({ jsonrpc: "2.0", id: taken, error }));
      }
      if (ids.length > 0) return channel.receive(incoming, ids, toSender(head, auth), reply);
      channel.take(incoming, toSender(head, auth));
      reply.empty(202);
    },

    get(head, auth, reply) {
      if (!accepts(head.header("accept"), "text/event-stream"))
        throw new HttpFault(406, "Not acceptable: GET opens a stream of text/event-stream, which Accept must have");
      const { channel } = find(head, auth);
      reply.assertMayStream();
      const last = head.header("last-event-id");
      if (last === undefined || last === "") return channel.listen(reply);
      const at = parseEventId(last);
      if (!at || !channel.resume(at.stream, at.number, reply))
        throw new HttpFault(400, "What came after this Last-Event-ID is not kept, or not any more");
    },

    delete(head, auth, reply) {
      const session = find(head, auth);
      table.delete(session.id, session.serving);
      session.serving.close();
      reply.empty(204);
    },

    disconnect(retryMs) {
      for (const { channel } of table.values()) channel.disconnect(retryMs);
    },

    close: (graceMs) => table.close(graceMs),
  };
}

function toSender(head: HttpHead, auth: AuthInfo | undefined) {
  return { ...(auth && { auth }), header: (name: string): string | undefined => head.header(name) };
}
