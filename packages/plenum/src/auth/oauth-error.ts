// What can go wrong while a client is authorized, by string code. Explained to people in docs/errors.md.
import { toLine } from "../util/quote.ts";

export type OAuthErrorCode =
  /** The server wants a token, and nothing says where to get one. */
  | "discovery_failed"
  /** The metadata is of another resource than the one that was called. */
  | "resource_mismatch"
  /** The metadata, or the answer of the authorization server, is of another issuer. */
  | "issuer_mismatch"
  /** The authorization server does not say that it supports PKCE with S256. */
  | "pkce_unsupported"
  /** Tokens are to be bound to a key, and the authorization server does not say that it can do so. */
  | "dpop_unsupported"
  /** A URL that is neither https nor on this machine, or leads where this client must not go. */
  | "unsafe_url"
  /** No client id: none was given, and the authorization server registers nobody. */
  | "no_client"
  /** The credentials that were given are of another authorization server. */
  | "client_mismatch"
  | "registration_failed"
  /** There is nobody who could be asked: no `redirect` was given. */
  | "no_redirect"
  /** What came back from the authorization page does not belong to what was sent there. */
  | "state_mismatch"
  /** The authorization server, or the user, said no. `error` is its code. */
  | "denied"
  /** The token endpoint said no. */
  | "token_failed"
  /** The token is good, and not good enough, after all tries to get a better one. */
  | "insufficient_scope"
  /** The server refuses a token that was made a moment ago. */
  | "unauthorized"
  /** The user, or a server, took too long. */
  | "timeout";

export interface OAuthErrorOptions {
  readonly cause?: unknown;
  /** The code of the OAuth error, as the other side sent it. */
  readonly error?: string | undefined;
}

/** Holds nothing secret: no token, code, secret or verifier is in its text, nor in its cause. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;
  readonly error: string | undefined;

  constructor(code: OAuthErrorCode, message: string, { cause, error }: OAuthErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.error = error;
  }
}

/**
 * What the other side says of an error, as one short line, and its code; undefined where it says nothing that can be shown. It
 * may say what it was sent: where it does, that is left out.
 */
export function readWords(
  error: unknown,
  description: unknown,
  secrets: readonly string[] = [],
): { readonly error: string | undefined; readonly words: string | undefined } {
  const [code, why] = [error, description].map((text) => {
    const isShown = typeof text === "string" && text !== "" && !secrets.some((one) => one && text.includes(one));
    return isShown ? toLine(text, 200) : undefined;
  });
  const words = [code, why].filter((text) => text !== undefined).join(", ");
  return { error: code, words: words === "" ? undefined : words };
}
