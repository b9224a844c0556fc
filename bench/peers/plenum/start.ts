// The same as start.mjs, in TypeScript.
import { createServer } from "plenum/tools";

const number = { type: "number" } as const;
const input = { type: "object", properties: { a: number, b: number }, required: ["a", "b"] } as const;

const server = createServer({ name: "start", version: "1.0.0" });
server.tool("add", { description: "Adds two numbers", input }, ({ a, b }) => String((a as number) + (b as number)));

export default server;
