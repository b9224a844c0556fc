// A server made with the official SDK of the 1.x line (up to 2025-11-25), with the surface that harness.ts describes.
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });
const names = ["Ada", "Alan", "Grace"];

/** One server. It talks to one client only: over HTTP every session, or every request, has its own. */
export function createServer() {
  const server = new McpServer(
    { name: "official-1x", version: "1.0.0" },
    {
      capabilities: { logging: {}, resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } },
      instructions: "Use it to test a client.",
    },
  );

  server.registerTool("echo", { inputSchema: { text: z.string() } }, ({ text: value }) => text(value));

  server.registerTool(
    "add",
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  );

  server.registerTool(
    "slow",
    { inputSchema: { steps: z.number(), delayMs: z.number() } },
    async ({ steps, delayMs }, extra) => {
      for (let step = 1; step <= steps; step += 1) {
        const progressToken = extra._meta?.progressToken;
        if (progressToken !== undefined)
          await extra.sendNotification({
            method: "notifications/progress",
            params: { progressToken, progress: step, total: steps, message: `step ${step}` },
          });
        await pause(delayMs, extra.signal);
        if (extra.signal.aborted) {
          process.stderr.write("cancelled\n");
          return text("cancelled");
        }
      }
      return text(`done ${steps}`);
    },
  );

  // Over HTTP a form comes on the stream of the call that asks for it, a sample on the stream of the session.
  server.registerTool("ask", {}, async ({ requestId }) => {
    const { action, content } = await server.server.elicitInput(
      {
        message: "Who are you?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      },
      { relatedRequestId: requestId },
    );
    return text(action === "accept" ? `Hello, ${content.name}` : action);
  });

  server.registerTool("sample", { inputSchema: { prompt: z.string() } }, async ({ prompt }) => {
    const { model, content } = await server.server.createMessage({
      messages: [{ role: "user", content: { type: "text", text: prompt } }],
      maxTokens: 100,
    });
    return text(`${model}: ${content.text}`);
  });

  server.registerTool("roots", {}, async ({ requestId }) => {
    const { roots } = await server.server.listRoots(undefined, { relatedRequestId: requestId });
    return text(roots.map(({ uri }) => uri).join("\n"));
  });

  server.registerTool("fail", {}, () => ({ ...text("It failed."), isError: true }));

  server.registerTool("log", { inputSchema: { message: z.string() } }, async ({ message }, { sessionId }) => {
    await server.sendLoggingMessage({ level: "info", logger: "interop", data: message }, sessionId);
    return text("logged");
  });

  server.registerTool("touch", {}, async () => {
    if (subscribed.has("memo://one")) await server.server.sendResourceUpdated({ uri: "memo://one" });
    return text("touched");
  });

  server.registerTool("grow", {}, () => {
    server.registerTool("grown", {}, () => text("I am new."));
    return text("grew");
  });

  server.registerTool("cut", {}, async ({ closeSSEStream, signal }) => {
    closeSSEStream?.();
    await pause(100, signal);
    return text(closeSSEStream ? "after the cut" : "cannot be cut");
  });

  server.registerResource("one", "memo://one", { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "One" }],
  }));

  server.registerResource(
    "memo",
    new ResourceTemplate("memo://{id}", { list: undefined }),
    { mimeType: "text/plain" },
    ({ href }, { id }) => ({ contents: [{ uri: href, mimeType: "text/plain", text: `Memo ${id}` }] }),
  );

  // This SDK leaves the subscriptions themselves to the server's author.
  const subscribed = new Set();
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });

  server.registerPrompt(
    "greet",
    { argsSchema: { name: completable(z.string(), (typed) => names.filter((name) => name.startsWith(typed))) } },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }] }),
  );

  return server;
}

function pause(delayMs, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
