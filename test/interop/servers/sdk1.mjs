// A stdio server made with the official SDK of the 1.x line (up to 2025-11-25), with the surface that harness.ts describes.
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

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

server.registerTool("ask", {}, async () => {
  const { action, content } = await server.server.elicitInput({
    message: "Who are you?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  });
  return text(action === "accept" ? `Hello, ${content.name}` : action);
});

server.registerTool("sample", { inputSchema: { prompt: z.string() } }, async ({ prompt }) => {
  const { model, content } = await server.server.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens: 100,
  });
  return text(`${model}: ${content.text}`);
});

server.registerTool("roots", {}, async () => {
  const { roots } = await server.server.listRoots();
  return text(roots.map(({ uri }) => uri).join("\n"));
});

server.registerTool("fail", {}, () => ({ ...text("It failed."), isError: true }));

server.registerTool("log", { inputSchema: { message: z.string() } }, async ({ message }) => {
  await server.sendLoggingMessage({ level: "info", logger: "interop", data: message });
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

const names = ["Ada", "Alan", "Grace"];
server.registerPrompt(
  "greet",
  { argsSchema: { name: completable(z.string(), (typed) => names.filter((name) => name.startsWith(typed))) } },
  ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }] }),
);

await server.connect(new StdioServerTransport());

function pause(delayMs, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
