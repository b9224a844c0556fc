// The way in for every request but the plain one, which is a message to a server that asks nobody who he is: pages, callers
// that say who they are, streams and ends of sessions, HTTP+SSE; and what leads nowhere. Loaded by the first of them.
import type { Incoming } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { admit, assertReach } from "./admit.ts";
import { HttpFault, type HttpRequest, type Route, type RouteAnswer } from "./exchange.ts";
import type { Legacy } from "./legacy.ts";
import type { Observed } from "./observe.ts";
import type { HttpSettings } from "./options.ts";
import type { Beating, Pulse } from "./pulse.ts";
import type { Reply } from "./reply.ts";

export type Note = Observed["note"] | undefined;

/** Looks at what was sent before anybody else does. Throws an HttpFault. */
export type Check = (incoming: Incoming) => void;

/** What the core does with those that it lets in. */
export interface Ways {
  readonly endpoint: Endpoint;
  readonly pulse: Pulse;
  readonly hasSessions: boolean;
  /** Whether messages are sent to this path. */
  isMcp(path: string): boolean;
  /** Throws an HttpFault, 503. */
  assertNotClosing(): void;
  read(request: HttpRequest, note: Note, run: (incoming: Incoming) => Promise<void> | undefined): Promise<void>;
  post(request: HttpRequest, auth: AuthInfo | undefined, reply: Reply, note: Note, check?: Check): Promise<void>;
  withLegacy(reply: Reply, run: (legacy: Legacy) => void): Promise<void>;
}

/** The rooms that a path can lead to. */
type Place = "mcp" | "sse" | "messages";

/** Rejects with an HttpFault for who is not let in, and where nothing is. */
export async function enter(
  settings: HttpSettings,
  ways: Ways,
  request: HttpRequest,
  reply: Reply,
  note: Note,
): Promise<void> {
  const page = settings.routes.get(request.path) ?? pageOf(settings.auth?.routes, request.path);
  if (page) return show(page, request, reply);
  // Nobody is asked who he is for what is not there.
  const place = placeOf(settings, ways, request.path);
  const auth = settings.auth && (await admit(request, settings.auth));
  ways.assertNotClosing();
  // Who left meanwhile opens nothing that would have to be closed.
  if (reply.isOver) return;
  if (!auth || !settings.auth) return direct(place, ways, request, auth, reply, note);
  const { challenge } = settings.auth;
  const check: Check = (incoming) => {
    assertReach(incoming, auth, ways.endpoint, challenge);
    if (incoming.kind === "request" && incoming.message.method === "subscriptions/listen")
      endWith(auth, reply, ways.pulse);
  };
  // HTTP+SSE has one stream for all, answers too.
  if (place === "mcp" && request.method === "GET") endWith(auth, reply, ways.pulse);
  await direct(place, ways, withoutToken(request), auth, reply, note, check);
}

/** Who only listens does so no longer than he may, and comes back with what lets him in by then. Calls that run go on. */
function endWith({ expiresAt }: AuthInfo, reply: Reply, pulse: Pulse): void {
  if (expiresAt === undefined) return;
  const end: Beating = {
    beat(now) {
      const isDue = now >= expiresAt * 1000;
      if (isDue) reply.cut();
      if (isDue || reply.isOver) pulse.delete(end);
    },
  };
  pulse.add(end);
}

function pageOf(pages: { readonly [path: string]: Route } = {}, path: string): Route | undefined {
  return Object.hasOwn(pages, path) ? pages[path] : undefined;
}

/** What let the caller in goes no further: a handler that never sees a token cannot pass it on. */
function withoutToken(request: HttpRequest): HttpRequest {
  const { method, path, base, query, peer } = request;
  return {
    method,
    path,
    base,
    query,
    peer,
    // Some runtimes find a header however its name is written.
    header: (name) => (/^(?:authorization|dpop)$/i.test(name) ? undefined : request.header(name)),
    body: (maxBytes, timeoutMs) => request.body(maxBytes, timeoutMs),
  };
}

async function show(page: Route, request: HttpRequest, reply: Reply): Promise<void> {
  const { status = 200, headers = {}, body }: RouteAnswer = await page(request);
  const isText = typeof body === "string" || body === undefined;
  const type = { "content-type": isText ? "text/plain; charset=utf-8" : "application/json" };
  reply.page(
    status,
    { "x-content-type-options": "nosniff", ...type, ...headers },
    isText ? body : JSON.stringify(body),
  );
}

/** Throws an HttpFault, 404, where nothing is. */
function placeOf({ sse, path: own }: HttpSettings, { isMcp }: Ways, path: string): Place {
  if (isMcp(path)) return "mcp";
  // Whoever routes by the whole path has looked at what is in front.
  const isAt = (wanted: string): boolean => (own === undefined ? path.endsWith(wanted) : path === wanted);
  if (sse && isAt(sse.path)) return "sse";
  if (sse && isAt(sse.messagesPath)) return "messages";
  throw new HttpFault(404, "Nothing is served on this path");
}

function direct(
  place: Place,
  { hasSessions, read, post, withLegacy }: Ways,
  request: HttpRequest,
  auth: AuthInfo | undefined,
  reply: Reply,
  note: Note,
  check?: Check,
): Promise<void> {
  const { method } = request;
  if (place === "mcp" && method === "POST") return post(request, auth, reply, note, check);
  if (place === "messages" && method === "POST")
    return read(request, note, (incoming) => {
      check?.(incoming);
      return withLegacy(reply, (older) => older.sse?.post(incoming, request, auth, reply));
    });
  if (place === "sse" && method === "GET") return withLegacy(reply, (older) => older.sse?.open(request, auth, reply));
  if (place === "mcp" && hasSessions && method === "GET")
    return withLegacy(reply, (older) => older.sessioned?.get(request, auth, reply));
  if (place === "mcp" && hasSessions && method === "DELETE")
    return withLegacy(reply, (older) => older.sessioned?.delete(request, auth, reply));
  const allow = place === "sse" ? "GET" : place === "messages" || !hasSessions ? "POST" : "GET, POST, DELETE";
  throw new HttpFault(405, "Method not allowed", -32600, { allow });
}
