// @hono/mcp, a transport for servers of the official SDK 1.x, on @hono/node-server. HTTP modes: session-* and stateless-sse. It has
// no stdio of its own.
import { randomUUID } from "node:crypto";
import { StreamableHTTPTransport } from "@hono/mcp";
import { serve } from "@hono/node-server";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Hono } from "hono";
import { z } from "zod";
import { mode, port, progressOf, registerOfficial, toolsOf } from "../common.mjs";

const tools = toolsOf(z);
const progress = progressOf(z);

function build() {
  const server = new McpServer({ name: "hono-mcp", version: "1.0.0" });
  registerOfficial(server, tools, progress, ({ _meta, sendNotification }) => ({ _meta, notify: sendNotification }));
  return server;
}

const enableJsonResponse = mode.includes("json");
const sessions = new Map();

async function handleAlone(context) {
  const one = new StreamableHTTPTransport({ sessionIdGenerator: undefined, enableJsonResponse });
  await build().connect(one);
  return one.handleRequest(context);
}

async function handleInSession(context) {
  let session = sessions.get(context.req.header("mcp-session-id"));
  if (!session) {
    session = new StreamableHTTPTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse,
      onsessioninitialized: (id) => {
        sessions.set(id, session);
      },
    });
    await build().connect(session);
  }
  return session.handleRequest(context);
}

const app = new Hono();
app.all("/mcp", mode.startsWith("stateless") ? handleAlone : handleInSession);
serve({ fetch: app.fetch, port, hostname: "127.0.0.1" });
