// The keywords of JSON Schema, each made into a check that gives the issues of a value: 2020-12 core, sections 8.2.3, 10
// and 11; validation, sections 6 and 7.3; and what draft-07 has instead. A valid value gives none and costs next to no
// memory. It is kept terse, because every small server carries it; json-schema.ts has the table of them.

import { quote } from "../util/quote.ts";
import type { Formats } from "./format.ts";
import { compilePattern, type PatternTest } from "./pattern.ts";

/** A JSON Schema in its object form. Subschemas inside it may be booleans. */
export type JsonSchema = { readonly [key: string]: unknown };

/** One reason why a value is refused. `keyword` is the JSON Schema keyword, or `limit` when checking was given up. */
export interface SchemaIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly keyword: string;
}

/** The books of one validation. */
export interface Run {
  /** What is left of the budget; below zero everything returns at once. */
  steps: number;
  depth: number;
  /** How many issues are wanted. */
  max: number;
  /** For `$dynamicRef`: what each dynamic anchor means here. */
  scope: ReadonlyMap<unknown, Reference>;
}

/** What may be referred to. Its check is there once everything is compiled. */
export interface Reference {
  check?: Check | undefined;
}

type Issue = SchemaIssue & { readonly path: (string | number)[] };

/** What is wrong with a value, if anything is; empty when checking was given up. */
export type Found = Issue[] | false | undefined;

/** Property names or indexes that some keyword has evaluated, if anybody wants to know. */
export type Seen = Set<string | number> | undefined;

export type Check = (value: unknown, run: Run, seen?: Seen) => Found;

/** The schema in which a keyword stands. */
export interface Site {
  readonly schema: JsonSchema;
  /** Draft-07: `items` may be a list, `contains` knows no numbers. */
  readonly legacy: boolean;
  readonly formats: Formats;
  /** The check of a subschema. */
  sub(schema: unknown, at: string): Check;
  /** The check that a reference leads to. */
  follow(ref: string, at: string, dynamic: boolean): Check;
}

type Test = (value: unknown, run: Run, seen?: Seen) => unknown;

/** A test, and what is said when it fails. */
type Assertion = readonly [test: Test, message: string];

/** Makes what one keyword asserts, if it asserts anything. */
export type Keyword = (value: unknown, at: string, site: Site, keyword: string) => Check | Assertion | undefined;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether JSON has such a value. A property with another counts as absent, as it is once it is written as JSON. */
const isJson = (value: unknown): boolean => {
  const type = typeof value;
  return type !== "undefined" && type !== "function" && type !== "symbol";
};

export const stop = (why: string): never => {
  throw new TypeError(`JSON Schema: ${why}.`);
};

export const refuse = (at: string, want: string): never => stop(`${at} must be ${want}`);

/** Guards against names that objects inherit, like `constructor`. */
export const own = (object: object, key: string, otherwise?: unknown): unknown =>
  Object.hasOwn(object, key) ? (object as JsonSchema)[key] : otherwise;

export const no: Check = (_, run) => fail(run, "false", "is not allowed");

export const fail = (run: Run, keyword: string, message: string): Issue[] =>
  --run.steps < 0 ? [] : [{ path: [], message, keyword }];

/** Applies checks to the same value. Where there are issues, those after a place in `stops` are left out. */
export const every = (checks: readonly Check[], ...stops: unknown[]): Check => {
  if (checks[0] && !checks[1]) return checks[0];
  return (value, run, seen) => {
    let found: Found;
    for (let index = 0; index < checks.length; ) {
      found = join(found, (checks[index++] as Check)(value, run, seen));
      if (found && (found.length >= run.max || stops.includes(index))) break;
    }
    return found;
  };
};

const join = (found: Found, more: Found): Found => (found && more ? found.concat(more) : found || more);

/** Asks for a verdict rather than for issues. What is evaluated on the way counts only if it is yes. */
const attempt = (check: Check, value: unknown, run: Run, seen?: Seen): Found => {
  const { max } = run;
  const inner: Seen = seen && new Set();
  run.max = 1;
  const found = check(value, run, inner);
  run.max = max;
  if (!found) merge(run, inner, seen);
  return found;
};

/** Adds what a branch has evaluated to what is evaluated around it. */
export const merge = (run: Run, from: Seen, to: Seen): void => {
  if (!from || !to) return;
  run.steps -= from.size;
  for (const key of from) to.add(key);
};

