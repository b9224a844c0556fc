// Compiles a JSON Schema (2020-12 or draft-07) to a function that checks values, without `eval`.
// Schemas and values may come from strangers: size, depth and time are bounded, and nothing is fetched.
// Each part of a schema becomes a unit, noted by its `$id` and anchors (2020-12 core, sections 8.2 and 9; draft-07 core,
// section 8); references are looked up among those when all are there.

import type { Formats } from "./format.ts";
import {
  additionalProperties,
  allOf,
  aside,
  branch,
  branches,
  type Check,
  condition,
  contains,
  count,
  definitions,
  dependencies,
  every,
  fail,
  format,
  isObject,
  type JsonSchema,
  type Keyword,
  length,
  listed,
  merge,
  no,
  not,
  number,
  oneOf,
  own,
  pattern,
  patternProperties,
  properties,
  type Reference,
  type Run,
  reference,
  refuse,
  remaining,
  required,
  type SchemaIssue,
  type Seen,
  type Site,
  size,
  stop,
  type,
  uniqueItems,
} from "./keywords.ts";

export type { Formats, JsonSchema, SchemaIssue };

export interface SchemaLimits {
  /** How deep schemas may nest, and how deep checking may go into a value. Default 256. */
  readonly maxDepth?: number;
  /** How many subschemas a schema may have, with the documents it refers to. Default 10,000. */
  readonly maxSubschemas?: number;
  /** How much work one validation may cost; a subschema applied to a value is one step. Default 2,000,000. */
  readonly maxSteps?: number;
  /** How many issues are reported at most. Default 20. */
  readonly maxErrors?: number;
}

export interface SchemaOptions extends SchemaLimits {
  /** The dialect of schemas that declare none with `$schema`. Default 2020-12. */
  readonly defaultDialect?: "2020-12" | "draft-07";
  /** Makes `format` an assertion for the names given here. Without it, `format` asserts nothing. */
  readonly formats?: Formats;
  /** Schemas that a `$ref` may lead to, by URI. Others are refused: nothing is fetched. */
  readonly documents?: Readonly<Record<string, JsonSchema | boolean>>;
}

/** Checks a value: undefined when it is valid, otherwise the reasons why not. Does not change the value. */
export type Validator = (value: unknown) => readonly SchemaIssue[] | undefined;

/** What a schema has in common with its neighbours: those with the same `$id`. */
interface Resource {
  readonly uri: string;
  readonly legacy: boolean;
  readonly dynamic: Map<string, Unit>;
}

/** A schema that is compiled once, however often it is referred to. */
interface Unit extends Site, Resource, Reference {
  /** For messages: where the schema stands. */
  readonly at: string;
}

const nowhere: Run["scope"] = new Map();
const unnamed = "schema:///";

/** What cannot be resolved is left as it is: it will be found nowhere. */
const split = (ref: string, base: string): [uri: string, fragment: string] => {
  const [uri, fragment = ""] = ref.split("#") as [string, string?];
  try {
    return [uri ? new URL(uri, base).href : base, decodeURIComponent(fragment)];
  } catch {
    return [uri, fragment];
  }
};

const toResource = (uri: string, schema: unknown, legacy: boolean): Resource => {
  const declared = own(schema as object, "$schema");
  const match = /^https?:\/\/json-schema\.org\/draft(\/2020-12|-07)\/schema#?$/.exec(String(declared));
  if (declared !== undefined && !match)
    stop(`the dialect ${JSON.stringify(declared)} is not supported; use 2020-12 or draft-07`);
  return { uri, legacy: match ? match[1] === "-07" : legacy, dynamic: new Map() };
};

/** In the order they are checked: what is quick and telling first, what depends on the others last. */
const keywords: readonly (readonly [name: string, make: Keyword])[] = Object.entries({
  type,
  enum: oneOf,
  const: oneOf,
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: number,
  minLength: length,
  maxLength: length,
  pattern,
  format,
  $ref: reference,
  $dynamicRef: reference,
  allOf,
  anyOf: branches,
  oneOf: branches,
  not,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: branch,
  else: branch,
  if: condition,
  $defs: definitions,
  definitions,
  dependentRequired: dependencies,
  dependentSchemas: dependencies,
  dependencies,
  required,
  minProperties: count,
  maxProperties: count,
  propertyNames: remaining,
  properties,
  patternProperties,
  additionalProperties,
  prefixItems: listed,
  minItems: size,
  maxItems: size,
  uniqueItems,
  items: listed,
  contains,
  // Only their values are checked: `contains` looks at them.
  minContains: aside,
  maxContains: aside,
  additionalItems: listed,
  unevaluatedProperties: remaining,
  unevaluatedItems: remaining,
} satisfies Record<string, Keyword>);

/**
 * Compiles a schema. Throws a TypeError when its dialect is not supported, a reference leads nowhere or outside, a keyword
 * has a value it cannot have, or the schema is larger than the limits allow.
 */
