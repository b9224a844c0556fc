// What a value is as JSON, apart from the value itself.
import { isFixed } from "./fixed.ts";
import { hasOwn } from "./members.ts";

/**
 * A copy as JSON carries it, with errors as `{ name, message }`: their stacks are nobody else's. Throws a TypeError
 * that begins with `what` for what JSON lacks: cycles, BigInt, functions.
 * @param revive as for `JSON.parse`
 */
export function toJsonCopy(value: unknown, what: string, revive?: (key: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value, plainErrors), revive);
  } catch (cause) {
    throw new TypeError(`${what} must be a JSON value`, { cause });
  }
}

// An error's `toJSON` would be asked before: some give their stack away.
function plainErrors(this: { readonly [key: string]: unknown }, key: string, value: unknown): unknown {
  const given = this[key];
  return given instanceof Error ? { name: given.name, message: given.message } : value;
}

/**
 * A copy of what is plain JSON already, in a fraction of the time that writing and reading it takes. Undefined where JSON
 * would make something else of it, or nothing: then writing it tells. Members that are undefined are left out. What is
 * fixed stays itself.
 * @param maxDepth nesting that is looked into
 */
export function copyPlain(value: unknown, maxDepth: number): unknown {
  const kind = typeof value;
  if (kind === "string" || kind === "boolean" || value === null) return value;
  // Adding 0 makes a plain zero of a negative one.
  if (kind === "number") return Number.isFinite(value) ? (value as number) + 0 : undefined;
  if (kind !== "object" || maxDepth === 0) return undefined;
  if (Array.isArray(value)) {
    if (value.constructor !== Array || "toJSON" in value) return undefined;
    // No longer than it has to be, which an array that grows is.
    const items: unknown[] = Array.prototype.slice.call(value);
    for (let i = 0; i < items.length; i++) {
      const copy = copyPlain(items[i], maxDepth - 1);
      if (copy === undefined) return undefined;
      items[i] = copy;
    }
    return items;
  }
  const from = value as { readonly [key: string]: unknown };
  if (isFixed(from)) return from;
  // Asking for the prototype itself takes the engine several times as long.
  if (from.constructor !== Object || from.toJSON !== undefined) return undefined;
  const members: { [key: string]: unknown } = {};
  // Quicker than a list of the keys. What all objects inherit is none of theirs.
  for (const key in from) {
    const inner = from[key];
    if (inner === undefined || !hasOwn.call(from, key)) continue;
    const copy = copyPlain(inner, maxDepth - 1);
    if (copy === undefined || key === "__proto__") return undefined;
    members[key] = copy;
  }
  return members;
}
