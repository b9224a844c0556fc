// Things by a key, of which there is mostly one at a time: that one stands here itself, and the others, if any, in a Map. A Map
// is dear to make for a single thing, and a session that is otherwise idle would make one for each request.

export class Few<K, V extends object> {
  #key: K | undefined;
  #one: V | undefined;
  #others: Map<K, V> | undefined;

  get(key: K): V | undefined {
    return this.#one && this.#key === key ? this.#one : this.#others?.get(key);
  }

  /** By a key that is not there. */
  add(key: K, value: V): void {
    if (this.#one) {
      this.#others ??= new Map();
      this.#others.set(key, value);
      return;
    }
    this.#key = key;
    this.#one = value;
  }

  /** Whether nothing is left. */
  delete(key: K): boolean {
    if (this.#key === key) this.#one = undefined;
    this.#others?.delete(key);
    return !this.#one && !this.#others?.size;
  }

  /** In no order. */
  values(): V[] {
    return [this.#one, ...(this.#others?.values() ?? [])].filter((one) => one !== undefined);
  }
}
