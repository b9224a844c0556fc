// Plenum's client, pinned to one revision so that nothing is probed.
import { connect as connectTo } from "plenum";

export async function connect({ transport, url, command, era }) {
  const [program, ...args] = command;
  const client = await connectTo(transport === "http" ? { url } : { command: program, args }, {
    revision: era === "modern" ? "2026-07-28" : "2025-11-25",
  });
  return { call: (text) => client.callTool("echo", { text }), close: () => client.close() };
}
