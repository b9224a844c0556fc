// Walks through schemas, hostile ones too.
import { expect, test } from "vitest";
import { findRecursion, walkSchema } from "./schema-walk.ts";

test("every subschema has a place, and a depth in the value", () => {
  const nodes = walkSchema({
    type: "object",
    properties: { list: { type: "array", items: { anyOf: [{ type: "string" }] } } },
    $defs: { one: {} },
  });
  expect(nodes.map(({ path, depth }) => [path, depth])).toEqual([
    ["#", 0],
    ["#/properties/list", 1],
    ["#/properties/list/items", 2],
    ["#/properties/list/items/anyOf/0", 2],
    ["#/$defs/one", 0],
  ]);
});

test("a walk ends, however deep a schema is", () => {
  let schema: { [key: string]: unknown } = {};
  for (let level = 0; level < 10_000; level++) schema = { not: schema };
  expect(walkSchema(schema).length).toBeLessThan(200);
});

test.each([
  ["to itself", { $defs: { a: { properties: { b: { $ref: "#/$defs/a" } } } }, $ref: "#/$defs/a" }, "#/$defs/a"],
  ["to the root", { properties: { a: { $ref: "#" } } }, "#"],
  [
    "by way of another",
    { $defs: { a: { items: { $ref: "#/$defs/b" } }, b: { not: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" },
    "#/$defs/a",
  ],
  [
    "with a slash in its name",
    { $defs: { "a/b": { items: { $ref: "#/$defs/a~1b" } } }, $ref: "#/$defs/a~1b" },
    "#/$defs/a/b",
  ],
  [
    "twice, but not in a circle",
    { $defs: { a: {} }, items: { $ref: "#/$defs/a" }, not: { $ref: "#/$defs/a" } },
    undefined,
  ],
  ["to nothing", { $ref: "#/$defs/none" }, undefined],
])("a reference %s", (_, schema, path) => {
  expect(findRecursion(schema)).toBe(path);
});
