// OAuth for clients: `plenum/auth/client`.

export type { Fetch, GuardOptions } from "../guarded-fetch.ts";
export { OAuthError, type OAuthErrorCode } from "../oauth-error.ts";
export {
  type AuthHeaders,
  type AuthorizedRequest,
  type Authorizer,
  createAuthorizedFetch,
  type RefusedAnswer,
} from "./authorizer.ts";
export type { ClientKey } from "./client-auth.ts";
export type { Grant, GrantRequest } from "./grant.ts";
export type { Granted } from "./granted.ts";
export {
  type AssertionFor,
  clientCredentials,
  type EnterpriseOptions,
  enterpriseManaged,
  jwtBearer,
} from "./machine-grants.ts";
export { type OAuthAuthorizer, oauth } from "./oauth.ts";
export type { OAuthOptions } from "./oauth-options.ts";
export { createRedirect, type Redirect, type RedirectOptions, type Visit } from "./redirect.ts";
export { type ClientIdentity, type GivenClient, toClientMetadata } from "./registration.ts";
