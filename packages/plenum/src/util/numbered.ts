// Things that each have a number of their own, the next one a higher one, and that mostly do not stay for long. A Map would do
// but for its garbage, of which it leaves much where things come and go all the time.

const places = 128;

export class Numbered<T extends { readonly id: number }> {
  /** Each at its number's place, if that was free when it came. */
  readonly #all: (T | undefined)[] = [];
  /** Those that found their place taken by one that stays. */
  #others: Map<number, T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param id anything: what was never added is not there */
  get(id: unknown): T | undefined {
    if (typeof id !== "number") return undefined;
    const one = this.#all[id & (places - 1)];
    return one?.id === id ? one : this.#others?.get(id);
  }

  add(one: T): void {
    const place = one.id & (places - 1);
    this.#size++;
    if (this.#all[place] === undefined) this.#all[place] = one;
    else {
      this.#others ??= new Map();
      this.#others.set(one.id, one);
    }
  }

  /** What was there, and is not any more. */
  take(id: unknown): T | undefined {
    const one = this.get(id);
    if (!one) return undefined;
    this.#size--;
    const place = one.id & (places - 1);
    if (this.#all[place] === one) this.#all[place] = undefined;
    else this.#others?.delete(one.id);
    return one;
  }

  /** By their numbers. */
  values(): T[] {
    const all = this.#all.filter((one) => one !== undefined);
    return [...all, ...(this.#others?.values() ?? [])].sort((a, b) => a.id - b.id);
  }
}
