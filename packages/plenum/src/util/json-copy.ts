// What a value is as JSON, apart from the value itself.

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
