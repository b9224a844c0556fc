// A walk through a JSON Schema: every subschema that it has, with the place where it stands. References are not followed, so
// that it always ends.
import type { JsonObject } from "plenum";
import { isObject } from "./visit.ts";

export interface SchemaNode {
  readonly schema: JsonObject;
  /** `#/properties/a/items`; the root is `#`. */
  readonly path: string;
  /** Objects and arrays that it stands in. */
  readonly depth: number;
}

const one = [
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "additionalItems",
];
const many = ["anyOf", "oneOf", "allOf", "prefixItems"];
const named = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/** Those that go one level deeper into the value. */
const deeper = new Set([
  "items",
  "additionalProperties",
  "contains",
  "additionalItems",
  "prefixItems",
  "properties",
  "patternProperties",
]);

/** A schema may come from anybody: it is not walked deeper than this. */
const maxDepth = 100;
const maxNodes = 20_000;

export function walkSchema(root: JsonObject): readonly SchemaNode[] {
  const nodes: SchemaNode[] = [];
  const visit = (schema: unknown, path: string, depth: number, level: number): void => {
    if (!isObject(schema) || level > maxDepth || nodes.length >= maxNodes) return;
    nodes.push({ schema, path, depth });
    const step = (key: string): number => depth + (deeper.has(key) ? 1 : 0);
    for (const key of one) visit(schema[key], `${path}/${key}`, step(key), level + 1);
    for (const key of many) {
      const list = schema[key];
      if (!Array.isArray(list)) continue;
      for (const [at, item] of list.entries()) visit(item, `${path}/${key}/${at}`, step(key), level + 1);
    }
    for (const key of named) {
      const members = schema[key];
      if (!isObject(members)) continue;
      for (const [name, member] of Object.entries(members))
        visit(member, `${path}/${key}/${name}`, step(key), level + 1);
    }
  };
  visit(root, "#", 0, 0);
  return nodes;
}

/** The pointers that `$ref`s lead in a circle by. */
export function findRecursion(root: JsonObject): string | undefined {
  const nodes = walkSchema(root);
  const byPath = new Map(nodes.map((node) => [node.path, node]));
  // What each node refers to, with all that stands in it.
  const refsOf = (path: string): string[] =>
    nodes
      .filter((node) => node.path === path || node.path.startsWith(`${path}/`))
      .flatMap(({ schema }) => (typeof schema.$ref === "string" ? [decodePointer(schema.$ref)] : []));
  const starts = [
    ...new Set(nodes.flatMap(({ schema }) => (typeof schema.$ref === "string" ? [decodePointer(schema.$ref)] : []))),
  ];
  for (const start of starts.filter((path) => byPath.has(path))) {
    const seen = new Set<string>();
    const queue = refsOf(start);
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (next === start) return start;
      if (seen.has(next) || !byPath.has(next)) continue;
      seen.add(next);
      queue.push(...refsOf(next));
    }
  }
  return undefined;
}

function decodePointer(ref: string): string {
  return ref.replaceAll("~1", "/").replaceAll("~0", "~");
}
