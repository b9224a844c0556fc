// Values made up from a JSON Schema: such as it allows, and such as it does not. It knows the usual keywords; whether it got one right,
// the validator says.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { compileJsonSchema } from "../schema/json-schema.ts";
import { makeFormatted, makeMatching, makeText } from "./made-text.ts";
import type { Random } from "./random.ts";

type Schema = JsonObject | boolean;

/** Makes values for one schema. */
export interface Maker {
  /** One that the schema allows; undefined where none was found. */
  makeValid(random: Random): { readonly value: unknown } | undefined;
  /** One that it does not. */
  makeInvalid(random: Random): { readonly value: unknown } | undefined;
  isValid(value: unknown): boolean;
}

/** Tries before a schema is taken for one that nothing fits, or that everything fits. */
const maxTries = 40;
/** What nests deeper is left out where it may be. */
const maxDepth = 5;

/** Throws for a schema that cannot be compiled. */
export function createMaker(schema: JsonObject): Maker {
  const validate = compileJsonSchema(schema);
  const isValid = (value: unknown): boolean => validate(value) === undefined;
  const attempt = (make: () => unknown, isWanted: (value: unknown) => boolean) => {
    for (let tries = 0; tries < maxTries; tries++) {
      const value = toJson(make());
      if (value !== undefined && isWanted(value)) return { value };
    }
    return undefined;
  };
  return {
    isValid,
    makeValid: (random) => attempt(() => make(schema, { random, root: schema, depth: 0 }), isValid),
    makeInvalid: (random) =>
      attempt(
        () => spoil(make(schema, { random, root: schema, depth: 0 }), schema, { random, root: schema, depth: 0 }),
        // Arguments are an object in any case: what is none, no client sends.
        (value) => isObject(value) && !isValid(value),
      ),
  };
}

function toJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

interface Site {
  readonly random: Random;
  readonly root: JsonObject;
  readonly depth: number;
}

function make(given: Schema, site: Site): unknown {
  const schema = resolve(given, site);
  const { random } = site;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return random.pick(schema.enum);
  if ("default" in schema && random.chance(0.1)) return schema.default;
  switch (random.pick(typesOf(schema))) {
    case "object":
      return makeObject(schema, site);
    case "array":
      return makeArray(schema, site);
    case "string":
      return makeString(schema, random);
    case "integer":
      return makeNumber(schema, random, true);
    case "number":
      return makeNumber(schema, random, false);
    case "boolean":
      return random.chance(0.5);
    default:
      return null;
  }
}

const hints: readonly (readonly [type: string, keywords: RegExp])[] = [
  ["object", /^(properties|required|additionalProperties|patternProperties|minProperties|maxProperties)$/],
  ["array", /^(items|prefixItems|minItems|maxItems|uniqueItems|contains)$/],
  ["string", /^(pattern|format|minLength|maxLength)$/],
  ["number", /^(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/],
];

function typesOf(schema: JsonObject): readonly string[] {
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.type) && schema.type.length > 0) return schema.type as string[];
  const hinted = hints.filter(([, keywords]) => Object.keys(schema).some((key) => keywords.test(key)));
  return hinted.length > 0 ? hinted.map(([type]) => type) : ["string", "number", "boolean", "null", "array", "object"];
}

/** One schema of the many that it refers to, or is composed of. */
function resolve(given: Schema, site: Site, hops = 0): JsonObject {
  if (!isObject(given)) return {};
  if (hops > 20) return given;
  let schema = given;
  if (typeof given.$ref === "string") {
    const { $ref, ...rest } = given;
    schema = merge(rest, resolve(follow($ref as string, site.root), site, hops + 1));
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const { [keyword]: _, ...rest } = schema;
    // What refers to itself has an end somewhere.
    const ends = site.depth >= maxDepth ? branches.filter((one) => isObject(one) && isLeaf(one)) : [];
    schema = merge(rest, resolve(site.random.pick(ends.length > 0 ? ends : branches) as Schema, site, hops + 1));
  }
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...rest } = schema;
    schema = (allOf as Schema[]).reduce<JsonObject>((all, one) => merge(all, resolve(one, site, hops + 1)), rest);
  }
  if (isObject(schema.if) && site.random.chance(0.5)) {
    const branch = site.random.chance(0.5) ? merge(schema.if, isObject(schema.then) ? schema.then : {}) : schema.else;
    const { if: _, then: __, else: ___, ...rest } = schema;
    if (isObject(branch)) schema = merge(rest, resolve(branch, site, hops + 1));
  }
  return schema;
}

