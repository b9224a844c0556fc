// The server that the examples of this folder serve: a tool that tells its progress, a tool that asks before it acts,
// and a resource that changes when they did something. Nothing here is about HTTP.
import { createServer } from "plenum";
import { z } from "zod";

/** @param secret the same in all processes that serve it: each can go on with a call in which another asked */
export function createLaunchPad(secret?: string) {
  const server = createServer({ name: "launch-pad", version: "1.0.0", ...(secret && { secret }) });
  const events: string[] = [];
  const note = (event: string): void => {
    events.push(event);
    server.resourceUpdated("pad://events"); // those who watch it hear of it
  };

  server.resource("pad://events", { name: "events", mimeType: "text/plain" }, () => events.join("\n"));

  server.tool(
    "count_down",
    { description: "Counts down to zero", input: z.object({ from: z.int().min(1).max(100) }) },
    async ({ from }, ctx) => {
      ctx.signal.addEventListener("abort", () => note("count-down stopped"));
      for (let left = from; left > 0 && !ctx.signal.aborted; left--) {
        ctx.progress(from - left, from, `${left} …`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return "Zero.";
    },
  );

  server.tool("launch", { description: "Launches a rocket, if the user agrees" }, async (_, ctx) => {
    const answer = await ctx.elicit("Launch now?", z.object({ sure: z.boolean() }));
    if (answer.action !== "accept" || !answer.content.sure) return "Not launched.";
    note("launched");
    return "Launched.";
  });

  return server;
}
