// Tokens that only the authorization server understands: it is asked, and its answer kept for a moment. RFC 7662.
import { digestOf } from "../../util/digest.ts";
import { createLru } from "../../util/lru.ts";
import { createGuardedFetch, type Fetch } from "../guarded-fetch.ts";
import { assertOptionNames, assertSafeUrl } from "../option-names.ts";
import { fromClaims, type Verified, type Verifier } from "./verify.ts";

export interface IntrospectionOptions {
  /** The authorization server, as its metadata names it. */
  readonly issuer: string;
  /** Where it is asked (`introspection_endpoint`). */
  readonly endpoint: string;
  /** Who asks: this server, as the authorization server knows it. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** How long an answer is kept: a token that is revoked is good for so long. Default 10 000; 0: not at all. */
  readonly cacheMs?: number;
  /** The authorization server knows as active only what was made for this server, and names no audience. Default false. */
  readonly isForUsOnly?: boolean;
  readonly fetch?: Fetch;
}

const optionNames: { readonly [K in keyof Required<IntrospectionOptions>]: true } = {
  issuer: true,
  endpoint: true,
  clientId: true,
  clientSecret: true,
  cacheMs: true,
  isForUsOnly: true,
  fetch: true,
};

interface Known {
  readonly answer: Promise<Verified | undefined>;
  readonly until: number;
}

export function introspection(options: IntrospectionOptions): Verifier {
  assertOptionNames("introspection", options, optionNames);
  const { issuer, endpoint, clientId, clientSecret, cacheMs = 10_000, isForUsOnly = false } = options;
  assertSafeUrl("introspection: issuer", issuer);
  assertSafeUrl("introspection: endpoint", endpoint);
  if (typeof clientId !== "string" || typeof clientSecret !== "string")
    throw new TypeError(
      "introspection: give clientId and clientSecret, by which the authorization server knows this server",
    );
  if (!(cacheMs >= 0)) throw new TypeError("introspection: cacheMs is a number of milliseconds, 0 or more");
  const fetch = createGuardedFetch({ fetch: options.fetch });
  const known = createLru<Known>({ maxEntries: 10_000, maxWeight: 10_000 });
  const secret = btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`);

  async function ask(token: string): Promise<Verified | undefined> {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: { authorization: `Basic ${secret}`, accept: "application/json" },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }),
    });
    if (!response.ok) throw new Error(`introspection: ${issuer} answered ${response.status}`);
    const said = (await response.json()) as { readonly [name: string]: unknown };
    if (said.active !== true || (said.iss !== undefined && said.iss !== issuer)) return undefined;
    const verified = fromClaims(said, issuer);
    return isForUsOnly && said.aud === undefined ? { ...verified, audience: true } : verified;
  }

  return {
    issuers: [issuer],
    async verify(token) {
      // By its digest: what is kept is not worth stealing.
      const key = await digestOf(token);
      const now = Date.now();
      const found = known.get(key);
      if (found && found.until > now) return found.answer;
      const answer = ask(token);
      known.set(key, { answer, until: now + cacheMs }, 1);
      try {
        return await answer;
      } catch (error) {
        known.delete(key);
        throw error;
      }
    },
  };
}
