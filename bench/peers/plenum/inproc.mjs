// Plenum's client and server in one process, over its pair in memory.
import { connect as connectTo, createServer } from "plenum";
import * as z from "zod";
import { toResult } from "../common.mjs";

export async function connect({ era }) {
  const server = createServer({ name: "plenum", version: "1.0.0" });
  server.tool("echo", { description: "Echo", input: z.object({ text: z.string() }) }, async ({ text }) =>
    toResult(text),
  );
  const client = await connectTo(server, { revision: era === "modern" ? "2026-07-28" : "2025-11-25" });
  return { call: (text) => client.callTool("echo", { text }), close: () => client.close() };
}
