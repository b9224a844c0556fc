// What is in hand just now, in no order: for things that come and go with every request. A Set would do but for its garbage:
// each table that it outgrows holds on to the next, and with it to all that was ever in it, until the old generation is
// collected. Under load that is most of what the collector does.

interface Placed {
  [place: symbol]: number | undefined;
}

export class Bag<T extends object> {
  /** Where each member has its place noted. */
  readonly #place = Symbol();
  readonly #all: T[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(one: T): void {
    const placed = one as Placed;
    if (placed[this.#place] === undefined) placed[this.#place] = this.#all.push(one) - 1;
  }

  delete(one: T): void {
    const placed = one as Placed;
    const place = placed[this.#place];
    if (place === undefined) return;
    placed[this.#place] = undefined;
    const last = this.#all.pop();
    // The last one takes the place that is free.
    if (!last || last === one) return;
    this.#all[place] = last;
    (last as Placed)[this.#place] = place;
  }

  /** Those that are in it now: what is done with one of them may take out others. */
  members(): readonly T[] {
    return [...this.#all];
  }
}
