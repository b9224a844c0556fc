// What a client keeps: who it is to an authorization server, and the tokens it was given. Each under the issuer that gave it,
// so that nothing is ever shown to another. The store may be shared by many processes.
import type { JWK } from "jose";
import type { Store } from "../../store/store.ts";
import { runAlone } from "./alone.ts";

/** Who the client is to one authorization server. */
export interface Registration {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
  readonly redirect_uris?: readonly string[] | undefined;
  /** In seconds since 1970; 0: never. */
  readonly client_secret_expires_at?: number | undefined;
}

export interface Tokens {
  readonly accessToken: string;
  readonly type: "bearer" | "dpop";
  readonly refreshToken?: string | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** What was granted, or asked for where the answer does not say. */
  readonly scope?: string | undefined;
  /** The client that they were given to. */
  readonly clientId: string;
  /** As which it had registered itself, where it did: it may have done so again since, for another redirect URI. */
  readonly registration?: Registration | undefined;
}

/** Where the tokens for a server came from, so that the next start need not ask again. */
export interface Origin {
  readonly issuer: string;
  readonly resource: string | undefined;
  /** Where the server said that its metadata is, if it did. */
  readonly hint?: string | undefined;
}

export interface Saved {
  readonly registration: Slot<Registration, [issuer: string]>;
  readonly tokens: Slot<Tokens, [issuer: string, resource: string]>;
  readonly origin: Slot<Origin, [server: string]>;
  /** To which authorization server a secret was shown that was given without one. */
  readonly owner: Slot<string, [clientId: string]>;
  /** The private key that tokens are bound to. */
  readonly key: Slot<JWK, [issuer: string]>;
  /**
   * Runs alone among all who share the store, or as soon as the one who runs has been silent for too long.
   * @param signal ends the waiting for it, but not what runs
   */
  alone<T>(issuer: string, resource: string, signal: AbortSignal, run: () => Promise<T>): Promise<T>;
}

export interface Slot<T, Key extends readonly string[]> {
  get(...key: Key): Promise<T | undefined>;
  put(value: T, ...key: Key): Promise<void>;
  /**
   * Whether it was written: false where something else is there by now.
   * @param before as it was read; undefined: nothing
   */
  replace(before: T | undefined, value: T, ...key: Key): Promise<boolean>;
  delete(...key: Key): Promise<void>;
}

/** @param isBound tokens that are bound to a key are kept apart: who wants such must not find the others, nor write over them */
export function createSaved(store: Store, isBound = false): Saved {
  function slot<T, Key extends readonly string[]>(kind: string): Slot<T, Key> {
    const toKey = (key: Key): string => `oauth:${JSON.stringify([kind, ...key])}`;
    return {
      async get(...key) {
        const text = await store.get(toKey(key));
        return text === undefined ? undefined : parse<T>(text);
      },
      async put(value, ...key) {
        await store.put(toKey(key), JSON.stringify(value));
      },
      replace: (before, value, ...key) =>
        store.put(toKey(key), JSON.stringify(value), {
          expected: before === undefined ? null : JSON.stringify(before),
        }),
      delete: (...key) => store.delete(toKey(key)),
    };
  }
  return {
    registration: slot("client"),
    tokens: slot(isBound ? "bound tokens" : "tokens"),
    origin: slot("server"),
    owner: slot("owner"),
    key: slot("key"),
    alone: (issuer, resource, signal, run) =>
      runAlone(store, `oauth:${JSON.stringify(["lock", issuer, resource])}`, signal, run),
  };
}

/** Undefined for what cannot be read: it is as good as nothing, and must not be shown in an error. */
function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
