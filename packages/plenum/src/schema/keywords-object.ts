// Keywords for objects. JSON Schema 2020-12 core, section 10.3.2 and 11.3; validation, section 6.5.
// A property whose value is `undefined` counts as absent, as it is once the value is written as JSON.

import { quote } from "../util/quote.ts";
import { type Check, every, fail, has, into, isObject, isSettled, quietly, type Run, type Seen } from "./check.ts";
import { sizes } from "./keywords-value.ts";
import { asEntries, asNames, type Keyword, own, type Site } from "./site.ts";

/** Makes a check for objects only; other values pass. */
function object(check: (value: Record<string, unknown>, run: Run, seen: Seen | undefined) => boolean): Check {
  return (value, run, seen) => !isObject(value) || check(value, run, seen);
}

const properties: Keyword = (value, site, at) => {
  const entries = asEntries(value, at, (schema, at) => site.compile(schema, at));
  const names = entries.map((entry) => entry[0]);
  const checks = entries.map((entry) => entry[1]);
  return object((value, run, seen) => {
    let valid = true;
    run.steps -= names.length >> 1;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      if (!has(value, name)) continue;
      seen?.add(name);
      if (into(checks[index] as Check, value[name], name, run)) continue;
      if (isSettled(run)) return false;
      valid = false;
    }
    return valid;
  });
};

/**
 * Applies a schema to every property that `skips` does not claim. `false` is the usual schema there: it is told where the
 * object stands, with the name of what is too much.
 */
function rest(
  keyword: string,
  schema: unknown,
  site: Site,
  at: string,
  skips: (name: string, run: Run, seen: Seen | undefined) => boolean,
): Check {
  const check = schema === false ? undefined : site.compile(schema, at);
  return object((value, run, seen) => {
    let valid = true;
    for (const name in value) {
      run.steps--;
      if (!has(value, name) || skips(name, run, seen)) continue;
      seen?.add(name);
      if (check ? into(check, value[name], name, run) : fail(run, keyword, `must not have property ${quote(name)}`))
        continue;
      if (isSettled(run)) return false;
      valid = false;
    }
    return valid;
  });
}

const patternProperties: Keyword = (value, site, at) => {
  const checks = asEntries(value, at, (schema, at, source) => {
    const test = site.pattern(source, at);
    return rest("patternProperties", schema, site, at, (name, run) => !test(name, run));
  }).map((entry) => entry[1]);
  return every(checks);
};

const additionalProperties: Keyword = (value, site, at) => {
  const members = (keyword: string) => {
    const map = own(site.schema, keyword);
    return isObject(map) ? Object.keys(map) : [];
  };
  const known = new Set(members("properties"));
  const tests = members("patternProperties").map((source) => site.pattern(source, at));
  const skips = (name: string, run: Run) => known.has(name) || tests.some((test) => test(name, run));
  return rest("additionalProperties", value, site, at, skips);
};

const unevaluatedProperties: Keyword = (value, site, at) =>
  rest("unevaluatedProperties", value, site, at, (name, _, seen) => seen?.has(name) === true);

const propertyNames: Keyword = (value, site, at) => {
  const check = site.compile(value, at);
  return object((value, run) => {
    for (const name in value) {
      if (has(value, name) && !quietly(check, name, run))
        return fail(run, "propertyNames", `must not have a property named ${quote(name)}`);
    }
    return true;
  });
};

function missing(value: object, names: readonly string[], run: Run, keyword: string, because = ""): boolean {
  let valid = true;
  run.steps -= names.length >> 1;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (has(value, name)) continue;
    valid = false;
    if (isSettled(run)) break;
    fail(run, keyword, `must have property ${quote(name)}${because}`);
  }
  return !valid;
}

const required: Keyword = (value, _, at) => {
  const names = asNames(value, at);
  return object((value, run) => !missing(value, names, run, "required"));
};

/** `dependentRequired`, `dependentSchemas` and draft-07's `dependencies`, which is both. */
const dependencies: Keyword = (value, site, at) => {
  const keyword = at.slice(at.lastIndexOf("/") + 1);
  const entries = asEntries(value, at, (part, at, name): Check => {
    if (!Array.isArray(part) && keyword !== "dependentRequired") return site.compile(part, at);
    const names = asNames(part, at);
    const because = ` when it has ${quote(name)}`;
    return (value, run) => !missing(value as object, names, run, keyword, because);
  });
  return object((value, run, seen) => {
    let valid = true;
    for (const [name, check] of entries) if (has(value, name) && !check(value, run, seen)) valid = false;
    return valid;
  });
};

function countProperties(value: unknown, run: Run): number {
  if (!isObject(value)) return -1;
  let count = 0;
  for (const name in value) {
    run.steps--;
    if (has(value, name)) count++;
  }
  return count;
}

export const objectKeywords: Readonly<Record<string, Keyword>> = {
  required,
  ...sizes("Properties", ["property", "properties"], countProperties),
  propertyNames,
  properties,
  patternProperties,
  additionalProperties,
};

export { dependencies, unevaluatedProperties };
