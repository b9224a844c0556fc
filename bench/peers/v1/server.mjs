// The official SDK 1.x. HTTP modes: session-* and stateless-* on createMcpExpressApp, the documented way; with ", node:http" its
// transport is put on plain node:http instead.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import {
  askDescription,
  asks,
  createEventStore,
  keepsEvents,
  mode,
  port,
  progressOf,
  question,
  questionOf,
  registerOfficial,
  toolsOf,
  toResult,
  transport,
} from "../common.mjs";

const tools = toolsOf(z);
const progress = progressOf(z);
const { $schema, ...requestedSchema } = z.toJSONSchema(questionOf(z));

function build() {
  const server = new McpServer({ name: "v1", version: "1.0.0" });
  registerOfficial(server, tools, progress, ({ _meta, sendNotification }) => ({ _meta, notify: sendNotification }));
  if (asks) {
    server.registerTool("ask", { description: askDescription }, async ({ requestId }) => {
      const params = { mode: "form", message: question, requestedSchema };
      return toResult((await server.server.elicitInput(params, { relatedRequestId: requestId })).action);
    });
  }
  return server;
}

async function serveHttp() {
  const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const enableJsonResponse = mode.includes("json");
  const sessions = new Map();

  async function handleAlone(request, response, body) {
    const server = build();
    const one = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse });
    response.on("close", () => {
      one.close();
      server.close();
    });
    await server.connect(one);
    await one.handleRequest(request, response, body);
  }

  async function handleInSession(request, response, body) {
    let session = sessions.get(request.headers["mcp-session-id"]);
    if (!session) {
      session = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        enableJsonResponse,
        ...(keepsEvents && { eventStore: createEventStore() }),
        onsessioninitialized: (id) => {
          sessions.set(id, session);
        },
      });
      session.onclose = () => sessions.delete(session.sessionId);
      await build().connect(session);
    }
    await session.handleRequest(request, response, body);
  }

  const handle = mode.startsWith("stateless") ? handleAlone : handleInSession;
  if (mode.endsWith("node:http")) {
    createServer((request, response) => void handle(request, response)).listen(port, "127.0.0.1");
    return;
  }
  const { createMcpExpressApp } = await import("@modelcontextprotocol/sdk/server/express.js");
  const app = createMcpExpressApp();
  app.all("/mcp", (request, response) => void handle(request, response, request.body));
  app.listen(port, "127.0.0.1");
}

if (transport === "stdio") {
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  await build().connect(new StdioServerTransport());
} else await serveHttp();
