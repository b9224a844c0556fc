// Plenum over stdio and HTTP, with all that is on by default: validation, sessions, limits, checks of Origin and Host. HTTP modes:
// session-*, stateless-* and modern-*, with JSON or SSE answers.
import { createServer } from "plenum";
import * as z from "zod";
import {
  askDescription,
  asks,
  keepsEvents,
  mode,
  port,
  progressOf,
  question,
  questionOf,
  toolsOf,
  toResult,
  transport,
} from "../common.mjs";

const server = createServer({
  name: "plenum",
  version: "1.0.0",
  // As the others do: every notification is sent, and a list has one page.
  progressPerSecond: 1e9,
  pageSize: 5000,
});
for (const { name, description, schema, answer } of toolsOf(z)) {
  server.tool(name, { description, input: schema }, async (args) => toResult(answer(args)));
}
const progress = progressOf(z);
server.tool(progress.name, { description: progress.description, input: progress.schema }, async ({ count }, ctx) => {
  for (let i = 1; i <= count; i++) ctx.progress(i, count);
  return toResult("done");
});

if (asks) {
  const schema = questionOf(z);
  server.tool("ask", { description: askDescription }, async (_, ctx) =>
    toResult((await ctx.elicit(question, schema)).action),
  );
}

if (transport === "stdio") {
  const { serveStdio } = await import("plenum/stdio");
  await serveStdio(server);
} else {
  const { serveHttp } = await import("plenum/http/node");
  await serveHttp(server, {
    port,
    // As where OpenTelemetry is not installed: the workspace has it, for tests.
    telemetry: false,
    ...(mode.startsWith("stateless") && { sessions: false }),
    ...(keepsEvents && { sessions: { maxEvents: 1e6, maxEventBytes: 1e9 }, maxQueuedBytes: 1e9 }),
    ...(mode.includes("sse") && { answers: "stream" }),
  });
}
