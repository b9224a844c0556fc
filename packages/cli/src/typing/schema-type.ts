// TypeScript types of JSON Schemas. What a type cannot say (formats, bounds, patterns) stands in comments; what it cannot be known to
// be is `unknown`. Schemas are a server's: nothing of them becomes code but through safe-text.ts, and depth and size are bounded.
import { isSchemaObject, memberOf, resolveRef, type SchemaObject } from "../surface/schema-ref.ts";
import type { Names } from "./names.ts";
import { toPascal } from "./names.ts";
import { toDoc, toLiteral, toMemberName } from "./safe-text.ts";

const maxDepth = 40;
/** Schemas that one file holds the types of. The rest is `unknown`. */
const maxSchemas = 20_000;

export interface TypeWriter {
  /**
   * Declares the type of a document and of what it refers to.
   * @param name of the type; claimed already
   * @param doc what stands above it, besides what the schema says of itself
   */
  declare(name: string, schema: unknown, doc: readonly (string | undefined)[]): void;
  /** All declarations so far, each with an empty line after it. */
  readonly text: string;
}

export function createTypeWriter(names: Names): TypeWriter {
  const declarations: string[] = [];
  let schemas = 0;
  return {
    get text() {
      return declarations.join("\n");
    },
    declare(name, root, doc) {
      /** The names of what is referred to, by reference. */
      const named = new Map<string, string>([["#", name]]);
      const waiting: { readonly name: string; readonly schema: unknown }[] = [];
      const toName = (ref: string): string | undefined => {
        const known = named.get(ref);
        if (known !== undefined) return known;
        const found = resolveRef(root, ref);
        if (!found || isCircular(root, ref)) return undefined;
        const last = decodeURIComponent(ref).replace(/^.*[/#]/s, "");
        const own = names.claim(name + toPascal(last, "Part"));
        named.set(ref, own);
        waiting.push({ name: own, schema: found.schema });
        return own;
      };
      const count = (): boolean => ++schemas <= maxSchemas;
      const write = (schema: unknown): string => writeType({ schema, indent: "", depth: 0, toName, count }).text;
      if (isCircular(root, "#")) named.set("#", "unknown");
      declarations.push(declaration(name, root, doc, write));
      for (let next = waiting.shift(); next; next = waiting.shift())
        declarations.push(declaration(next.name, next.schema, [], write));
    },
  };
}

function declaration(
  name: string,
  schema: unknown,
  doc: readonly (string | undefined)[],
  write: (schema: unknown) => string,
): string {
  const own = isSchemaObject(schema) ? docOf(schema) : [];
  const type = write(schema);
  const isBraced = type.startsWith("{\n") && type.endsWith("\n}") && isPlainObject(schema);
  const head = isBraced ? `export interface ${name} ${type}` : `export type ${name} = ${type};`;
  // A tool's description is often the schema's too.
  return `${toDoc([...new Set([...doc, ...own])], "")}${head}\n`;
}

/** One pair of braces and nothing beside it. */
function isPlainObject(schema: unknown): boolean {
  return isSchemaObject(schema) && schema.type === "object" && compositions.every((one) => !Object.hasOwn(schema, one));
}

const compositions = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "nullable"];

interface Place {
  readonly schema: unknown;
  readonly indent: string;
  readonly depth: number;
  /** The type that a reference leads to: undefined where it leads nowhere, or to itself. */
  readonly toName: (ref: string) => string | undefined;
  /** False when there were too many. */
  readonly count: () => boolean;
}

/** What stands where a type is wanted; one that is no atom needs parentheses before it gets an operator. */
interface Type {
  readonly text: string;
  readonly isAtom: boolean;
}

const atom = (text: string): Type => ({ text, isAtom: true });
const group = ({ text, isAtom }: Type): string => (isAtom ? text : `(${text})`);
const unknown = atom("unknown");
const never = atom("never");
const emptyObject = atom("{ [key: string]: never }");

function union(types: readonly Type[]): Type {
  const all = uniqueOf(types);
  if (all.some(({ text }) => text === "unknown")) return unknown;
  if (all.length < 2) return all[0] ?? never;
  return { text: all.map(({ text }) => text).join(" | "), isAtom: false };
}

function intersection(types: readonly Type[]): Type {
  const all = uniqueOf(types).filter(({ text }) => text !== "unknown");
  if (all.length < 2) return all[0] ?? unknown;
  return { text: all.map(group).join(" & "), isAtom: false };
}

function uniqueOf(types: readonly Type[]): Type[] {
  return [...new Map(types.map((type) => [type.text, type])).values()];
}

function writeType(place: Place): Type {
  const { schema, depth } = place;
  if (schema === false) return never;
  if (!isSchemaObject(schema) || depth > maxDepth || !place.count()) return unknown;
  const parts = [
    ...writeReference(place, schema),
    ...writeValues(schema),
    ...writeOptions(place, schema),
    ...writeEach(place, schema),
  ];
  // Values say all that a type beside them says, and more.
  const isListed = Object.hasOwn(schema, "enum") || Object.hasOwn(schema, "const");
  const shape = isListed ? undefined : writeShape(place, schema);
  const type = intersection([...parts, ...(shape ? [shape] : [])]);
  return memberOf(schema, "nullable") === true ? union([type, atom("null")]) : type;
}

function inner(place: Place, schema: unknown, indent: string = place.indent): Type {
  return writeType({ ...place, schema, indent, depth: place.depth + 1 });
}

function writeReference({ toName }: Place, { $ref }: SchemaObject): Type[] {
  return typeof $ref === "string" ? [atom(toName($ref) ?? "unknown")] : [];
}

function writeValues(schema: SchemaObject): Type[] {
  if (Object.hasOwn(schema, "const")) return [literalType(schema.const, 0)];
  const values = memberOf(schema, "enum");
  return Array.isArray(values) ? [union(values.map((value: unknown) => literalType(value, 0)))] : [];
}

function writeOptions(place: Place, schema: SchemaObject): Type[] {
  return ["anyOf", "oneOf"].flatMap((keyword) => {
    const options = memberOf(schema, keyword);
    return Array.isArray(options) && options.length > 0
      ? [union(options.map((one: unknown) => inner(place, one)))]
      : [];
  });
}

function writeEach(place: Place, schema: SchemaObject): Type[] {
  const all = memberOf(schema, "allOf");
  return Array.isArray(all) ? all.map((one: unknown) => inner(place, one)) : [];
}

/** By `type`, or by the keywords that only one type has. */
function writeShape(place: Place, schema: SchemaObject): Type | undefined {
  const type = memberOf(schema, "type");
  if (Array.isArray(type)) return union(type.map((one) => shapeOf(place, schema, one)));
  if (type !== undefined) return shapeOf(place, schema, type);
  if (["properties", "required", "additionalProperties"].some((keyword) => Object.hasOwn(schema, keyword)))
    return writeObject(place, schema);
  return Object.hasOwn(schema, "items") || Object.hasOwn(schema, "prefixItems") ? writeArray(place, schema) : undefined;
}

function shapeOf(place: Place, schema: SchemaObject, type: unknown): Type {
  if (type === "object") return writeObject(place, schema);
  if (type === "array") return writeArray(place, schema);
  if (type === "integer") return atom("number");
  return type === "string" || type === "number" || type === "boolean" || type === "null" ? atom(type) : unknown;
}

function writeArray(place: Place, schema: SchemaObject): Type {
  const items = memberOf(schema, "items");
  const isOldTuple = Array.isArray(items);
  const first = isOldTuple ? items : memberOf(schema, "prefixItems");
  const rest = isOldTuple ? memberOf(schema, "additionalItems") : items;
  if (!Array.isArray(first) || first.length === 0) return atom(`${group(inner(place, isOldTuple ? rest : items))}[]`);
  const least = memberOf(schema, "minItems");
  const needed = typeof least === "number" ? least : 0;
  const members = first.map((one: unknown, at) => {
    const type = inner(place, one);
    return at < needed ? type.text : `${group(type)}?`;
  });
  if (rest !== false) members.push(`...${group(inner(place, rest))}[]`);
  return atom(`[${members.join(", ")}]`);
}

function writeObject(place: Place, schema: SchemaObject): Type {
  const { indent } = place;
  const deeper = `${indent}  `;
  const properties = memberOf(schema, "properties");
  const required = memberOf(schema, "required");
  const needed = new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
  const named = new Map(isSchemaObject(properties) ? Object.entries(properties) : []);
  for (const name of needed) if (!named.has(name)) named.set(name, true);
  const lines = [...named].map(([name, member]) => {
    const doc = isSchemaObject(member) ? toDoc(docOf(member), deeper) : "";
    const type = inner(place, member, deeper);
    return `${doc}${deeper}${toMemberName(name)}${needed.has(name) ? "" : "?"}: ${type.text};\n`;
  });
  const index = writeIndex(place, schema, named.size > 0, deeper);
  if (index) lines.push(`${deeper}[key: string]: ${index.text};\n`);
  return lines.length === 0 ? emptyObject : atom(`{\n${lines.join("")}${indent}}`);
}

/** The type of members that are not named: undefined where there should be none. */
function writeIndex(place: Place, schema: SchemaObject, hasNamed: boolean, indent: string): Type | undefined {
  const rest = memberOf(schema, "additionalProperties");
  if (Object.hasOwn(schema, "patternProperties")) return unknown;
  if (rest === false) return undefined;
  // Beside named members an index must fit all of them; and who names members rarely means others, though there may be some.
  if (hasNamed) return rest === undefined ? undefined : unknown;
  return inner(place, rest, indent);
}

/** The type of one JSON value. */
function literalType(value: unknown, depth: number): Type {
  if (typeof value === "string") return atom(toLiteral(value));
  if (typeof value === "number") return Number.isFinite(value) ? { text: String(value), isAtom: value >= 0 } : unknown;
  if (typeof value !== "object" || value === null) return atom(String(value));
  if (depth > maxDepth) return unknown;
  const inside = (one: unknown): string => literalType(one, depth + 1).text;
  if (Array.isArray(value)) return atom(`[${value.map(inside).join(", ")}]`);
  const members = Object.entries(value).map(([key, one]) => `${toMemberName(key)}: ${inside(one)}`);
  return members.length === 0 ? emptyObject : atom(`{ ${members.join("; ")} }`);
}

/** What a schema says of its values that a type cannot. */
function docOf(schema: SchemaObject): string[] {
  const { title, description, deprecated } = schema;
  const texts = [title, description].filter((text): text is string => typeof text === "string");
  const noted = ["format", "pattern", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
  const bounds = ["minLength", "maxLength", "minItems", "maxItems", "multipleOf", "uniqueItems"];
  const facts = [...noted, ...bounds].flatMap((keyword) => {
    const value = memberOf(schema, keyword);
    // Libraries write these for every integer.
    if (value === undefined || Math.abs(value as number) === Number.MAX_SAFE_INTEGER) return [];
    return [`@${keyword} ${typeof value === "string" ? value : JSON.stringify(value)}`];
  });
  const whole = memberOf(schema, "type") === "integer" ? ["An integer."] : [];
  return [...texts, ...whole, ...facts, ...(deprecated === true ? ["@deprecated"] : [])];
}

/** Whether a reference comes back to itself without a member or an item between: such a type has no meaning. */
function isCircular(root: unknown, ref: string): boolean {
  const seen = new Set<unknown>();
  const visit = (schema: unknown, isStart: boolean): boolean => {
    if (!isSchemaObject(schema)) return false;
    if (!isStart && schema === start) return true;
    if (seen.has(schema)) return false;
    seen.add(schema);
    const to = typeof schema.$ref === "string" ? resolveRef(root, schema.$ref) : undefined;
    const lists = ["anyOf", "oneOf", "allOf"].map((keyword) => memberOf(schema, keyword)).filter(Array.isArray);
    return [...(to ? [to.schema] : []), ...lists.flat()].some((one) => visit(one, false));
  };
  const start = resolveRef(root, ref)?.schema;
  return visit(start, true);
}
