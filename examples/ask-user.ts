// A tool that asks before it acts, written once for every revision: a side effect in a step is done once, even where the
// handler is run again with the answer. Run it to be asked yourself; give a revision to see that it makes no difference, of
// those that have forms: 2025-06-18, 2025-11-25, 2026-07-28.
//   node --conditions=plenum-source --import tsx examples/ask-user.ts 2025-06-18
// As a server for a host of your choice: add `serve` instead of the revision.
import { createInterface } from "node:readline/promises";
import { pathToFileURL } from "node:url";
import { connect, createServer, type Revision } from "plenum";
import { serveStdio } from "plenum/stdio";
import { z } from "zod";

export function createDeployServer(log: (line: string) => void = console.error) {
  const server = createServer({ name: "deploy", version: "1.0.0" });
  let builds = 0;

  server.tool(
    "deploy",
    { description: "Builds and deploys", input: z.object({ env: z.enum(["staging", "production"]) }) },
    async ({ env }, ctx) => {
      const build = await ctx.step("build", () => {
        log("building …");
        return { id: `build-${++builds}` };
      });
      const answer = await ctx.elicit(
        `Deploy ${build.id} to ${env}?`,
        z.object({ confirm: z.boolean(), note: z.string().default("") }),
      );
      if (answer.action !== "accept" || !answer.content.confirm) return "Not deployed.";
      await ctx.step("deploy", () => log(`deploying ${build.id} …`));
      const { note } = answer.content;
      return `Deployed ${build.id} to ${env}${note ? ` (${note})` : ""}.`;
    },
  );
  return server;
}

async function main(revision: Revision | undefined): Promise<void> {
  const client = await connect(createDeployServer(), {
    ...(revision && { revision }),
    async onElicit({ message }) {
      const terminal = createInterface({ input: process.stdin, output: process.stdout });
      const confirm = /^y/i.test(await terminal.question(`${message} (y/n) `));
      terminal.close();
      return confirm ? { action: "accept", content: { confirm } } : { action: "decline" };
    },
  });
  const { text } = await client.callTool("deploy", { env: "staging" }, { timeoutMs: 0 });
  console.log(text);
  await client.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [what] = process.argv.slice(2);
  if (what === "serve") serveStdio(createDeployServer());
  else await main(what as Revision | undefined);
}
