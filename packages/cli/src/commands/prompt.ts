// `plenum prompt`: a prompt with its arguments filled in.
import { nearestTo } from "plenum/util/nearest";
import { defineCommand } from "../command.ts";
import { formatContent } from "../content.ts";
import { Failure } from "../failure.ts";
import { sessionOptions, withSession } from "../session.ts";
import { toPairs } from "../target/find.ts";

export const command = defineCommand({
  name: "prompt",
  summary: "Get a prompt, with its arguments filled in",
  description: ["Gets a prompt and prints its messages, each with who speaks. Arguments of prompts are texts."],
  arguments: [
    { name: "TARGET", summary: "the server" },
    { name: "PROMPT", summary: "the name of the prompt; plenum list shows them" },
    { name: "KEY=VALUE", summary: "the arguments", isMany: true },
  ],
  options: sessionOptions,
  examples: [
    { command: "plenum prompt server.ts review code='let x = 1'", summary: "A prompt of the server in a file" },
    { command: "plenum prompt https://example.com/mcp summarize --json", summary: "The messages as JSON" },
  ],
  async run(invocation) {
    const { output, signal, many, arguments: named } = invocation;
    const name = named.PROMPT as string;
    const args = toPairs(many, "Such as: code='let x = 1'");
    await withSession(invocation, async ({ client }) => {
      const { prompts } = client.server.capabilities;
      const known = prompts ? await client.listPrompts().all() : [];
      const own = known.find((one) => one.name === name);
      const missing = (own?.arguments ?? []).filter((one) => one.required && !Object.hasOwn(args, one.name));
      if (missing.length > 0) {
        throw new Failure("usage", `The prompt needs ${missing.map((one) => `"${one.name}"`).join(", ")}`, {
          code: "missing_argument",
          hint: `Add:\n${missing.map((one) => `  ${one.name}=…${one.description ? `  ${one.description}` : ""}`).join("\n")}`,
        });
      }
      const result = await client.getPrompt(name, args, { signal }).catch((error) => {
        if (own || known.length === 0) throw error;
        const names = known.map((one) => one.name);
        const near = nearestTo(name, names);
        const hint = near ? `Did you mean "${near}"?` : `Its prompts are ${names.slice(0, 20).join(", ")}.`;
        throw new Failure("protocol", `The server has no prompt "${name}"`, {
          code: "unknown_prompt",
          hint,
          cause: error,
        });
      });
      const lines = result.messages.map(
        ({ role, content }) => `${output.paint("bold", `${role}:`)} ${formatContent([content])}`,
      );
      output.result(result, lines.join("\n"));
    });
    return undefined;
  },
});
