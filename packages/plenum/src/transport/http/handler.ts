// The HTTP core: one function answers an exchange, whatever feeds it and whichever revision the client speaks. What is wrong
// with a request is found here, before any handler runs.
import { type Incoming, parseMessage } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { sessionedOf } from "../../protocol/revisions.ts";
import { Bag } from "../../util/bag.ts";
import type { Answering, AnsweringGround } from "./answering.ts";
import type { Around } from "./around.ts";
import type { Check, Note, Ways } from "./entrance.ts";
import { eraOf } from "./era.ts";
import { HttpFault, type HttpRequest, type Outlet } from "./exchange.ts";
import { accepts, isJsonType } from "./headers.ts";
import type { Legacy } from "./legacy.ts";
import type { HttpSettings } from "./options.ts";
import { createGuard } from "./origin.ts";
import type { Pulse } from "./pulse.ts";
import { Reply, type ReplyGround } from "./reply.ts";
import { createStateless } from "./stateless.ts";

export interface HttpCore {
  /** Loads ahead what older clients need, for who has files now and may not have them later. */
  load(): void;
  /** Answers one exchange; never throws. */
  handle(request: HttpRequest, outlet: Outlet): void;
  /** Ends the connections of event streams; clients of 2025-11-25 come back after `retryMs` for the rest. */
  disconnect(retryMs?: number): void;
  /** Takes nothing new, ends what listens, gives what runs `graceMs` to end, then cancels it. */
  close(graceMs: number): Promise<void>;
}

/** A way back that keeps in mind, while it is not used yet, that the client has gone. */
function hold(outlet: Outlet): Outlet {
  let isGone = false;
  outlet.onGone({
    gone() {
      isGone = true;
    },
  });
  return {
    answer: (status, headers, body, told) => outlet.answer(status, headers, body, told),
    stream: (headers) => outlet.stream(headers),
    onGone: (listener) => (isGone ? listener.gone() : outlet.onGone(listener)),
  };
}

