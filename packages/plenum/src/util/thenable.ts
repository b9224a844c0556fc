// What may be a promise or not: where it is none, nothing need wait for the next turn, as with `await` everything does.

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  // Promises that can be called, as some libraries for remote calls make them, are promises too.
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject && typeof (value as { then?: unknown }).then === "function";
}
