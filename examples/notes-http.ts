// Serves the notes over HTTP, to clients of every revision, and prints how to talk to them. Run it with `npm start`.
import { fileURLToPath } from "node:url";
import { type HttpServing, serveHttp } from "plenum/http/node";
import { createNotesServer } from "./notes.ts";

const usualPort = 3000;

/** On the port that is asked for; otherwise on the usual one, or on any that is free. */
async function serve(): Promise<HttpServing> {
  const asked = process.env.PORT;
  const options = { port: Number(asked ?? usualPort), sse: true };
  try {
    return await serveHttp(createNotesServer(), options);
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
    if (asked !== undefined || cause?.code !== "EADDRINUSE") {
      console.error(asked === undefined ? message : `PORT=${asked}: ${message}`);
      process.exit(1);
    }
    console.log(`Port ${usualPort} is taken: another is used.\n`);
    return serveHttp(createNotesServer(), { ...options, port: 0 });
  }
}

/** A body for curl, in lines of a length to look at. There is no apostrophe in it that the shell would take. */
function data(message: object, indent: string): string {
  return `-d '${JSON.stringify(message).replace(/,(?="params"|"_meta"|"io\.[^"]*Cap|"clientInfo")/g, `,\n${indent}`)}'`;
}

/** 2024-11-05: a stream of events says where to post, and the answer comes on the stream. Two seconds show it all. */
function oldest(origin: string): string {
  const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "curl", version: "1" } };
  const body = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  return [
    `curl -sN -m 2 ${origin}/sse | while read -r field value; do echo "$field $value"`,
    `  case "$value" in /messages*) curl -s "${origin}$value" -H 'Content-Type: application/json' \\`,
    `    ${data(body, "      ")}; esac`,
    "done",
  ].join("\n");
}

/** 2025-11-25, which most hosts speak: a session is opened, and its id stands in a header from then on. */
function common(url: string): string {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "curl", version: "1" } };
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  return [
    `post() { curl -s ${url} "$@" \\`,
    "  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'; }",
    `id=$(post -o /dev/null -D - ${data(initialize, "  ")} |`,
    "  grep -i '^mcp-session-id:' | cut -d ' ' -f 2 | tr -d '\\r')",
    `post -H "Mcp-Session-Id: $id" ${data({ jsonrpc: "2.0", method: "notifications/initialized" }, "")}`,
    `post -H "Mcp-Session-Id: $id" ${data({ jsonrpc: "2.0", id: 2, method: "tools/list" }, "")}`,
  ].join("\n");
}

/** 2026-07-28: no handshake. What a request is about stands in its headers too. */
function newest(url: string): string {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const call = { name: "create_note", arguments: { title: "From curl", content: "Hello" } };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...call, _meta } };
  return [
    `curl -s ${url} \\`,
    "  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\",
    "  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: create_note' \\",
    `  ${data(body, "    ")}`,
  ].join("\n");
}

const toEntry = (notes: object): string => JSON.stringify({ mcpServers: { notes } }, undefined, 2);

const http = await serve();
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const loader = ["--conditions=plenum-source", "--import", path("../node_modules/tsx/dist/loader.mjs")];

console.log(`The notes of examples/notes.ts are served at ${http.url}

In 2024-11-05, the oldest revision, by HTTP+SSE:

${oldest(new URL(http.url).origin)}

In 2025-11-25, which most hosts speak:

${common(http.url)}

In 2026-07-28, the newest:

${newest(http.url)}

For a host that speaks HTTP:

${toEntry({ type: "http", url: http.url })}

For a host that starts its servers itself:

${toEntry({ command: process.execPath, args: [...loader, path("notes.ts")] })}

Ctrl+C ends it.`);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => http.close());