export function createCore(endpoint: Endpoint, settings: HttpSettings, pulse: Pulse): HttpCore {
  const { sse, sessions, maxInFlight, maxStreams, routes } = settings;
  const guard = createGuard(settings);
  const isAlone = !(settings.cors || settings.onAccess || settings.onMetrics);
  const loadingAround = isAlone
    ? undefined
    : import("./around.ts").then(({ createAround }) => createAround(settings, guard));
  let around: Around | undefined = isAlone ? {} : undefined;
  const legacyCount = sessionedOf(settings.revisions).length;
  const isModern = legacyCount < settings.revisions.length;
  const hasLegacy = legacyCount > 0;
  const hasSessions = hasLegacy && sessions !== false;
  const open = new Bag<Answering>();
  const left = new Set<Answering>();
  const ground: AnsweringGround = { endpoint, settings, pulse, open, left };
  const stateless = createStateless(endpoint, settings, ground);
  let entrance: typeof import("./entrance.ts") | undefined;
  let legacy: Legacy | undefined;
  let loading: Promise<Legacy> | undefined;
  /** Not for good where it fails: files may be short for a moment. */
  const loadLegacy = (): Promise<Legacy> => {
    loading ??= import("./legacy.ts").then(
      ({ createLegacy }) => {
        legacy = createLegacy(endpoint, settings, ground);
        return legacy;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
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
    for (const one of open.members()) one.giveUp("The server is closing");
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
    done() {
      counts.inFlight--;
    },
  };

  /** Where messages are sent. Whoever routes by the whole path has looked at what is in front. */
  const isMcp = (path: string): boolean =>
    settings.path === undefined
      ? !(sse && (path.endsWith(sse.path) || path.endsWith(sse.messagesPath)))
      : path === settings.path;

  /** Again after each wait: what comes in while the server closes would begin when it has closed. */
  function assertNotClosing(): void {
    if (isClosing)
      throw new HttpFault(503, "The server is closing", -32603, { "retry-after": "5", connection: "close" });
  }

  function read(
    request: HttpRequest,
    note: Note,
    run: (incoming: Incoming) => Promise<void> | undefined,
  ): Promise<void> {
    if (!isJsonType(request.header("content-type")))
      throw new HttpFault(415, "Unsupported media type: Content-Type must be application/json");
    return request.body(settings.maxBodyBytes, settings.bodyTimeoutMs).then((text) => {
      assertNotClosing();
      const incoming = parseMessage(text);
      const isNamed = incoming.kind === "request" || incoming.kind === "notification";
      note?.(() => ({
        requestBytes: new TextEncoder().encode(text).length,
        rpcMethod: isNamed ? incoming.message.method : undefined,
      }));
      return run(incoming);
    });
  }

  function post(
    request: HttpRequest,
    auth: AuthInfo | undefined,
    reply: Reply,
    note: Note,
    check?: Check,
  ): Promise<void> {
    const accept = request.header("accept");
    if (!accepts(accept, "application/json") || !accepts(accept, "text/event-stream"))
      throw new HttpFault(406, "Not acceptable: Accept must have both application/json and text/event-stream");
    return read(request, note, (incoming) => {
      check?.(incoming);
      return take(incoming, request, auth, reply, note);
    });
  }

  function take(
    incoming: Incoming,
    request: HttpRequest,
    auth: AuthInfo | undefined,
    reply: Reply,
    note: Note,
  ): Promise<void> | undefined {
    if (incoming.kind === "invalid") {
      const { answer } = incoming;
      if (!answer) throw new HttpFault(400, "Invalid request: the body is no message of JSON-RPC 2.0");
      reply.json(400, JSON.stringify(answer));
      return undefined;
    }
    const version = request.header("mcp-protocol-version");
    note?.(() => ({ revision: version }));
    // Nobody is there to be answered any more.
    if (reply.isOver) return undefined;
    const isStateless = isModern && (!hasLegacy || eraOf(version, incoming) === "stateless");
    if (isStateless) stateless.post(incoming, request, auth, reply);
    else if (legacy) legacy.post(incoming, request, auth, reply);
    else return withLegacy(reply, ({ post }) => post(incoming, request, auth, reply));
    return undefined;
  }

  /** What one of the older clients wants, as soon as it can be had. */
  async function withLegacy(reply: Reply, run: (legacy: Legacy) => void): Promise<void> {
    const loaded = legacy ?? (await loadLegacy());
    assertNotClosing();
    if (!reply.isOver) run(loaded);
  }

  function answer(request: HttpRequest, reply: Reply, note: Note): Promise<void> {
    assertNotClosing();
    if (counts.inFlight + left.size > maxInFlight)
      throw new HttpFault(503, "Too many requests are open. Try again later", -32603, { "retry-after": "1" });
    // Most messages wait for nothing but their bodies.
    const isPlain = routes.size === 0 && !settings.auth && request.method === "POST" && isMcp(request.path);
    return isPlain ? post(request, undefined, reply, note) : enterElse(request, reply, note);
  }

  const ways: Ways = { endpoint, pulse, hasSessions, isMcp, assertNotClosing, read, post, withLegacy };

  async function loadEntrance(): Promise<typeof import("./entrance.ts")> {
    entrance ??= await import("./entrance.ts");
    return entrance;
  }

  async function enterElse(request: HttpRequest, reply: Reply, note: Note): Promise<void> {
    const { enter } = entrance ?? (await loadEntrance());
    await enter(settings, ways, request, reply, note);
  }

  function fail(error: unknown, request: HttpRequest, reply: Reply): void {
    try {
      const isOurs = error instanceof HttpFault;
      const id = isOurs ? "" : endpoint.report(error, { method: request.method });
      reply.fault(isOurs ? error : new HttpFault(500, `Internal error (${id})`, -32603));
    } catch (unsendable) {
      // Where not even that can be sent, such as with a header of the application's on every answer.
      if (error instanceof HttpFault) fail(unsendable, request, reply);
      else endpoint.report(unsendable, { method: request.method });
    }
  }

  function entered(): void {
    counts.entering--;
  }

  function begin(request: HttpRequest, given: Outlet, { cors, observe }: Around): void {
    const observed = observe?.(request, given, settings);
    counts.inFlight++;
    const reply = new Reply(observed?.outlet ?? given, replies, cors?.headers(request));
    const fault = guard.check(request);
    if (fault) {
      reply.fault(fault);
      return;
    }
    const preflight = request.method === "OPTIONS" ? cors?.preflight(request) : undefined;
    if (preflight) {
      reply.empty(preflight.status, preflight.headers);
      return;
    }
    counts.entering++;
    try {
      answer(request, reply, observed?.note).then(entered, (error) => {
        fail(error, request, reply);
        entered();
      });
    } catch (error) {
      // In a moment: a request that is not here whole would cost its connection.
      queueMicrotask(() => {
        fail(error, request, reply);
        entered();
      });
    }
  }

  return {
    handle(request, outlet) {
      if (around) return begin(request, outlet, around);
      const held = hold(outlet);
      loadingAround?.then(
        (loaded) => {
          around = loaded;
          begin(request, held, loaded);
        },
        (error) => {
          counts.inFlight++;
          fail(error, request, new Reply(held, replies));
        },
      );
    },

    load() {
      if (hasLegacy) loadLegacy().catch(() => {});
      loadEntrance().catch(() => {});
    },

    disconnect: (retryMs) => legacy?.sessioned?.disconnect(retryMs),

    async close(graceMs) {
      isClosing = true;
      unwatch();
      stateless.close();
      const until = Date.now() + graceMs;
      // What could not be loaded has opened nothing.
      const ending = loading?.then(
        (older) => older.close(graceMs),
        () => {},
      );
      while (open.size + counts.entering > 0 && Date.now() < until)
        await new Promise((resolve) => setTimeout(resolve, 5));
      giveUp();
      await ending;
    },
  };
}
