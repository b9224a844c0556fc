// An authorization server: for development, for tests, for one team's servers, and for an MCP server that is its own (2025-03-26).
// All that it serves is a table of routes, which plenum/http, a function from Request to Response, or Node can serve.
// Specification: basic/authorization; OAuth 2.1.
import { createGuardedFetch } from "../guarded-fetch.ts";
import { fromClaims, type Verified, type Verifier } from "../resource-server/verify.ts";
import type { Route, RouteRequest, Routes } from "../route.ts";
import type { Client } from "./client.ts";
import { authenticateClient } from "./client-auth.ts";
import { createClientDocuments } from "./client-document.ts";
import { createClients } from "./clients.ts";
import { endpoint } from "./endpoint.ts";
import { createFront } from "./front.ts";
import { createGrants, type GrantBook } from "./grants.ts";
import { createGuesses } from "./guesses.ts";
import { createIntrospectionEndpoint } from "./introspection.ts";
import { createKeys, type Keys, type RotateOptions } from "./keys.ts";
import { createMachineGrants } from "./machine-grants.ts";
import { createMetadataRoutes, endpointPaths, urlOf } from "./metadata.ts";
import type { AuthorizationServerOptions } from "./options.ts";
import { createRegistered } from "./registered.ts";
import { createRegistrationEndpoint } from "./registration.ts";
import { createRevocationEndpoint } from "./revocation.ts";
import { type Answerer, answerRequest, toFetchHandler, type Written } from "./serve.ts";
import { type Settings, toSettings } from "./settings.ts";
import { createTokenEndpoint } from "./token.ts";
import { userGrantTypes } from "./token-request.ts";
import { createUpstreamTokens } from "./upstream-tokens.ts";

/** It knows its own tokens, or does not. */
export interface OwnVerifier extends Verifier {
  verify(token: string): Promise<Verified | undefined>;
}

export interface AuthorizationServer {
  readonly issuer: string;
  /** By their paths, for the `routes` of plenum/http. */
  readonly routes: Routes;
  /** The same for runtimes that have Request and Response. Whatever is not served here is 404. */
  fetch(request: Request): Promise<Response>;
  /** The same for who has neither: what is to be written as the answer. */
  answer(request: RouteRequest): Promise<Written>;
  /** For requireAuth in the same process: what is revoked is so at once. */
  readonly verifier: OwnVerifier;
  /** A new key signs from now on; older ones are shown for as long as what they signed lives. */
  rotateKeys(options?: RotateOptions): Promise<void>;
  /**
   * Ends all that a user has allowed until now, with what is remembered of it and the logins of the user's browsers; or one
   * permission, which tokens name in `family`.
   */
  revoke(what: { readonly subject: string } | { readonly family: string }): Promise<void>;
  /**
   * With `upstream`: an access token of the third party that is good now, for what a server does there in a user's name. It is not
   * to be shown to any client.
   * @param family as the token that the user's client sent names it
   */
  upstreamToken(family: string): Promise<string | undefined>;
}

/** Throws a TypeError for options that make no sense, or that nobody would be safe with. */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const settings = toSettings(options);
  const { issuer, store, registration } = settings;
  const fetch = createGuardedFetch(settings);
  const keys = createKeys(store, settings);
  // The third party is the operator's choice, and may be at home.
  const upstreamFetch = createGuardedFetch({ fetch: settings.fetch });
  const upstreamTokens =
    settings.upstream && createUpstreamTokens(settings.upstream, { settings, store, fetch: upstreamFetch });
  const grants = createGrants(store, keys, settings, upstreamTokens);
  const registered = registration && createRegistered(store, settings);
  const documents = settings.clientDocuments ? createClientDocuments(settings) : undefined;
  const clients = createClients({ given: settings.clients, registered, documents });
  const others = createMachineGrants({ settings, keys, store, fetch });
  const tokenEndpoint = urlOf(settings, "token");
  const guesses = createGuesses();
  const authenticate = (request: RouteRequest, form: URLSearchParams): Promise<Client> =>
    authenticateClient(request, form, { clients, issuer, tokenEndpoint, store, fetch, guesses });

  const routes: Routes = {
    ...createFront({ settings, clients, grants, store, fetch: upstreamFetch, upstreamTokens }),
    ...createMetadataRoutes(settings, [...userGrantTypes, ...Object.keys(others)]),
    ...below(settings, {
      token: createTokenEndpoint({
        grants,
        authenticate,
        others,
        onToken: async (client) => registered?.keep(client),
      }),
      revoke: createRevocationEndpoint({ grants, authenticate }),
      introspect: createIntrospectionEndpoint({ issuer, grants, authenticate }),
      jwks: createJwksEndpoint(keys),
      ...(registered &&
        registration && { register: createRegistrationEndpoint({ registered, perMinute: registration.perMinute }) }),
    }),
  };

  const answer: Answerer = (request) => answerRequest(routes, request, settings.onError);

  return {
    issuer,
    routes,
    answer,
    fetch: toFetchHandler(answer),
    verifier: createVerifier(issuer, grants),
    rotateKeys: (rotation) => keys.rotate(rotation),
    revoke: (what) => ("subject" in what ? grants.revokeSubject(what.subject) : grants.revokeFamily(what.family)),
    async upstreamToken(family) {
      const key = await grants.upstreamOf(family);
      return key === undefined ? undefined : upstreamTokens?.accessTokenOf(key);
    },
  };
}

function below({ path }: Settings, named: { readonly [K in keyof typeof endpointPaths]?: Route }): Routes {
  return Object.fromEntries(
    Object.entries(named).map(([name, route]) => [
      `${path}${endpointPaths[name as keyof typeof endpointPaths]}`,
      route,
    ]),
  );
}

function createJwksEndpoint(keys: Keys): Route {
  return endpoint({ method: "GET" }, async () => ({
    // Not for long: a key that replaces a stolen one must be seen soon.
    headers: { "cache-control": "public, max-age=60" },
    body: await keys.jwks(),
  }));
}

/** For whom it was made is told, and for the resource server to look at. */
function createVerifier(issuer: string, grants: GrantBook): OwnVerifier {
  return {
    issuers: [issuer],
    async verify(token) {
      const claims = await grants.findAccess(token);
      return claims && fromClaims(claims, issuer);
    },
  };
}
