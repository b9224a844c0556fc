// Many things that all have the same time: one timer does for all of them, which the oldest sets.
import { Bag } from "./bag.ts";
import { unref } from "./unref.ts";

/** What has an end: when, is noted on it. */
export interface Timed {
  lateAt: number;
}

export class Deadlines<T extends Timed> {
  readonly #ms: number;
  readonly #late: (one: T) => void;
  readonly #running = new Bag<T>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param late called for each that is still in it after so long; it is out of it by then, and may throw nothing */
  constructor(ms: number, late: (one: T) => void) {
    this.#ms = ms;
    this.#late = late;
  }

  /** Its time begins now, or anew. */
  add(one: T): void {
    one.lateAt = performance.now() + this.#ms;
    this.#running.add(one);
    this.#timer ??= unref(setTimeout(this.#look, this.#ms));
  }

  delete(one: T): void {
    this.#running.delete(one);
  }

  /** Nothing more is to come. What is still in it keeps its time. */
  close(): void {
    if (this.#running.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  // Not set anew whenever the oldest is done: under load it looks once in a while, and finds the next.
  readonly #look = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const one of this.#running.members()) {
      // A timer may be early by a fraction.
      if (one.lateAt - now > 1) {
        next = Math.min(next, one.lateAt);
        continue;
      }
      this.#running.delete(one);
      this.#late(one);
    }
    if (next < Number.POSITIVE_INFINITY) this.#timer ??= unref(setTimeout(this.#look, next - now));
  };
}
