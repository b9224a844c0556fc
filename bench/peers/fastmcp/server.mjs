// fastmcp. HTTP modes: session-* and stateless-*.
import { FastMCP } from "fastmcp";
import { z } from "zod";
import { mode, port, progressOf, toolsOf, transport } from "../common.mjs";

const silent = { debug() {}, error() {}, info() {}, log() {}, warn() {} };
const server = new FastMCP({ name: "fastmcp", version: "1.0.0", ping: { enabled: false }, logger: silent });
for (const { name, description, schema, answer } of toolsOf(z)) {
  server.addTool({ name, description, parameters: schema, execute: async (args) => answer(args) });
}
const { name, description, schema } = progressOf(z);
server.addTool({
  name,
  description,
  parameters: schema,
  execute: async ({ count }, { reportProgress }) => {
    for (let i = 1; i <= count; i++) await reportProgress({ progress: i, total: count });
    return "done";
  },
});

if (transport === "stdio") await server.start({ transportType: "stdio" });
else {
  const httpStream = {
    host: "127.0.0.1",
    port,
    stateless: mode.startsWith("stateless"),
    enableJsonResponse: mode.includes("json"),
  };
  await server.start({ transportType: "httpStream", httpStream });
}