function isLeaf(schema: JsonObject): boolean {
  return "const" in schema || "enum" in schema || /^(string|number|integer|boolean|null)$/.test(String(schema.type));
}

/** What both allow, mostly. */
function merge(a: JsonObject, b: JsonObject): JsonObject {
  const merged: { [key: string]: unknown } = { ...a, ...b };
  if (isObject(a.properties) && isObject(b.properties)) {
    const both: { [key: string]: unknown } = { ...a.properties };
    for (const [name, schema] of Object.entries(b.properties))
      both[name] = name in both ? { allOf: [both[name], schema] } : schema;
    merged.properties = both;
  }
  if (Array.isArray(a.required) && Array.isArray(b.required))
    merged.required = [...new Set([...a.required, ...b.required])];
  for (const key of ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"])
    if (typeof a[key] === "number" && typeof b[key] === "number") merged[key] = Math.max(a[key], b[key]);
  for (const key of ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"])
    if (typeof a[key] === "number" && typeof b[key] === "number") merged[key] = Math.min(a[key], b[key]);
  if (Array.isArray(a.enum) && Array.isArray(b.enum))
    merged.enum = a.enum.filter((value) => (b.enum as unknown[]).includes(value));
  return merged;
}

function follow(reference: string, root: JsonObject): Schema {
  if (!reference.startsWith("#")) return {};
  let found: unknown = root;
  for (const part of decodeURIComponent(reference.slice(1)).split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found = Object.hasOwn(Object(found), key) ? (found as { [key: string]: unknown })[key] : undefined;
  }
  return isObject(found) || typeof found === "boolean" ? (found as Schema) : {};
}

const numberOf = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise);

function makeObject(schema: JsonObject, { random, root, depth }: Site): JsonObject {
  const site = { random, root, depth: depth + 1 };
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const made: { [name: string]: unknown } = {};
  const set = (name: string, value: unknown): void => {
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
  };
  const share = depth >= maxDepth ? 0 : random.pick([0, 0.3, 0.7, 1]);
  for (const [name, property] of Object.entries(properties)) {
    if (property !== false && (required.includes(name) || random.chance(share)))
      set(name, make(property as Schema, site));
  }
  const more = schema.additionalProperties ?? true;
  for (const name of required)
    if (!Object.hasOwn(made, name)) set(name, make(more === false ? true : (more as Schema), site));
  const dependent = isObject(schema.dependentRequired) ? schema.dependentRequired : {};
  for (const [name, needs] of Object.entries(dependent))
    if (Object.hasOwn(made, name))
      for (const need of needs as string[])
        if (!Object.hasOwn(made, need)) set(need, make((properties[need] as Schema | undefined) ?? true, site));
  const patterns = Object.entries(isObject(schema.patternProperties) ? schema.patternProperties : {});
  const wanted = Math.max(numberOf(schema.minProperties, 0), isObject(more) && random.chance(0.5) ? 2 : 0);
  for (let tries = 0; Object.keys(made).length < wanted && tries < 20; tries++) {
    const [pattern, value] = patterns.length > 0 ? random.pick(patterns) : [undefined, more];
    const name = pattern === undefined ? makeText(random, 1, 8) : makeMatching(random, pattern);
    if (!Object.hasOwn(properties, name)) set(name, make((value === false ? true : value) as Schema, site));
  }
  return made;
}

function makeArray(schema: JsonObject, { random, root, depth }: Site): unknown[] {
  const site = { random, root, depth: depth + 1 };
  const least = numberOf(schema.minItems, isObject(schema.contains) ? 1 : 0);
  const most = depth >= maxDepth ? least : Math.min(numberOf(schema.maxItems, least + 4), least + 4);
  const prefix = Array.isArray(schema.prefixItems) ? (schema.prefixItems as Schema[]) : [];
  const items = (schema.items ?? true) as Schema;
  const length = random.integer(least, Math.max(least, items === false ? Math.min(most, prefix.length) : most));
  const made: unknown[] = [];
  const seen = new Set<string>();
  for (let tries = 0; made.length < length && tries < length + 40; tries++) {
    const value = make(prefix[made.length] ?? items, site);
    const text = JSON.stringify(value);
    if (schema.uniqueItems === true && seen.has(text)) continue;
    seen.add(text);
    made.push(value);
  }
  if (isObject(schema.contains) && made.length > 0) made[made.length - 1] = make(schema.contains, site);
  return made;
}

function makeString(schema: JsonObject, random: Random): string {
  const min = numberOf(schema.minLength, 0);
  const max = numberOf(schema.maxLength, Math.max(min + 40, 40));
  if (typeof schema.pattern === "string") return makeMatching(random, schema.pattern);
  const formatted = typeof schema.format === "string" ? makeFormatted(random, schema.format) : undefined;
  return formatted ?? makeText(random, min, max);
}

function makeNumber(schema: JsonObject, random: Random, isWhole: boolean): number {
  const above = numberOf(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY);
  const below = numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY);
  const step = numberOf(schema.multipleOf, isWhole ? 1 : 0);
  const least = Math.max(
    numberOf(schema.minimum, -1e6),
    above === Number.NEGATIVE_INFINITY ? -1e15 : above + (step || 1e-3),
  );
  const most = Math.min(
    numberOf(schema.maximum, Math.max(1e6, least + 1e6)),
    below === Number.POSITIVE_INFINITY ? 1e15 : below - (step || 1e-3),
  );
  const edges = [least, most, 0, 1, -1, 0.5, 1e9].filter((one) => one >= least && one <= most);
  const value = random.chance(0.4) && edges.length > 0 ? random.pick(edges) : least + random.next() * (most - least);
  if (step === 0) return value;
  const rounded = Math.round(value / step) * step;
  return rounded < least ? Math.ceil(least / step) * step : rounded > most ? Math.floor(most / step) * step : rounded;
}

