// Reading JSON Schemas of others: what a `$ref` leads to within its own document, and which keywords only describe.

export type SchemaObject = { readonly [keyword: string]: unknown };

export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of the object itself: names such as "constructor" must not find what every object inherits. */
export function memberOf(value: SchemaObject, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** What a schema says without allowing or forbidding anything. `x-mcp-header` is no such word: clients must obey it. */
export function isDescribing(keyword: string): boolean {
  return describing.has(keyword) || (keyword.startsWith("x-") && keyword !== "x-mcp-header");
}

const describing: ReadonlySet<string> = new Set([
  ...[
    "title",
    "description",
    "examples",
    "example",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
    "$id",
  ],
  ...["$anchor", "contentEncoding", "contentMediaType", "markdownDescription", "$defs", "definitions"],
]);

/**
 * What a reference leads to: `#`, a JSON Pointer (`#/$defs/place`) or an anchor (`#place`) of the same document. Undefined where it
 * leads nowhere, or out of the document: nothing is ever fetched.
 */
export function resolveRef(root: unknown, ref: string): { readonly schema: unknown } | undefined {
  if (ref === "#") return { schema: root };
  if (!ref.startsWith("#")) return undefined;
  const fragment = decode(ref.slice(1));
  if (fragment === undefined) return undefined;
  return fragment.startsWith("/") ? followPointer(root, fragment) : findAnchor(root, fragment);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function followPointer(root: unknown, pointer: string): { readonly schema: unknown } | undefined {
  let at = root;
  for (const step of pointer.slice(1).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as SchemaObject)[key];
  }
  return { schema: at };
}

function findAnchor(root: unknown, name: string): { readonly schema: unknown } | undefined {
  if (!isSchemaObject(root)) return undefined;
  const groups = ["$defs", "definitions"].map((key) => memberOf(root, key)).filter(isSchemaObject);
  for (const schema of groups.flatMap((group) => Object.values(group)))
    if (isSchemaObject(schema) && memberOf(schema, "$anchor") === name) return { schema };
  return undefined;
}

/** The schema without what only describes, at any depth; members of `properties` are names, not keywords. */
export function withoutWords(schema: unknown, isNames = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => withoutWords(one));
  if (!isSchemaObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => isNames || !isDescribing(keyword));
  return Object.fromEntries(kept.map(([keyword, one]) => [keyword, toKept(keyword, one, isNames)]));
}

function toKept(keyword: string, value: unknown, isName: boolean): unknown {
  if (!isName && ["const", "default", "enum"].includes(keyword)) return value;
  return withoutWords(value, !isName && ["properties", "patternProperties", "dependentSchemas"].includes(keyword));
}
