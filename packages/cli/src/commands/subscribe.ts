// `plenum subscribe`: what changes at a server, as it happens.
import { defineCommand } from "../command.ts";
import { formatContents } from "../content.ts";
import { toHarmless } from "../output.ts";
import { sessionOptions, withSession } from "../session.ts";
import { createUntil, untilOptions } from "../until.ts";

export const command = defineCommand({
  name: "subscribe",
  summary: "Watch resources and lists of a server change",
  description: [
    "Subscribes to resources, and to the lists of tools, resources and prompts, and prints one line for each change until Ctrl-C. With --read a resource that changed is read, too. Without a URI the lists alone are watched.",
  ],
  arguments: [
    { name: "TARGET", summary: "the server" },
    { name: "URI", summary: "resources to watch", isMany: true },
  ],
  options: {
    ...sessionOptions,
    ...untilOptions,
    read: { kind: "flag", summary: "Read a resource when it has changed" },
  },
  examples: [
    {
      command: "plenum subscribe https://example.com/mcp note://today --read",
      summary: "A resource, with what it becomes",
    },
    {
      command: "plenum subscribe --for 60 --json -- node server.js",
      summary: "Changes of the lists, for a minute, for a program",
    },
  ],
  async run(invocation) {
    const { output, many, options, signal } = invocation;
    const until = createUntil(options, signal);
    let read: (uri: string) => Promise<string | undefined> = async () => undefined;
    const tell = async (uri: string): Promise<void> => {
      const text = await read(uri).catch((error: Error) => `cannot be read: ${error.message}`);
      output.event(
        { kind: "resource", uri, ...(text !== undefined && { text }) },
        toHarmless(`${uri} changed${text === undefined ? "" : `\n${text}`}`),
      );
      until.count();
    };
    await withSession(
      invocation,
      async ({ client }) => {
        if (options.read)
          read = async (uri) => (await client.readResource(uri)).contents.map(formatContents).join("\n");
        for (const uri of many) await client.subscribe(uri, { signal });
        output.note("Waiting for changes. Ctrl-C ends it.");
        await until.ended;
      },
      {
        onResourceUpdated: (uri) => void tell(uri),
        onListChanged(kind) {
          output.event({ kind }, `The list of ${kind} changed`);
          until.count();
        },
        onStateChange(state, cause) {
          if (state === "closed" && cause !== undefined) until.lost(cause);
        },
      },
    );
    return undefined;
  },
});
