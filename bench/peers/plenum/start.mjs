// A server with one tool that adds, described with plain JSON Schema: what `plenum call` is measured with.
import { createServer } from "plenum/tools";

const number = { type: "number" };
const input = { type: "object", properties: { a: number, b: number }, required: ["a", "b"] };

const server = createServer({ name: "start", version: "1.0.0" });
server.tool("add", { description: "Adds two numbers", input }, ({ a, b }) => String(a + b));

export default server;
