// `plenum ping`: whether a server is there, and how long it takes to say so.
import { defineCommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { toHarmless } from "../output.ts";
import { sessionOptions, withSession } from "../session.ts";

export const command = defineCommand({
  name: "ping",
  summary: "See whether a server answers, and how fast",
  description: [
    "Connects, and asks the server whether it is there, once or --count times. Revision 2026-07-28 has no ping; there it is asked what it is.",
  ],
  arguments: [{ name: "TARGET", summary: "the server" }],
  options: {
    ...sessionOptions,
    count: { kind: "number", short: "c", value: "N", summary: "How often", fallback: "1" },
  },
  examples: [
    { command: "plenum ping https://example.com/mcp", summary: "Once" },
    { command: "plenum ping -c 5 -- node server.js", summary: "Five times" },
  ],
  async run(invocation) {
    const { output, signal, options } = invocation;
    const { count = 1 } = options;
    if (!Number.isInteger(count) || count < 1) throw new Failure("usage", "--count must be a whole number, 1 or more");
    const began = performance.now();
    await withSession(invocation, async ({ client }) => {
      const connectMs = performance.now() - began;
      const times: number[] = [];
      for (let sent = 0; sent < count; sent++) {
        const at = performance.now();
        await client.ping({ signal });
        times.push(performance.now() - at);
      }
      const round = (ms: number): number => Math.round(ms * 100) / 100;
      const name = client.server.info?.name ?? "The server";
      const lines = times.map((ms) => toHarmless(`${name} answered in ${round(ms)} ms`));
      output.note(`Connected in ${round(connectMs)} ms, in ${client.revision}`);
      output.result(
        { revision: client.revision, connectMs: round(connectMs), pingMs: times.map(round) },
        lines.join("\n"),
      );
    });
    return undefined;
  },
});
