// Tokens that are worth nothing without a key: a proof of it goes with each request. RFC 9449.
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { DPoP, type DPoPHandle } from "oauth4webapi";
import { digestOf } from "../../util/digest.ts";
import type { Slot } from "./saved.ts";

export interface DpopKey {
  /** For token endpoints. */
  handle(): DPoPHandle;
  /** For one request with a token. */
  prove(method: string, url: URL, accessToken: string): Promise<string>;
  /** What a server wants to see in the next proof. */
  heard(url: URL, nonce: string): void;
}

interface Pair {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export const dpopAlg = "ES256";

/** The key of this client for an authorization server: kept, since tokens that outlive the process are bound to it. */
export async function openDpopKey(slot: Slot<JWK, [issuer: string]>, issuer: string): Promise<DpopKey> {
  const kept = await slot.get(issuer);
  const pair = kept ? await toPair(kept) : await makePair(slot, issuer);
  return createDpopKey(pair, await exportJWK(pair.publicKey));
}

/** Of all who make one at the same time all take the first: a token must not be bound to a key that is lost. */
async function makePair(slot: Slot<JWK, [issuer: string]>, issuer: string): Promise<Pair> {
  const pair = await generateKeyPair(dpopAlg, { extractable: true });
  const jwk = await exportJWK(pair.privateKey);
  if (await slot.replace(undefined, jwk, issuer)) return pair;
  const first = await slot.get(issuer);
  if (first) return toPair(first);
  // What is there cannot be read.
  await slot.put(jwk, issuer);
  return pair;
}

async function toPair({ d, ...open }: JWK): Promise<Pair> {
  const [privateKey, publicKey] = await Promise.all([
    importJWK({ ...open, d } as JWK, dpopAlg),
    importJWK(open, dpopAlg),
  ]);
  return { privateKey: privateKey as CryptoKey, publicKey: publicKey as CryptoKey };
}

function createDpopKey(pair: Pair, jwk: JWK): DpopKey {
  /** The latest, by origin: of one server there is one origin. */
  const nonces = new Map<string, string>();
  // It keeps what token endpoints want to see in the next proof.
  const handle = DPoP({}, pair);
  return {
    handle: () => handle,
    async prove(method, { origin, pathname }, accessToken) {
      const nonce = nonces.get(origin);
      return new SignJWT({
        htm: method,
        htu: `${origin}${pathname}`,
        ath: await digestOf(accessToken),
        ...(nonce !== undefined && { nonce }),
      })
        .setProtectedHeader({ alg: dpopAlg, typ: "dpop+jwt", jwk })
        .setJti(crypto.randomUUID())
        .setIssuedAt()
        .sign(pair.privateKey);
    },
    heard({ origin }, nonce) {
      nonces.set(origin, nonce);
    },
  };
}
