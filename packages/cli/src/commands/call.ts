// `plenum call`: a tool, with arguments by its schema.
import { defineCommand } from "../command.ts";
import { exitCodes } from "../failure.ts";
import { toHarmless } from "../output.ts";
import { sessionOptions, withSession } from "../session.ts";

export const command = defineCommand({
  name: "call",
  summary: "Call a tool",
  description: ["Calls a tool and prints what it returns."],
  arguments: [
    { name: "TARGET", summary: "the server" },
    { name: "TOOL", summary: "the name of the tool" },
    { name: "KEY=VALUE", summary: "an argument", isMany: true },
  ],
  options: sessionOptions,
  examples: [{ command: "plenum call server.ts add a=1 b=2", summary: "A tool of the server in a file" }],
  async run(invocation) {
    const { output, signal, many, arguments: named } = invocation;
    return withSession(invocation, async ({ client }) => {
      const args = Object.fromEntries(many.map((one) => one.split("=") as [string, string]));
      const result = await client.callTool(named.TOOL as string, args, { signal });
      output.result(result, toHarmless(result.text));
      return result.isError ? exitCodes.tool : undefined;
    });
  },
});
