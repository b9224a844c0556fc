// The third party's tokens: what a grant of ours stands on. They are kept here alone, sealed, each under a key that the grant
// names; no client ever sees them, and when they are no longer good the grant is not either.
import * as oauth from "oauth4webapi";
import type { Store } from "../../store/store.ts";
import { decodeBase64Url, encodeBase64Url } from "../../util/base64url.ts";
import { createLru } from "../../util/lru.ts";
import { createSaved } from "../client/saved.ts";
import type { Fetch } from "../guarded-fetch.ts";
import type { UpstreamOptions } from "./options.ts";
import { createRecords, type Held, randomText } from "./records.ts";
import { createUpstreamServer } from "./upstream-server.ts";

export interface UpstreamTokens {
  /** Under which key they are kept: for a grant. */
  save(given: oauth.TokenEndpointResponse): Promise<string>;
  /**
   * Whether the third party still stands by them; those that have expired are renewed. Rejects where it cannot be asked: then
   * nobody is let in.
   */
  isAlive(key: string): Promise<boolean>;
  /** An access token of the third party that is good now, for the server's own calls there. Never for a client. */
  accessTokenOf(key: string): Promise<string | undefined>;
  /** With the grant that stood on them. The third party is told, where it wants to know. */
  forget(key: string): Promise<void>;
}

export interface UpstreamGround {
  readonly settings: { readonly issuer: string; readonly refreshTokenTtlS: number };
  readonly store: Store;
  readonly fetch: Fetch;
}

interface Tokens {
  readonly access: string;
  readonly refresh?: string | undefined;
  /** In ms since 1970. */
  readonly expiresAt?: number | undefined;
  readonly savedAt: number;
  /** Nobody has redeemed the code of the grant yet. */
  readonly isNew?: boolean | undefined;
}

/** A code that nobody redeems leaves nothing behind: a little longer than it lives. */
const newS = 120;

/** Renewed a little before: it has to get there. */
const earlyMs = 10_000;
/** For another process to renew them. */
const waitMs = 30_000;

export function createUpstreamTokens(
  options: UpstreamOptions,
  { settings, store, fetch }: UpstreamGround,
): UpstreamTokens {
  const { statusCacheMs = 10_000 } = options;
  const ttlS = settings.refreshTokenTtlS;
  const find = createUpstreamServer(options, fetch);
  const records = createRecords<string>(store, settings.issuer, "upstream-tokens");
  const { alone } = createSaved(store);
  const box = createBox(options);
  const statuses = createLru<{ readonly isGood: boolean; readonly until: number }>({
    maxEntries: 10_000,
    maxWeight: 10_000,
  });

  async function keep(key: string, tokens: Tokens, over?: Held<string>): Promise<void> {
    const sealed = await box.seal(key, JSON.stringify(tokens));
    await records.put(key, sealed, { ttlS: tokens.isNew ? newS : ttlS, ...(over && { over }) });
  }

  async function load(key: string): Promise<{ readonly tokens: Tokens; readonly held: Held<string> } | undefined> {
    const held = await records.get(key);
    const text = held && (await box.open(key, held.value));
    return held && text !== undefined ? { tokens: JSON.parse(text) as Tokens, held } : undefined;
  }

  const isDue = ({ expiresAt }: Tokens): boolean => expiresAt !== undefined && expiresAt - earlyMs < Date.now();

  /** What is good now, by its time. Undefined where it is over, or the third party says no. */
  async function current(key: string): Promise<Tokens | undefined> {
    const loaded = await load(key);
    if (!loaded) return undefined;
    const { tokens, held } = loaded;
    if (!isDue(tokens)) {
      // It lives for as long as it is used. Where somebody has renewed it meanwhile nothing need be done.
      const isOld = Date.now() - tokens.savedAt > ttlS * 250;
      if (isOld || tokens.isNew) await keep(key, { ...tokens, savedAt: Date.now(), isNew: undefined }, held);
      return tokens;
    }
    // One at a time: of two the second would show a token that was used.
    return alone("upstream", key, AbortSignal.timeout(waitMs), async () => {
      const latest = (await load(key))?.tokens;
      return latest && isDue(latest) ? renew(key, latest) : latest;
    });
  }

  async function renew(key: string, before: Tokens): Promise<Tokens | undefined> {
    const { as, client, auth, request } = await find();
    try {
      if (before.refresh === undefined) throw undefined;
      const response = await oauth.refreshTokenGrantRequest(as, client, auth, before.refresh, request);
      const tokens = toTokens(await oauth.processRefreshTokenResponse(as, client, response), before);
      await keep(key, tokens);
      return tokens;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await records.delete(key);
      return undefined;
    }
  }

  async function ask(access: string): Promise<boolean> {
    if (options.isAlive) return (await options.isAlive(access)) === true;
    const { as, client, auth, request } = await find();
    if (as.introspection_endpoint === undefined) return true;
    const response = await oauth.introspectionRequest(as, client, auth, access, request);
    try {
      return (await oauth.processIntrospectionResponse(as, client, response)).active === true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      throw new Error(`upstream: ${as.issuer} does not let this client ask about tokens (introspection): give isAlive`);
    }
  }

  return {
    async save(given) {
      const key = randomText();
      await keep(key, { ...toTokens(given), isNew: true });
      return key;
    },
    async isAlive(key) {
      const tokens = await current(key);
      if (!tokens) return false;
      const known = statuses.get(key);
      if (known && known.until > Date.now()) return known.isGood;
      const isGood = await ask(tokens.access);
      if (statusCacheMs > 0) statuses.set(key, { isGood, until: Date.now() + statusCacheMs }, 1);
      if (!isGood) await records.delete(key);
      return isGood;
    },
    accessTokenOf: async (key) => (await current(key))?.access,
    async forget(key) {
      const tokens = (await load(key))?.tokens;
      statuses.delete(key);
      await records.delete(key);
      if (tokens) await revoke(tokens).catch(() => {});
    },
  };

  /** As far as it can be told: it is of no use here any more in any case. */
  async function revoke({ access, refresh }: Tokens): Promise<void> {
    const { as, client, auth, request } = await find();
    if (as.revocation_endpoint === undefined) return;
    const response = await oauth.revocationRequest(as, client, auth, refresh ?? access, request);
    await oauth.processRevocationResponse(response);
  }
}

