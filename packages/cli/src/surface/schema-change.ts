// What became of a JSON Schema: each difference with its effect on the values that the schema allows. Whether that breaks anyone
// depends on who writes the values and who reads them, which changes.ts knows.
import { isSameJson, maxDepth, toCanonicalText } from "./canonical.ts";
import { isDescribing, isSchemaObject, memberOf, resolveRef, type SchemaObject, withoutWords } from "./schema-ref.ts";
import { compareWords } from "./schema-words.ts";

/**
 * `narrows`: values that were allowed no longer are. `widens`: values are allowed that were not. `adds`: something new that nobody need
 * know of. `breaks`: neither side can rely on what it knew. `defaults`: what is left out has a meaning now. `redefaults`: it has another,
 * or none. `words`: only what people and models read.
 */
export type Effect = "narrows" | "widens" | "adds" | "breaks" | "defaults" | "redefaults" | "words";

export interface SchemaChange {
  /** `place.city`, `tags[]`; empty for the schema itself. */
  readonly path: string;
  readonly effect: Effect;
  /** What is the case now, as a sentence without its full stop. */
  readonly reason: string;
  /** The texts, where it is texts that differ. */
  readonly texts?: { readonly before: string | undefined; readonly after: string | undefined };
}

/** Pairs of schemas that one comparison looks at; a hostile document could have more than anybody waits for. */
const maxPairs = 50_000;

/** The differences between two schemas, each with its own document for references. */
export function compareSchemas(before: unknown, after: unknown): SchemaChange[] {
  if (isSameJson(before, after)) return [];
  const changes: SchemaChange[] = [];
  const seen = new Map<unknown, Set<unknown>>();
  let pairs = 0;
  let depth = 0;

  function walk(old: unknown, now: unknown, path: string): void {
    if (isOpen(old) && isOpen(now)) return;
    // Seen before: a schema that refers to itself, or one that several refer to, of which one word is enough.
    const others = seen.get(old) ?? new Set();
    if (typeof old === "object" && others.has(now)) return;
    seen.set(old, others.add(now));
    if (++pairs === maxPairs || depth === maxDepth)
      changes.push({ path, effect: "breaks", reason: "it is too large to be compared" });
    if (pairs >= maxPairs || depth >= maxDepth) return;
    depth++;
    compare(toPlain(old, before), toPlain(now, after), path);
    depth--;
  }

  function compare(old: SchemaObject, now: SchemaObject, path: string): void {
    const add = (effect: Effect, reason: string, texts?: SchemaChange["texts"]): void => {
      changes.push({ path, effect, reason, ...(texts && { texts }) });
    };
    if (isUnion(old) || isUnion(now)) {
      compareBranches(toBranches(old), toBranches(now), path, add);
      compareWords(ofWhole(old), ofWhole(now), add);
      return;
    }
    if (!compareWords(old, now, add)) return;
    compareProperties(old, now, path);
    compareItems(old, now, path);
    compareAll(old, now, path, add);
  }

  function compareProperties(old: SchemaObject, now: SchemaObject, path: string): void {
    const [oldOnes, newOnes] = [propertiesOf(old), propertiesOf(now)];
    const [oldRequired, newRequired] = [requiredOf(old), requiredOf(now)];
    for (const name of new Set([...oldOnes.keys(), ...newOnes.keys()])) {
      const at = path ? `${path}.${name}` : name;
      const add = (effect: Effect, reason: string): void => {
        changes.push({ path: at, effect, reason });
      };
      const [was, is] = [oldRequired.has(name), newRequired.has(name)];
      if (!newOnes.has(name)) add("breaks", "it is gone");
      else if (!oldOnes.has(name))
        add(is ? "narrows" : "adds", is ? "it is new, and required" : "it is new, and optional");
      else {
        if (!was && is) add("narrows", "it is required now");
        if (was && !is) add("widens", "it is optional now");
        walk(oldOnes.get(name), newOnes.get(name), at);
      }
    }
    compareRest(old, now, path);
  }

  /** What may stand beside the properties that are named. */
  function compareRest(old: SchemaObject, now: SchemaObject, path: string): void {
    const keyword = "additionalProperties";
    const [was, is] = [memberOf(old, keyword) ?? true, memberOf(now, keyword) ?? true];
    const push = (effect: Effect, reason: string): void => {
      changes.push({ path, effect, reason });
    };
    if (was !== false && is === false) push("narrows", "members beyond those it names are refused now");
    else if (was === false && is !== false) push("widens", "it may have members beyond those it names now");
    else walk(was, is, `${path}{}`);
  }

  function compareItems(old: SchemaObject, now: SchemaObject, path: string): void {
    const [was, is] = [toItems(old), toItems(now)];
    const first = Math.max(was.first.length, is.first.length);
    for (let at = 0; at < first; at++) walk(was.first[at] ?? was.rest, is.first[at] ?? is.rest, `${path}[${at}]`);
    walk(was.rest, is.rest, `${path}[]`);
  }

  function compareAll(old: SchemaObject, now: SchemaObject, path: string, add: Add): void {
    const [was, is] = [listOf(old, "allOf"), listOf(now, "allOf")];
    const { gone, fresh } = pairOff(was, is, path);
    if (gone.length === fresh.length) for (const [at, one] of gone.entries()) walk(one, fresh[at], path);
    else if (gone.length === 0) add("narrows", "one more schema must fit too (allOf)");
    else if (fresh.length === 0) add("widens", "one schema less must fit (allOf)");
    else add("breaks", "other schemas must fit (allOf)");
  }

  function compareBranches(old: readonly unknown[], now: readonly unknown[], path: string, add: Add): void {
    const { gone, fresh } = pairOff(old, now, path);
    if (gone.length === fresh.length) for (const [at, one] of gone.entries()) walk(one, fresh[at], path);
    else if (gone.length === 0) add("widens", `it may also be ${fresh.map(nameOf).join(" or ")} now`);
    else if (fresh.length === 0) add("narrows", `it can no longer be ${gone.map(nameOf).join(" or ")}`);
    else add("breaks", `it is ${now.map(nameOf).join(" or ")} now, and was ${old.map(nameOf).join(" or ")}`);
  }

  /** The branches that have no equal on the other side. Equals are compared for their words, and for what they refer to. */
  function pairOff(
    old: readonly unknown[],
    now: readonly unknown[],
    path: string,
  ): { gone: unknown[]; fresh: unknown[] } {
    const fresh = new Map(now.map((one, at) => [at, one]));
    const texts = now.map((one) => toCanonicalText(withoutWords(one)));
    const gone = old.filter((one) => {
      const text = toCanonicalText(withoutWords(one));
      const at = texts.findIndex((other, index) => other === text && fresh.has(index));
      if (at < 0) return true;
      walk(one, fresh.get(at), path);
      fresh.delete(at);
      return false;
    });
    return { gone, fresh: [...fresh.values()] };
  }

  walk(before, after, "");
  return changes;
}

