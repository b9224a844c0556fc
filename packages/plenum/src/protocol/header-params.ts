// Arguments of a tool that travel in HTTP headers too, for those who route requests without reading bodies: which ones
// a tool's input schema marks with `x-mcp-header`, and what their headers say.
// Specification: basic/transports/streamable-http § Custom Headers from Tool Parameters.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { schemaMapKeywords } from "../schema/keywords.ts";
import { encodeHeaderValue } from "../util/header-value.ts";
import { quote } from "../util/quote.ts";
import { McpError } from "./errors.ts";
import type { Tool } from "./model.ts";

export { decodeHeaderValue, encodeHeaderValue } from "../util/header-value.ts";

export interface HeaderParam {
  /** Without `Mcp-Param-`, as the server writes it. */
  readonly header: string;
  /** Where the value stands in the arguments. */
  readonly path: readonly string[];
  readonly type: "string" | "integer" | "boolean";
}

const annotation = "x-mcp-header";
const prefix = "Mcp-Param-";

// A token of RFC 9110 § 5.6.2.
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

// Keywords whose value is data: what reads like an annotation in there is none.
const dataKeywords: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
const mapKeywords: ReadonlySet<string> = new Set(schemaMapKeywords);

/** How much of a schema is looked at: it comes from a stranger. */
const maxNodes = 50_000;

/** A part of a tool's input schema. */
interface Place {
  /** A schema, or a list that may hold some. */
  readonly node: object;
  /** The property that it describes; absent at the root, and wherever a step was another than `properties`. */
  readonly property: Property | undefined;
  /** No step so far was another than `properties`. */
  readonly isReachable: boolean;
}

/** Its path as a chain, so that a deep schema costs no more than a flat one. */
interface Property {
  readonly name: string;
  readonly parent: Property | undefined;
}

/**
 * The marked parameters of a tool, in the order of their depth; or why the tool is not valid, and must not be offered
 * to be called over HTTP. A type may also allow null, for which no header is sent.
 */
export function readHeaderParams(tool: Tool): { params: readonly HeaderParam[] } | { problem: string } {
  const params: HeaderParam[] = [];
  const taken = new Set<string>();
  const places: Place[] = [{ node: tool.inputSchema, property: undefined, isReachable: true }];
  // Not by recursion: a schema may be nested deeper than any stack.
  for (let i = 0; i < places.length; i++) {
    if (i >= maxNodes) return { problem: `its input schema has more than ${maxNodes} parts` };
    const { node, property, isReachable } = places[i] as Place;
    const add = (part: unknown, name?: string): void => {
      // One more than is allowed is enough to be told.
      if (typeof part !== "object" || part === null || places.length > maxNodes) return;
      const isNamed = isReachable && name !== undefined;
      places.push({ node: part, property: isNamed ? { name, parent: property } : undefined, isReachable: isNamed });
    };
    if (!isObject(node)) {
      for (const item of node as readonly unknown[]) add(item);
      continue;
    }
    if (Object.hasOwn(node, annotation)) {
      const param = readParam(node, property, taken);
      if (typeof param === "string") return { problem: param };
      params.push(param);
    }
    for (const [keyword, value] of Object.entries(node)) {
      if (dataKeywords.has(keyword)) continue;
      if (!mapKeywords.has(keyword) || !isObject(value)) add(value);
      else for (const [name, part] of Object.entries(value)) add(part, keyword === "properties" ? name : undefined);
    }
  }
  return { params };
}

/** The parameter that is marked here, or what is wrong with it. */
function readParam(schema: JsonObject, property: Property | undefined, taken: Set<string>): HeaderParam | string {
  const header = schema[annotation];
  if (typeof header !== "string") return `an ${annotation} is no text`;
  const mark = `${annotation} ${quote(header)}`;
  if (!property) return `${mark} is not on a property that "properties" alone lead to`;
  const path = toPath(property);
  const at = `${mark} at ${quote(path.join("."))}`;
  if (!token.test(header)) return `${at} is no name that a header can have`;
  const type = typeOf(schema.type);
  if (!type) return `${at} is on a property whose type is not string, integer or boolean`;
  const name = header.toLowerCase();
  if (taken.has(name)) return `${at} is used twice; headers are the same whatever their case`;
  taken.add(name);
  return { header, path, type };
}

function toPath(property: Property): string[] {
  const path: string[] = [];
  for (let step: Property | undefined = property; step; step = step.parent) path.push(step.name);
  return path.reverse();
}

function typeOf(type: unknown): HeaderParam["type"] | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null");
  const [only] = types;
  return types.length === 1 && (only === "string" || only === "integer" || only === "boolean") ? only : undefined;
}

/**
 * The headers of a call, by their full names. An argument that is absent or null has none. Throws McpError
 * `invalid_arguments` for one that no header can carry: the call would be refused, or routed by another value.
 */
export function toHeaderValues(params: readonly HeaderParam[], args: JsonObject): { [header: string]: string } {
  const values: { [header: string]: string } = {};
  for (const { header, path } of params) {
    const value = valueAt(args, path);
    // The prefix keeps any name apart from those that objects inherit.
    if (value !== undefined && value !== null) values[prefix + header] = toText(value, path);
  }
  return values;
}

function valueAt(args: JsonObject, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

// By what the value is, not by what it should be: a wrong type is for the server to tell, which knows the whole schema.
function toText(value: unknown, path: readonly string[]): string {
  const refuse = (why: string): never => {
    throw new McpError("invalid_arguments", `The argument ${quote(path.join("."))} is sent as a header too: ${why}`);
  };
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return String(value);
  if (typeof value === "number") return refuse("it must be an integer within ±(2^53−1)");
  if (typeof value !== "string") return refuse("it must be a string, an integer or a boolean");
  try {
    return encodeHeaderValue(value);
  } catch (error) {
    return refuse((error as Error).message);
  }
}
