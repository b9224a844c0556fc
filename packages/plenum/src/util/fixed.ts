// What never changes: JSON that is frozen through and through. It can be handed on where others are copied, and what was
// found right in it once stays so.

const fixed = new WeakSet<object>();

/** A copy that is fixed. Throws what `JSON.stringify` throws. */
export function toFixed<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, inner) => {
    if (inner && typeof inner === "object") fixed.add(Object.freeze(inner));
    return inner;
  });
}

export function isFixed(value: object): boolean {
  return fixed.has(value);
}
