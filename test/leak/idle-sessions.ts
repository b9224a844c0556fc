// Opens sessions over HTTP, has each of them call a tool once, and prints how much of the heap one takes from then on. Run
// by leak.test.ts, bundled, with --expose-gc.
//   argv: sessions to warm up, sessions to measure
import { createServer } from "plenum";
import { toFetchHandler } from "plenum/http";
import { look } from "./left.ts";

const [warmUp = 0, count = 0] = process.argv.slice(2).map(Number);
const server = createServer({ name: "idle", version: "1.0.0" });
server.tool("echo", {}, () => "Hello");
const handler = toFetchHandler(server);

async function post(body: object, session?: string): Promise<Response> {
  const answer = await handler(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        host: "localhost",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session && { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    }),
  );
  if (answer.status >= 300) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer;
}

async function open(): Promise<void> {
  const clientInfo = { name: "client", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const session = (await post({ id: 1, method: "initialize", params })).headers.get("mcp-session-id") ?? "";
  await post({ method: "notifications/initialized" }, session);
  await (await post({ id: 2, method: "tools/call", params: { name: "echo", arguments: {} } }, session)).text();
}

for (let i = 0; i < warmUp; i++) await open();
const before = await look();
for (let i = 0; i < count; i++) await open();
const after = await look();
console.log(JSON.stringify((after.heap - before.heap) / count));
await handler.close(0);