/** Something that is not what the schema wants in this place, or in one below it. */
function spoil(value: unknown, given: Schema, site: Site): unknown {
  const { random } = site;
  const schema = resolve(given, site);
  if (isObject(value) && (site.depth === 0 || random.chance(0.6))) return spoilObject(value, schema, site);
  if (Array.isArray(value) && value.length > 0 && random.chance(0.6)) {
    const at = random.integer(0, value.length - 1);
    const below = { ...site, depth: site.depth + 1 };
    return value.map((one, place) => (place === at ? spoil(one, (schema.items ?? true) as Schema, below) : one));
  }
  const wrong: unknown[] = [null, true, "wrong", "", 12.5, -1e12, 1e12, [], {}, ["x"], { x: 1 }, "x".repeat(500)];
  return random.pick(wrong);
}

function spoilObject(value: JsonObject, schema: JsonObject, site: Site): JsonObject {
  const { random } = site;
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  const way = random.integer(0, 2);
  if (way === 0 && required.length > 0) {
    const gone = random.pick(required);
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== gone));
  }
  if (way === 1 || names.length === 0) return { ...value, [random.pick(["unknown", "x", "extra_member"])]: 1 };
  const name = random.pick(names);
  const below = { ...site, depth: site.depth + 1 };
  const before = Object.hasOwn(value, name) ? value[name] : make(properties[name] as Schema, below);
  return { ...value, [name]: spoil(before, properties[name] as Schema, below) };
}
