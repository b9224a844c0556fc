// What may be a promise or not: where it is none, nothing need wait for the next turn, as with `await` everything does.

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
