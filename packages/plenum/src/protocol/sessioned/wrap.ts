// Structured content that is no object, for revisions that carry objects only: it is wrapped into one, and so is what the
// output schema says of it. Specification: server/tools § Structured Content of 2025-06-18 and 2025-11-25.
import { isObject, type JsonObject } from "../../jsonrpc/message.ts";
import { dataKeywords, schemaMapKeywords } from "../../schema/nesting.ts";
import type { Result } from "../endpoint.ts";

/** A result of a call or a list of tools that has something to wrap. */
export function wrapStructured(method: string | undefined, result: Result): Result {
  return method === "tools/list" && Array.isArray(result.tools)
    ? { ...result, tools: result.tools.map(withObjectOutput) }
    : { ...result, structuredContent: { result: result.structuredContent } };
}

function withObjectOutput(tool: JsonObject): JsonObject {
  const schema = tool.outputSchema;
  if (!isObject(schema) || schema.type === "object") return tool;
  const { $schema, ...inner } = schema;
  const wrapped = { type: "object", properties: { result: moveRefs(inner) }, required: ["result"] };
  return { ...tool, outputSchema: $schema === undefined ? wrapped : { $schema, ...wrapped } };
}

/**
 * Pointers that began at the root now begin one level down.
 * @param isMap whether the node maps names to schemas: then its keys are names, also where they read like keywords
 */
function moveRefs(node: unknown, isMap = false): unknown {
  if (Array.isArray(node)) return node.map((item) => moveRefs(item));
  if (!isObject(node)) return node;
  // A schema with a URI of its own is the root of the pointers in it, wherever it stands.
  if (!isMap && typeof node.$id === "string" && !node.$id.startsWith("#")) return node;
  const moved = Object.entries(node).map(([key, value]) => [key, isMap ? moveRefs(value) : moveKeyword(key, value)]);
  return Object.fromEntries(moved);
}

function moveKeyword(key: string, value: unknown): unknown {
  const isPointer = (key === "$ref" || key === "$dynamicRef") && typeof value === "string" && /^#(?:\/|$)/.test(value);
  if (isPointer) return `#/properties/result${value.slice(1)}`;
  return dataKeywords.includes(key) ? value : moveRefs(value, schemaMapKeywords.includes(key));
}
