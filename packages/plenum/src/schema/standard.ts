// Makes one kind of schema out of what users bring: any Standard Schema that can also give JSON Schema (zod, arktype,
// valibot with its converter), or a plain JSON Schema. Conversion happens once, and what cannot be converted is
// refused here, by name and field, rather than when a peer asks for the list.

import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { compileJsonSchema, type JsonSchema, type Validator } from "./json-schema.ts";
import { isObject } from "./keywords.ts";

/**
 * What may be given as a schema: a Standard Schema, or a JSON Schema as an object. What a library keeps in `~standard` is not
 * compared member for member: the compiler would do it for each tool, and it would be much of what a tool costs it.
 */
export type AnySchema = { readonly "~standard": unknown } | JsonSchema;

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

/**
 * Prepares a schema. Throws a TypeError that names the place and the field when it cannot be expressed as JSON Schema, is no
 * valid JSON Schema, or, for the role `input`, does not describe an object.
 */
export function toSchema<Out = unknown>(input: AnySchema, { kind, name, role }: SchemaPlace): Schema<Out> {
  const refuse = (why: string): never => {
    throw new TypeError(`${kind} ${JSON.stringify(name)}: ${role} ${why}`);
  };
  const standard = standardOf(input);
  if (!standard) {
    if (!isObject(input)) refuse("is no schema.");
    if (Object.values(input).some(standardOf)) refuse("is an object of schemas: wrap it, as in z.object().");
  }
  const plain = standard ? convert(standard, role, refuse) : (input as JsonSchema);
  const { $schema, ...rest } = plain;
  // What a library declares of itself, and is the default, need not be told; that an input is an object must be.
  const json = standard && String($schema).includes("/2020-12/") ? rest : plain;
  const isVague = role === "input" && json.type !== "object";
  const validate = standard?.validate;
  let check: Validator | undefined;
  try {
    if (isVague || !validate) check = compileJsonSchema(plain);
  } catch (error) {
    refuse(`is not usable: ${(error as Error).message}`);
  }
  if (isVague && (json.type || ["", 0, true, null, []].some((value) => !check?.(value))))
    refuse('must describe an object: "type": "object".');
  return {
    json: isVague ? { type: "object", ...json } : json,
    validate: (value) => {
      const result = validate ? validate(value) : { value, issues: check?.(value) };
      // Libraries may bring a promise of their own making.
      return "then" in result ? Promise.resolve(result).then(toResult<Out>) : toResult<Out>(result);
    },
  };
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

const standardOf = (input: unknown): Standard | undefined => {
  // arktype's schemas are functions.
  return (input as { "~standard"?: Standard } | null | undefined)?.["~standard"];
};

const toResult = <Out>(result: StandardSchemaV1.Result<unknown>): ValidationResult<Out> => {
  if (!result.issues) {
    if (!("value" in result)) throw new TypeError("neither a value nor issues");
    return { value: result.value as Out };
  }
  // A hundred thousand mistakes are told no better than twenty.
  const issues = result.issues
    .slice(0, 20)
    .map(({ message, path = [], keyword }: StandardSchemaV1.Issue & { keyword?: string }) => ({
      message: message.slice(0, 500),
      ...(keyword && { keyword }),
      // Not `map`: arktype's paths are a class of their own, and so would be what it gives.
      path: Array.from(path, (part) => {
        const key = (part as StandardSchemaV1.PathSegment).key ?? part;
        return typeof key === "number" ? key : String(key);
      }),
    }));
  return { issues };
};

// A sign that the converters are told to leave where they meet what JSON Schema lacks. Options of zod, valibot and
// arktype; each library takes its own and passes over the others.
const sign = "plenum:inexpressible";
const mark = (): JsonSchema => ({ [sign]: true });
const libraryOptions: Record<string, unknown> = {
  unrepresentable: mark,
  errorMode: "ignore",
  overrideSchema: ({ errors }: { errors?: unknown }) => errors && mark(),
  fallback: { date: mark, proto: mark, domain: mark },
};

const convert = ({ vendor, jsonSchema }: Standard, role: string, refuse: (why: string) => never): JsonSchema => {
  if (!jsonSchema) return refuse(`gives no JSON Schema; wrap valibot's with toStandardJsonSchema().`);
  let reason = "";
  const lack = (field: string) =>
    refuse(
      `${field && `field ${JSON.stringify(field)} `}cannot be expressed as JSON Schema; use a type that JSON has. ${reason}`,
    );
  const give = (libraryOptions?: Record<string, unknown>) => {
    try {
      return jsonSchema[role === "output" ? role : "input"]({ target: "draft-2020-12", libraryOptions });
    } catch (error) {
      reason = (error as Error).message;
      return undefined;
    }
  };
  const json = give();
  /** Looks for the sign. Users may have told arktype how to write such a type: then the place is not empty. */
  const visit = (node: unknown, given: unknown, field: string, isMap?: boolean): void => {
    if (!node || typeof node !== "object") return;
    if (sign in node && !(given && Object.keys(given).some((key) => key !== "$schema"))) lack(field);
    for (const [key, member] of Object.entries(node))
      visit(
        member,
        (given as JsonSchema | undefined)?.[key],
        isMap ? (field ? `${field}.${key}` : key) : key === "items" ? `${field}[]` : field,
        !isMap && key === "properties",
      );
  };
  // arktype does not complain, it publishes a schema that allows anything.
  if (!json || vendor === "arktype") visit(give(libraryOptions), json, "");
  return json ?? lack("");
};
