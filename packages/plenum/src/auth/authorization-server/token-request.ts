// The seam between the token endpoint and the ways to a token: each is a function from a request to what is granted.
import type { Client } from "./client.ts";
import type { Grant } from "./grant.ts";

export interface TokenRequest {
  /** Who asks; it has shown who it is. */
  readonly client: Client;
  /** Each parameter once: the endpoint has looked. */
  readonly form: URLSearchParams;
}

/** Tokens for a grant, or an answer of another kind, as a token exchange has it. */
export type Granted =
  | {
      readonly grant: Grant;
      /** A refresh token is given as well. */
      readonly isLasting: boolean;
      /** The grant that this one goes on with: what is revoked with one is revoked with all. Default: a new one. */
      readonly family?: string;
    }
  | { readonly answer: { readonly [name: string]: unknown } };

/** Rejects with an AuthFault, such as `invalid_grant`. */
export type GrantType = (request: TokenRequest) => Promise<Granted>;

/** By the value of `grant_type`. */
export type GrantTypes = { readonly [name: string]: GrantType };

/** The ways to a token that take a user. */
export const userGrantTypes: readonly string[] = ["authorization_code", "refresh_token"];
