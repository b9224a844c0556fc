// The two dialects of JSON Schema that are understood, and where in a schema its subschemas lie.

export interface Dialect {
  readonly name: "2020-12" | "draft-07";
  /** Draft-07: `$ref` hides its siblings, `items` may be a list, `$id` may be an anchor, `dependencies` is one keyword. */
  readonly legacy: boolean;
}

export const dialects: Readonly<Record<Dialect["name"], Dialect>> = {
  "2020-12": { name: "2020-12", legacy: false },
  "draft-07": { name: "draft-07", legacy: true },
};

const uri = /^https?:\/\/json-schema\.org\/(?:draft\/(2020-12)|(draft-07))\/schema#?$/;

/** Reads a `$schema` value. Throws a TypeError for a dialect that is not understood. */
export function toDialect(schema: unknown): Dialect {
  const match = uri.exec(String(schema));
  if (match) return dialects[(match[1] ?? match[2]) as Dialect["name"]];
  throw new TypeError(
    `JSON Schema: the dialect ${JSON.stringify(schema)} is not supported; use https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#.`,
  );
}

/** Keywords whose value is a schema or a list of schemas. */
export const schemaKeywords: readonly string[] =
  "items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames allOf anyOf oneOf not if then else".split(
    " ",
  );

/** Keywords whose value maps names to schemas. */
export const schemaMapKeywords: readonly string[] =
  "properties patternProperties dependentSchemas dependencies $defs definitions".split(" ");
