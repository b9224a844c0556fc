// `plenum read`: a resource.
import { defineCommand } from "../command.ts";
import { dataOfContents, forceOption, formatContents, savePieces } from "../content.ts";
import { Failure } from "../failure.ts";
import { sessionOptions, withSession } from "../session.ts";
import { isTerminal } from "../streams.ts";

export const command = defineCommand({
  name: "read",
  summary: "Read a resource",
  description: [
    "Reads a resource and prints its text. Bytes are written as they are where stdout is a file or a pipe; at a terminal they are one line, and --output writes them to a file.",
  ],
  arguments: [
    { name: "TARGET", summary: "the server" },
    { name: "URI", summary: "the resource; plenum list shows them" },
  ],
  options: {
    ...sessionOptions,
    output: { kind: "text", short: "o", value: "PATH", summary: "Write it there: a file, or a folder for several" },
    force: forceOption,
  },
  examples: [
    { command: "plenum read server.ts note://today", summary: "A resource of the server in a file" },
    { command: "plenum read https://example.com/mcp img://logo -o logo.png", summary: "An image, to a file" },
  ],
  async run(invocation) {
    const { output, signal, options, arguments: named } = invocation;
    const uri = named.URI as string;
    if (!/^[a-z][a-z\d+.-]*:/i.test(uri)) {
      throw new Failure("usage", `"${uri}" is no URI`, {
        code: "invalid_argument",
        hint: "plenum list TARGET shows the resources that there are: note://today, file:///notes.txt …",
      });
    }
    await withSession(invocation, async ({ client }) => {
      const result = await client.readResource(uri, { signal });
      const { contents } = result;
      if (options.output !== undefined) {
        const saved = savePieces(contents.map(dataOfContents), options.output, options.force);
        output.result({ ...result, saved }, saved.join("\n"));
      } else if (output.isJson || isTerminal("stdout")) output.result(result, contents.map(formatContents).join("\n"));
      // Byte for byte, so that it can be piped on.
      else for (const one of contents) output.raw(dataOfContents(one).data);
    });
    return undefined;
  },
});
