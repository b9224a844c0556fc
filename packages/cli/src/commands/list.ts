// `plenum list`: what a server has.
import { defineCommand } from "../command.ts";
import { toHarmless } from "../output.ts";
import { sessionOptions, withSession } from "../session.ts";

export const command = defineCommand({
  name: "list",
  summary: "List the tools, resources and prompts of a server",
  description: ["Connects to a server and lists its tools."],
  arguments: [{ name: "TARGET", summary: "the server" }],
  options: sessionOptions,
  examples: [{ command: "plenum list server.ts", summary: "What the server in a file has" }],
  async run(invocation) {
    await withSession(invocation, async ({ client }) => {
      const tools = await client.listTools().all();
      const lines = tools.map((tool) => toHarmless(`${tool.name}  ${tool.description ?? ""}`));
      invocation.output.result({ tools }, lines.join("\n"));
    });
    return undefined;
  },
});
