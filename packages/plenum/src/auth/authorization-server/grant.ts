// The seam between the pages that a user sees and the endpoint that gives tokens: what somebody has allowed a client.

export interface Grant {
  readonly clientId: string;
  /** Who allowed it; for a client that acts for itself, its id. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /** Whom the tokens are for; undefined where the client did not say, and this server has no more than one resource or none. */
  readonly resource: string | undefined;
  /** Told to the resource server in the token. */
  readonly claims?: { readonly [name: string]: unknown } | undefined;
  /** With a third-party authorization server: under what its tokens are kept. */
  readonly upstream?: string | undefined;
}

export interface CodeGrant extends Grant {
  readonly redirectUri: string;
  /** S256. */
  readonly codeChallenge: string;
}

export interface Grants {
  /** A code: for one use, within a minute. */
  issueCode(grant: CodeGrant): Promise<string>;
  /**
   * Whether all that a user had allowed by then was ended later.
   * @param since in milliseconds since 1970
   */
  isRevoked(subject: string, since: number): Promise<boolean>;
}
