// The floor: what Node itself costs, and the server that clients under test call. No SDK and no validation: parse, look up,
// stringify. It speaks both eras.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { answers, extraDescription, extraName, extraTools, mode, port, toResult, transport } from "../common.mjs";

const text = { type: "string" };
const number = { type: "number" };

function tool(name, properties) {
  return {
    name,
    description: `The tool ${name}`,
    inputSchema: { type: "object", properties, required: Object.keys(properties) },
  };
}

const tools = [
  tool("echo", { text }),
  tool("add", { a: number, b: number }),
  tool("large", { bytes: number }),
  tool("length", { text }),
  tool("progress", { count: number }),
];
for (let i = 0; i < extraTools; i++) {
  tools.push({
    name: extraName(i),
    description: extraDescription(i),
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        id: { type: "string", description: `identifier ${i}` },
        count: { type: "integer", minimum: 0, maximum: 1000 },
        enabled: { type: "boolean" },
        tags: { type: "array", items: text },
        mode: { type: "string", enum: ["fast", "slow", "auto"] },
      },
      required: ["id", "count", "tags", "mode"],
    },
  });
}

const info = { name: "bare", version: "1.0.0" };
const cached = { ttlMs: 0, cacheScope: "private" };

function call({ name, arguments: args, _meta }, notify) {
  if (name !== "progress") return toResult(answers[name](args));
  for (let progress = 1; progress <= args.count; progress++) {
    const params = { progressToken: _meta?.progressToken, progress, total: args.count };
    notify({ jsonrpc: "2.0", method: "notifications/progress", params });
  }
  return toResult("done");
}

function resultOf({ method, params }, notify) {
  const isModern = params?._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined;
  switch (method) {
    case "tools/call": {
      const result = call(params, notify);
      if (isModern) result.resultType = "complete";
      return result;
    }
    case "initialize":
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: info };
    case "server/discover":
      return {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        ...cached,
        _meta: { "io.modelcontextprotocol/serverInfo": info },
      };
    case "tools/list":
      return isModern ? { resultType: "complete", tools, ...cached } : { tools };
    default:
      return {};
  }
}

const answerTo = (message, notify) =>
  JSON.stringify({ jsonrpc: "2.0", id: message.id, result: resultOf(message, notify) });

function serveStdio() {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    if (rest && !chunk.includes("\n")) {
      rest += chunk;
      return;
    }
    const all = rest + chunk;
    let from = 0;
    for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n", from)) {
      const message = JSON.parse(all.slice(from, end));
      from = end + 1;
      if (message.id === undefined || message.method === undefined) continue;
      const answer = answerTo(message, (notification) => process.stdout.write(`${JSON.stringify(notification)}\n`));
      process.stdout.write(`${answer}\n`);
    }
    rest = all.slice(from);
  });
  process.stdin.on("end", () => process.exit(0));
}

const sessions = new Map();

function answerPost(message, response) {
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const isStream = mode.includes("sse") || message.params?.name === "progress";
  const headers = { "content-type": isStream ? "text/event-stream" : "application/json" };
  if (message.method === "initialize") {
    const id = randomUUID();
    sessions.set(id, { id });
    headers["mcp-session-id"] = id;
  }
  if (isStream) {
    headers["cache-control"] = "no-cache";
    response.writeHead(200, headers);
    const notify = (notification) => response.write(`event: message\ndata: ${JSON.stringify(notification)}\n\n`);
    response.end(`event: message\ndata: ${answerTo(message, notify)}\n\n`);
    return;
  }
  const body = Buffer.from(answerTo(message));
  headers["content-length"] = body.length;
  response.writeHead(200, headers);
  response.end(body);
}

function serveHttp() {
  const server = createServer((request, response) => {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      answerPost(JSON.parse(body.toString()), response);
    });
  });
  server.listen(port, "127.0.0.1");
}

if (transport === "stdio") serveStdio();
else serveHttp();
