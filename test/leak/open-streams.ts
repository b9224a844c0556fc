// Opens streams with requests whose bodies are long, and prints how many bytes of memory one holds while it is open. Run by
// leak.test.ts, bundled, with --expose-gc.
//   argv: streams to warm up, streams to measure
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createServer } from "plenum";
import { serveHttp } from "plenum/http/node";
import { look } from "./left.ts";

const [warmUp = 0, count = 0] = process.argv.slice(2).map(Number);
const server = createServer({ name: "open", version: "1.0.0" });
server.tool("echo", {}, () => "Hello");
const serving = await serveHttp(server);
const sockets: Socket[] = [];

async function open(): Promise<void> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { notifications: { toolsListChanged: true }, _meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params }).padEnd(500_000);
  const head = [
    "POST /mcp HTTP/1.1",
    `Host: 127.0.0.1:${serving.port}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: subscriptions/listen",
    `Content-Length: ${body.length}`,
  ];
  const socket = connect(serving.port, "127.0.0.1");
  sockets.push(socket);
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  if (!`${answer}`.startsWith("HTTP/1.1 200")) throw new Error(`${answer}`);
}

const memory = async (): Promise<number> => {
  const { heap } = await look();
  return heap + process.memoryUsage().arrayBuffers;
};

for (let i = 0; i < warmUp; i++) await open();
const before = await memory();
for (let i = 0; i < count; i++) await open();
console.log(JSON.stringify(((await memory()) - before) / count));
for (const socket of sockets) socket.destroy();
await serving.close(0);
