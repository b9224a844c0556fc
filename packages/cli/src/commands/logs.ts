// `plenum logs`: what a server logs, as it happens.
import type { LogLevel } from "plenum";
import { defineCommand } from "../command.ts";
import { formatLog, logLevels } from "../log-lines.ts";
import { revisionNames, sessionOptions, withSession } from "../session.ts";
import { createUntil, untilOptions } from "../until.ts";

export const command = defineCommand({
  name: "logs",
  summary: "Show what a server logs",
  description: [
    "Shows the log messages of a server, one a line, until Ctrl-C, from --level on. Of a server that a command starts its stderr is shown as well.",
    "In revision 2026-07-28 a server logs within a call alone: unless --revision says otherwise an older one is spoken here, where a server has a way to log by itself. For one call: plenum call --log debug.",
  ],
  arguments: [{ name: "TARGET", summary: "the server" }],
  options: {
    ...sessionOptions,
    ...untilOptions,
    level: { kind: "text", value: "LEVEL", choices: logLevels, summary: "From this level on", fallback: "debug" },
  },
  examples: [
    { command: "plenum logs https://example.com/mcp --level warning", summary: "Warnings and worse" },
    { command: "plenum logs --json -- node server.js", summary: "All of it, for a program" },
  ],
  async run(invocation) {
    const { output, options, signal } = invocation;
    const listen = (revision: string): Promise<void> => {
      const until = createUntil(options, signal);
      return withSession(
        { ...invocation, options: { ...options, revision, stderr: true } },
        async ({ client }) => {
          const { capabilities, info } = client.server;
          if (!capabilities.logging) output.warn(`${info?.name ?? "The server"} does not say that it logs.`);
          output.note("Waiting for log messages. Ctrl-C ends it.");
          await until.ended;
        },
        {
          logLevel: (options.level ?? "debug") as LogLevel,
          onLog(entry) {
            output.event(entry, formatLog(entry));
            until.count();
          },
          onStateChange(state, cause) {
            if (state === "closed" && cause !== undefined) until.lost(cause);
          },
        },
      );
    };
    if (options.revision !== undefined) await listen(options.revision);
    else await inNewest(listen);
    return undefined;
  },
});

/** Tries the revisions in which a server logs by itself, newest first, until it speaks one. */
async function inNewest(listen: (revision: string) => Promise<void>): Promise<void> {
  const sessioned = revisionNames.filter((one) => one < "2026-07-28");
  for (const [index, revision] of sessioned.entries()) {
    try {
      return await listen(revision);
    } catch (error) {
      const isOther = (error as { readonly code?: unknown }).code === "unsupported_version";
      if (!isOther || index === sessioned.length - 1) throw error;
    }
  }
}