const inOrder = (_: string, part: unknown): unknown => {
  if (!isObject(part)) return part;
  const names = Object.keys(part).sort();
  return Object.fromEntries(names.map((name) => [name, part[name]]));
};

/** Text that tells two JSON values apart: equal values give equal text, whatever the order of their members. */
const canonical = (value: unknown, budget: { steps: number }): string => {
  try {
    const text = `${JSON.stringify(value, inOrder)}`;
    budget.steps -= 1 + (text.length >> 3);
    return text;
  } catch {
    // Too deep for the engine, or in circles.
    budget.steps = -1;
    return "";
  }
};

/** Values that stand for themselves, and the others as text. */
const sort = (values: readonly unknown[], budget: { steps: number }): [simple: Set<unknown>, complex: Set<unknown>] => {
  const sets: [Set<unknown>, Set<unknown>] = [new Set(), new Set()];
  budget.steps -= values.length;
  for (const value of values)
    if (typeof value === "object") sets[1].add(canonical(value, budget));
    else sets[0].add(value);
  return sets;
};

const cut = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)}…` : text);

export const oneOf: Keyword = (value, at, _, keyword) => {
  const isConst = keyword === "const";
  const budget = { steps: 1_000_000 };
  const [simple, complex] = sort(isConst ? [value] : asList(value, at), budget);
  const message = `must be ${isConst ? "" : "one of "}${cut(canonical(value, budget))}`;
  if (budget.steps < 0) refuse(at, "smaller");
  const isOne: Test = (value, run) =>
    typeof value === "object" ? complex.size > 0 && complex.has(canonical(value, run)) : simple.has(value);
  return [isOne, message];
};

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  // NaN and Infinity are no JSON numbers, nor is what JSON writes as something else, such as a Date, a JSON object.
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => isObject(value) && typeof value.toJSON !== "function",
};

export const type: Keyword = (value, at) => {
  const names = [value].flat() as string[];
  const tests = names.map((name) => (own(types, name) ?? refuse(at, `one or more of ${Object.keys(types)}`)) as Test);
  return [
    tests.length === 1 ? (tests[0] as Test) : (value, run) => tests.some((test) => test(value, run)),
    `must be ${names.join(" or ")}`,
  ];
};

/** What is compared with a bound, or false for values that have no such size. */
type Measure = (value: unknown, run: Run, seen: Seen) => number | false;

/** Characters as JSON Schema counts them: code points. */
const characters: Measure = (text, run) => {
  if (typeof text !== "string") return false;
  run.steps -= text.length >> 6;
  let count = text.length;
  for (let at = 0; at < text.length; at++) if ((text.codePointAt(at) as number) > 0xffff) count--;
  return count;
};

type Relation = readonly [words: string, holds: (size: number, bound: number) => boolean];

const relations: Readonly<Record<string, Relation>> = {
  min: [">=", (a, b) => a >= b],
  max: ["<=", (a, b) => a <= b],
  exclusiveMinimum: [">", (a, b) => a > b],
  exclusiveMaximum: ["<", (a, b) => a < b],
  // 0.3 is a multiple of 0.1, though not in binary: allow for the rounding of the division.
  multipleOf: ["multiple of", (a, b) => a % b === 0 || Math.abs(a / b / Math.round(a / b) - 1) < 5e-16],
};

/** Holds what `measure` gives against a bound. With a noun it is a count. */
const bound =
  (measure: Measure, noun = ""): Keyword =>
  (bound, at, _, keyword) => {
    if (typeof bound !== "number" || (noun && (bound < 0 || bound % 1)))
      return refuse(at, noun ? "a whole number" : "a number");
    if (bound <= 0 && keyword === "multipleOf") refuse(at, "> 0");
    const [words, holds] = relations[keyword] ?? (relations[keyword.slice(0, 3)] as Relation);
    return [
      (value, run, seen) => {
        const size = measure(value, run, seen);
        return size === false || holds(size, bound);
      },
      `must ${noun ? "have" : "be"} ${words} ${bound}${noun}`,
    ];
  };

export const number: Keyword = bound((value) => typeof value === "number" && value);
export const length: Keyword = bound(characters, " characters");
export const size: Keyword = bound((value) => Array.isArray(value) && value.length, " items");
export const aside: Keyword = bound(() => false, " items");
export const count: Keyword = bound((value, run) => {
  if (!isObject(value)) return false;
  const { length } = Object.values(value).filter(isJson);
  run.steps -= length;
  return length;
}, " properties");

const asList = (value: unknown, at: string): readonly unknown[] =>
  Array.isArray(value) ? value : refuse(at, "a list");

const asChecks = (value: unknown, at: string, site: Site): Check[] =>
  asList(value, at).map((schema, index) => site.sub(schema, `${at}/${index}`));

/** Reads an object of schemas. As a list: names may be `__proto__`. */
const asEntries = <T>(value: unknown, at: string, make: (name: string, schema: unknown, at: string) => T): T[] =>
  isObject(value)
    ? Object.entries(value).map(([name, schema]) => make(name, schema, `${at}/${name}`))
    : refuse(at, "an object");

const toPattern = (source: unknown, at: string): PatternTest => {
  try {
    return compilePattern(source as string);
  } catch (error) {
    return refuse(at, `a regular expression (${(error as Error).message})`);
  }
};

export const pattern: Keyword = (source, at) => {
  const test = toPattern(source, at);
  const message = `must match the pattern ${cut(source as string)}`;
  return [(value, run) => typeof value !== "string" || test(value, run), message];
};

export const format: Keyword = (name, _, { formats }) => {
  const test = own(formats, name as string) as Formats[string] | undefined;
  if (!test) return undefined;
  const isValid: Test = (value, run) => {
    if (typeof value !== "string") return true;
    run.steps -= value.length >> 6;
    return test(value);
  };
  return [isValid, `must be a valid ${name}`];
};

export const reference: Keyword = (value, at, site, keyword) => site.follow(String(value), at, keyword !== "$ref");

export const allOf: Keyword = (value, at, site) => every(asChecks(value, at, site));

/** The first branch that holds decides, unless all that hold are asked what they evaluate, or only one may. */
export const branches: Keyword = (value, at, site, keyword) => {
  const checks = asChecks(value, at, site);
  const isAny = keyword === "anyOf";
  return (value, run, seen) => {
    // What each branch lacks first.
    const lacking: Issue[] = [];
    let count = 0;
    for (const check of checks) {
      const found = attempt(check, value, run, seen);
      if (found) lacking.push(...found);
      else if (++count && isAny && !seen) break;
    }
    return (
      !(count === 1 || (count && isAny)) &&
      fail(run, keyword, `must match ${isAny ? "an" : "exactly one"} alternative`)
        .flatMap((issue) => [issue, ...lacking])
        .slice(0, run.max)
    );
  };
};

export const not: Keyword = (value, at, site) => {
  const check = site.sub(value, at);
  return [(value, run) => attempt(check, value, run), "is not allowed"];
};

export const condition: Keyword = (value, at, site) => {
  const check = site.sub(value, at);
  const yes = site.sub(own(site.schema, "then", true), at);
  const no = site.sub(own(site.schema, "else", true), at);
  return (value, run, seen) => (attempt(check, value, run, seen) ? no : yes)(value, run, seen);
};

type Pick = (key: string | number, run: Run, seen: Seen) => Check | false | undefined;

/** Applies to each member the check that `pick` gives for its key; where it gives none, the member is passed over. */
const each = (keyword: string, pick: Pick): Check => {
  const isList = /tems$/.test(keyword);
  const isName = keyword === "propertyNames";
  return (value, run, seen) => {
    if (isList ? !Array.isArray(value) : !isObject(value)) return false;
    const whole = value as unknown[] & Record<string, unknown>;
    const keys = isList ? undefined : Object.keys(whole);
    const { length } = keys ?? whole;
    let found: Found;
    for (let index = 0; index < length; index++) {
      const key = keys ? (keys[index] as string) : index;
      // Written twice for speed: one place that reads both lists and objects is slow.
      const member = keys ? whole[key as string] : whole[index];
      const check = (isList || isJson(member)) && pick(key, run, seen);
      if (!check) {
        run.steps--;
        continue;
      }
      if (!isName) seen?.add(key);
      let more = check(isName ? key : member, run);
      if (!more) continue;
      // What is too much is told where the object stands.
      if (isName || (keys && check === no)) more = fail(run, keyword, `must not have property ${quote(key as string)}`);
      else for (const issue of more) issue.path.unshift(key);
      found = join(found, more);
      if (found && found.length >= run.max) break;
    }
    return found;
  };
};

export const properties: Keyword = (value, at, site, keyword) => {
  const checks = new Map<unknown, Check>(asEntries(value, at, (name, schema, at) => [name, site.sub(schema, at)]));
  return each(keyword, (name) => checks.get(name));
};

export const patternProperties: Keyword = (value, at, site, keyword) =>
  every(
    asEntries(value, at, (source, schema, at) => {
      const test = toPattern(source, at);
      const check = site.sub(schema, at);
      return each(keyword, (name, run) => test(name as string, run) && check);
    }),
  );

export const additionalProperties: Keyword = (value, at, { sub, schema }, keyword) => {
  const check = sub(value, at);
  const known = (keyword: string) => Object.keys(own(schema, keyword, {}) as object);
  const names = new Set<unknown>(known("properties"));
  const tests = known("patternProperties").map((source) => toPattern(source, at));
  return each(keyword, (name, run) => !names.has(name) && !tests.some((test) => test(name as string, run)) && check);
};

/** Names of all properties, or members that nothing has evaluated. */
export const remaining: Keyword = (value, at, site, keyword) => {
  const check = site.sub(value, at);
  return each(keyword, (key, _, seen) => (keyword === "propertyNames" || !seen?.has(key)) && check);
};

export const required = (value: unknown, at: string, _: Site, keyword: string, because = ""): Check => {
  const names = asList(value, at) as string[];
  if (names.some((name) => typeof name !== "string")) refuse(at, "a list of strings");
  return (value, run) => {
    let found: Found;
    run.steps -= names.length >> 1;
    if (isObject(value))
      for (const name of names)
        if (!isJson(own(value, name)) && !(found && found.length >= run.max))
          found = join(found, fail(run, keyword, `must have property ${quote(name)}${because}`));
    return found;
  };
};

/** `dependentRequired`, `dependentSchemas` and draft-07's `dependencies`, which is both. */
export const dependencies: Keyword = (value, at, site, keyword) =>
  every(
    asEntries(value, at, (name, part, at) => {
      const check =
        Array.isArray(part) || keyword === "dependentRequired"
          ? required(part, at, site, keyword, ` when it has ${quote(name)}`)
          : site.sub(part, at);
      return (value, run, seen) => {
        run.steps--;
        return isObject(value) && isJson(own(value, name)) && check(value, run, seen);
      };
    }),
  );

/** `items` and its kin: a list of schemas for the first items, or one schema for those that no list takes care of. */
export const listed: Keyword = (value, at, site, keyword) => {
  const { legacy, schema } = site;
  if (keyword === "prefixItems" || (legacy && Array.isArray(value))) {
    const checks = asChecks(value, at, site);
    return each(keyword, (index) => checks[index as number]);
  }
  const before = own(schema, legacy ? "items" : "prefixItems");
  const from = Array.isArray(before) ? before.length : keyword === "items" ? 0 : Infinity;
  const check = site.sub(value, at);
  return each(keyword, (index) => (index as number) >= from && check);
};

export const contains: Keyword = (value, at, { sub, schema, legacy }) => {
  const check = sub(value, at);
  const siblings = legacy ? {} : schema;
  const least = own(siblings, "minContains", 1) as number;
  const most = own(siblings, "maxContains", Infinity) as number;
  const isThere: Test = (value, run, seen) => {
    if (!Array.isArray(value)) return true;
    const { length } = value.filter((item, index) => !attempt(check, item, run) && (!seen || seen.add(index)));
    return length >= least && length <= most;
  };
  return [isThere, `must have ${least} to ${most} matching items`];
};

export const uniqueItems: Keyword = (value, at) => {
  if (typeof value !== "boolean") return refuse(at, "a boolean");
  const isUnique: Test = (list, run) => {
    if (!value || !Array.isArray(list)) return true;
    const [simple, complex] = sort(list, run);
    return simple.size + complex.size === list.length;
  };
  return [isUnique, "must not have equal items"];
};

/** Asserts nothing, but what is in it may be referred to. */
export const definitions: Keyword = (value, at, site) =>
  void asEntries(value, at, (_, schema, at) => site.sub(schema, at));
export const branch: Keyword = (value, at, site) => void site.sub(value, at);
