// The seam between a protected server and whoever knows what a token is worth: a JWT that is read here, an authorization server
// that is asked, or a function of the application's.

/** What is known of a token. */
export interface Verified {
  readonly subject?: string | undefined;
  readonly clientId?: string | undefined;
  readonly issuer?: string | undefined;
  readonly scopes: readonly string[];
  /** Whom it was made for: `true` where the verifier has made sure that it is this server. */
  readonly audience: string | readonly string[] | true;
  /** In seconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** The key that it is bound to: its thumbprint (RFC 7638). */
  readonly keyThumbprint?: string | undefined;
  readonly claims?: { readonly [name: string]: unknown } | undefined;
}

export interface Verifier {
  /** The authorization servers whose tokens it knows. */
  readonly issuers: readonly string[];
  /**
   * Undefined for a token that is worth nothing: unknown, expired, revoked, of somebody else; or why it is, in words for the
   * operator alone. What it throws is our own trouble, and nobody is let in.
   */
  verify(token: string): Promise<Verified | string | undefined>;
}

/** Words between blanks; some write a list. */
export function toScopes(scope: unknown): readonly string[] {
  if (Array.isArray(scope)) return scope.filter((one): one is string => typeof one === "string");
  return typeof scope === "string" ? scope.split(" ").filter((one) => one !== "") : [];
}

/**
 * The thumbprint in a token's `cnf`. Of one that is bound to something else, such as a certificate, nobody here can make sure: it
 * has one that no key has, so that it is not taken for one that everybody may show.
 */
export function thumbprintIn(confirmation: unknown): string | undefined {
  if (confirmation === undefined || confirmation === null) return undefined;
  const { jkt } = confirmation as { readonly jkt?: unknown };
  return typeof jkt === "string" ? jkt : "";
}

/** What claims say of a token, be they of the token itself or of an answer about it. */
export function fromClaims(claims: { readonly [name: string]: unknown }, issuer: string): Verified {
  const { sub, aud, exp, client_id: clientId, azp, scope, scp, cnf } = claims;
  const id = clientId ?? azp;
  const isText = typeof aud === "string" || (Array.isArray(aud) && aud.every((one) => typeof one === "string"));
  return {
    subject: typeof sub === "string" ? sub : undefined,
    clientId: typeof id === "string" ? id : undefined,
    issuer,
    scopes: toScopes(scope ?? scp),
    audience: isText ? (aud as string | string[]) : [],
    expiresAt: typeof exp === "number" ? exp : undefined,
    keyThumbprint: thumbprintIn(cnf),
    claims,
  };
}
