// The official client 2.x: with the handshake of 2025, its default, or pinned to 2026-07-28.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

async function open({ transport, url, command }) {
  if (transport === "http") return new StreamableHTTPClientTransport(new URL(url));
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  return new StdioClientTransport({ command: command[0], args: command.slice(1) });
}

export async function connect(options) {
  const client = new Client(
    { name: "bench", version: "1.0.0" },
    options.era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {},
  );
  await client.connect(await open(options));
  return { call: (text) => client.callTool({ name: "echo", arguments: { text } }), close: () => client.close() };
}
