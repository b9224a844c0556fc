// A look at a JSON Schema: which types it allows, what a property of it is, and how it is written on a command line. It decides
// how a word is read, and nothing else: whether arguments are right is for the server to say.
import type { JsonObject } from "plenum";

const isSchema = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** References may lead in a circle. */
const maxSteps = 16;

/** The schema itself, or what its `$ref` into the same document leads to. */
export function resolveSchema(schema: JsonObject, root: JsonObject): JsonObject {
  let at = schema;
  for (let step = 0; step < maxSteps && typeof at.$ref === "string"; step++) {
    const { $ref, ...beside } = at;
    const target = find(root, $ref as string);
    if (!target) return beside;
    at = { ...target, ...beside };
  }
  return at;
}

function find(root: JsonObject, ref: string): JsonObject | undefined {
  if (!ref.startsWith("#")) return undefined;
  let at: unknown = root;
  for (const part of decodeURIComponent(ref.slice(1)).split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as { readonly [name: string]: unknown })[name];
  }
  return isSchema(at) ? at : undefined;
}

function partsOf(schema: JsonObject, keys: readonly string[]): JsonObject[] {
  return keys.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]).filter(isSchema) : []));
}

/** The types that a value may have; undefined: any. */
export function listTypes(given: JsonObject, root: JsonObject, depth = 0): ReadonlySet<string> | undefined {
  const schema = resolveSchema(given, root);
  if (typeof schema.type === "string") return new Set([schema.type]);
  if (Array.isArray(schema.type)) return new Set(schema.type.map(String));
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(typeOf));
  if ("const" in schema) return new Set([typeOf(schema.const)]);
  const parts = partsOf(schema, ["anyOf", "oneOf", "allOf"]);
  if (parts.length === 0 || depth > maxSteps) return isSchema(schema.properties) ? new Set(["object"]) : undefined;
  const all = parts.map((part) => listTypes(part, root, depth + 1));
  const known = all.filter((types) => types !== undefined);
  return known.length < all.length && !schema.allOf ? undefined : new Set(known.flatMap((types) => [...types]));
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The schema of one property; undefined where the schema has no place for it. */
export function schemaOf(given: JsonObject, name: string, root: JsonObject, depth = 0): JsonObject | undefined {
  const schema = resolveSchema(given, root);
  const { properties, additionalProperties } = schema;
  if (isSchema(properties) && Object.hasOwn(properties, name)) {
    const own = properties[name];
    return isSchema(own) ? own : {};
  }
  if (depth < maxSteps) {
    for (const part of partsOf(schema, ["allOf", "anyOf", "oneOf"])) {
      const found =
        isSchema(part.properties) || part.$ref
          ? schemaOf({ additionalProperties: false, ...part }, name, root, depth + 1)
          : undefined;
      if (found) return found;
    }
  }
  if (isSchema(additionalProperties)) return additionalProperties;
  return additionalProperties === false ? undefined : {};
}

/** A tool's arguments as they are typed: `a=NUMBER [size=small|large]`. */
export function formatArguments(schema: JsonObject): string {
  const { properties, required } = resolveSchema(schema, schema);
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(isSchema(properties) ? properties : {})
    .sort(([one], [other]) => Number(needed.has(other)) - Number(needed.has(one)))
    .map(([name, own]) => {
      const word = `${name}=${formatType(isSchema(own) ? own : {}, schema)}`;
      return needed.has(name) ? word : `[${word}]`;
    })
    .join(" ");
}

const maxChoices = 5;

function formatType(given: JsonObject, root: JsonObject): string {
  const schema = resolveSchema(given, root);
  const choices = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : undefined;
  if (choices && choices.length <= maxChoices)
    return choices.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("|");
  const types = listTypes(schema, root);
  if (!types) return "VALUE";
  if (types.has("array") && types.size === 1) return `${formatType(isSchema(schema.items) ? schema.items : {}, root)}…`;
  return [...types]
    .map((type) => (type === "string" ? "TEXT" : type === "object" ? "JSON" : type.toUpperCase()))
    .join("|");
}
