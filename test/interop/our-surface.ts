// A Plenum server with the surface that harness.ts describes: one for every revision and every transport.
import { createServer, type Server } from "plenum";
import { z } from "zod";

const names = ["Ada", "Alan", "Grace"];

/** `onCancelled` hears when the tool `slow` is told to stop. */
export function createOurServer(onCancelled: () => void): Server {
  const server = createServer({
    name: "ours",
    version: "1.0.0",
    instructions: "Use it to test a client.",
    secret: "not a secret, but long enough to be one",
  });

  server.tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text);

  server.tool(
    "add",
    { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
    ({ a, b }) => ({ sum: a + b }),
  );

  server.tool(
    "slow",
    { input: z.object({ steps: z.number(), delayMs: z.number() }) },
    async ({ steps, delayMs }, { progress, signal }) => {
      for (let step = 1; step <= steps; step += 1) {
        progress(step, steps, `step ${step}`);
        await pause(delayMs, signal);
        if (signal.aborted) {
          onCancelled();
          return "cancelled";
        }
      }
      return `done ${steps}`;
    },
  );

  server.tool("ask", {}, async (_, ctx) => {
    const answer = await ctx.elicit("Who are you?", z.object({ name: z.string() }));
    return answer.action === "accept" ? `Hello, ${answer.content.name}` : answer.action;
  });

  server.tool("sample", { input: z.object({ prompt: z.string() }) }, async ({ prompt }, ctx) => {
    const { model, content } = await ctx.sample({
      messages: [{ role: "user", content: { type: "text", text: prompt } }],
      maxTokens: 100,
    });
    return `${model}: ${(content as { text: string }).text}`;
  });

  server.tool("roots", {}, async (_, ctx) => (await ctx.roots()).map(({ uri }) => uri).join("\n"));

  server.tool("fail", {}, () => ({ content: [{ type: "text", text: "It failed." }], isError: true }));

  server.tool("log", { input: z.object({ message: z.string() }) }, ({ message }, ctx) => {
    ctx.log.info(message, "interop");
    return "logged";
  });

  server.tool("touch", {}, () => {
    server.resourceUpdated("memo://one");
    return "touched";
  });

  server.tool("grow", {}, () => {
    server.tool("grown", {}, () => "I am new.");
    return "grew";
  });

  server.resource("memo://one", { name: "one", mimeType: "text/plain" }, () => "One");
  server.resource("memo://{id}", { name: "memo", mimeType: "text/plain" }, ({ id }) => `Memo ${id}`);

  server.prompt(
    "greet",
    {
      arguments: z.object({ name: z.string() }),
      complete: { name: (typed) => names.filter((name) => name.startsWith(typed)) },
    },
    ({ name }) => `Greet ${name}`,
  );

  return server;
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
