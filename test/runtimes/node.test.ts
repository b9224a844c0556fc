// The examples of examples/http that run on Node, each in a process of its own, from the source.
import { describe } from "vitest";
import { startOnNode } from "./program.ts";
import { declareVisits, needsSecret } from "./visits.ts";

describe.each([
  ["node", false],
  ["express", true],
  ["fastify", true],
  ["hono", true],
])("examples/http/%s.ts", (name, hasPage) => {
  const expected = { hasPage, endsInOrder: true, complaint: needsSecret };
  declareVisits(() => startOnNode(`examples/http/${name}.ts`), expected);
});
