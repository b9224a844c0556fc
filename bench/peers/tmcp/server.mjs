// tmcp. HTTP modes: session-sse and modern-sse, which one transport serves both, on node:http through
// @remix-run/node-fetch-server as its README shows.
import { createServer } from "node:http";
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { McpServer } from "tmcp";
import { z } from "zod";
import { port, progressOf, toolsOf, toResult, transport } from "../common.mjs";

const server = new McpServer(
  { name: "tmcp", version: "1.0.0", description: "bench" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
);
for (const { name, description, schema, answer } of toolsOf(z)) {
  server.tool({ name, description, schema }, async (args) => toResult(answer(args)));
}
server.tool(progressOf(z), async ({ count }) => {
  for (let i = 1; i <= count; i++) server.progress(i, count);
  return toResult("done");
});

if (transport === "stdio") {
  const { StdioTransport } = await import("@tmcp/transport-stdio");
  new StdioTransport(server).listen();
} else {
  const { HttpTransport } = await import("@tmcp/transport-http");
  const { createRequestListener } = await import("@remix-run/node-fetch-server");
  const http = new HttpTransport(server, { path: "/mcp" });
  const handle = async (request) => (await http.respond(request)) ?? new Response(null, { status: 404 });
  createServer(createRequestListener(handle)).listen(port, "127.0.0.1");
}
