// The official client and server 2.x in one process: over their pair in memory, which speaks 2025 only; for 2026-07-28 through a
// `fetch` that calls the server's handler.
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod/v4";
import { toResult } from "../common.mjs";

const inputSchema = z.object({ text: z.string() });

function build() {
  const server = new McpServer({ name: "v2", version: "1.0.0" });
  server.registerTool("echo", { description: "Echo", inputSchema }, async ({ text }) => toResult(text));
  return server;
}

async function openModern() {
  const handler = createMcpHandler(build);
  const fetch = (url, init) => handler.fetch(new Request(url, init));
  const client = new Client(
    { name: "bench", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL("http://test.local/mcp"), { fetch }));
  return client;
}

async function openLegacy() {
  const client = new Client({ name: "bench", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await build().connect(far);
  await client.connect(near);
  return client;
}

export async function connect({ era }) {
  const client = await (era === "modern" ? openModern() : openLegacy());
  return { call: (text) => client.callTool({ name: "echo", arguments: { text } }), close: () => client.close() };
}
