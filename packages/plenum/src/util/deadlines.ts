// Many things that all have the same time: one timer does for all of them, which the oldest sets.
import { unref } from "./unref.ts";

export class Deadlines<T extends object> {
  readonly #ms: number;
  readonly #late: (one: T) => void;
  /** When each is late. In the order in which they came, which is that of their ends. */
  readonly #ends = new Map<T, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param late called for each that is still in it after so long; it is out of it by then, and may throw nothing */
  constructor(ms: number, late: (one: T) => void) {
    this.#ms = ms;
    this.#late = late;
  }

  /** Its time begins now, or anew. */
  add(one: T): void {
    this.#ends.delete(one);
    this.#ends.set(one, performance.now() + this.#ms);
    this.#timer ??= unref(setTimeout(this.#look, this.#ms));
  }

  delete(one: T): void {
    this.#ends.delete(one);
  }

  // Not set anew whenever the oldest is done: under load it looks once in a while, and finds the next.
  readonly #look = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    for (const [one, end] of this.#ends) {
      // A timer may be early by a fraction.
      if (end - now > 1) {
        this.#timer ??= unref(setTimeout(this.#look, end - now));
        return;
      }
      this.#ends.delete(one);
      this.#late(one);
    }
  };
}
