// The same tools for a cold start, described with plain JSON Schema: without a schema library, whose import costs more than
// that of Plenum.
import { serveStdio } from "plenum/stdio";
import { createServer } from "plenum/tools";
import { answers, toResult } from "../common.mjs";

const text = { type: "string" };
const number = { type: "number" };
const properties = {
  echo: { text },
  add: { a: number, b: number },
  large: { bytes: number },
  length: { text },
};

const server = createServer({ name: "plenum", version: "1.0.0" });
for (const [name, answer] of Object.entries(answers)) {
  const input = { type: "object", properties: properties[name], required: Object.keys(properties[name]) };
  server.tool(name, { description: `The tool ${name}`, input }, async (args) => toResult(answer(args)));
}
const input = { type: "object", properties: { count: number }, required: ["count"] };
server.tool("progress", { description: "The tool progress", input }, async ({ count }, ctx) => {
  for (let i = 1; i <= count; i++) ctx.progress(i, count);
  return toResult("done");
});
await serveStdio(server);
