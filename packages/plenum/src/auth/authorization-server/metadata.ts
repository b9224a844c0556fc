// What the authorization server says of itself, at every place where clients look for it. RFC 8414, RFC 9207, RFC 9728 § 4,
// OpenID Connect Discovery.
import type { Routes } from "../route.ts";
import { asymmetricAlgorithms } from "../signed.ts";
import { endpoint } from "./endpoint.ts";
import type { Settings } from "./settings.ts";

/** Where each endpoint is, below the issuer. */
export const endpointPaths = {
  authorize: "/authorize",
  token: "/token",
  register: "/register",
  revoke: "/revoke",
  introspect: "/introspect",
  jwks: "/jwks",
} as const;

export function urlOf({ origin, path }: Pick<Settings, "origin" | "path">, name: keyof typeof endpointPaths): string {
  return `${origin}${path}${endpointPaths[name]}`;
}

const confidentialMethods = ["client_secret_basic", "client_secret_post", "private_key_jwt"];

type Metadata = { readonly [name: string]: unknown };

/** @param grantTypes all that the token endpoint knows */
export function toMetadata(settings: Settings, grantTypes: readonly string[]): Metadata {
  const scopes = Object.keys(settings.scopes);
  const authMethods = ["none", ...confidentialMethods];
  const algorithms = [...asymmetricAlgorithms];
  return {
    issuer: settings.issuer,
    authorization_endpoint: urlOf(settings, "authorize"),
    token_endpoint: urlOf(settings, "token"),
    ...(settings.registration && { registration_endpoint: urlOf(settings, "register") }),
    revocation_endpoint: urlOf(settings, "revoke"),
    introspection_endpoint: urlOf(settings, "introspect"),
    jwks_uri: urlOf(settings, "jwks"),
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: [...grantTypes],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: authMethods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_endpoint_auth_methods_supported: confidentialMethods,
    introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: settings.clientDocuments,
    protected_resources: [...settings.resources],
  };
}

/**
 * What OpenID Connect Discovery asks for besides. There are no ID tokens here; clients that look nowhere else find the endpoints,
 * and no scope `openid` among those that there are.
 */
function toOpenId(metadata: Metadata): Metadata {
  return {
    ...metadata,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

export function createMetadataRoutes(settings: Settings, grantTypes: readonly string[]): Routes {
  const metadata = toMetadata(settings, grantTypes);
  const show = (body: Metadata) =>
    endpoint({ method: "GET" }, () => ({ headers: { "cache-control": "public, max-age=300" }, body }));
  const openId = show(toOpenId(metadata));
  return {
    [`/.well-known/oauth-authorization-server${settings.path}`]: show(metadata),
    [`/.well-known/openid-configuration${settings.path}`]: openId,
    [`${settings.path}/.well-known/openid-configuration`]: openId,
  };
}
