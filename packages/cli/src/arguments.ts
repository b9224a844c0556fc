// `key=value` words as a tool's arguments, by the tool's own schema: "5" is a number where the schema wants one, and text where
// it wants text. What is to be sent exactly is given as JSON, and is sent as it is.
import { readFileSync } from "node:fs";
import type { JsonObject } from "plenum";
import { nearestTo } from "plenum/util/nearest";
import { Failure } from "./failure.ts";
import { listTypes, resolveSchema, schemaOf } from "./schema-look.ts";

/** How arguments may be written, for help. */
export const argumentForms =
  "key=value is read by the tool's schema (repeat the key for a list, a.b=value for what is nested); key:=JSON is taken as it is; key@=FILE is the text of a file; one word that begins with { is all arguments as JSON, sent unchecked; - reads that from stdin.";

type Value = unknown;

/** Throws a Failure for a word that cannot be meant, or that the schema has no place for. */
export async function toArguments(words: readonly string[], inputSchema: JsonObject): Promise<JsonObject> {
  const [only] = words;
  if (words.length === 1 && (only === "-" || only?.trimStart().startsWith("{"))) {
    return parseExact(only === "-" ? readFileSync(0, "utf8") : only);
  }
  const gathered = new Map<string, Value>();
  for (const word of words) place(gathered, word, inputSchema);
  const args = toObject(gathered);
  assertComplete(args, inputSchema);
  return args;
}

const whole = "The arguments";

function parseExact(text: string): JsonObject {
  const value = parseJson(text, whole);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Failure("usage", "The arguments are no JSON object", { hint: 'Such as: {"city": "Oslo"}' });
  }
  return value as JsonObject;
}

function parseJson(text: string, what: string): Value {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure("usage", `${what} cannot be read as JSON: ${(error as Error).message}`, {
      code: "invalid_argument",
      hint: `Quote it for your shell: '${what === whole ? "" : `${what}:=`}{"a": 1}'`,
    });
  }
}

/** Puts one word where it belongs. Maps, because a key may be `__proto__`. */
function place(into: Map<string, Value>, word: string, schema: JsonObject): void {
  const match = /^([^=]+?)([:@]?)=([\s\S]*)$/.exec(word);
  const [, key = "", form = "", text = ""] = match ?? [];
  if (!match) {
    throw new Failure("usage", `"${word}" is no argument: it has no "="`, {
      code: "invalid_argument",
      hint: "Arguments are written as key=value, or all of them as one JSON object.",
    });
  }
  const path = toPath(key, schema);
  let at = into;
  let place = schema;
  for (const name of path.slice(0, -1)) {
    place = schemaOf(place, name, schema) ?? {};
    const inner = at.get(name) ?? new Map<string, Value>();
    if (!(inner instanceof Map)) throw new Failure("usage", `"${name}" is given twice, whole and in parts`);
    at.set(name, inner);
    at = inner;
  }
  const last = path.at(-1) as string;
  const own = schemaOf(place, last, schema);
  if (!own) throw toUnknown(last, place, schema);
  const value =
    form === ":" ? parseJson(text, key) : toValue(form === "@" ? readText(text, key) : text, own, schema, key);
  at.set(last, at.has(last) ? append(at.get(last), value, key) : value);
}

/** `a.b` is a way down, unless the schema has a property of that very name. */
function toPath(key: string, schema: JsonObject): string[] {
  const parts = key.split(".");
  const isName = parts.length === 1 || Object.hasOwn(propertiesOf(schema, schema), key);
  return isName || !Object.hasOwn(propertiesOf(schema, schema), parts[0] as string) ? [key] : parts;
}

function readText(path: string, key: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Failure("usage", `${key}: ${path} cannot be read: ${(error as Error).message}`, {
      code: "file_not_found",
      hint: "key@=FILE is the text of a file; for text itself write key=value.",
    });
  }
}

/** A key that is given again makes a list of the values. */
function append(before: Value, value: Value, key: string): Value {
  if (Array.isArray(before)) return [...before, ...(Array.isArray(value) ? value : [value])];
  throw new Failure("usage", `"${key}" is given more than once, and is no list`, {
    code: "invalid_argument",
    hint: "Give it once.",
  });
}

function propertiesOf(schema: JsonObject, root: JsonObject): JsonObject {
  const { properties } = resolveSchema(schema, root);
  return (properties ?? {}) as JsonObject;
}

