// What became of a schema's own keywords, one by one: types, values, bounds, defaults, descriptions. Keywords that lead to other
// schemas (properties, items, allOf …) are in schema-change.ts; of those that are not known here any difference breaks.
import { isSameJson } from "./canonical.ts";
import { isDescribing, memberOf, type SchemaObject, withoutWords } from "./schema-ref.ts";

type Add = (
  effect: "narrows" | "widens" | "breaks" | "defaults" | "redefaults" | "words",
  reason: string,
  texts?: { readonly before: string | undefined; readonly after: string | undefined },
) => void;

/** Tells `add` of each difference. False: the types have nothing in common, so that what is inside them need not be compared. */
export function compareWords(old: SchemaObject, now: SchemaObject, add: Add): boolean {
  const isAkin = compareTypes(old, now, add);
  compareValues(old, now, add);
  for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (elsewhere.has(keyword)) continue;
    const [was, is] = [memberOf(old, keyword), memberOf(now, keyword)];
    if (isSameJson(was ?? null, is ?? null)) continue;
    if (isDescribing(keyword)) compareDescribing(keyword, was, is, add);
    else if (keyword === "default") compareDefault(was, is, add);
    else if (Object.hasOwn(bounds, keyword)) compareBound(keyword, was, is, add);
    else if (rules.has(keyword)) compareRule(keyword, was, is, add);
    else if (keyword === "multipleOf") compareMultiple(was, is, add);
    else if (isSameJson(withoutWords(was), withoutWords(is))) add("words", `${keyword} is described otherwise`);
    else add("breaks", `${keyword} is another`);
  }
  return isAkin;
}

/** Dealt with where the schemas are that they lead to, or together with others. */
const elsewhere: ReadonlySet<string> = new Set([
  ...["type", "enum", "const", "nullable", "properties", "required", "additionalProperties", "items", "prefixItems"],
  ...["additionalItems", "allOf", "anyOf", "oneOf", "$defs", "definitions"],
]);

/** Keywords that forbid when they are there. */
const rules: ReadonlySet<string> = new Set(["pattern", "format", "uniqueItems"]);

/** Which way a bound narrows, and what it is without one. */
const bounds: { readonly [keyword: string]: readonly [grows: "narrows" | "widens", none: number] } = {
  minimum: ["narrows", -Infinity],
  exclusiveMinimum: ["narrows", -Infinity],
  minLength: ["narrows", 0],
  minItems: ["narrows", 0],
  minProperties: ["narrows", 0],
  maximum: ["widens", Infinity],
  exclusiveMaximum: ["widens", Infinity],
  maxLength: ["widens", Infinity],
  maxItems: ["widens", Infinity],
  maxProperties: ["widens", Infinity],
};

function compareBound(keyword: string, was: unknown, is: unknown, add: Add): void {
  const [grows, none] = bounds[keyword] as readonly ["narrows" | "widens", number];
  const [from, to] = [was ?? none, is ?? none];
  const shrinks = grows === "narrows" ? "widens" : "narrows";
  const show = (bound: unknown): string => (bound === undefined ? "none" : String(bound));
  if (typeof from !== "number" || typeof to !== "number") add("breaks", `${keyword} is another`);
  else if (from !== to) add(to > from ? grows : shrinks, `${keyword} is ${show(is)}, and was ${show(was)}`);
}

function compareRule(keyword: string, was: unknown, is: unknown, add: Add): void {
  const [from, to] = [was === false ? undefined : was, is === false ? undefined : is];
  if (from === undefined && to === undefined) return;
  if (from === undefined) add("narrows", `${keyword} ${show(to)} must be kept to now`);
  else if (to === undefined) add("widens", `${keyword} ${show(from)} need not be kept to any more`);
  else add("breaks", `${keyword} is ${show(to)}, and was ${show(from)}`);
}

function compareMultiple(was: unknown, is: unknown, add: Add): void {
  const isMultiple = (of: unknown, one: unknown): boolean =>
    typeof of === "number" && typeof one === "number" && Number.isInteger(one / of);
  const reason = `it must be a multiple of ${is === undefined ? "nothing" : show(is)}, and was of ${was === undefined ? "nothing" : show(was)}`;
  if (was === undefined || isMultiple(was, is)) add("narrows", reason);
  else if (is === undefined || isMultiple(is, was)) add("widens", reason);
  else add("breaks", reason);
}

function compareDefault(was: unknown, is: unknown, add: Add): void {
  if (was === undefined) add("defaults", `left out, it is taken for ${show(is)} now`);
  else if (is === undefined) add("redefaults", `left out, it is no longer taken for ${show(was)}`);
  else add("redefaults", `left out, it is taken for ${show(is)}, and was for ${show(was)}`);
}

function compareDescribing(keyword: string, was: unknown, is: unknown, add: Add): void {
  const text = (value: unknown): string | undefined =>
    value === undefined || typeof value === "string" ? value : JSON.stringify(value);
  const verb = was === undefined ? "is new" : is === undefined ? "is gone" : "is another";
  add("words", `${keyword} ${verb}`, { before: text(was), after: text(is) });
}

const everyType = ["string", "number", "boolean", "null", "array", "object"];

function compareTypes(old: SchemaObject, now: SchemaObject, add: Add): boolean {
  const [was, is] = [typesOf(old), typesOf(now)];
  const covers = (types: readonly string[], one: string): boolean =>
    types.includes(one) || (one === "integer" && types.includes("number"));
  const isNarrower = is.every((one) => covers(was, one));
  const isWider = was.every((one) => covers(is, one));
  if (isNarrower && isWider) return true;
  const name = (types: readonly string[]): string =>
    types.length === everyType.length ? "anything" : types.join(" or ");
  const reason = `it is ${name(is)} now, and was ${name(was)}`;
  add(isNarrower ? "narrows" : isWider ? "widens" : "breaks", reason);
  return was.some((one) => covers(is, one)) || is.some((one) => covers(was, one));
}

/** By `type`, or by the values that it is one of; `nullable` is OpenAPI's word for null. */
function typesOf(schema: SchemaObject): readonly string[] {
  const type = memberOf(schema, "type");
  const values = valuesOf(schema);
  const named = typeof type === "string" ? [type] : Array.isArray(type) ? type.map(String) : undefined;
  const types = named ?? (values ? [...new Set(values.map(typeOf))] : everyType);
  const all = types.includes("number") ? types.filter((one) => one !== "integer") : types;
  return memberOf(schema, "nullable") === true && !all.includes("null") ? [...all, "null"] : all;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function valuesOf(schema: SchemaObject): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, "const")) return [schema.const];
  const values = memberOf(schema, "enum");
  return Array.isArray(values) ? values : undefined;
}

function compareValues(old: SchemaObject, now: SchemaObject, add: Add): void {
  const [was, is] = [valuesOf(old), valuesOf(now)];
  const list = (values: readonly unknown[]): string => values.map(show).join(", ");
  if (!was && is) add("narrows", `it must be one of ${list(is)} now`);
  if (was && !is) add("widens", `it need not be one of ${list(was)} any more`);
  if (!was || !is) return;
  const gone = was.filter((value) => !is.some((other) => isSameJson(value, other)));
  const fresh = is.filter((value) => !was.some((other) => isSameJson(value, other)));
  if (gone.length > 0) add("narrows", `it can no longer be ${list(gone)}`);
  if (fresh.length > 0) add("widens", `it may also be ${list(fresh)} now`);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
