// Which arguments of a tool travel in HTTP headers too: those that its input schema marks with `x-mcp-header`. A client
// writes the headers in header-params.ts, and a server holds them against the arguments in header-match.ts.
// Specification: basic/transports/streamable-http § Schema Extension.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { dataKeywords, schemaMapKeywords } from "../schema/nesting.ts";
import { quote } from "../util/quote.ts";
import { headerMark } from "./header-mark.ts";
import type { Tool } from "./model.ts";

export interface HeaderParam {
  /** Without `Mcp-Param-`, as the server writes it. */
  readonly header: string;
  /** Where the value stands in the arguments. */
  readonly path: readonly string[];
  readonly type: (typeof types)[number];
}

const types = ["string", "integer", "boolean"] as const;

// A token of RFC 9110 § 5.6.2.
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

/** How much of a schema is looked at: it may come from a stranger. */
const maxNodes = 50_000;

/** A part of a tool's input schema: a schema, or a list that may hold some. */
interface Place {
  readonly node: object;
  /** What it describes. Absent wherever a step was another than `properties`. */
  readonly property: Property | undefined;
}

/** Its path as a chain, so that a deep schema costs no more than a flat one. The root has no parent. */
interface Property {
  readonly name: string;
  readonly parent?: Property;
}

/**
 * The marked parameters of a tool, in the order of their depth; or why the tool is not valid, and must not be offered
 * to be called over HTTP. A type may also allow null, for which no header is sent.
 */
export function readHeaderParams({ inputSchema }: Tool): { params: readonly HeaderParam[] } | { problem: string } {
  const params: HeaderParam[] = [];
  const taken = new Set<string>();
  const places: Place[] = [{ node: inputSchema, property: { name: "" } }];
  // Not by recursion: a schema may be nested deeper than any stack.
  for (const { node, property } of places) {
    if (places.length > maxNodes) return { problem: `its input schema has more than ${maxNodes} parts` };
    const add = (part: unknown, name?: string): void => {
      const step = property && name !== undefined ? { name, parent: property } : undefined;
      if (typeof part === "object" && part) places.push({ node: part, property: step });
    };
    if (!isObject(node)) {
      for (const item of node as readonly unknown[]) add(item);
      continue;
    }
    if (Object.hasOwn(node, headerMark)) {
      const param = readParam(node, property, taken);
      if (typeof param === "string") return { problem: param };
      params.push(param);
    }
    for (const [keyword, value] of Object.entries(node)) {
      if (dataKeywords.includes(keyword)) continue;
      if (!schemaMapKeywords.includes(keyword) || !isObject(value)) add(value);
      else for (const [name, part] of Object.entries(value)) add(part, keyword === "properties" ? name : undefined);
    }
  }
  return { params };
}

/** The parameter that is marked here, or what is wrong with it. */
function readParam(schema: JsonObject, property: Property | undefined, taken: Set<string>): HeaderParam | string {
  const header = schema[headerMark];
  if (typeof header !== "string") return `an ${headerMark} is no text`;
  const mark = `${headerMark} ${quote(header)}`;
  if (!property?.parent) return `${mark} is not on a property that "properties" alone lead to`;
  const path: string[] = [];
  for (let step = property; step.parent; step = step.parent) path.push(step.name);
  path.reverse();
  const at = `${mark} at ${quote(path.join("."))}`;
  if (!token.test(header)) return `${at} is no name that a header can have`;
  const [only, ...others] = [schema.type].flat().filter((one) => one !== "null");
  const type = others.length === 0 && types.find((one) => one === only);
  if (!type) return `${at} is on a property whose type is not ${types.join(", ")}`;
  const name = header.toLowerCase();
  if (taken.has(name)) return `${at} is used twice; headers are the same whatever their case`;
  taken.add(name);
  return { header, path, type };
}
