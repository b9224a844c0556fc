// How the everything client gets leave, and what must come of it: the suite's scenarios of authorization.
import { importPKCS8 } from "jose";
import type { JsonObject } from "plenum";
import {
  type Authorizer,
  clientCredentials,
  createRedirect,
  enterpriseManaged,
  jwtBearer,
  OAuthError,
  type OAuthErrorCode,
  type OAuthOptions,
  oauth,
} from "plenum/auth/client";

/** The suite's authorization servers ask nobody: the page leads straight back. */
const redirect = createRedirect({
  uri: "http://localhost:3000/callback",
  async open(url) {
    const response = await fetch(url, { redirect: "manual" });
    const location = response.headers.get("location");
    if (!location) throw new Error(`the authorization page answered ${response.status} and leads nowhere`);
    return location;
  },
});

const asUser: OAuthOptions = {
  redirect,
  clientName: "plenum-everything-client",
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
};

/** Where the right thing is not to go on, and why. */
const refusals: { readonly [scenario: string]: OAuthErrorCode } = {
  "auth/scope-retry-limit": "insufficient_scope",
  "auth/resource-mismatch": "resource_mismatch",
  "auth/metadata-issuer-mismatch": "issuer_mismatch",
  "auth/iss-supported-missing": "issuer_mismatch",
  "auth/iss-wrong-issuer": "issuer_mismatch",
  "auth/iss-unexpected": "issuer_mismatch",
  "auth/iss-normalized": "issuer_mismatch",
};

export async function toAuth(scenario: string, context: JsonObject): Promise<Authorizer> {
  const text = (name: string): string => {
    const value = context[name];
    if (typeof value !== "string") throw new Error(`${scenario} needs ${name} in MCP_CONFORMANCE_CONTEXT`);
    return value;
  };
  switch (scenario) {
    case "auth/pre-registration":
      return oauth({ ...asUser, client: { id: text("client_id"), secret: text("client_secret") } });
    // The suite looks at what a client registers with.
    case "auth/offline-access-scope":
      return oauth({ redirect });
    case "auth/dpop":
    case "auth/dpop-nonce":
      return oauth({ ...asUser, dpop: true });
    case "auth/client-credentials-basic":
      return oauth({
        client: { id: text("client_id"), secret: text("client_secret") },
        grant: clientCredentials(),
      });
    case "auth/client-credentials-jwt":
      return oauth({
        client: { id: text("client_id") },
        clientKey: { key: await importPKCS8(text("private_key_pem"), text("signing_algorithm")) },
        grant: clientCredentials(),
      });
    case "auth/enterprise-managed-authorization":
      return oauth({
        client: { id: text("client_id"), secret: text("client_secret") },
        grant: enterpriseManaged({
          idp: {
            issuer: text("idp_issuer"),
            tokenEndpoint: text("idp_token_endpoint"),
            clientId: text("idp_client_id"),
          },
          idToken: () => text("idp_id_token"),
        }),
      });
    case "auth/wif-jwt-bearer":
      return oauth({ client: { id: text("client_id") }, grant: jwtBearer(() => text("valid_jwt")) });
    default:
      return oauth(asUser);
  }
}

/** Throws unless the run came to the end that the scenario wants. */
export async function expectEnd(scenario: string, run: () => Promise<unknown>): Promise<void> {
  const wanted = refusals[scenario];
  if (!wanted) {
    await run();
    return;
  }
  const error: unknown = await run().then(
    () => undefined,
    (thrown) => thrown,
  );
  const code = codeIn(error);
  if (code !== wanted) throw new Error(`${scenario} should end with ${wanted}, not with ${code}`, { cause: error });
}

function codeIn(error: unknown): OAuthErrorCode | undefined {
  if (error instanceof OAuthError) return error.code;
  return error instanceof Error ? codeIn(error.cause) : undefined;
}
