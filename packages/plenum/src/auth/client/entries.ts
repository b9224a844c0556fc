// A store whose entries are one text, for what has a single place to write to: a file, a secret of a keychain.
import type { Store } from "../../store/store.ts";

export interface Entry {
  readonly value: string;
  /** In milliseconds since 1970. Absent: never. */
  readonly endsAt?: number;
}

export type Entries = Map<string, Entry>;

/** Where the text is. */
export interface Place {
  read(): Promise<Entries>;
  /**
   * Reads, lets `make` change what was read, and writes it where `make` says so, with nobody in between. Where somebody was
   * it begins anew.
   */
  change(make: (entries: Entries) => boolean): Promise<void>;
}

export function createPlacedStore(place: Place): Store {
  return {
    async get(key) {
      return (await place.read()).get(key)?.value;
    },
    async put(key, value, { ttlMs = Number.POSITIVE_INFINITY, expected } = {}) {
      let isMet = true;
      await place.change((entries) => {
        const before = entries.get(key);
        isMet = expected === undefined || (before?.value ?? null) === expected;
        const isLasting = ttlMs === Number.POSITIVE_INFINITY;
        const isThere = before?.value === value && before.endsAt === undefined && isLasting;
        if (!isMet || isThere) return false;
        entries.set(key, isLasting ? { value } : { value, endsAt: Date.now() + ttlMs });
        return true;
      });
      return isMet;
    },
    async delete(key) {
      await place.change((entries) => entries.delete(key));
    },
  };
}

/** Without what has ended; nothing in an empty text. Undefined for a text that was not written here. */
export function parseEntries(text: string): Entries | undefined {
  const entries: Entries = new Map();
  if (text.trim() === "") return entries;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Its message may show a part of the text.
    return undefined;
  }
  if (!isRecord(parsed) || parsed.version !== 1 || !isRecord(parsed.entries)) return undefined;
  const now = Date.now();
  for (const [key, entry] of Object.entries(parsed.entries)) {
    if (!isEntry(entry)) return undefined;
    if (entry.endsAt === undefined || entry.endsAt > now) entries.set(key, entry);
  }
  return entries;
}

export function formatEntries(entries: Entries): string {
  return `${JSON.stringify({ version: 1, entries: Object.fromEntries(entries) }, undefined, 1)}\n`;
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  return typeof value.value === "string" && (value.endsAt === undefined || typeof value.endsAt === "number");
}

/** Runs one after the other what is given to it, whatever becomes of each. */
export function createTurns(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const mine = last.then(run);
    last = mine.catch(() => {});
    return mine;
  };
}
