// The third-party authorization server as we ask it: its endpoints, and who we are to it.
import * as oauth from "oauth4webapi";
import { toClientAuth } from "../client/client-auth.ts";
import { findServerMetadata } from "../client/discovery.ts";
import { type Fetch, isLoopbackHost, toSafeUrl } from "../guarded-fetch.ts";
import { OAuthError } from "../oauth-error.ts";
import { asymmetricAlgorithms } from "../signed.ts";
import type { UpstreamOptions } from "./options.ts";

/** What a request to it is made with. */
export interface Upstream {
  readonly as: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly auth: oauth.ClientAuth;
  readonly request: {
    readonly [oauth.customFetch]: never;
    readonly [oauth.allowInsecureRequests]: true;
  };
}

/** Its metadata is read anew after this long. */
const knownMs = 3_600_000;

/** Throws a TypeError for options that make no sense. */
export function createUpstreamServer(options: UpstreamOptions, fetch: Fetch): () => Promise<Upstream> {
  assertUpstream(options);
  const { issuer, clientId, clientSecret, endpoints } = options;

  async function find(): Promise<Upstream> {
    const as: oauth.AuthorizationServer = endpoints
      ? {
          issuer,
          authorization_endpoint: endpoints.authorization,
          token_endpoint: endpoints.token,
          id_token_signing_alg_values_supported: [...asymmetricAlgorithms],
          ...(endpoints.introspection !== undefined && { introspection_endpoint: endpoints.introspection }),
          ...(endpoints.revocation !== undefined && { revocation_endpoint: endpoints.revocation }),
        }
      : await findServerMetadata(issuer, { fetch });
    if (typeof as.authorization_endpoint !== "string" || typeof as.token_endpoint !== "string")
      throw new OAuthError("discovery_failed", `${issuer} has no page for users, or no token endpoint`);
    toSafeUrl(as.authorization_endpoint);
    return {
      as,
      client: { client_id: clientId },
      auth: toClientAuth(as, { client_id: clientId, client_secret: clientSecret }),
      // The guard looks at the addresses.
      request: { [oauth.customFetch]: fetch as never, [oauth.allowInsecureRequests]: true },
    };
  }

  let known: { readonly found: Promise<Upstream>; readonly until: number } | undefined;
  return () => {
    if (!known || known.until < Date.now()) known = { found: find(), until: Date.now() + knownMs };
    const { found } = known;
    // Not for good: it may be there in a moment.
    found.catch(() => {
      if (known?.found === found) known = undefined;
    });
    return found;
  };
}

function assertUpstream({ issuer, clientId, clientSecret, scopes, toUser }: UpstreamOptions): void {
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  if (![issuer, clientId, clientSecret].every(isText))
    throw new TypeError("upstream: issuer, clientId and clientSecret must be texts");
  // What is kept of the third party is sealed with it.
  if (clientSecret.length < 16) throw new TypeError("upstream: clientSecret must have 16 characters or more");
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (!(url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname))))
    throw new TypeError("upstream: issuer must be https, or http on this machine");
  if (!toUser && !toUpstreamScopes(scopes).includes("openid"))
    throw new TypeError("upstream: without the scope openid nobody says who has logged in; give toUser");
}

export function toUpstreamScopes(scopes: readonly string[] | undefined): readonly string[] {
  return scopes ?? ["openid"];
}
