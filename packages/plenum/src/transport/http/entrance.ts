// The way in for every request but the plain one, which is a message to a server that asks nobody who he is: pages, callers
// that say who they are, streams and ends of sessions, HTTP+SSE; and what leads nowhere. Loaded by the first of them.
import type { Incoming } from "../../jsonrpc/message.ts";
import type { AuthInfo } from "../../protocol/endpoint.ts";
import { admit } from "./admit.ts";
import { HttpFault, type HttpRequest, type Route, type RouteAnswer } from "./exchange.ts";
import type { Legacy } from "./legacy.ts";
import type { Observed } from "./observe.ts";
import type { HttpSettings } from "./options.ts";
import type { Reply } from "./reply.ts";

export type Note = Observed["note"] | undefined;

/** What the core does with those that it lets in. */
export interface Ways {
  readonly hasSessions: boolean;
  /** Whether messages are sent to this path. */
  isMcp(path: string): boolean;
  /** Throws an HttpFault, 503. */
  assertNotClosing(): void;
  read(request: HttpRequest, note: Note, run: (incoming: Incoming) => Promise<void> | undefined): Promise<void>;
  post(request: HttpRequest, auth: AuthInfo | undefined, reply: Reply, note: Note): Promise<void>;
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
  const page = settings.routes.get(request.path);
  if (page) return show(page, request, reply);
  // Nobody is asked who he is for what is not there.
  const place = placeOf(settings, ways, request.path);
  const auth = settings.auth && (await admit(request, settings.auth));
  ways.assertNotClosing();
  // Who left meanwhile opens nothing that would have to be closed.
  if (!reply.isOver) await direct(place, ways, request, auth, reply, note);
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
): Promise<void> {
  const { method } = request;
  if (place === "mcp" && method === "POST") return post(request, auth, reply, note);
  if (place === "messages" && method === "POST")
    return read(request, note, (incoming) =>
      withLegacy(reply, (older) => older.sse?.post(incoming, request, auth, reply)),
    );
  if (place === "sse" && method === "GET") return withLegacy(reply, (older) => older.sse?.open(request, auth, reply));
  if (place === "mcp" && hasSessions && method === "GET")
    return withLegacy(reply, (older) => older.sessioned?.get(request, auth, reply));
  if (place === "mcp" && hasSessions && method === "DELETE")
    return withLegacy(reply, (older) => older.sessioned?.delete(request, auth, reply));
  const allow = place === "sse" ? "GET" : place === "messages" || !hasSessions ? "POST" : "GET, POST, DELETE";
  throw new HttpFault(405, "Method not allowed", -32600, { allow });
}
