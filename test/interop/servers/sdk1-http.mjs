// The server of sdk1-surface.mjs over HTTP, as the authors of such servers write them: sdk1-http.mjs sessions | stateless | sse
//   sessions    Streamable HTTP at /mcp, with sessions, and streams that can be resumed; POST /forget ends all sessions
//   stateless   Streamable HTTP at /mcp, a new server for every request, answers in JSON only
//   sse         the older HTTP+SSE at /sse and /messages
import { randomUUID } from "node:crypto";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { EventStore } from "./event-store.mjs";
import { listen, refuse } from "./listen.mjs";
import { createServer } from "./sdk1-surface.mjs";

const sessions = new Map();

const kinds = {
  async sessions(req, res, path) {
    if (path === "/forget") {
      sessions.clear();
      return res.writeHead(204).end();
    }
    if (path !== "/mcp") return refuse(res, 404, "Not found");
    const id = req.headers["mcp-session-id"];
    if (id !== undefined) {
      const transport = sessions.get(id);
      if (!transport) return refuse(res, 404, "Session not found");
      return transport.handleRequest(req, res);
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => sessions.set(sessionId, transport),
      onsessionclosed: (sessionId) => sessions.delete(sessionId),
      eventStore: new EventStore(),
      // Longer than the steps of `slow`: there is something to be had when the client comes back.
      retryInterval: 300,
    });
    await createServer().connect(transport);
    await transport.handleRequest(req, res);
  },

  async stateless(req, res, path) {
    if (path !== "/mcp") return refuse(res, 404, "Not found");
    if (req.method !== "POST") return refuse(res, 405, "Method not allowed");
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    const server = createServer();
    res.on("close", () => server.close());
    await server.connect(transport);
    await transport.handleRequest(req, res);
  },

  async sse(req, res, path) {
    if (path === "/sse" && req.method === "GET") {
      const transport = new SSEServerTransport("/messages", res);
      sessions.set(transport.sessionId, transport);
      res.on("close", () => sessions.delete(transport.sessionId));
      return createServer().connect(transport);
    }
    if (path !== "/messages" || req.method !== "POST") return refuse(res, 404, "Not found");
    const transport = sessions.get(new URL(req.url, "http://127.0.0.1").searchParams.get("sessionId"));
    if (!transport) return refuse(res, 404, "Session not found");
    await transport.handlePostMessage(req, res);
  },
};

listen(kinds[process.argv[2]]);
