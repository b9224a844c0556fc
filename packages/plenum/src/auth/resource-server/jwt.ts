// Tokens that say themselves what they are worth: JWT access tokens, signed with a key that the authorization server publishes.
// RFC 9068, RFC 7519.
import type { JSONWebKeySet } from "jose";
import { toLine } from "../../util/quote.ts";
import { createGuardedFetch, type Fetch } from "../guarded-fetch.ts";
import { issuerKeys } from "../issuer-keys.ts";
import { assertOptionNames, assertSafeUrl } from "../option-names.ts";
import { asymmetricAlgorithms, peekSigned, readSigned } from "../signed.ts";
import { fromClaims, type Verifier } from "./verify.ts";

export interface JwtOptions {
  /** The authorization server, as it writes its name into its tokens. */
  readonly issuer: string;
  /** Where its keys are. Default: what its metadata says. */
  readonly jwksUri?: string;
  /** In place of the published keys. */
  readonly jwks?: JSONWebKeySet;
  /** How tokens may be signed: with keys of which only the other half is published. Default: those of JOSE that are asymmetric. */
  readonly algorithms?: readonly string[];
  /** How far clocks may be apart. Default 5 s. */
  readonly clockToleranceS?: number;
  readonly fetch?: Fetch;
}

const optionNames: { readonly [K in keyof Required<JwtOptions>]: true } = {
  issuer: true,
  jwksUri: true,
  jwks: true,
  algorithms: true,
  clockToleranceS: true,
  fetch: true,
};

/** What calls itself something else, such as a proof or an assertion, is no access token, though it be signed with the same key. */
const kinds = new Set([undefined, "jwt", "at+jwt", "application/at+jwt"]);

/** Throws a TypeError for algorithms that would let anybody who knows a public key sign. */
export function jwt(options: JwtOptions): Verifier {
  assertOptionNames("jwt", options, optionNames);
  const { issuer, jwksUri, jwks, algorithms = asymmetricAlgorithms, clockToleranceS = 5 } = options;
  assertSafeUrl("jwt: issuer", issuer);
  if (jwksUri !== undefined) assertSafeUrl("jwt: jwksUri", jwksUri);
  if (!Array.isArray(algorithms)) throw new TypeError('jwt: algorithms is a list, such as ["ES256"]');
  if (!(clockToleranceS >= 0)) throw new TypeError("jwt: clockToleranceS is a number of seconds, 0 or more");
  for (const algorithm of algorithms)
    if (!asymmetricAlgorithms.includes(algorithm))
      throw new TypeError(
        `jwt: ${algorithm} is not a signature of the authorization server alone; use one such as ES256`,
      );
  const keys = issuerKeys({ issuer, jwksUri, jwks, fetch: createGuardedFetch({ fetch: options.fetch }) });
  return {
    issuers: [issuer],
    async verify(token) {
      // What is no token of this issuer is not worth asking for keys.
      const peeked = peekSigned(token);
      if (!peeked) return "It is no JWT";
      if (peeked.issuer !== issuer) return `Its issuer is ${named(peeked.issuer)}, not "${issuer}"`;
      if (!kinds.has(peeked.typ?.toLowerCase())) return `It is no access token: its typ is ${named(peeked.typ)}`;
      const claims = await readSigned(token, keys, { issuer, algorithms, clockToleranceS });
      if (!claims) return "Its signature, its key or its time is not right";
      const verified = fromClaims(claims, issuer);
      // Whoever looks at the clock once more is to come to the same end.
      return { ...verified, expiresAt: (verified.expiresAt ?? 0) + clockToleranceS };
    },
  };
}

/** In somebody else's words: nothing of it is to reach a log but letters, and not many. */
function named(text: string | undefined): string {
  return text === undefined ? "not said" : `"${toLine(text, 200)}"`;
}
