// What may give a promise or not: without one, nothing waits for the next turn. An `await` would, every time.

/**
 * What `run` gives, handed to `then`, or what it throws, handed to `fail`; at once where `run` gives no promise. What `then`
 * throws is its own affair.
 */
export function attempt<T, U>(
  run: () => T | PromiseLike<T>,
  then: (value: T) => U,
  fail: (error: unknown) => U,
): Awaited<U> | Promise<Awaited<U>> {
  let given: T | PromiseLike<T>;
  try {
    given = run();
  } catch (error) {
    return fail(error) as Awaited<U>;
  }
  // Libraries may bring a promise of their own making; any other is taken as it is.
  if (isThenable(given)) return Promise.resolve(given).then(then, fail) as Promise<Awaited<U>>;
  return then(given) as Awaited<U>;
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