function toUnknown(name: string, schema: JsonObject, root: JsonObject): Failure {
  const known = Object.keys(propertiesOf(schema, root));
  const near = nearestTo(name, known);
  const list = known.length > 0 ? `There are ${known.join(", ")}.` : "It takes none.";
  return new Failure("usage", `The tool has no argument "${name}"`, {
    code: "unknown_argument",
    hint: near ? `Did you mean "${near}"? ${list}` : list,
  });
}

const words = new Map<string, boolean>([
  ["true", true],
  ["yes", true],
  ["on", true],
  ["false", false],
  ["no", false],
  ["off", false],
]);

const isNumber = (text: string): boolean => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim());

/** The text as the first kind of value that the schema allows and that it can be read as; text itself comes last. */
function toValue(text: string, given: JsonObject, root: JsonObject, key: string): Value {
  const schema = resolveSchema(given, root);
  const choices = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : undefined;
  const chosen = choices?.find((one) => (typeof one === "string" ? one === text : JSON.stringify(one) === text));
  if (chosen !== undefined) return chosen;
  if (choices) {
    const near = nearestTo(text, choices.map(String));
    throw new Failure("usage", `${key} cannot be "${text}"`, {
      code: "invalid_argument",
      hint: `${near ? `Did you mean "${near}"? ` : ""}It can be ${choices.map(String).join(", ")}.`,
    });
  }
  const types = listTypes(schema, root);
  const may = (type: string): boolean => types === undefined || types.has(type);
  if (may("null") && text === "null") return null;
  const word = words.get(text.toLowerCase());
  if (may("boolean") && word !== undefined && (types !== undefined || /^(true|false)$/.test(text))) return word;
  if (may("integer") && /^[+-]?\d+$/.test(text.trim())) return toNumber(text, types);
  if (may("number") && isNumber(text)) return toNumber(text, types);
  if (may("array") && text.trimStart().startsWith("[")) return parseJson(text, key);
  if (may("object") && text.trimStart().startsWith("{")) return parseJson(text, key);
  if (types === undefined || types.has("string")) return text;
  // One of a list: the key may be given again.
  if (types.has("array")) return [toValue(text, (schema.items ?? {}) as JsonObject, root, key)];
  const wanted = [...types].join(" or ");
  throw new Failure("usage", `${key} must be ${wanted}, not "${text}"`, {
    code: "invalid_argument",
    hint: types.has("object")
      ? `Give it as JSON, or part by part: ${key}.name=value`
      : `Such as: ${key}=${sampleOf(types)}`,
  });
}

/** A number that would lose digits stays text where text will do. */
function toNumber(text: string, types: ReadonlySet<string> | undefined): number | string {
  const number = Number(text);
  const isExact = Number.isSafeInteger(number) || !/^[+-]?\d+$/.test(text.trim());
  return isExact || (types && !types.has("string")) ? number : text;
}

function sampleOf(types: ReadonlySet<string>): string {
  if (types.has("boolean")) return "true";
  return types.has("integer") ? "5" : "1.5";
}

function toObject(gathered: ReadonlyMap<string, Value>): JsonObject {
  return Object.fromEntries([...gathered].map(([key, value]) => [key, value instanceof Map ? toObject(value) : value]));
}

function assertComplete(args: JsonObject, schema: JsonObject): void {
  const { required } = resolveSchema(schema, schema);
  const missing = (Array.isArray(required) ? required : []).filter((name) => !Object.hasOwn(args, String(name)));
  if (missing.length === 0) return;
  const properties = propertiesOf(schema, schema) as { readonly [name: string]: JsonObject };
  const lines = missing.map((name) => {
    const { description } = properties[String(name)] ?? {};
    return `  ${name}=…${typeof description === "string" ? `  ${description}` : ""}`;
  });
  const strange = Object.keys(args).filter((name) => !Object.hasOwn(properties, name));
  const beside = strange.length > 0 ? `\nIt names no ${strange.map((name) => `"${name}"`).join(", ")}.` : "";
  throw new Failure("usage", `The tool needs ${missing.map((name) => `"${name}"`).join(", ")}`, {
    code: "missing_argument",
    hint: `Add:\n${lines.join("\n")}${beside}`,
  });
}
