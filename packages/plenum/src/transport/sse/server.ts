// HTTP+SSE, the transport of 2024-11-05: a stream that the client opens with GET carries everything to it, and what it says
// comes as POSTs to the address that the stream names first. Deprecated since 2025-03-26; old clients know nothing else.
// Specification: basic/transports § HTTP with SSE of 2024-11-05.
import type { Channel, Receiver } from "../../jsonrpc/channel.ts";
import { formatMessage, type Incoming } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { type Serving, serveMany } from "../../protocol/negotiate.ts";
import { toPrincipal } from "../../protocol/principal.ts";
import { sessionedOf } from "../../protocol/revisions.ts";
import { formatEvent } from "../http/event.ts";
import { type EventSink, HttpFault, type HttpHead } from "../http/exchange.ts";
import { accepts } from "../http/headers.ts";
import type { HttpSettings, SessionSettings, SseSettings } from "../http/options.ts";
import type { Reply } from "../http/reply.ts";
import { HttpSender } from "../http/sender.ts";
import { assertBrief, createSessionId, createTable, type Lasting, type Table } from "../http/sessions.ts";

export interface SseServer {
  open(head: HttpHead, auth: AuthInfo | undefined, reply: Reply): void;
  post(incoming: Incoming, head: HttpHead, auth: AuthInfo | undefined, reply: Reply): void;
  close(graceMs: number): Promise<void>;
}

/** A session is its stream: with it both end. */
class SseChannel implements Channel, Lasting {
  readonly oneStream = true;
  readonly id: string;
  readonly owner: string;
  readonly createdAt = Date.now();
  usedAt = this.createdAt;
  isUsed = false;
  readonly isBusy = true;
  readonly serving: Serving;
  readonly #sink: EventSink;
  receiver: Receiver | undefined;
  #isClosed = false;

  constructor(id: string, owner: string, sink: EventSink, serve: (channel: Channel) => Serving) {
    this.id = id;
    this.owner = owner;
    this.#sink = sink;
    this.serving = serve(this);
  }

  open(receiver: Receiver): void {
    this.receiver = receiver;
  }

  send(message: Parameters<Channel["send"]>[0]): void {
    this.#sink.write(formatEvent(formatMessage(message)));
  }

  close(cause?: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sink.end();
    queueMicrotask(() => this.receiver?.closed(cause));
  }
}

export function createSseServer(
  endpoint: Endpoint,
  settings: HttpSettings,
  paths: SseSettings,
  limits: SessionSettings,
): SseServer {
  const table: Table<SseChannel> = createTable(limits);
  const { maxSubscriptions, askTimeoutMs, maxInFlight } = settings;
  const revisions = sessionedOf(settings.revisions);
  const serve = serveMany(endpoint, { revisions, maxSubscriptions, askTimeoutMs, maxInFlight });

  return {
    open(head, auth, reply) {
      if (!accepts(head.header("accept"), "text/event-stream"))
        throw new HttpFault(406, "Not acceptable: GET opens a stream of text/event-stream, which Accept must have");
      // A path may have been cut short by who mounted the handler: the address is found from the one that was called.
      const base = (head.base ?? "") + head.path.slice(0, head.path.length - paths.path.length);
      // Two slashes of either kind begin a host: the address would lead the client elsewhere.
      if (/^[/\\]{2}/.test(base)) throw new HttpFault(404, "Nothing is served on this path");
      table.assertRoom();
      reply.assertMayStream();
      const id = createSessionId(limits, (taken) => table.has(taken));
      const sink = reply.stream();
      if (reply.isOver) return;
      const session = new SseChannel(id, toPrincipal(auth), sink, serve);
      reply.onGone({ gone: () => session.close(new Error("The client closed the stream")) });
      sink.write(
        formatEvent(`${base}${paths.messagesPath}?sessionId=${encodeURIComponent(id)}`, undefined, "endpoint"),
      );
      table.add(session);
      void session.serving.closed.then(() => table.delete(session));
    },

    post(incoming, head, auth, reply) {
      const id = new URLSearchParams(head.query).get("sessionId");
      if (id === null)
        throw new HttpFault(400, "sessionId is missing: post to the address that the stream names first");
      const { receiver } = table.find(id, toPrincipal(auth));
      if (incoming.kind === "invalid") {
        if (!incoming.answer) throw new HttpFault(400, "Invalid request: the body is no message of JSON-RPC 2.0");
        return reply.json(400, JSON.stringify(incoming.answer));
      }
      assertBrief(incoming);
      receiver?.receive(incoming, new HttpSender(head, auth));
      reply.empty(202);
    },

    close: (graceMs) => table.close(graceMs),
  };
}
