// A server made with the official SDK 1.x that cannot bear a request before `initialize`: touchy.mjs exits | is-silent

import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "touchy", version: "1.0.0" });
server.registerTool("hello", {}, () => ({ content: [{ type: "text", text: "Hello" }] }));

const input = new PassThrough();
let isOpen = false;
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  isOpen ||= JSON.parse(line).method === "initialize";
  if (isOpen) input.write(`${line}\n`);
  else if (process.argv[2] === "exits") process.exit(1);
});
lines.on("close", () => process.exit());
await server.connect(new StdioServerTransport(input));