type Add = (effect: Effect, reason: string, texts?: SchemaChange["texts"]) => void;

/** Everything is allowed. */
const isOpen = (schema: unknown): boolean =>
  schema === true || (isSchemaObject(schema) && Object.keys(schema).length === 0);

/** As an object without `$ref`. What stands beside a reference holds too. */
function toPlain(schema: unknown, root: unknown): SchemaObject {
  if (schema === false) return { not: {} };
  if (!isSchemaObject(schema)) return {};
  let plain = schema;
  // Each step takes one reference away; a circle of references allows everything, as a validator would never end.
  for (let steps = 0; steps < maxDepth; steps++) {
    const ref = memberOf(plain, "$ref");
    const found = typeof ref === "string" ? resolveRef(root, ref) : undefined;
    if (!found) return plain;
    const { $ref: _, ...beside } = plain;
    const to: SchemaObject = isSchemaObject(found.schema) ? found.schema : found.schema === false ? { not: {} } : {};
    if (to === plain) return beside;
    const isClear = Object.keys(beside).every((keyword) => isDescribing(keyword) || !Object.hasOwn(to, keyword));
    plain = isClear ? { ...to, ...beside } : { ...beside, allOf: [...listOf(beside, "allOf"), to] };
  }
  return {};
}

const isUnion = (schema: SchemaObject): boolean => Object.hasOwn(schema, "anyOf") || Object.hasOwn(schema, "oneOf");

/** What is said of all alternatives together. */
const isOfWhole = (keyword: string): boolean => isDescribing(keyword) || keyword === "default";

function ofWhole(schema: SchemaObject): SchemaObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => isOfWhole(keyword)));
}

/** The alternatives, each with the keywords that stand beside them. What is none has one, or one for each of its types. */
function toBranches(schema: SchemaObject): readonly unknown[] {
  const { anyOf, oneOf, nullable, ...beside } = schema;
  const branches = [anyOf, oneOf].filter(Array.isArray).flat() as unknown[];
  const nothing = nullable === true ? [{ type: "null" }] : [];
  const held = Object.fromEntries(Object.entries(beside).filter(([keyword]) => !isOfWhole(keyword)));
  if (branches.length > 0) {
    const isBare = Object.keys(held).length === 0;
    return [...branches.map((branch) => (isBare ? branch : { allOf: [held, branch] })), ...nothing];
  }
  const { type } = held;
  if (!Array.isArray(type) || type.length < 2) return [held, ...nothing];
  return [...type.map((one: unknown) => (one === "null" ? { type: one } : { ...held, type: one })), ...nothing];
}

function propertiesOf(schema: SchemaObject): ReadonlyMap<string, unknown> {
  const properties = memberOf(schema, "properties");
  const named = new Map(isSchemaObject(properties) ? Object.entries(properties) : []);
  for (const name of requiredOf(schema)) if (!named.has(name)) named.set(name, {});
  return named;
}

function requiredOf(schema: SchemaObject): ReadonlySet<string> {
  const required = memberOf(schema, "required");
  return new Set(Array.isArray(required) ? required.filter((name): name is string => typeof name === "string") : []);
}

/** Tuples are written with `prefixItems`, and with a list of `items` in older drafts. */
function toItems(schema: SchemaObject): { readonly first: readonly unknown[]; readonly rest: unknown } {
  const items = memberOf(schema, "items");
  if (Array.isArray(items)) return { first: items, rest: memberOf(schema, "additionalItems") ?? {} };
  return { first: listOf(schema, "prefixItems"), rest: items ?? {} };
}

function listOf(schema: SchemaObject, keyword: string): readonly unknown[] {
  const list = memberOf(schema, keyword);
  return Array.isArray(list) ? list : [];
}

/** A schema in a word or two, for people. */
function nameOf(schema: unknown): string {
  if (!isSchemaObject(schema)) return schema === false ? "nothing" : "anything";
  const { type, $ref, title } = schema;
  if (typeof title === "string") return title;
  if (Object.hasOwn(schema, "const")) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`;
  if (typeof $ref === "string") return $ref.slice($ref.lastIndexOf("/") + 1);
  if (typeof type === "string") return type;
  return Array.isArray(type) ? type.join(" or ") : "another schema";
}
