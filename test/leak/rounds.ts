// Connects, calls and closes, over and over, in a process of its own, and prints what is left: heap after collection and
// live handles, before, halfway and after. Run by leak.test.ts, bundled, with --expose-gc.
//   argv: "memory" or "stdio", revision, rounds to warm up, rounds to measure, and for stdio the server's program
import { connect, createServer, type Revision } from "plenum";
import { z } from "zod";
import { look } from "./left.ts";

const [kind, revision, warmUp, rounds, program = ""] = process.argv.slice(2);

const server = createServer({ name: "leak", version: "1.0.0" });
server.tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text);
server.tool("ask", {}, async (_, ctx) => JSON.stringify(await ctx.roots()));

async function round(): Promise<void> {
  const target = kind === "memory" ? server : { command: process.execPath, args: [program] };
  const client = await connect(target, {
    revision: revision as Revision,
    roots: ["file:///tmp"],
    onListChanged() {},
    onLog() {},
    pingIntervalMs: 1000,
  });
  const { text } = await client.callTool("echo", { text: "hello" }, { onProgress() {} });
  if (text !== "hello") throw new Error(`The call went wrong: ${text}`);
  if (kind === "memory") await client.callTool("ask");
  await client.close();
}

const run = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await round();
};
await run(Number(warmUp));
const seen = [await look()];
for (const part of [1, 2]) {
  await run(Number(rounds) / 2);
  seen[part] = await look();
}
console.log(JSON.stringify(seen));
process.exit(0);