export function compileJsonSchema(schema: JsonSchema | boolean, options: SchemaOptions = {}): Validator {
  const {
    maxDepth = 256,
    maxSubschemas = 10_000,
    maxSteps = 2_000_000,
    maxErrors = 20,
    defaultDialect,
    documents = {},
    formats = {},
  } = options;
  /** By schema, and by URI with anchor. */
  const units = new Map<unknown, Unit>();
  const references: (() => void)[] = [];
  let count = 0;
  let depth = 0;

  const compile = (schema: unknown, parent: Resource, at: string): Unit => {
    const object = typeof schema === "boolean" ? {} : schema;
    if (!isObject(object)) return refuse(at, "a schema (a list of them is prefixItems)");
    const known = units.get(object);
    if (known) return known;
    if (++count > maxSubschemas) stop(`has more than ${maxSubschemas} subschemas`);
    if (depth > maxDepth) stop(`nested deeper than ${maxDepth} levels`);
    if (schema === false) return { ...(parent as Unit), check: no };

    const text = (key: string) => String(own(object, key, ""));
    const id = parent.legacy && text("$ref") ? "" : text("$id");
    const [uri, fragment] = split(id, parent.uri);
    const home = id && id[0] !== "#" ? toResource(uri, object, parent.legacy) : parent;
    const { legacy, dynamic } = home;
    const unit: Unit = {
      ...home,
      schema: object,
      at,
      formats,
      check: undefined,
      sub: (schema, at) => compile(schema, unit, at).check ?? refuse(at, "a tree"),
      follow: (ref, at, isDynamic) => {
        let target: Unit;
        references.push(() => {
          target = find(ref, at, uri);
        });
        const anchor = ref.replace(/.*#/, "");
        return (value, run, seen) => {
          // Leads to the outermost resource on the way that has the same dynamic anchor, if it starts at one at all.
          const outermost = isDynamic && target.dynamic.get(anchor) === target && run.scope.get(anchor);
          return ((outermost || target).check as Check)(value, run, seen);
        };
      },
    };
    // Noted before its parts are compiled: a schema that contains itself is found by that.
    units.set(object, unit);
    if (id) units.set(`${uri}#${fragment}`, unit);
    const anchor = text("$dynamicAnchor");
    for (const name of [text("$anchor"), anchor]) if (name) units.set(`${uri}#${name}`, unit);
    if (anchor) dynamic.set(anchor, unit);

    // What the other dialect has; in draft-07 a `$ref` also hides its siblings, though one may refer to what they define.
    const foreign = !legacy
      ? /cies$|lItems$/
      : own(object, "$ref") === undefined
        ? /^(\$dyn|dependent|prefix|une)/
        : /^(?!\$ref|\$?def)/;
    const checks: Check[] = [];
    depth++;
    let late = 0;
    for (const [name, make] of keywords) {
      const value = own(object, name);
      if (value === undefined || foreign.test(name)) continue;
      const made = make(value, `${at}/${name}`, unit, name);
      if (/^une/.test(name)) late ||= checks.length + 1;
      if (made)
        checks.push(
          typeof made === "function"
            ? made
            : (value, run, seen) => !made[0](value, run, seen) && fail(run, name, made[1]),
        );
    }
    depth--;
    // A wrong type makes the rest pointless, and what is unevaluated is known only when the rest holds.
    const whole = every(checks, own(object, "type") && 1, late - 1);
    unit.check = (value, run, outer) => {
      if (++run.depth > maxDepth) run.steps = 0;
      if (--run.steps < 0) return [];
      const { scope } = run;
      if (dynamic.size > 0 && !scope.has(dynamic)) {
        run.scope = new Map<unknown, Reference>([[dynamic, unit], ...dynamic, ...scope]);
        run.steps -= run.scope.size;
      }
      const seen: Seen = late ? new Set() : outer;
      const found = whole(value, run, seen);
      if (late) merge(run, seen, outer);
      run.scope = scope;
      run.depth--;
      return found;
    };
    return unit;
  };

  const enter = (uri: string, root: unknown, at: string): Unit => {
    const unit = compile(root, toResource(uri, root, defaultDialect === "draft-07"), at);
    units.set(`${uri}#`, unit);
    return unit;
  };

  const find = (ref: string, at: string, base: string): Unit => {
    const lost = (where: string) => stop(`the reference ${JSON.stringify(ref)} at ${at} leads ${where}`);
    const [uri, fragment] = split(ref, base);
    const document = () => Object.keys(documents).find((key) => split(key, unnamed)[0] === uri);
    const root =
      units.get(`${uri}#`) ??
      units.get(`${uri}#${fragment}`) ??
      enter(uri, documents[document() ?? lost("outside this schema, and remote schemas are never fetched")], `${uri}#`);
    if (fragment[0] !== "/") return (fragment ? units.get(`${root.uri}#${fragment}`) : root) ?? lost("nowhere");
    let parent = root;
    let schema: unknown = root.schema;
    for (const part of fragment.slice(1).split("/")) {
      schema = own(Object(schema), part.replaceAll("~1", "/").replaceAll("~0", "~"));
      parent = units.get(schema) ?? parent;
    }
    // It may be a place that holds no schema by itself, such as below an unknown keyword.
    return schema === undefined ? lost("nowhere") : compile(schema, parent, root.at + fragment);
  };

  const check = enter(unnamed, schema, "#").check as Check;
  for (const resolve of references) resolve();

  return (value) => {
    const run: Run = { steps: maxSteps, depth: 0, max: maxErrors, scope: nowhere };
    const found = check(value, run);
    if (found && found.length > 0) return found.slice(0, maxErrors);
    if (run.steps >= 0) return undefined;
    run.steps = 1;
    return fail(run, "limit", "is too large or too deep to check");
  };
}
