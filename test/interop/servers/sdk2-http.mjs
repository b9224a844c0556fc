// The server of sdk2-surface.mjs over HTTP at /mcp: sdk2-http.mjs <adapter> both | modern | stateless
//   both        2026-07-28, and the older revisions in sessions with streams that can be resumed
//   modern      2026-07-28 only
//   stateless   2026-07-28, and the older revisions without sessions, as the SDK does it by itself
// <adapter> is the SDK's module for node:http, which is not among this workspace's dependencies.
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { EventStore } from "./event-store.mjs";
import { listen, refuse } from "./listen.mjs";
import { createServer } from "./sdk2-surface.mjs";

const [, , adapter, kind] = process.argv;
const { toNodeHandler } = await import(pathToFileURL(adapter).href);

const shared = { isGrown: false };
const modern = createMcpHandler(() => createServer(shared), { legacy: kind === "stateless" ? "stateless" : "reject" });
shared.notify = modern.notify;

const sessions = new Map();

async function serveSession(request) {
  const id = request.headers.get("mcp-session-id");
  if (id !== null) {
    const transport = sessions.get(id);
    return transport ? transport.handleRequest(request) : new Response("Session not found", { status: 404 });
  }
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (sessionId) => void sessions.set(sessionId, transport),
    onsessionclosed: (sessionId) => void sessions.delete(sessionId),
    eventStore: new EventStore(),
    // Longer than the steps of `slow`: there is something to be had when the client comes back.
    retryInterval: 300,
    // The adapter finds out that a client is gone when it writes to it.
    keepAliveMs: 200,
  });
  await createServer().connect(transport);
  return transport.handleRequest(request);
}

const both = {
  fetch: async (request) => ((await isLegacyRequest(request)) ? serveSession(request) : modern.fetch(request)),
};
const handle = toNodeHandler(kind === "both" ? both : modern);

listen((req, res, path) => (path === "/mcp" ? handle(req, res) : refuse(res, 404, "Not found")));
