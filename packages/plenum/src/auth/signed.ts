// What somebody else has signed, as a JWT: believed only where the key is that of who is named in it, the signature is one that a
// public key cannot make, and it is for now. RFC 7519, RFC 8725.
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";

/** Those of which only one half has to be told. */
export const asymmetricAlgorithms: readonly string[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

export interface SignedOptions {
  readonly issuer: string;
  /** Of the header. */
  readonly typ?: string;
  readonly subject?: string;
  /** All that it may be for: what is for others as well could be shown here by them. Default: not looked at. */
  readonly audiences?: readonly string[];
  /** Besides those that the other options name. */
  readonly requiredClaims?: readonly string[];
  /** How far ahead its end may be. Default: any. */
  readonly maxLifetimeS?: number;
  readonly algorithms?: readonly string[];
  /** How far clocks may be apart. Default 5 s. */
  readonly clockToleranceS?: number;
}

/** More than anybody has to say. */
const maxLength = 16_384;
/** Of keys that are all alike, which the token does not tell apart. */
const maxKeys = 8;

/** Its claims; undefined where it is worth nothing. What it throws is about the keys, and no word on the token. */
export async function readSigned(
  token: string,
  keys: JWTVerifyGetKey,
  options: SignedOptions,
): Promise<JWTPayload | undefined> {
  if (token.length > maxLength) return undefined;
  const { issuer, typ, subject, audiences, clockToleranceS = 5, maxLifetimeS = Number.POSITIVE_INFINITY } = options;
  const checks: JWTVerifyOptions = {
    issuer,
    algorithms: [...(options.algorithms ?? asymmetricAlgorithms)],
    clockTolerance: clockToleranceS,
    requiredClaims: ["exp", ...(options.requiredClaims ?? [])],
    ...(typ !== undefined && { typ }),
    ...(subject !== undefined && { subject }),
    ...(audiences && { audience: [...audiences] }),
  };
  try {
    const claims = await verify(token, keys, checks);
    const { aud, exp = 0, iat } = claims;
    const now = Date.now() / 1000;
    if (audiences && ![aud].flat().every((one) => audiences.includes(one as string))) return undefined;
    if (exp > now + maxLifetimeS + clockToleranceS) return undefined;
    return iat !== undefined && iat > now + clockToleranceS ? undefined : claims;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

async function verify(token: string, keys: JWTVerifyGetKey, checks: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, checks)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tries = 0;
    for await (const key of error) {
      if (++tries > maxKeys) break;
      try {
        return (await jwtVerify(token, key, checks)).payload;
      } catch (problem) {
        if (!(problem instanceof errors.JWSSignatureVerificationFailed)) throw problem;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

export interface Peeked {
  readonly typ: string | undefined;
  readonly issuer: string | undefined;
  readonly subject: string | undefined;
}

/** What a token says of itself: good for finding whose keys to look at it with, and for nothing else. Undefined for what is none. */
export function peekSigned(token: string): Peeked | undefined {
  if (token.length > maxLength) return undefined;
  try {
    const { typ } = decodeProtectedHeader(token);
    const { iss, sub } = decodeJwt(token);
    return { typ: toText(typ), issuer: toText(iss), subject: toText(sub) };
  } catch {
    return undefined;
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
