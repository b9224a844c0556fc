// The seam between what sends requests and what authorizes them. A transport asks for headers before it sends, and shows what
// was refused; whoever has a `fetch` wraps it.
import type { Fetch } from "../guarded-fetch.ts";

/** A request that is about to be sent, or was. */
export interface AuthorizedRequest {
  readonly method: string;
  readonly url: URL;
  /** The server that it is for: its address without query. Tokens of one are never sent to another. */
  readonly server: URL;
  readonly signal?: AbortSignal | undefined;
  /** Nobody waits for it: the user is not asked for its sake. */
  readonly isUnattended?: boolean | undefined;
}

/** An answer that says 401 or 403. */
export interface RefusedAnswer {
  readonly status: number;
  /** @param name in lower case */
  header(name: string): string | undefined;
}

export type AuthHeaders = { readonly [name: string]: string };

export interface Authorizer {
  /** The extensions of MCP that it takes part in, with their settings: a client has to name them to the server. */
  readonly extensions?: { readonly [id: string]: { readonly [name: string]: never } };
  /** Headers for one request; none while there is no token. Waits where one is just being fetched. */
  authorize(request: AuthorizedRequest): Promise<AuthHeaders>;
  /**
   * Whether to send the request again, with new headers. Rejects with an OAuthError where it is clear why there is no way in.
   * Given the same object each time, it knows what was tried already.
   * @param sent what `authorize` gave for it
   */
  refused(request: AuthorizedRequest, answer: RefusedAnswer, sent: AuthHeaders): Promise<boolean>;
}

/** More than any flow takes: a nonce, a new token, a nonce for it, three times more scopes. */
const maxAttempts = 8;

/**
 * A fetch that sends what an authorizer says, for one server: requests elsewhere are sent as they are. A body that is a stream
 * can be sent once: who gives one gets the answer that says no.
 */
export function createAuthorizedFetch(
  authorizer: Authorizer,
  server: string | URL,
  send: Fetch = (url, init) => globalThis.fetch(url, init),
): Fetch {
  const of = new URL(server);
  return async (given, init = {}) => {
    const url = new URL(given);
    if (url.origin !== of.origin) return send(given, init);
    const request: AuthorizedRequest = {
      method: init.method ?? "GET",
      url,
      server: of,
      signal: init.signal ?? undefined,
    };
    for (let attempt = 1; ; attempt++) {
      const sent = await authorizer.authorize(request);
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(sent)) headers.set(name, value);
      const response = await send(given, { ...init, headers });
      const isRefused = response.status === 401 || response.status === 403;
      const isSpent = init.body instanceof ReadableStream;
      if (!isRefused || isSpent || attempt >= maxAttempts) return response;
      const answer = { status: response.status, header: (name: string) => response.headers.get(name) ?? undefined };
      if (!(await authorizer.refused(request, answer, sent))) return response;
      await response.body?.cancel();
    }
  };
}
