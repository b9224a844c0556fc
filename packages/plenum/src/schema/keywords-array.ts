// Keywords for arrays. JSON Schema 2020-12 core, section 10.3.1 and 11.2; validation, section 6.4; and draft-07's
// `items` as a list with `additionalItems` after it.

import { type Check, canonical, fail, into, isSettled, quietly, type Run, type Seen, spend } from "./check.ts";
import { size, sizes } from "./keywords-value.ts";
import { asChecks, asCount, type Keyword, own, refuse } from "./site.ts";

const noun = ["item", "items"] as const;
const length = (value: unknown): number => (Array.isArray(value) ? value.length : -1);

/** Makes a check for arrays only; other values pass. */
function array(check: (value: readonly unknown[], run: Run, seen: Seen | undefined) => boolean): Check {
  return (value, run, seen) => !Array.isArray(value) || check(value, run, seen);
}

/** Applies to each item, from a place on, the check that `pick` gives for its index. */
function each(from: number, pick: (index: number, seen: Seen | undefined) => Check | undefined): Check {
  return array((value, run, seen) => {
    let valid = true;
    for (let index = from; index < value.length; index++) {
      const check = pick(index, seen);
      if (!check) {
        run.steps--;
        continue;
      }
      seen?.add(index);
      if (into(check, value[index], index, run)) continue;
      if (isSettled(run)) return false;
      valid = false;
    }
    return valid;
  });
}

/** Applies one schema to all items from a place on. `false` there is a limit on the length. */
function remaining(keyword: string, from: number): Keyword {
  return (value, site, at) => {
    if (value === false) return size(keyword, false, noun, length)(from, site, at);
    const check = site.compile(value, at);
    return each(from, () => check);
  };
}

const prefixItems: Keyword = (value, site, at) => {
  const checks = asChecks(value, site, at);
  return each(0, (index) => checks[index]);
};

const items: Keyword = (value, site, at) => {
  if (Array.isArray(value)) {
    if (site.resource.dialect.legacy) return prefixItems(value, site, at);
    return refuse(at, "one schema; a list of schemas is called prefixItems in 2020-12");
  }
  const before = site.resource.dialect.legacy ? undefined : own(site.schema, "prefixItems");
  return remaining("items", Array.isArray(before) ? before.length : 0)(value, site, at);
};

const additionalItems: Keyword = (value, site, at) => {
  const before = own(site.schema, "items");
  return Array.isArray(before) ? remaining("additionalItems", before.length)(value, site, at) : undefined;
};

const unevaluatedItems: Keyword = (value, site, at) => {
  const check: Check =
    value === false ? (_, run) => fail(run, "unevaluatedItems", "is one item too many") : site.compile(value, at);
  return each(0, (index, seen) => (seen?.has(index) ? undefined : check));
};

const contains: Keyword = (value, site, at) => {
  const check = site.compile(value, at);
  const { legacy } = site.resource.dialect;
  const bound = (name: string, otherwise: number) => {
    const count = legacy ? undefined : own(site.schema, name);
    return count === undefined ? otherwise : asCount(count, `${site.at}/${name}`);
  };
  const least = bound("minContains", 1);
  const most = bound("maxContains", Infinity);
  return array((value, run, seen) => {
    let count = 0;
    for (let index = 0; index < value.length; index++) {
      if (!quietly(check, value[index], run)) continue;
      if (!legacy) seen?.add(index);
      count++;
      if (!seen && most === Infinity && count >= least) return true;
    }
    if (count < least)
      return fail(run, "contains", `must have at least ${least} matching ${noun[least === 1 ? 0 : 1]}`);
    return count <= most || fail(run, "maxContains", `must have at most ${most} matching ${noun[most === 1 ? 0 : 1]}`);
  });
};

const uniqueItems: Keyword = (value, _, at) => {
  if (typeof value !== "boolean") return refuse(at, "a boolean");
  if (!value) return undefined;
  return array((value, run) => {
    if (value.length < 2) return true;
    const simple = new Set<unknown>();
    const complex = new Set<string>();
    for (const item of value) {
      if (!spend(run, 1)) return false;
      if (typeof item === "object" && item !== null) complex.add(canonical(item, run));
      else simple.add(item);
    }
    return simple.size + complex.size === value.length || fail(run, "uniqueItems", "must not have equal items");
  });
};

export const arrayKeywords: Readonly<Record<string, Keyword>> = {
  ...sizes("Items", noun, length),
  uniqueItems,
  items,
  contains,
};

export { additionalItems, prefixItems, unevaluatedItems };
