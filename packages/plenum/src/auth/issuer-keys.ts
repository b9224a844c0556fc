// The public keys of whoever signs: given, or published where they or their metadata say. RFC 7517, RFC 8414.
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from "jose";
import type { Fetch } from "./guarded-fetch.ts";
import { metadataPlaces } from "./metadata-places.ts";

export interface IssuerKeysOptions {
  /** As it writes its name into what it signs. */
  readonly issuer: string;
  readonly jwks?: JSONWebKeySet | undefined;
  /** Default: what its metadata says. */
  readonly jwksUri?: string | undefined;
  /** A guarded one: the addresses are somebody else's word. */
  readonly fetch: Fetch;
}

/** How long what cannot be had is not asked for again. */
const restMs = 1000;

/**
 * Nothing is fetched before the first signature. Published keys are kept for ten minutes, and fetched sooner for a key that is not
 * among them. Of its errors those of JOSE are about the signature; any other is about the keys, which may be there in a moment.
 * Throws an error of JOSE for given keys that are none.
 */
export function issuerKeys({ issuer, jwks, jwksUri, fetch }: IssuerKeysOptions): JWTVerifyGetKey {
  if (jwks) return createLocalJWKSet(jwks);
  let found: Promise<JWTVerifyGetKey> | undefined;
  let againAt = Number.POSITIVE_INFINITY;
  const find = async (): Promise<JWTVerifyGetKey> => {
    const uri = jwksUri ?? (await findJwksUri(issuer, fetch));
    return createRemoteJWKSet(new URL(uri), {
      [customFetch]: withRest(fetch) as never,
      cacheMaxAge: 600_000,
      cooldownDuration: 5000,
    });
  };
  return async (header, token) => {
    if (!found || Date.now() >= againAt) {
      againAt = Number.POSITIVE_INFINITY;
      found = find().catch((error) => {
        againAt = Date.now() + restMs;
        throw error;
      });
    }
    const keys = await found;
    try {
      return await keys(header, token);
    } catch (error) {
      if (isOfSignature(error)) throw error;
      throw new Error(`The keys of ${issuer} cannot be had`, { cause: error });
    }
  };
}

function isOfSignature(error: unknown): boolean {
  return (
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  );
}

/** Keys that are good already stay in use while new ones cannot be had. */
function withRest(fetch: Fetch): Fetch {
  let againAt = 0;
  return async (url, init) => {
    if (Date.now() < againAt) throw new Error("They could not be had a moment ago");
    let isGood = false;
    try {
      const response = await fetch(url, init);
      isGood = response.status === 200;
      return response;
    } finally {
      if (!isGood) againAt = Date.now() + restMs;
    }
  };
}

async function findJwksUri(issuer: string, fetch: Fetch): Promise<string> {
  for (const place of metadataPlaces(new URL(issuer))) {
    const response = await fetch(place, { headers: { accept: "application/json" } });
    if (!response.ok) continue;
    const { issuer: named, jwks_uri: uri } = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
    // Letter by letter: another's keys are no keys of this one.
    if (named !== issuer) throw new Error(`The metadata of ${issuer} is of another issuer`);
    if (typeof uri === "string") return uri;
  }
  throw new Error(`${issuer} does not say where its keys are; give jwksUri`);
}
