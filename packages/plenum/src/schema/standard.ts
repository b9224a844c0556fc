// Makes one kind of schema out of what users bring: any Standard Schema that can also give JSON Schema (zod, arktype,
// valibot with its converter), or a plain JSON Schema. Conversion happens once, and what cannot be converted is
// refused here, by name and field, rather than when a peer asks for the list.

import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { isObject } from "./check.ts";
import { compileJsonSchema } from "./json-schema.ts";
import type { JsonSchema } from "./resource.ts";

/** What may be given as a schema: a Standard Schema, or a JSON Schema as an object. */
export type AnySchema = StandardSchemaV1 | StandardJSONSchemaV1 | JsonSchema;

export interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type ValidationResult<Out> = { readonly value: Out } | { readonly issues: readonly Issue[] };

export interface Schema<Out = unknown> {
  readonly json: JsonSchema;
  /**
   * Checks a value. A Standard Schema is asked itself, so defaults and transforms apply, and the answer is a promise only if
   * its is. A plain JSON Schema gives the value as it came: `default` stays the annotation that JSON Schema says it is.
   */
  validate(value: unknown): ValidationResult<Out> | Promise<ValidationResult<Out>>;
}

/** Whose schema it is, for messages: `tool "forecast": input …`. Role `output` takes what the schema gives, all others what it accepts. */
export interface SchemaPlace {
  readonly kind: string;
  readonly name: string;
  readonly role: string;
}

type Standard = Partial<StandardSchemaV1.Props & StandardJSONSchemaV1.Props> & { readonly vendor: string };

const modern = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/**
 * Prepares a schema. Throws a TypeError that names the place and the field when it cannot be expressed as JSON Schema, is no
 * valid JSON Schema, or, for the role `input`, does not describe an object.
 */
export function toSchema<Out = unknown>(input: AnySchema, place: SchemaPlace): Schema<Out> {
  const refuse = (why: string): never => {
    throw new TypeError(`${place.kind} ${JSON.stringify(place.name)}: ${place.role} ${why}`);
  };
  const standard = standardOf(input);
  const plain = standard ? convert(standard, place, refuse) : (input as JsonSchema);
  if (!standard) assertPlain(plain, refuse);
  const json = toPublished(plain, place, refuse);
  if (standard?.validate) {
    const { validate } = standard;
    return {
      json,
      validate: (value) => {
        const result = validate(value);
        return result instanceof Promise ? result.then(toResult<Out>) : toResult<Out>(result);
      },
    };
  }
  try {
    const check = compileJsonSchema(plain);
    return {
      json,
      validate: (value) => {
        const issues = check(value);
        return issues ? { issues } : { value: value as Out };
      },
    };
  } catch (error) {
    return refuse(`is not usable: ${(error as Error).message}`);
  }
}

/** One line for people and models: `city: must be a string; days: must be at most 7`. */
export function formatIssues(issues: readonly Issue[]): string {
  return issues
    .map(({ path, message }) => {
      const field = path.join(".");
      // arktype begins its messages with the field.
      return field === "" || message.startsWith(`${field} `) ? message : `${field}: ${message}`;
    })
    .join("; ");
}

function standardOf(input: unknown): Standard | undefined {
  // arktype's schemas are functions.
  const isSchema = (typeof input === "object" || typeof input === "function") && input !== null && "~standard" in input;
  return isSchema ? (input["~standard"] as Standard) : undefined;
}

function assertPlain(input: unknown, refuse: (why: string) => never): void {
  if (!isObject(input)) refuse("is no schema: give a Standard Schema or a JSON Schema object.");
  else if (Object.values(input).some(standardOf))
    refuse("is an object of schemas, not a schema: wrap it, as in z.object({ … }).");
}

function toResult<Out>(result: StandardSchemaV1.Result<unknown>): ValidationResult<Out> {
  if (!result.issues) return { value: result.value as Out };
  const toKey = (key: PropertyKey) => (typeof key === "symbol" ? String(key) : key);
  const issues = result.issues.map(({ message, path = [] }) => ({
    message,
    // Not `map`: arktype's paths are a class of their own, and so would be what it gives.
    path: Array.from(path, (part) => toKey(typeof part === "object" ? part.key : part)),
  }));
  return { issues };
}

/** Leaves out `$schema` where it says the default, and says that an input is an object where that follows. */
function toPublished(json: JsonSchema, place: SchemaPlace, refuse: (why: string) => never): JsonSchema {
  const { $schema, ...rest } = json;
  const published = modern.test(String($schema)) ? rest : json;
  if (place.role !== "input" || published.type === "object") return published;
  if (!isObjectSchema(published, published, 0))
    refuse('must describe an object: its JSON Schema needs "type": "object".');
  return { type: "object", ...published };
}

