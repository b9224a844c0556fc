// The floor of what needs more than one exchange: a tool that asks a question, in both eras, and a stream that is taken up again.
// By hand, with one session for all.
import { createServer } from "node:http";
import { question, toResult } from "../common.mjs";

const port = Number(process.argv[2]);
const params = {
  mode: "form",
  message: question,
  requestedSchema: { type: "object", properties: { confirm: { type: "boolean" } }, required: ["confirm"] },
};
const revisionKey = "io.modelcontextprotocol/protocolVersion";
const streamHeaders = { "content-type": "text/event-stream", "cache-control": "no-cache" };

/** What waits for the user's answer, by the id of the question. */
const asked = new Map();
let nextId = 1;
/** The texts of all events, in order; the number of an event is its id. */
const events = [];

function toJson(response, value, headers = {}) {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length, ...headers });
  response.end(body);
}

const toEvent = (message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

function keep(message) {
  const text = `id: ${events.length}\n${toEvent(message)}`;
  events.push(text);
  return text;
}

function ask({ id, params: given }, response) {
  if (given._meta?.[revisionKey] !== undefined) {
    const inputRequests = { confirm: { method: "elicitation/create", params } };
    const { action } = given.inputResponses?.confirm ?? {};
    const result = action
      ? { resultType: "complete", ...toResult(action) }
      : { resultType: "input_required", inputRequests, requestState: "asked" };
    toJson(response, { jsonrpc: "2.0", id, result });
    return;
  }
  const questionId = nextId++;
  asked.set(questionId, ({ action }) => response.end(toEvent({ jsonrpc: "2.0", id, result: toResult(action) })));
  response.writeHead(200, streamHeaders);
  response.write(toEvent({ jsonrpc: "2.0", id: questionId, method: "elicitation/create", params }));
}

function report({ id, params: given }, response) {
  const total = given.arguments.count;
  const { progressToken } = given._meta;
  response.writeHead(200, streamHeaders);
  for (let progress = 1; progress <= total; progress++) {
    const told = { progressToken, progress, total };
    response.write(keep({ jsonrpc: "2.0", method: "notifications/progress", params: told }));
  }
  response.end(keep({ jsonrpc: "2.0", id, result: toResult("done") }));
}

function answer(message, response) {
  const { id, method, result, params: given } = message;
  if (method === undefined) {
    asked.get(id)?.(result);
    asked.delete(id);
  }
  if (method === undefined || id === undefined) response.writeHead(202).end();
  else if (method === "initialize") {
    const serverInfo = { name: "bare", version: "1.0.0" };
    const told = { protocolVersion: given.protocolVersion, capabilities: { tools: {} }, serverInfo };
    toJson(response, { jsonrpc: "2.0", id, result: told }, { "mcp-session-id": "the-only-session" });
  } else if (given.name === "ask") ask(message, response);
  else report(message, response);
}

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.writeHead(200, streamHeaders);
    for (let i = Number(request.headers["last-event-id"]) + 1; i < events.length; i++) response.write(events[i]);
    response.end();
    return;
  }
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => answer(JSON.parse(Buffer.concat(chunks).toString()), response));
});
server.listen(port, "127.0.0.1");
