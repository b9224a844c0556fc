// The place in a schema where a keyword stands, and how the keyword reads its value there.

import { type Check, isObject } from "./check.ts";
import type { PatternTest } from "./pattern.ts";
import type { JsonSchema, Resource, Target } from "./resource.ts";

/** Assertions for `format`, by name. */
export type Formats = Readonly<Record<string, (text: string) => boolean>>;

export interface Site {
  readonly schema: JsonSchema;
  readonly resource: Resource;
  /** JSON pointer of the schema, for messages. */
  readonly at: string;
  readonly formats: Formats | undefined;
  /** Compiles a subschema. `sameValue` says that it always applies to the value at hand, so that loops are found. */
  compile(schema: unknown, at: string, sameValue?: boolean): Check;
  resolve(ref: string, at: string): Target;
  /** What a reference leads to. Its check is there once everything is compiled. */
  follow(target: Target, sameValue?: boolean): { readonly check: Check };
  pattern(source: string, at: string): PatternTest;
}

/** Makes the check of one keyword, or undefined when it asserts nothing. */
export type Keyword = (value: unknown, site: Site, at: string) => Check | undefined;

export function refuse(at: string, want: string): never {
  throw new TypeError(`JSON Schema: ${at} must be ${want}.`);
}

export function own(schema: JsonSchema, key: string): unknown {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}

export function toPointer(at: string, key: string | number): string {
  return `${at}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function asNumber(value: unknown, at: string): number {
  return typeof value === "number" ? value : refuse(at, "a number");
}

export function asCount(value: unknown, at: string): number {
  return typeof value === "number" && value >= 0 && Number.isInteger(value) ? value : refuse(at, "a whole number");
}

export function asText(value: unknown, at: string): string {
  return typeof value === "string" ? value : refuse(at, "a string");
}

export function asNames(value: unknown, at: string): readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string")
    ? value
    : refuse(at, "a list of strings");
}

/** Compiles a list of schemas. */
export function asChecks(value: unknown, site: Site, at: string, sameValue?: boolean): readonly Check[] {
  if (!Array.isArray(value)) return refuse(at, "a list of schemas");
  return value.map((schema, index) => site.compile(schema, `${at}/${index}`, sameValue));
}

/** Compiles an object of schemas. As a list of pairs: names may be `__proto__`. */
export function asEntries<T>(
  value: unknown,
  at: string,
  make: (schema: unknown, at: string, name: string) => T,
): [string, T][] {
  if (!isObject(value)) return refuse(at, "an object of schemas");
  return Object.keys(value).map((name) => [name, make(value[name], toPointer(at, name), name)]);
}
