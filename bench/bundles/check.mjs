// Runs a bundle: `check.mjs <file> <url>` calls the tool of the server that it holds, or with its client the one at the URL. Prints
// what came back and which of the bundle's files were loaded for it.
import { pathToFileURL } from "node:url";

const [file, url] = process.argv.slice(2);
const address = "http://127.0.0.1/mcp";
const { handle, call } = await import(pathToFileURL(file).href);

async function post(message, session) {
  const headers = {
    host: "127.0.0.1",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(message.method !== "initialize" && { "mcp-protocol-version": "2025-06-18" }),
    ...(session && { "mcp-session-id": session }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return handle(new Request(address, { method: "POST", headers, body }));
}

/** Of the newest revision a call is complete in itself. Undefined where the server does not speak it. */
async function callModern() {
  const version = "2026-07-28";
  const of = (key) => `io.modelcontextprotocol/${key}`;
  const _meta = { [of("protocolVersion")]: version, [of("clientCapabilities")]: {} };
  const params = { name: "echo", arguments: { text: "hello" }, _meta };
  const headers = {
    host: "127.0.0.1",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": "tools/call",
    "mcp-name": "echo",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const answer = await handle(new Request(address, { method: "POST", headers, body }));
  return readText(await answer.text());
}

function readText(body) {
  const data = body.startsWith("{") ? body : body.slice(body.indexOf("data:") + 5);
  try {
    return JSON.parse(data).result?.content?.[0]?.text;
  } catch {
    return undefined;
  }
}

async function callServer() {
  const modern = await callModern();
  if (modern !== undefined) return modern;
  const clientInfo = { name: "check", version: "1.0.0" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const first = await post({ id: 1, method: "initialize", params });
  const session = first.headers.get("mcp-session-id");
  await first.text();
  await post({ method: "notifications/initialized" }, session);
  const call = { name: "echo", arguments: { text: "hello" } };
  const answer = await post({ id: 2, method: "tools/call", params: call }, session);
  return readText(await answer.text());
}

const text = handle ? await callServer() : await call(url);
process.stdout.write(JSON.stringify({ text, loaded: [...globalThis.loadedFiles] }), () => process.exit(0));
