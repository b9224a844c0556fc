import { createServer } from "plenum";
import { toFetchHandler } from "plenum/http";
import { writeHeapSnapshot } from "node:v8";
import { z } from "zod";
const server = createServer({ name: "x", version: "1" });
server.tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text);
const h = toFetchHandler(server);
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", host: "localhost" };
const ids: string[] = [];
async function open() {
  const r = await h(new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "s", version: "1" } } }) }));
  await r.text();
  const id = r.headers.get("mcp-session-id")!;
  ids.push(id);
  const q = await h(new Request("http://localhost/mcp", { method: "POST", headers: { ...headers, "mcp-session-id": id }, body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) }));
  await q.text();
}
const gc = globalThis.gc!;
async function heap() { for (let i = 0; i < 6; i++) { await new Promise((r) => setTimeout(r, 30)); gc(); } return process.memoryUsage().heapUsed; }
for (let i = 0; i < 200; i++) await open();
const a = await heap();
for (let i = 0; i < 3000; i++) await open();
const b = await heap();
console.log("per session", (b - a) / 3000);
if (process.argv[2]) writeHeapSnapshot(process.argv[2]);
process.exit(0);
