// The HTTP core: one function answers an exchange, whatever feeds it and whichever revision the client speaks. What is wrong
// with a request is found here, before any handler runs.
import { type Incoming, parseMessage } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { factsOf } from "../../protocol/revisions.ts";
import { createSseServer } from "../sse/server.ts";
import { admit } from "./admit.ts";
import type { Answering, AnsweringGround } from "./answering.ts";
import { createCors } from "./cors.ts";
import { eraOf } from "./era.ts";
import { HttpFault, type HttpRequest, type Outlet, type RouteAnswer } from "./exchange.ts";
import { accepts, isJsonType } from "./headers.ts";
import { observe, toByteLength } from "./observe.ts";
import type { HttpSettings } from "./options.ts";
import { createGuard } from "./origin.ts";
import type { Pulse } from "./pulse.ts";
import { Reply, type ReplyGround } from "./reply.ts";
import { createSessioned, sessionedOf } from "./sessioned.ts";
import { createSessionless } from "./sessionless.ts";
import { createStateless } from "./stateless.ts";

export interface HttpCore {
  /** Answers one exchange; never throws. */
  handle(request: HttpRequest, outlet: Outlet): void;
  /** Ends the connections of event streams; clients of 2025-11-25 come back after `retryMs` for the rest. */
  disconnect(retryMs?: number): void;
  /** Takes nothing new, ends what listens, gives what runs `graceMs` to end, then cancels it. */
  close(graceMs: number): Promise<void>;
}

/** The rooms that a path can lead to. */
type Place = "mcp" | "sse" | "messages" | undefined;

