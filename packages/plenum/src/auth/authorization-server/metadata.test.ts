import { expect, test } from "vitest";
import { ask, issuer, makeRequest, makeSettings, resource } from "../../../../../test/auth/as-ground.ts";
import { covers } from "../../../../../test/requirements/covers.ts";
import { createMetadataRoutes } from "./metadata.ts";
import type { AuthorizationServerOptions } from "./options.ts";

const grantTypes = ["authorization_code", "refresh_token", "client_credentials"];
const open = (more: Partial<AuthorizationServerOptions> = {}) => createMetadataRoutes(makeSettings(more), grantTypes);
const read = async (path: string, more?: Partial<AuthorizationServerOptions>) =>
  (await ask(open(more)[path], makeRequest("GET"))).body;

test("the server says what it is and where everything is", async () => {
  covers(["auth-discovery-as-metadata-as", "auth-flow-as-advertises-iss", "security-as-https"]);
  const { status, headers, body } = await ask(open()["/.well-known/oauth-authorization-server"], makeRequest("GET"));
  expect(status).toBe(200);
  expect(headers).toMatchObject({ "access-control-allow-origin": "*" });
  expect(body).toMatchObject({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    introspection_endpoint: `${issuer}/introspect`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    scopes_supported: ["notes:read", "notes:write"],
    protected_resources: [resource],
  });
  for (const [name, value] of Object.entries(body)) if (/_endpoint$|_uri$/.test(name)) expect(value).toMatch(/^https:/);
  for (const alg of body.token_endpoint_auth_signing_alg_values_supported as string[])
    expect(alg).not.toMatch(/^HS|none/);
});

test("where OpenID Connect has it, too, with what that asks for", async () => {
  covers(["auth-discovery-as-metadata-offered", "security-pkce-oidc-advertised"]);
  expect(await read("/.well-known/openid-configuration")).toMatchObject({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
    code_challenge_methods_supported: ["S256"],
  });
});

test("of an issuer with a path it is at all places where it may be looked for", async () => {
  const tenant = { issuer: "https://auth.example.com/tenant" };
  const places = [
    "/.well-known/oauth-authorization-server/tenant",
    "/.well-known/openid-configuration/tenant",
    "/tenant/.well-known/openid-configuration",
  ];
  expect(Object.keys(open(tenant)).sort()).toEqual([...places].sort());
  for (const place of places)
    expect(await read(place, tenant)).toMatchObject({
      ...tenant,
      token_endpoint: "https://auth.example.com/tenant/token",
    });
});

test("an issuer with a slash at its end keeps it, and its endpoints have none of it", async () => {
  const slashed = { issuer: "https://auth.example.com/" };
  expect(await read("/.well-known/oauth-authorization-server", slashed)).toMatchObject({
    ...slashed,
    token_endpoint: `${issuer}/token`,
  });
});

test("what is off is not offered", async () => {
  const body = await read("/.well-known/oauth-authorization-server", {
    registration: false,
    clientDocuments: false,
    scopes: {},
  });
  expect(body).not.toHaveProperty("registration_endpoint");
  expect(body).not.toHaveProperty("scopes_supported");
  expect(body).toMatchObject({ client_id_metadata_document_supported: false });
});