/** What the third party said no to, and not what went wrong on the way. */
function isRefusal(error: unknown): boolean {
  return error === undefined || (error instanceof oauth.ResponseBodyError && error.status < 500);
}

function toTokens(given: oauth.TokenEndpointResponse, before?: Tokens): Tokens {
  const { access_token: access, refresh_token: refresh, expires_in: expiresInS } = given;
  return {
    access,
    // One that is not replaced stays.
    refresh: refresh ?? before?.refresh,
    expiresAt: expiresInS === undefined ? undefined : Date.now() + expiresInS * 1000,
    savedAt: Date.now(),
  };
}

interface Box {
  seal(key: string, text: string): Promise<string>;
  /** Undefined for what was sealed under another key, or with another secret. */
  open(key: string, sealed: string): Promise<string | undefined>;
}

/** AES-256-GCM. Its key comes from the client secret, which is not in the store: who reads the store alone reads no token. */
function createBox({ issuer, clientId, clientSecret }: UpstreamOptions): Box {
  const toBytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  let made: Promise<CryptoKey> | undefined;
  const toKey = async (): Promise<CryptoKey> => {
    const source = await crypto.subtle.importKey("raw", toBytes(clientSecret), "HKDF", false, ["deriveKey"]);
    const info = toBytes(JSON.stringify(["plenum upstream tokens", issuer, clientId]));
    const way = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
    return crypto.subtle.deriveKey(way, source, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  };
  const keyOf = (): Promise<CryptoKey> => {
    made ??= toKey();
    return made;
  };
  return {
    async seal(key, text) {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const way = { name: "AES-GCM", iv, additionalData: toBytes(key) };
      const sealed = new Uint8Array(await crypto.subtle.encrypt(way, await keyOf(), toBytes(text)));
      return `${encodeBase64Url(iv)}.${encodeBase64Url(sealed)}`;
    },
    async open(key, sealed) {
      const [iv, bytes] = sealed.split(".").map(decodeBase64Url);
      if (!iv || !bytes) return undefined;
      try {
        const way = { name: "AES-GCM", iv, additionalData: toBytes(key) };
        return new TextDecoder().decode(await crypto.subtle.decrypt(way, await keyOf(), bytes));
      } catch {
        return undefined;
      }
    },
  };
}