export function createCore(endpoint: Endpoint, settings: HttpSettings, pulse: Pulse): HttpCore {
  const { sse, sessions, maxInFlight, maxStreams, routes } = settings;
  const guard = createGuard(settings);
  const cors = createCors(settings.cors, guard);
  const isModern = settings.revisions.some((revision) => factsOf(revision).era === "stateless");
  const hasLegacy = sessionedOf(settings.revisions).length > 0;
  const open = new Set<Answering>();
  const left = new Set<Answering>();
  const ground: AnsweringGround = { endpoint, settings, pulse, open, left };
  const stateless = createStateless(endpoint, settings, ground);
  const sessioned = hasLegacy && sessions ? createSessioned(endpoint, settings, sessions, pulse) : undefined;
  const sessionless = hasLegacy && !sessions ? createSessionless(endpoint, settings, ground) : undefined;
  const old = sse && sessions ? createSseServer(endpoint, settings, sse, sessions) : undefined;
  /** `entering`: not known yet what they want, or from whom. */
  const counts = { inFlight: 0, streams: 0, entering: 0 };
  let isClosing = false;
  // What still runs is told to stop before its lifespan is taken from it; ended subscriptions are answered in this turn.
  const unwatch = endpoint.watch((change) => {
    if (change.kind !== "closing") return;
    isClosing = true;
    setTimeout(giveUp);
  });
  const giveUp = (): void => {
    for (const one of open) one.giveUp("The server is closing");
  };

  const replies: ReplyGround = {
    settings,
    pulse,
    mayStream: () => counts.streams < maxStreams,
    // A stream is no request in flight any more: it may be open for days.
    streamed(delta) {
      counts.streams += delta;
      counts.inFlight -= delta;
    },
  };

  const placeOf = (path: string): Place => {
    // Whoever routes by the whole path has looked at what is in front.
    const isAt = (wanted: string): boolean => (settings.path === undefined ? path.endsWith(wanted) : path === wanted);
    if (sse && isAt(sse.path)) return "sse";
    if (sse && isAt(sse.messagesPath)) return "messages";
    return settings.path === undefined || path === settings.path ? "mcp" : undefined;
  };

  /** Again after each wait: what comes in while the server closes would begin when it has closed. */
  function assertNotClosing(): void {
    if (isClosing)
      throw new HttpFault(503, "The server is closing", -32603, { "retry-after": "5", connection: "close" });
  }

  async function read(request: HttpRequest, note: Note): Promise<Incoming> {
    if (!isJsonType(request.header("content-type")))
      throw new HttpFault(415, "Unsupported media type: Content-Type must be application/json");
    const text = await request.body(settings.maxBodyBytes, settings.bodyTimeoutMs);
    assertNotClosing();
    const incoming = parseMessage(text);
    const isNamed = incoming.kind === "request" || incoming.kind === "notification";
    note(() => ({ requestBytes: toByteLength(text), rpcMethod: isNamed ? incoming.message.method : undefined }));
    return incoming;
  }

  async function post(request: HttpRequest, auth: AuthInfo | undefined, reply: Reply, note: Note): Promise<void> {
    const accept = request.header("accept");
    if (!accepts(accept, "application/json") || !accepts(accept, "text/event-stream"))
      throw new HttpFault(406, "Not acceptable: Accept must have both application/json and text/event-stream");
    const incoming = await read(request, note);
    if (incoming.kind === "invalid") {
      const { answer } = incoming;
      if (!answer) throw new HttpFault(400, "Invalid request: the body is no message of JSON-RPC 2.0");
      return reply.json(400, JSON.stringify(answer));
    }
    const version = request.header("mcp-protocol-version");
    note(() => ({ revision: version }));
    // Nobody is there to be answered any more.
    if (reply.isOver) return;
    const isStateless = isModern && (!hasLegacy || eraOf(version, incoming) === "stateless");
    if (isStateless) return stateless.post(incoming, request, auth, reply);
    if (sessioned) return sessioned.post(incoming, request, auth, reply);
    sessionless?.(incoming, request, auth, reply);
  }

  async function route(request: HttpRequest, reply: Reply): Promise<boolean> {
    const page = routes.get(request.path);
    if (!page) return false;
    const { status = 200, headers = {}, body }: RouteAnswer = await page(request);
    const isText = typeof body === "string" || body === undefined;
    const type = { "content-type": isText ? "text/plain; charset=utf-8" : "application/json" };
    reply.page(
      status,
      { "x-content-type-options": "nosniff", ...type, ...headers },
      isText ? body : JSON.stringify(body),
    );
    return true;
  }

  async function answer(request: HttpRequest, reply: Reply, note: Note): Promise<void> {
    assertNotClosing();
    if (counts.inFlight + left.size > maxInFlight)
      throw new HttpFault(503, "Too many requests are open. Try again later", -32603, { "retry-after": "1" });
    if (routes.size > 0 && (await route(request, reply))) return;
    const place = placeOf(request.path);
    if (!place) throw new HttpFault(404, "Nothing is served on this path");
    const auth = settings.auth ? await admit(request, settings.auth) : undefined;
    assertNotClosing();
    // Who left meanwhile opens nothing that would have to be closed.
    if (reply.isOver) return;
    const { method } = request;
    if (place === "sse" && method === "GET") return old?.open(request, auth, reply);
    if (place === "messages" && method === "POST") return old?.post(await read(request, note), request, auth, reply);
    if (place === "mcp") {
      if (method === "POST") return post(request, auth, reply, note);
      if (sessioned && method === "GET") return sessioned.get(request, auth, reply);
      if (sessioned && method === "DELETE") return sessioned.delete(request, auth, reply);
    }
    const allow = place === "sse" ? "GET" : place === "messages" || !sessioned ? "POST" : "GET, POST, DELETE";
    throw new HttpFault(405, "Method not allowed", -32600, { allow });
  }

  return {
    handle(request, given) {
      const { outlet, note } = observe(request, given, settings);
      counts.inFlight++;
      const reply = new Reply(outlet, replies, cors?.headers(request) ?? {}, () => {
        counts.inFlight--;
      });
      const fault = guard.check(request);
      if (fault) return reply.fault(fault);
      const preflight = request.method === "OPTIONS" ? cors?.preflight(request) : undefined;
      if (preflight) return reply.empty(preflight.status, preflight.headers);
      counts.entering++;
      answer(request, reply, note)
        .catch((error) => {
          if (!(error instanceof HttpFault)) throw error;
          reply.fault(error);
        })
        .catch((error) => {
          const id = endpoint.report(error, { method: request.method });
          reply.fault(new HttpFault(500, `Internal error (${id})`, -32603));
        })
        // Where not even that can be sent, such as with a header of the application's on every answer.
        .catch((unsendable) => endpoint.report(unsendable, { method: request.method }))
        .then(() => {
          counts.entering--;
        });
    },

    disconnect: (retryMs) => sessioned?.disconnect(retryMs),

    async close(graceMs) {
      isClosing = true;
      unwatch();
      stateless.close();
      const until = Date.now() + graceMs;
      const ending = [sessioned?.close(graceMs), old?.close(graceMs)];
      while (open.size + counts.entering > 0 && Date.now() < until)
        await new Promise((resolve) => setTimeout(resolve, 5));
      giveUp();
      await Promise.all(ending);
    },
  };
}

type Note = ReturnType<typeof observe>["note"];
