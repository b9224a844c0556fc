// What comes by callback, kept in order, and waited for without looking at a clock.
import { createDeferred, type Deferred } from "../deferred.ts";

export interface Inbox<T> {
  /** Everything so far. */
  readonly all: T[];
  /** To be given as the callback. */
  readonly put: (value: T) => void;
  /** Settles with the first `count` when there are so many. */
  first(count: number): Promise<T[]>;
}

export function createInbox<T>(): Inbox<T> {
  const all: T[] = [];
  const waiting: { count: number; deferred: Deferred<T[]> }[] = [];
  return {
    all,
    put(value) {
      all.push(value);
      for (const { count, deferred } of waiting) if (all.length >= count) deferred.resolve(all.slice(0, count));
    },
    first(count) {
      const deferred = createDeferred<T[]>();
      if (all.length >= count) deferred.resolve(all.slice(0, count));
      waiting.push({ count, deferred });
      return deferred.promise;
    },
  };
}
