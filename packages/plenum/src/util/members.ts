// Copies of objects, member by member: a spread in a place that sees objects of many shapes takes several times as long.

/** In a loop over an object's members the engine knows the answer; of `Object.hasOwn` it does not. */
export const hasOwn: (key: string) => boolean = Object.prototype.hasOwnProperty;

type Members = { [key: string]: unknown };

/** Puts the members of one object into another, but for one of them. What it inherits is none of its members. */
export function addMembers(to: Members, from: { readonly [key: string]: unknown }, except?: string): Members {
  for (const key in from) {
    if (key === except || !hasOwn.call(from, key)) continue;
    // To set that one would change what the object is.
    if (key === "__proto__") Object.defineProperty(to, key, { ...fresh, value: from[key] });
    else to[key] = from[key];
  }
  return to;
}

const fresh = { configurable: true, enumerable: true, writable: true };
