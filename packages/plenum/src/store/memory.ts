// A store in memory: for one process, and gone with it. Bounded, and without timers: what has ended is cleared away when
// something is written, at most once a second.
import type { Store } from "./store.ts";

export type { PutOptions, Store } from "./store.ts";

export interface MemoryStoreOptions {
  /** Default 100 000. Writing more throws: nothing is forgotten before its time. */
  readonly maxEntries?: number;
}

interface Entry {
  readonly value: string;
  /** In ms since 1970; Infinity: never. */
  readonly endsAt: number;
}

/** Throws a TypeError for a bound that allows nothing. */
export function createMemoryStore({ maxEntries = 100_000 }: MemoryStoreOptions = {}): Store {
  if (!(maxEntries >= 1)) throw new TypeError(`createMemoryStore: maxEntries cannot be ${maxEntries}`);
  const entries = new Map<string, Entry>();
  /** Keys by the second before which they have all ended. */
  const endings = new Map<number, Set<string>>();
  let clearedAt = 0;

  function remove(key: string, { endsAt }: Entry): void {
    const second = toSecond(endsAt);
    const ending = endings.get(second);
    ending?.delete(key);
    if (ending?.size === 0) endings.delete(second);
    entries.delete(key);
  }

  function find(key: string): Entry | undefined {
    const entry = entries.get(key);
    if (!entry || Date.now() < entry.endsAt) return entry;
    remove(key, entry);
    return undefined;
  }

  function clear(): void {
    const now = Math.floor(Date.now() / 1000);
    if (now === clearedAt) return;
    clearedAt = now;
    for (const [second, keys] of endings) {
      if (second > now) continue;
      for (const key of keys) entries.delete(key);
      endings.delete(second);
    }
  }

  return {
    async get(key) {
      return find(key)?.value;
    },
    async put(key, value, { ttlMs = Number.POSITIVE_INFINITY, expected } = {}) {
      const known = find(key);
      if (expected !== undefined && (known?.value ?? null) !== expected) return false;
      if (known) remove(key, known);
      clear();
      if (entries.size >= maxEntries)
        throw new Error(
          `The memory store is full: it holds ${maxEntries} entries. Raise maxEntries, or use another store`,
        );
      const endsAt = Date.now() + ttlMs;
      entries.set(key, { value, endsAt });
      const second = toSecond(endsAt);
      if (second === Number.POSITIVE_INFINITY) return true;
      const ending = endings.get(second) ?? new Set();
      endings.set(second, ending.add(key));
      return true;
    },
    async delete(key) {
      const known = entries.get(key);
      if (known) remove(key, known);
    },
  };
}

function toSecond(ms: number): number {
  return Math.ceil(ms / 1000);
}
