// What the authorization server keeps, as JSON in the Store: each kind apart, and each issuer apart, so that several can share one
// store. What is secret is kept under its digest, and as its digest.
import type { Store } from "../../store/store.ts";
import { encodeBase64Url } from "../../util/base64url.ts";

export interface Held<T> {
  readonly value: T;
  /** As it was read: what is compared when it is written again. */
  readonly text: string;
}

export interface WriteOptions<T> {
  /** Default: for good. */
  readonly ttlS?: number;
  /** Only over this one; `null`: only where there is none. Default: over whatever is there. */
  readonly over?: Held<T> | null;
}

export interface Records<T> {
  get(id: string): Promise<Held<T> | undefined>;
  /** False where something else is there than `over` says. */
  put(id: string, value: T, options?: WriteOptions<T>): Promise<boolean>;
  delete(id: string): Promise<void>;
}

export function createRecords<T>(store: Store, issuer: string, kind: string): Records<T> {
  const keyOf = (id: string): string => `oauth-server:${JSON.stringify([kind, issuer, id])}`;
  return {
    async get(id) {
      const text = await store.get(keyOf(id));
      return text === undefined ? undefined : { value: JSON.parse(text) as T, text };
    },
    put(id, value, { ttlS, over } = {}) {
      return store.put(keyOf(id), JSON.stringify(value), {
        ...(ttlS !== undefined && { ttlMs: ttlS * 1000 }),
        ...(over !== undefined && { expected: over?.text ?? null }),
      });
    },
    delete: (id) => store.delete(keyOf(id)),
  };
}

const maxTries = 30;

/**
 * Changes what others may be changing, too. Rejects where they never leave off.
 * @param change what becomes of it, or undefined for no change; run again for each try
 */
export async function changeRecord<T>(
  records: Records<T>,
  id: string,
  change: (before: T | undefined) => T | undefined | Promise<T | undefined>,
  ttlS?: number,
): Promise<T | undefined> {
  for (let i = 0; i < maxTries; i++) {
    const held = await records.get(id);
    const after = await change(held?.value);
    if (after === undefined) return held?.value;
    if (await records.put(id, after, { over: held ?? null, ...(ttlS !== undefined && { ttlS }) })) return after;
    // The longer it takes the more there are: each waits for another while.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 4 * i));
  }
  throw new Error("The store of the authorization server takes no change: others change the same all the time");
}

/** Text that nobody can guess. */
export function randomText(bytes = 32): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
