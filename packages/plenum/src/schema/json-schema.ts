// Compiles a JSON Schema (2020-12 or draft-07) to a function that checks values, without `eval`.
// Schemas and values may come from strangers: size, depth and time are bounded, and nothing is fetched.

import { type Check, fail, isObject, type Run, type SchemaIssue, spend } from "./check.ts";
import type { Dialect } from "./dialect.ts";
import { additionalItems, arrayKeywords, prefixItems, unevaluatedItems } from "./keywords-array.ts";
import { $dynamicRef, $ref, logicKeywords } from "./keywords-logic.ts";
import { dependencies, objectKeywords, unevaluatedProperties } from "./keywords-object.ts";
import { valueKeywords } from "./keywords-value.ts";
import { compilePattern, type PatternTest } from "./pattern.ts";
import type { JsonSchema, Target } from "./resource.ts";
import { indexResources } from "./resources.ts";
import { type Formats, type Keyword, own, refuse, type Site, toPointer } from "./site.ts";
import { assertNoLoop, inSequence, type Unit, withScope, withSeen } from "./unit.ts";

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
  readonly defaultDialect?: Dialect["name"];
  /** Makes `format` an assertion for the names given here. Without it, `format` asserts nothing. */
  readonly formats?: Formats;
  /** Schemas that a `$ref` may lead to, by URI. Others are refused: nothing is fetched. */
  readonly documents?: Readonly<Record<string, JsonSchema | boolean>>;
}

/** Checks a value: undefined when it is valid, otherwise the reasons why not. Does not change the value. */
export type Validator = (value: unknown) => readonly SchemaIssue[] | undefined;

// In the order they are checked: what is quick and telling first, what depends on the others last.
const modern: readonly [string, Keyword][] = Object.entries({
  ...valueKeywords,
  $ref,
  $dynamicRef,
  ...logicKeywords,
  dependentRequired: dependencies,
  dependentSchemas: dependencies,
  ...objectKeywords,
  prefixItems,
  ...arrayKeywords,
});
const unevaluated: readonly [string, Keyword][] = Object.entries({ unevaluatedProperties, unevaluatedItems });
const legacy: readonly [string, Keyword][] = Object.entries({
  ...valueKeywords,
  ...logicKeywords,
  dependencies,
  ...objectKeywords,
  ...arrayKeywords,
  additionalItems,
});
const legacyReference: readonly [string, Keyword][] = [["$ref", $ref]];

const pending: Check = () => false;

/**
 * Compiles a schema. Throws a TypeError when its dialect is not supported, a reference leads nowhere or outside, a keyword
 * has a value it cannot have, references run in a circle, or the schema is larger than the limits allow.
 */
export function compileJsonSchema(schema: JsonSchema | boolean, options: SchemaOptions = {}): Validator {
  const { maxDepth = 256, maxSubschemas = 10_000, maxSteps = 2_000_000, maxErrors = 20 } = options;
  const { defaultDialect = "2020-12", documents = {}, formats } = options;
  const resources = indexResources(schema, { maxDepth, maxSubschemas, defaultDialect, documents });
  const units = new Map<unknown, Unit>();
  const waiting: Unit[] = [];
  const patterns = new Map<string, PatternTest>();

  const unitOf = (target: Target): Unit => {
    let unit = units.get(target.schema);
    if (!unit) {
      unit = { check: pending, target, same: [] };
      units.set(target.schema, unit);
      waiting.push(unit);
    }
    return unit;
  };

  const pattern = (source: string, at: string): PatternTest => {
    let test = patterns.get(source);
    if (!test) {
      try {
        test = compilePattern(source);
      } catch (error) {
        return refuse(at, `a regular expression (${(error as Error).message})`);
      }
      patterns.set(source, test);
    }
    return test;
  };

  const finish = (unit: Unit): Check => {
    if (unit.check === pending) unit.check = compile(unit);
    return unit.check;
  };

  const compile = (unit: Unit): Check => {
    const { schema, resource, at } = unit.target;
    if (schema === true) return (_, run) => spend(run, 1);
    if (schema === false) return (_, run) => spend(run, 1) && fail(run, "false", "is not allowed");
    if (!isObject(schema)) return refuse(at, "a schema: an object or a boolean");
    const site: Site = {
      schema,
      resource,
      at,
      formats,
      pattern,
      compile: (schema, at, sameValue) => {
        const inner = unitOf({ schema, resource: isObject(schema) ? resources.of(schema, resource) : resource, at });
        if (sameValue) unit.same.push(inner);
        return finish(inner);
      },
      resolve: (ref, at) => resources.resolve(ref, resource, at),
      // What a reference leads to may be under way, and chains of references may be long: it waits for its turn.
      follow: (target, sameValue) => {
        const inner = unitOf(target);
        if (sameValue) unit.same.push(inner);
        return inner;
      },
    };
    const checks: Check[] = [];
    const add = ([name, keyword]: readonly [string, Keyword]): void => {
      const value = own(schema, name);
      const check = value === undefined ? undefined : keyword(value, site, toPointer(at, name));
      if (check) checks.push(check);
    };
    if (!resource.dialect.legacy) modern.forEach(add);
    else (own(schema, "$ref") === undefined ? legacy : legacyReference).forEach(add);
    const late = checks.length;
    if (!resource.dialect.legacy) unevaluated.forEach(add);
    const whole = inSequence(checks, own(schema, "type") !== undefined, late, maxDepth);
    const kept = checks.length > late ? withSeen(whole) : whole;
    return resource.dynamic.size > 0 ? withScope(kept, resource) : kept;
  };

  const main = unitOf({ schema, resource: resources.main, at: "#" });
  let dynamic = 0;
  for (;;) {
    const unit = waiting.pop() ?? (resources.dynamic[dynamic] && unitOf(resources.dynamic[dynamic++] as Target));
    if (!unit) break;
    finish(unit);
  }
  assertNoLoop(units.values());

  const check = main.check;
  const start = (issues: SchemaIssue[] | undefined): Run => ({
    issues,
    path: [],
    steps: maxSteps,
    depth: 0,
    maxIssues: maxErrors,
    scope: undefined,
  });
  return (value) => {
    const run = start(undefined);
    if (check(value, run, undefined) && run.steps >= 0) return undefined;
    const issues: SchemaIssue[] = [];
    if (run.steps >= 0) check(value, start(issues), undefined);
    if (issues.length === 0) issues.push({ path: [], message: "is too large or too deep to check", keyword: "limit" });
    return issues;
  };
}
