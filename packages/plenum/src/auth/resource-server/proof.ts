// The proof that who sends a token has the key that it is bound to: made for one request, and good for that one. RFC 9449 § 4.3.
import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWK, jwtVerify } from "jose";
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import { digestOf } from "../../util/digest.ts";
import { asymmetricAlgorithms } from "../signed.ts";

/** What of a request a proof is about. */
export interface ProvedRequest {
  readonly method: string;
  readonly path: string;
  readonly base?: string | undefined;
  header(name: string): string | undefined;
}

/** What is wrong with the proof of a request; undefined: nothing. */
export type ProofCheck = (request: ProvedRequest, token: string, thumbprint: string) => Promise<string | undefined>;

/** How far the clock of a client may be off, and how long a proof is good. */
const windowS = 60;

/**
 * @param resource this server, as clients address it
 * @param store remembers which proofs were used; of many processes all need the same. Default: in memory
 */
export function createProofCheck(resource: URL, store: Store = createMemoryStore()): ProofCheck {
  const own = `${resource.origin}${resource.pathname}`;
  return async (request, token, thumbprint) => {
    const proof = request.header("dpop");
    if (proof === undefined) return "The header DPoP is missing";
    let read: { readonly payload: { readonly [name: string]: unknown }; readonly jwk: JWK };
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: [...asymmetricAlgorithms],
        requiredClaims: ["jti", "htm", "htu", "iat", "ath"],
      });
      read = { payload, jwk: protectedHeader.jwk as JWK };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError)
        return "The proof is not one, or not signed as it should be";
      throw error;
    }
    const { jti, htm, htu, iat, ath } = read.payload;
    if ("d" in read.jwk || "k" in read.jwk) return "The proof shows a key that should be kept secret";
    if ((await calculateJwkThumbprint(read.jwk)) !== thumbprint) return "The token is bound to another key";
    if (htm !== request.method) return "The proof is for another method";
    const sent = `${resource.origin}${request.base ?? ""}${request.path}`;
    if (!isSameUrl(htu, own) && !isSameUrl(htu, sent)) return "The proof is for another address";
    if (ath !== (await digestOf(token))) return "The proof is for another token";
    if (!(Math.abs(Date.now() / 1000 - (iat as number)) <= windowS)) return "The proof is too old, or from the future";
    if (typeof jti !== "string") return "The proof has no jti";
    const key = `dpop:${await digestOf(JSON.stringify([thumbprint, jti]))}`;
    const isFirst = await store.put(key, "", { expected: null, ttlMs: 2 * windowS * 1000 });
    return isFirst ? undefined : "The proof was used before";
  };
}

/** Without query and fragment, as a proof has it. */
function isSameUrl(given: unknown, wanted: string): boolean {
  if (typeof given !== "string" || !URL.canParse(given)) return false;
  const { origin, pathname } = new URL(given);
  return `${origin}${pathname}` === new URL(wanted).href;
}
