// Keywords that apply further schemas to the same value: references, and/or/not, conditions.
// JSON Schema 2020-12 core, sections 8.2.3 and 10.2.

import { type Check, every, fail, merge, quietly, type Run, type SchemaIssue, type Seen } from "./check.ts";
import { asChecks, asText, type Keyword, own, type Site } from "./site.ts";

const $ref: Keyword = (value, site, at) => {
  const target = site.follow(site.resolve(asText(value, at), at), true);
  return (value, run, seen) => target.check(value, run, seen);
};

/** Leads to the outermost resource on the way here that has the same dynamic anchor, if it starts at one at all. */
const $dynamicRef: Keyword = (value, site, at) => {
  const ref = asText(value, at);
  const target = site.resolve(ref, at);
  const name = ref.slice(ref.indexOf("#") + 1);
  const isDynamic = target.resource.dynamic.get(name) === target.schema;
  const nearest = site.follow(target);
  return (value, run, seen) => {
    let found = nearest;
    for (let scope = isDynamic ? run.scope : undefined; scope; scope = scope.up) {
      const schema = scope.resource.dynamic.get(name);
      if (schema) found = site.follow({ schema, resource: scope.resource, at });
    }
    return found.check(value, run, seen);
  };
};

const allOf: Keyword = (value, site, at) => every(asChecks(value, site, at, true));

/** Asks a branch for its verdict. What it evaluates counts only if it holds. */
function attempt(check: Check, value: unknown, run: Run, seen: Seen | undefined): boolean {
  const own: Seen | undefined = seen && new Set();
  const valid = quietly(check, value, run, own);
  if (valid) merge(run, own, seen);
  return valid;
}

/** Says what the branch that was meant lacks. A wrong type, or a wrong constant in a member, says that it was not meant. */
function explain(keyword: string, checks: readonly Check[], value: unknown, run: Run): false {
  const { issues } = run;
  if (!issues) return false;
  const here = run.path.length;
  const all = checks.map((check) => {
    const found: SchemaIssue[] = [];
    run.issues = found;
    check(value, run, undefined);
    return found;
  });
  run.issues = issues;
  const isWrong = (issue: SchemaIssue) =>
    issue.keyword === "const" || (issue.path.length === here && issue.keyword === "type");
  const meant = all.filter((found) => !found.some(isWrong));
  if (meant.length === 1) issues.push(...(meant[0] ?? []).slice(0, run.maxIssues - issues.length));
  const reasons = (meant.length > 0 ? meant : all).flatMap((found) =>
    found.slice(0, 1).map(({ path, message }) => [...path.slice(here), message].join(": ")),
  );
  return meant.length !== 1 && fail(run, keyword, [...new Set(reasons)].slice(0, 8).join(" or ") || "is not allowed");
}

/** Without a maximum the first branch that holds decides, unless all that hold are asked what they evaluate. */
function branches(keyword: string, most: number): Keyword {
  return (value, site, at) => {
    const checks = asChecks(value, site, at);
    return (value, run, seen) => {
      let count = 0;
      for (const check of checks) {
        if (attempt(check, value, run, seen) && ++count && !seen && most > 1) break;
      }
      if (count === 0) return explain(keyword, checks, value, run);
      return count <= most || fail(run, keyword, "must match only one of the alternatives, not several");
    };
  };
}

const not: Keyword = (value, site, at) => {
  const check = site.compile(value, at);
  return (value, run) => !quietly(check, value, run) || fail(run, "not", "must not be of the excluded kind");
};

function branch(site: Site, name: string): Check {
  const schema = own(site.schema, name);
  return schema === undefined ? () => true : site.compile(schema, `${site.at}/${name}`);
}

const condition: Keyword = (value, site, at) => {
  const check = site.compile(value, at);
  const yes = branch(site, "then");
  const no = branch(site, "else");
  return (value, run, seen) => (attempt(check, value, run, seen) ? yes : no)(value, run, seen);
};

export const logicKeywords: Readonly<Record<string, Keyword>> = {
  allOf,
  anyOf: branches("anyOf", Infinity),
  oneOf: branches("oneOf", 1),
  not,
  if: condition,
};

export { $dynamicRef, $ref };
