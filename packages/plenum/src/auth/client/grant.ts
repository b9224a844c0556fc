// The seam between the client and the ways to a token: each is a value that asks one token endpoint. And what all of them do
// with its answer.
import * as oauth from "oauth4webapi";
import { reasonOf } from "../../util/call-back.ts";
import type { Fetch } from "../guarded-fetch.ts";
import { OAuthError, readWords } from "../oauth-error.ts";
import { type ClientKey, toClientAuth } from "./client-auth.ts";
import type { Discovered } from "./discovery.ts";
import type { Registration, Tokens } from "./saved.ts";

/** What a grant is asked with. */
export interface GrantRequest extends Discovered {
  readonly client: Registration;
  readonly key: ClientKey | undefined;
  /** Undefined: the authorization server's default. */
  readonly scope: string | undefined;
  readonly dpop: oauth.DPoPHandle | undefined;
  readonly fetch: Fetch;
  readonly signal: AbortSignal | undefined;
}

/** A way to a token that takes no user. */
export interface Grant {
  readonly name: string;
  /** The extension of MCP that it belongs to, which a client that uses it has to name. */
  readonly extension?: string;
  request(request: GrantRequest): Promise<oauth.TokenEndpointResponse>;
}

/** `resource` in every request, whether or not the server knows what it is for. */
export function withResource(parameters: URLSearchParams, { resource }: Discovered): URLSearchParams {
  if (resource !== undefined) parameters.set("resource", resource);
  return parameters;
}

/** Without a signal: who leaves in the middle loses a token that was made, and the one that was spent for it. */
export function requestOptions({ dpop, fetch }: GrantRequest): oauth.TokenEndpointRequestOptions {
  return {
    [oauth.customFetch]: toPlain(fetch) as never,
    // The guard has looked at the address already.
    [oauth.allowInsecureRequests]: true,
    ...(dpop && { DPoP: dpop }),
  };
}

/**
 * Why there is no token is in the body, also of an answer that names a scheme: what is read of that is no reason (RFC 6749 § 5.2).
 * And some write null for what they do not say.
 */
function toPlain(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    response.headers.delete("www-authenticate");
    const said: unknown = response.ok
      ? await response
          .clone()
          .json()
          .catch(() => undefined)
      : undefined;
    if (typeof said !== "object" || said === null || !Object.values(said).includes(null)) return response;
    const members = Object.entries(said).filter(([, value]) => value !== null);
    return new Response(JSON.stringify(Object.fromEntries(members)), response);
  };
}

/** Parameters that nobody but the authorization server may see. */
const secretNames = ["refresh_token", "assertion", "subject_token"];

/** Asks a token endpoint; once more where it wants a nonce in its proof. Throws an OAuthError, `token_failed`. */
export async function askTokenEndpoint(
  request: GrantRequest,
  grantType: string,
  parameters: URLSearchParams,
  auth: oauth.ClientAuth = toClientAuth(request.as, request.client, request.key),
): Promise<oauth.TokenEndpointResponse> {
  const client: oauth.Client = { client_id: request.client.client_id };
  const ask = async (): Promise<oauth.TokenEndpointResponse> => {
    const response = await oauth.genericTokenEndpointRequest(
      request.as,
      client,
      auth,
      grantType,
      parameters,
      requestOptions(request),
    );
    // What a token exchange gives may be no access token.
    const recognizedTokenTypes = { n_a: () => {} };
    return oauth.processGenericTokenEndpointResponse(request.as, client, response, { recognizedTokenTypes });
  };
  try {
    return await ask().catch((error) => {
      if (!oauth.isDPoPNonceError(error)) throw error;
      return ask();
    });
  } catch (error) {
    throw await toTokenError(
      error,
      request,
      secretNames.flatMap((name) => parameters.getAll(name)),
    );
  }
}

/**
 * In words of the server's, where it has any. Without a cause, which may hold what was sent or what came.
 * @param sent what must not be in them; the client's secret need not be named
 */
export async function toTokenError(
  error: unknown,
  { as, client }: GrantRequest,
  sent: readonly string[],
): Promise<OAuthError> {
  if (error instanceof OAuthError) return error;
  const secrets = [...sent, client.client_secret ?? ""].filter((one) => one !== client.client_id && one.length > 3);
  const said = await readBody(error);
  if (said) {
    const { error: code, words = `HTTP ${said.status}` } = readWords(said.error, said.error_description, secrets);
    return new OAuthError("token_failed", `${as.issuer} gave no token: ${words}`, { error: code });
  }
  // The library's own words are about itself.
  const answer = error instanceof Error && error.cause instanceof Response ? error.cause : undefined;
  const why = answer ? `HTTP ${answer.status}, with nothing in it that is an answer` : reasonOf(error);
  const { words = "its answer cannot be read" } = readWords(undefined, why, secrets);
  return new OAuthError("token_failed", `${as.issuer} gave no token: ${words}`);
}

interface Said {
  readonly status: number;
  readonly error?: unknown;
  readonly error_description?: unknown;
}

/** What an answer says is wrong. To a client that showed in a header who it is, it has a challenge besides. */
async function readBody(error: unknown): Promise<Said | undefined> {
  if (error instanceof oauth.ResponseBodyError) return error;
  if (!(error instanceof oauth.WWWAuthenticateChallengeError)) return undefined;
  const said: unknown = await error.response.json().catch(() => undefined);
  return { ...(said as object), status: error.status };
}

/**
 * @param before what is kept where the answer does not say: a refresh token that is not rotated stays
 */
export function toTokens(
  given: oauth.TokenEndpointResponse,
  { client, scope, dpop }: Pick<GrantRequest, "client" | "scope" | "dpop">,
  before?: Tokens,
): Tokens {
  const type: string = given.token_type;
  if (type !== "bearer" && type !== "dpop")
    throw new OAuthError("token_failed", "The authorization server gave a token of a kind that is not known here");
  if (type === "dpop" && !dpop)
    throw new OAuthError("token_failed", "The authorization server gave a token that is bound to a key nobody has");
  if (type !== "dpop" && dpop)
    throw new OAuthError("token_failed", "The authorization server gave a token that is bound to no key (dpop)");
  // It stands in a header.
  if (!/^[\x21-\x7e]+$/.test(given.access_token))
    throw new OAuthError("token_failed", "The authorization server gave a token that no request can carry");
  return {
    accessToken: given.access_token,
    type,
    refreshToken: given.refresh_token ?? before?.refreshToken,
    expiresAt: given.expires_in === undefined ? undefined : Date.now() + given.expires_in * 1000,
    scope: given.scope ?? scope ?? before?.scope,
    clientId: client.client_id,
    registration: client.redirect_uris && client,
  };
}
