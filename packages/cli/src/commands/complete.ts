// `plenum complete`: what a server proposes for an argument.
import type { CompletionRef } from "plenum";
import { defineCommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { toHarmless } from "../output.ts";
import { sessionOptions, withSession } from "../session.ts";
import { toPairs } from "../target/find.ts";

export const command = defineCommand({
  name: "complete",
  summary: "Ask for values of an argument of a prompt or a resource template",
  description: [
    "Asks the server which values an argument may have that begin as the one given, and prints them, one a line. The first KEY=VALUE is the argument that is asked about; the others are filled in already.",
    "A name is that of a prompt; what has a brace in it, such as note://{day}, is a resource template.",
  ],
  arguments: [
    { name: "TARGET", summary: "the server" },
    { name: "NAME", summary: "the prompt, or the URI template" },
    { name: "KEY=VALUE", summary: "the argument, as far as it is typed", isMany: true },
  ],
  options: sessionOptions,
  examples: [
    { command: "plenum complete server.ts review tone=fri", summary: "Values for an argument of a prompt" },
    { command: "plenum complete server.ts 'note://{day}' day=mo", summary: "Values for a variable of a template" },
  ],
  async run(invocation) {
    const { output, signal, many, arguments: named } = invocation;
    const name = named.NAME as string;
    const [asked, ...filled] = Object.entries(toPairs(many, "Such as: tone=fri"));
    if (!asked)
      throw new Failure("usage", "complete needs an argument to ask about", {
        hint: "Such as: tone=fri, or tone= for all of them",
      });
    const ref: CompletionRef = name.includes("{") ? { type: "ref/resource", uri: name } : { type: "ref/prompt", name };
    await withSession(invocation, async ({ client }) => {
      const given = filled.length > 0 ? { arguments: Object.fromEntries(filled) } : {};
      const completion = await client.complete(ref, { name: asked[0], value: asked[1] }, { signal, ...given });
      output.result(completion, toHarmless(completion.values.join("\n")));
      if (completion.hasMore)
        output.note(`There are more${completion.total === undefined ? "" : `: ${completion.total} in all`}.`);
    });
    return undefined;
  },
});
