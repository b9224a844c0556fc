// A store in one secret of a keychain, whoever keeps it: the desktop's, a vault, the secure storage of a phone.
import type { Store } from "../../store/store.ts";
import { createPlacedStore, createTurns, formatEntries, parseEntries } from "./entries.ts";

/** One secret, by whatever name the application gave it. */
export interface Keychain {
  /** Nothing where there is none. */
  get(): string | null | undefined | Promise<string | null | undefined>;
  set(secret: string): unknown;
  remove(): unknown;
}

/**
 * What is saved is one text, which is written whole; it is removed with its last entry. Within the process, and this value,
 * reads and writes come one after the other. Processes that share the secret are not kept apart: where several do, use
 * `fileTokens`. Some keychains hold little (Windows: 2560 bytes): then make one of these for each server.
 * Throws a TypeError for what is no keychain.
 */
export function keychainTokens(keychain: Keychain): Store {
  for (const name of ["get", "set", "remove"] as const)
    if (typeof keychain?.[name] !== "function")
      throw new TypeError("keychainTokens takes what keeps one secret: { get, set, remove }, each a function");
  const inTurn = createTurns();
  async function read() {
    const entries = parseEntries((await keychain.get()) ?? "");
    if (!entries)
      throw new Error("The secret in the keychain holds no tokens that were saved here. Remove it, and log in again");
    return entries;
  }
  return createPlacedStore({
    read: () => inTurn(read),
    change: (make) =>
      inTurn(async () => {
        const entries = await read();
        if (!make(entries)) return;
        await (entries.size === 0 ? keychain.remove() : keychain.set(formatEntries(entries)));
      }),
  });
}
