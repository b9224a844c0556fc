// The authorization code: a page that the user sees, and a code that is worth a token to nobody but who sent him there.
// Specification: basic/authorization; OAuth 2.1 § 4.1, RFC 7636 (PKCE), RFC 9207 (`iss`).
import * as oauth from "oauth4webapi";
import { untilAborted } from "../../util/abort.ts";
import { quote } from "../../util/quote.ts";
import { toSafeUrl } from "../guarded-fetch.ts";
import { OAuthError, readWords } from "../oauth-error.ts";
import { toClientAuth } from "./client-auth.ts";
import type { Discovered } from "./discovery.ts";
import { dpopAlg } from "./dpop.ts";
import { type GrantRequest, requestOptions, toTokenError, withResource } from "./grant.ts";
import { toParameters, type Visit } from "./redirect.ts";

/**
 * Throws an OAuthError where the authorization server has no page that a user can be sent to, or does not say that a stolen code is
 * worth nothing, or how it would bind a token: before anything is registered there, and anybody is asked.
 */
export function assertCodeGrant({ as, isLegacy }: Discovered, isBound = false): void {
  const methods = as.code_challenge_methods_supported;
  if (!methods?.includes("S256") && !(isLegacy && methods === undefined))
    throw new OAuthError(
      "pkce_unsupported",
      `${as.issuer} does not say that it supports PKCE (code_challenge_methods_supported with S256): nobody is sent there`,
    );
  const algs = as.dpop_signing_alg_values_supported;
  if (isBound && !algs?.includes(dpopAlg) && !(isLegacy && algs === undefined))
    throw new OAuthError(
      "dpop_unsupported",
      `${as.issuer} does not say that it binds tokens to keys (dpop_signing_alg_values_supported with ${dpopAlg}): leave out dpop, or ask its operator`,
    );
  for (const name of ["authorization_endpoint", "token_endpoint"] as const) {
    const url = as[name];
    if (url === undefined) throw new OAuthError("discovery_failed", `${as.issuer} has no ${name}: nobody can log in`);
    toSafeUrl(url);
  }
}

export async function authorizeByCode(request: GrantRequest, visit: Visit): Promise<oauth.TokenEndpointResponse> {
  const { as, client, scope, signal } = request;
  const page = toSafeUrl(as.authorization_endpoint as string);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const parameters = withResource(page.searchParams, request);
  parameters.set("response_type", "code");
  parameters.set("client_id", client.client_id);
  parameters.set("redirect_uri", visit.uri);
  parameters.set("code_challenge", await oauth.calculatePKCECodeChallenge(verifier));
  parameters.set("code_challenge_method", "S256");
  parameters.set("state", state);
  if (scope !== undefined) {
    parameters.set("scope", scope);
    // Without it some give no refresh token to who was here before.
    if (scope.split(" ").includes("offline_access")) parameters.set("prompt", "consent");
  }
  // Not everybody heeds the signal.
  const came = toParameters(await untilAborted(Promise.resolve(visit.open(page, signal)), signal, (reason) => reason));
  return redeem(request, checkAnswer(as, client.client_id, came, state), visit.uri, verifier);
}

/** Before anything is done with the code: that it is the answer to this question, and of the server that was asked. */
function checkAnswer(
  as: oauth.AuthorizationServer,
  clientId: string,
  came: URLSearchParams,
  state: string,
): URLSearchParams {
  if (came.getAll("state").join(" ") !== state)
    throw new OAuthError("state_mismatch", "What came back belongs to another question: its code is not used");
  const [iss, another] = came.getAll("iss");
  // Letter by letter, whether or not it says that it sends one. What a stranger says of an error is not shown either.
  const isMissing = iss === undefined && as.authorization_response_iss_parameter_supported === true;
  if (isMissing || another !== undefined || (iss !== undefined && iss !== as.issuer)) {
    const from = isMissing ? "does not say who it is from" : `is from ${quote(another ?? iss ?? "", 200)}`;
    throw new OAuthError("issuer_mismatch", `The answer ${from}, and ${as.issuer} was asked: its code is not used`);
  }
  try {
    return oauth.validateAuthResponse(as, { client_id: clientId }, came, state);
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const { error: code, words = "an error" } = readWords(error.error, error.error_description);
      throw new OAuthError("denied", `${as.issuer} said no: ${words}`, { error: code });
    }
    throw new OAuthError("state_mismatch", "What came back cannot be read: its code is not used");
  }
}

async function redeem(
  request: GrantRequest,
  checked: URLSearchParams,
  redirectUri: string,
  verifier: string,
): Promise<oauth.TokenEndpointResponse> {
  const { as, key } = request;
  const client: oauth.Client = { client_id: request.client.client_id };
  const additionalParameters = withResource(new URLSearchParams(), request);
  const ask = async (): Promise<oauth.TokenEndpointResponse> => {
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      toClientAuth(as, request.client, key),
      checked,
      redirectUri,
      verifier,
      { ...requestOptions(request), additionalParameters },
    );
    return oauth.processAuthorizationCodeResponse(as, client, response);
  };
  try {
    return await ask().catch((error) => {
      if (!oauth.isDPoPNonceError(error)) throw error;
      return ask();
    });
  } catch (error) {
    throw await toTokenError(error, request, [verifier, ...checked.getAll("code")]);
  }
}