/** Whether a schema allows nothing but objects, as far as can be told without evaluating it. */
function isObjectSchema(schema: unknown, root: JsonSchema, depth: number): boolean {
  if (!isObject(schema) || depth > 20) return false;
  const { type, $ref, anyOf, oneOf, allOf } = schema;
  const inner = (branch: unknown) => isObjectSchema(branch, root, depth + 1);
  if (type !== undefined) return type === "object";
  for (const branches of [anyOf, oneOf])
    if (Array.isArray(branches)) return branches.length > 0 && branches.every(inner);
  if (Array.isArray(allOf)) return allOf.some(inner);
  const definition = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref));
  const definitions = definition && root[definition[1] as string];
  return isObject(definitions) && inner(definitions[definition?.[2] as string]);
}

// A sign that the converters are told to leave where they meet what JSON Schema lacks.
const sign = "plenum:inexpressible";

const remedies: Readonly<Record<string, string>> = {
  zod: "Use z.iso.datetime(), and .transform() if you want a Date.",
  valibot: "Use v.pipe(v.string(), v.isoTimestamp()), and v.transform() if you want a Date.",
  arktype: 'Use "string.date.iso", or "string.date.iso.parse" if you want a Date.',
};

function convert(standard: Standard, place: SchemaPlace, refuse: (why: string) => never): JsonSchema {
  const { vendor, jsonSchema } = standard;
  if (!jsonSchema) {
    if (vendor !== "valibot")
      return refuse(
        `is a ${vendor} schema that cannot give JSON Schema; use a version of ${vendor} with Standard JSON Schema.`,
      );
    return refuse('is a bare valibot schema: wrap it with toStandardJsonSchema() from "@valibot/to-json-schema".');
  }
  const target = "draft-2020-12";
  const give = place.role === "output" ? jsonSchema.output : jsonSchema.input;
  let json: JsonSchema | undefined;
  let reason = "";
  try {
    json = give({ target });
  } catch (error) {
    reason = (error as Error).message;
  }
  // arktype does not complain, it publishes a schema that allows anything.
  if (json && vendor !== "arktype") return json;
  const found = probe(() => give({ target, libraryOptions: signs }));
  if (json && (!found || !isEmptyAt(json, found.pointer))) return json;
  if (!found) return refuse(`cannot be expressed as JSON Schema: ${reason}`);
  const { type, field } = found;
  const called = vendor === "zod" ? `a z.${type}()` : vendor === "valibot" ? `a v.${type}()` : `a ${type}`;
  const remedy = type.toLowerCase() === "date" ? remedies[vendor] : `Use a type that JSON has.`;
  return refuse(
    `${field ? `field ${JSON.stringify(field)} ` : ""}is ${called}, which JSON Schema cannot express. ${remedy}`,
  );
}

/** Options of zod, valibot and arktype; each library takes its own and passes over the others. */
const signs: Record<string, unknown> = {
  unrepresentable: ({ zodSchema }: { zodSchema: { _zod: { def: { type: string } } } }) => ({
    [sign]: zodSchema._zod.def.type,
  }),
  errorMode: "ignore",
  overrideSchema: ({ errors, valibotSchema }: { errors?: unknown; valibotSchema: { type: string } }) =>
    errors ? { [sign]: valibotSchema.type } : undefined,
  fallback: {
    date: () => ({ [sign]: "Date" }),
    proto: ({ proto }: { proto: { name: string } }) => ({ [sign]: proto.name }),
    domain: ({ domain }: { domain: string }) => ({ [sign]: domain }),
  },
};

interface Found {
  readonly type: string;
  /** The field as users see it: `a.b`, `list[].when`. */
  readonly field: string;
  readonly pointer: readonly string[];
}

function probe(give: () => unknown): Found | undefined {
  const visit = (node: unknown, field: string, pointer: readonly string[]): Found | undefined => {
    if (typeof node !== "object" || node === null || pointer.length > 60) return undefined;
    if (Object.hasOwn(node, sign)) return { type: String((node as JsonSchema)[sign]), field, pointer };
    const isMap = pointer.at(-1) === "properties" && pointer.at(-2) !== "properties";
    for (const [key, value] of Object.entries(node)) {
      const below = isMap ? (field ? `${field}.${key}` : key) : key === "items" ? `${field}[]` : field;
      const found = visit(value, below, [...pointer, key]);
      if (found) return found;
    }
    return undefined;
  };
  try {
    return visit(give(), "", []);
  } catch {
    return undefined;
  }
}

/** Users may have told arktype how to write such a type: then the place is not empty. */
function isEmptyAt(json: JsonSchema, pointer: readonly string[]): boolean {
  let node: unknown = json;
  for (const key of pointer) node = typeof node === "object" && node !== null ? (node as JsonSchema)[key] : undefined;
  return typeof node === "object" && node !== null && Object.keys(node).every((key) => key === "$schema");
}
