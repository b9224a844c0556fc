// The keys that tokens are signed with: kept in the Store, made by whichever process needs one first, shown before they sign, and
// for as long as what they signed can live. RFC 7517, RFC 7518 § 3.4 (ES256).
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from "jose";
import type { Store } from "../../store/store.ts";
import { changeRecord, createRecords } from "./records.ts";
import type { Settings } from "./settings.ts";

export interface SignOptions {
  /** What kind of JWT it is: "at+jwt". Another kind is never taken for it. */
  readonly typ: string;
}

export interface RotateOptions {
  /** What older keys have signed is worth nothing any more: for a key that was stolen. Default false. */
  readonly dropOld?: boolean;
}

export interface Keys {
  /** `iss` and `iat` are filled in. */
  sign(claims: JWTPayload, options: SignOptions): Promise<string>;
  /** What a JWT of this server says; undefined for one of anybody else, of another kind, or past its time. */
  open(token: string, options: SignOptions): Promise<JWTPayload | undefined>;
  /** The public halves. */
  jwks(): Promise<JSONWebKeySet>;
  /** A new key signs from now on. */
  rotate(options?: RotateOptions): Promise<void>;
}

interface Pair {
  readonly kid: string;
  /** The private half. */
  readonly jwk: JWK;
  /** Signs from then on, in seconds since 1970: until the next one does. */
  readonly from: number;
}

/** Oldest first. */
interface Ring {
  readonly pairs: readonly Pair[];
}

const alg = "ES256";
const id = "ring";
/** Whoever keeps our keys for a while has the next one before it is used. */
const aheadS = 600;
/** How long what is not an access token may live; and for clocks that are apart. */
const leastShownS = 660;

export function createKeys(store: Store, settings: Pick<Settings, "issuer" | "keyTtlS" | "accessTokenTtlS">): Keys {
  const { issuer, keyTtlS } = settings;
  const rings = createRecords<Ring>(store, issuer, "keys");
  const shownS = Math.max(settings.accessTokenTtlS + 60, leastShownS);
  const ahead = Math.min(aheadS, Math.floor(keyTtlS / 2));
  /** Keys that are imported, of those that there are. */
  let imported = new Map<string, Promise<CryptoKey>>();
  let published: { readonly text: string; readonly find: ReturnType<typeof createLocalJWKSet> } | undefined;

  /** Whether a key is still of use: it signs, or will, or what it signed may live. */
  const isOfUse = (pairs: readonly Pair[], at: number, now: number): boolean => {
    const next = pairs[at + 1];
    return next === undefined || next.from + shownS > now;
  };

  /** @param from when it is to sign */
  async function add(ring: Ring | undefined, from: number, now: number, dropOld = false): Promise<Ring> {
    const pair = await makePair(from);
    const pairs = [...(dropOld ? [] : (ring?.pairs ?? []).filter((one) => one.from <= from)), pair];
    return { pairs: pairs.filter((_, at) => isOfUse(pairs, at, now)) };
  }

  /** The keys of all processes, with one that signs and, in time, the next. */
  async function read(): Promise<Ring> {
    const now = nowS();
    const held = await rings.get(id);
    const newest = held?.value.pairs.at(-1);
    if (held && newest && now < newest.from + keyTtlS - ahead) return held.value;
    const changed = await changeRecord(rings, id, (ring) => {
      const last = ring?.pairs.at(-1);
      if (!last) return add(undefined, now, now);
      if (now < last.from + keyTtlS - ahead) return undefined;
      return add(ring, Math.max(last.from + keyTtlS, now + ahead), now);
    });
    return changed as Ring;
  }

  function importPair({ kid, jwk }: Pair, ring: Ring): Promise<CryptoKey> {
    const known = imported.get(kid);
    if (known) return known;
    const key = importJWK(jwk, alg) as Promise<CryptoKey>;
    imported = new Map([...imported].filter(([one]) => ring.pairs.some((pair) => pair.kid === one)));
    imported.set(kid, key);
    return key;
  }

  function toPublic({ pairs }: Ring): JSONWebKeySet {
    const now = nowS();
    const shown = pairs.filter((_, at) => isOfUse(pairs, at, now));
    // By name: what is not listed here stays here.
    return {
      keys: shown.map(({ kid, jwk: { kty = "EC", crv, x, y } }) => ({ kty, crv, x, y, kid, alg, use: "sig" }) as JWK),
    };
  }

  return {
    async sign(claims, { typ }) {
      const ring = await read();
      const now = nowS();
      const pair = ring.pairs.findLast(({ from }) => from <= now) ?? (ring.pairs[0] as Pair);
      return new SignJWT({ iss: issuer, iat: now, ...claims })
        .setProtectedHeader({ alg, kid: pair.kid, typ })
        .sign(await importPair(pair, ring));
    },
    async open(token, { typ }) {
      const jwks = toPublic(await read());
      const text = jwks.keys.map(({ kid }) => kid).join();
      if (published?.text !== text) published = { text, find: createLocalJWKSet(jwks) };
      try {
        const { payload } = await jwtVerify(token, published.find, {
          issuer,
          typ,
          algorithms: [alg],
          requiredClaims: ["exp"],
        });
        return payload;
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
    jwks: async () => toPublic(await read()),
    async rotate({ dropOld = false } = {}) {
      await changeRecord(rings, id, (ring) => add(ring, nowS(), nowS(), dropOld));
    },
  };
}

async function makePair(from: number): Promise<Pair> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { kid: await calculateJwkThumbprint(jwk), jwk, from };
}

function nowS(): number {
  return Math.floor(Date.now() / 1000);
}
