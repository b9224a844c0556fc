// The official SDK 2.x on node:http. HTTP modes: session-* on its transport of 2025; stateless-sse, messages of 2025 through
// createMcpHandler as it comes; modern-auto, modern-json and modern-sse, 2026-07-28 through the same.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createMcpHandler, inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod/v4";
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
const requestedSchema = questionOf(z);

function build() {
  const server = new McpServer({ name: "v2", version: "1.0.0" });
  registerOfficial(server, tools, progress, ({ mcpReq }) => mcpReq);
  if (asks) {
    // Once for both eras: in a session the SDK asks, and calls the handler again.
    server.registerTool("ask", { description: askDescription }, async ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "confirm");
      if (answer.kind === "elicit") return toResult(answer.action);
      const confirm = inputRequired.elicit({ message: question, requestedSchema });
      return inputRequired({ inputRequests: { confirm } });
    });
  }
  return server;
}

async function serveHttp() {
  const { toNodeHandler, localhostHostValidation, localhostOriginValidation, NodeStreamableHTTPServerTransport } =
    await import("@modelcontextprotocol/node");
  const isHostRight = localhostHostValidation();
  const isOriginRight = localhostOriginValidation();
  const enableJsonResponse = mode.includes("json");
  const sessions = new Map();

  async function handleInSession(request, response) {
    let session = sessions.get(request.headers["mcp-session-id"]);
    if (!session) {
      session = new NodeStreamableHTTPServerTransport({
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
    await session.handleRequest(request, response);
  }

  const responseMode = mode.startsWith("modern") ? mode.split("-")[1] : "auto";
  const handle = mode.startsWith("session")
    ? handleInSession
    : toNodeHandler(createMcpHandler(build, responseMode === "auto" ? {} : { responseMode }));
  const server = createServer((request, response) => {
    if (isHostRight(request, response) && isOriginRight(request, response)) void handle(request, response);
  });
  server.listen(port, "127.0.0.1");
}

if (transport === "stdio") {
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  serveStdio(build);
} else await serveHttp();
