// A server made with the official SDK of the 2.x line, which speaks 2026-07-28 and the older revisions, with the
// surface that harness.ts describes. Its tools ask by returning `inputRequired`; for an older peer the SDK turns that
// into requests.
import { completable, inputRequired, inputResponse, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });
const names = ["Ada", "Alan", "Grace"];

/**
 * One server. In 2026-07-28 over HTTP every request has its own: what they have in common is `shared`, and changes are
 * told by its `notify`.
 */
export function createServer(shared) {
  const server = new McpServer(
    { name: "official-2x", version: "2.0.0" },
    {
      capabilities: { logging: {}, resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } },
      instructions: "Use it to test a client.",
    },
  );

  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text: value }) => text(value));

  server.registerTool(
    "add",
    {
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  );

  server.registerTool(
    "slow",
    { inputSchema: z.object({ steps: z.number(), delayMs: z.number() }) },
    async ({ steps, delayMs }, { mcpReq }) => {
      for (let step = 1; step <= steps; step += 1) {
        const progressToken = mcpReq._meta?.progressToken;
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress: step, total: steps, message: `step ${step}` },
          });
        await pause(delayMs, mcpReq.signal);
        if (mcpReq.signal.aborted) {
          process.stderr.write("cancelled\n");
          return text("cancelled");
        }
      }
      return text(`done ${steps}`);
    },
  );

  server.registerTool("ask", {}, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "who");
    if (answer.kind === "elicit")
      return text(answer.action === "accept" ? `Hello, ${answer.content.name}` : answer.action);
    const who = inputRequired.elicit({
      message: "Who are you?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return inputRequired({ inputRequests: { who } });
  });

  server.registerTool("sample", { inputSchema: z.object({ prompt: z.string() }) }, ({ prompt }, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "model");
    if (answer.kind === "sampling") return text(`${answer.result.model}: ${answer.result.content.text}`);
    const model = inputRequired.createMessage({
      messages: [{ role: "user", content: { type: "text", text: prompt } }],
      maxTokens: 100,
    });
    return inputRequired({ inputRequests: { model }, requestState: "state of the second round" });
  });

  server.registerTool("roots", {}, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "roots");
    if (answer.kind === "roots") return text(answer.roots.map(({ uri }) => uri).join("\n"));
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });

  server.registerTool("fail", {}, () => ({ ...text("It failed."), isError: true }));

  server.registerTool("log", { inputSchema: z.object({ message: z.string() }) }, async ({ message }, { mcpReq }) => {
    await mcpReq.log("info", message, "interop");
    return text("logged");
  });

  server.registerTool("touch", {}, async () => {
    if (shared) shared.notify.resourceUpdated("memo://one");
    else await server.server.sendResourceUpdated({ uri: "memo://one" });
    return text("touched");
  });

  const registerGrown = () => server.registerTool("grown", {}, () => text("I am new."));
  if (shared?.isGrown) registerGrown();
  server.registerTool("grow", {}, () => {
    if (shared) {
      shared.isGrown = true;
      shared.notify.toolsChanged();
    } else registerGrown();
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

  // Peers of older revisions subscribe by these; 2026-07-28 has `subscriptions/listen`, which the SDK answers itself.
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));

  server.registerPrompt(
    "greet",
    {
      argsSchema: z.object({
        name: completable(z.string(), (typed) => names.filter((name) => name.startsWith(typed))),
      }),
    },
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
