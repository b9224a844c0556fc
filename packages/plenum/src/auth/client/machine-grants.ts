// Ways to a token for programs: nobody is asked. Specification: the extensions oauth-client-credentials and
// enterprise-managed-authorization; RFC 7523, RFC 8693.
import { toSafeUrl } from "../guarded-fetch.ts";
import { OAuthError } from "../oauth-error.ts";
import { assertOptionNames } from "../option-names.ts";
import { toClientAuth } from "./client-auth.ts";
import { askTokenEndpoint, type Grant, type GrantRequest, withResource } from "./grant.ts";

function parametersOf(request: GrantRequest): URLSearchParams {
  const parameters = withResource(new URLSearchParams(), request);
  if (request.scope !== undefined) parameters.set("scope", request.scope);
  return parameters;
}

/** With the credentials of the client itself: a secret, or a key that signs. */
export function clientCredentials(): Grant {
  return {
    name: "client_credentials",
    extension: "io.modelcontextprotocol/oauth-client-credentials",
    request: (request) => askTokenEndpoint(request, "client_credentials", parametersOf(request)),
  };
}

export interface AssertionFor {
  readonly issuer: string;
  readonly resource: string | undefined;
}

/**
 * With what the platform says of this workload, as a JWT: asked for each time, since it does not live long. Throws a TypeError for
 * what is no function.
 */
export function jwtBearer(assertion: (about: AssertionFor) => string | Promise<string>): Grant {
  if (typeof assertion !== "function")
    throw new TypeError("jwtBearer takes a function that gives a JWT: async ({ issuer }) => …");
  return {
    name: "jwt-bearer",
    async request(request) {
      const { issuer } = request.as;
      const parameters = parametersOf(request);
      parameters.set("assertion", await assertion({ issuer, resource: request.resource }));
      return askTokenEndpoint(request, "urn:ietf:params:oauth:grant-type:jwt-bearer", parameters);
    },
  };
}

export interface EnterpriseOptions {
  /** The token endpoint of the identity provider, and who this client is to it. */
  readonly idp: {
    readonly issuer: string;
    readonly tokenEndpoint: string;
    readonly clientId: string;
    readonly clientSecret?: string;
  };
  /** What the user's sign-on gave; asked for each time. */
  readonly idToken: () => string | Promise<string>;
  /** Default: an ID token. */
  readonly subjectTokenType?: string;
}

const jag = "urn:ietf:params:oauth:token-type:id-jag";

/**
 * What the enterprise's identity provider says of the user, in exchange for a token of the server's: no page is shown.
 * Throws a TypeError for options that make no sense.
 */
export function enterpriseManaged(options: EnterpriseOptions): Grant {
  assertEnterprise(options);
  const { idp, idToken, subjectTokenType } = options;
  const bearer = (request: GrantRequest) =>
    jwtBearer(async () => {
      const parameters = parametersOf(request);
      parameters.set("audience", request.as.issuer);
      parameters.set("requested_token_type", jag);
      parameters.set("subject_token", await idToken());
      parameters.set("subject_token_type", subjectTokenType ?? "urn:ietf:params:oauth:token-type:id_token");
      const as = { issuer: idp.issuer, token_endpoint: toSafeUrl(idp.tokenEndpoint).href };
      const auth = toClientAuth(as, { client_id: idp.clientId, client_secret: idp.clientSecret });
      const exchange = { ...request, as, client: { client_id: idp.clientId }, dpop: undefined };
      const given = await askTokenEndpoint(
        exchange,
        "urn:ietf:params:oauth:grant-type:token-exchange",
        parameters,
        auth,
      );
      if (given.issued_token_type !== jag)
        throw new OAuthError("token_failed", `${idp.issuer} gave something else than what the server takes (id-jag)`);
      return given.access_token;
    });
  return {
    name: "enterprise-managed",
    extension: "io.modelcontextprotocol/enterprise-managed-authorization",
    request: (request) => bearer(request).request(request),
  };
}

const idpNames = { issuer: true, tokenEndpoint: true, clientId: true, clientSecret: true } as const;

function assertEnterprise(options: EnterpriseOptions): void {
  assertOptionNames("enterpriseManaged", options, { idp: true, idToken: true, subjectTokenType: true });
  assertOptionNames("enterpriseManaged({ idp })", options.idp, idpNames);
  for (const name of ["issuer", "tokenEndpoint", "clientId"] as const)
    if (typeof options.idp[name] !== "string" || options.idp[name] === "")
      throw new TypeError(`enterpriseManaged: idp needs ${name}: { issuer, tokenEndpoint, clientId }`);
  if (typeof options.idToken !== "function")
    throw new TypeError("enterpriseManaged: idToken must be a function that gives what the user's sign-on gave");
}
