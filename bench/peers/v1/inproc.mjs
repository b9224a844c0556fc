// The official client and server 1.x over their pair in memory.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { toResult } from "../common.mjs";

export async function connect() {
  const server = new McpServer({ name: "v1", version: "1.0.0" });
  const config = { description: "Echo", inputSchema: z.object({ text: z.string() }) };
  server.registerTool("echo", config, async ({ text }) => toResult(text));
  const client = new Client({ name: "bench", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
  return { call: (text) => client.callTool({ name: "echo", arguments: { text } }), close: () => client.close() };
}
