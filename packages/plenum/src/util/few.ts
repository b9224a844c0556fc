// Things by a key, of which there is mostly one at a time: that one stands here itself, and the others, if any, in a Map. To
// make a Map for each request of each session, and to drop it, is most of what such a request would allocate.

export class Few<K, V extends object> {
  #key: K | undefined;
  #one: V | undefined;
  #others: Map<K, V> | undefined;

  get size(): number {
    return (this.#one ? 1 : 0) + (this.#others?.size ?? 0);
  }

  get(key: K): V | undefined {
    return this.#one && this.#key === key ? this.#one : this.#others?.get(key);
  }

  set(key: K, value: V): void {
    if (!this.#one && !this.#others?.has(key)) this.#key = key;
    if (this.#key === key && !this.#others?.has(key)) this.#one = value;
    else {
      this.#others ??= new Map();
      this.#others.set(key, value);
    }
  }

  delete(key: K): void {
    if (this.#one && this.#key === key) {
      this.#one = undefined;
      this.#key = undefined;
    } else this.#others?.delete(key);
  }

  /** In no order. */
  values(): V[] {
    const others = this.#others?.values() ?? [];
    return this.#one ? [this.#one, ...others] : [...others];
  }
}
