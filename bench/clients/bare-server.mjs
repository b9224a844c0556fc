// A server that does as little as one can, for measuring clients: reads lines, answers what is asked in any revision.
import { createInterface } from "node:readline";

const info = { name: "bare", version: "1.0.0" };
const tool = { name: "echo", inputSchema: { type: "object" } };
const cached = { ttlMs: 0, cacheScope: "private" };

function answer({ method, params }) {
  const isModern = params?._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined;
  const type = isModern ? { resultType: "complete" } : {};
  if (method === "initialize")
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: info };
  if (method === "server/discover")
    return { ...type, ...cached, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  if (method === "tools/list") return { ...type, ...(isModern && cached), tools: [tool] };
  return { ...type, content: [{ type: "text", text: params.arguments.text }] };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) })}\n`);
});
