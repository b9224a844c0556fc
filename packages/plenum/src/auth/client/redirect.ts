// The seam to whoever shows a page to the user and learns what came back: a browser beside a command line, a terminal, an
// application of its own.

import { isLoopbackHost } from "../guarded-fetch.ts";
import { OAuthError } from "../oauth-error.ts";
import { assertOptionNames } from "../option-names.ts";

/** One visit to the authorization page. */
export interface Visit {
  /** Where the browser is sent back to: registered with the authorization server. */
  readonly uri: string;
  /**
   * Shows the page, and resolves with the URL that the browser was sent back to, or its query alone.
   * @param url https, or http on this machine
   */
  open(url: URL, signal: AbortSignal | undefined): Promise<string | URL | URLSearchParams>;
  /** Called when it is over, however it ended. */
  close?(): void | Promise<void>;
}

/** Begins a visit: a receiver may have to listen before it knows its address. */
export interface Redirect {
  /** @param registered where the authorization server sends this client back to already: another place takes a new registration */
  begin(registered?: readonly string[]): Visit | Promise<Visit>;
}

export interface RedirectOptions {
  readonly uri: string;
  readonly open: Visit["open"];
}

/** For an application that shows pages, and is called back, in its own way. Throws a TypeError for a URI that is not safe. */
export function createRedirect(options: RedirectOptions): Redirect {
  assertOptionNames("createRedirect", options, { uri: true, open: true });
  const { uri, open } = options;
  if (typeof open !== "function")
    throw new TypeError(
      "createRedirect: open must be a function that shows a page: async (url, signal) => where it led",
    );
  assertRedirectUri(uri);
  return { begin: () => ({ uri, open }) };
}

/**
 * https, http on this machine, or a scheme of the application's own, which has the form of a domain name in reverse: of one without
 * a dot nobody could say whose it is (RFC 8252 § 7.1).
 */
export function assertRedirectUri(given: string): void {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isOwn = url !== undefined && /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/.test(url.protocol);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname)) || isOwn;
  if (!isSafe || given.includes("#") || url?.username || url?.password)
    throw new TypeError(
      "oauth: a redirect URI is https, or http on this machine, or has a scheme such as com.example.app:, and no fragment or password",
    );
}

/**
 * What came back, as parameters: of a URL, of what is left of one that was copied without its beginning, or of a query. Throws
 * an OAuthError, `state_mismatch`, for what has neither a code nor an error.
 */
export function toParameters(came: string | URL | URLSearchParams): URLSearchParams {
  const parameters = came instanceof URLSearchParams ? came : new URLSearchParams(toQuery(String(came).trim()));
  if (!parameters.has("code") && !parameters.has("error"))
    throw new OAuthError(
      "state_mismatch",
      "What came back from the authorization page has neither a code nor an error",
    );
  return parameters;
}

function toQuery(text: string): string {
  if (URL.canParse(text)) return new URL(text).search;
  // A question mark within the query is one of its letters.
  const [before = ""] = /^[^?=&]*\?/.exec(text) ?? [];
  return text.slice(before.length).split("#", 1)[0] as string;
}
