// The official client 1.x.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";

async function open({ transport, url, command }) {
  if (transport === "http") {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return new StreamableHTTPClientTransport(new URL(url));
  }
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  return new StdioClientTransport({ command: command[0], args: command.slice(1) });
}

export async function connect(options) {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(await open(options));
  return { call: (text) => client.callTool({ name: "echo", arguments: { text } }), close: () => client.close() };
}
