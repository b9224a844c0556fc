// A map that forgets what was not used for longest once it holds too much: too many entries, or too much weight.

export interface LruOptions {
  readonly maxEntries: number;
  /** In whatever unit the caller weighs. */
  readonly maxWeight: number;
}

export interface Lru<V> {
  /** The value, which thereby becomes the one used last. */
  get(key: string): V | undefined;
  /** Whether there is one. That is no use of it. */
  has(key: string): boolean;
  /** Replaces what was there. Says how many others had to go for it; it goes itself when it alone is too much. */
  set(key: string, value: V, weight: number): number;
  delete(key: string): boolean;
  clear(): void;
  /** All values with their keys, used longest ago first. Entries may be deleted on the way. */
  entries(): Iterable<[key: string, value: V]>;
  readonly size: number;
  readonly weight: number;
}

export function createLru<V>({ maxEntries, maxWeight }: LruOptions): Lru<V> {
  // A Map keeps the order in which keys were set, and keeps any key apart from any other.
  const slots = new Map<string, { readonly value: V; readonly weight: number }>();
  let total = 0;

  function remove(key: string): boolean {
    total -= slots.get(key)?.weight ?? 0;
    return slots.delete(key);
  }

  return {
    get(key) {
      const slot = slots.get(key);
      if (!slot) return undefined;
      slots.delete(key);
      slots.set(key, slot);
      return slot.value;
    },
    has: (key) => slots.has(key),
    set(key, value, weight) {
      remove(key);
      slots.set(key, { value, weight });
      total += weight;
      let gone = 0;
      for (const oldest of slots.keys()) {
        if (slots.size <= maxEntries && total <= maxWeight) break;
        remove(oldest);
        gone++;
      }
      return gone;
    },
    delete: remove,
    clear() {
      slots.clear();
      total = 0;
    },
    *entries() {
      for (const [key, { value }] of slots) yield [key, value];
    },
    get size() {
      return slots.size;
    },
    get weight() {
      return total;
    },
  };
}
