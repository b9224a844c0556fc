// The token endpoint: who a client is, what it has to show, and what it gets for that. OAuth 2.1 § 3.2; RFC 8707 (resources).
import type { Route, RouteRequest } from "../route.ts";
import type { Client } from "./client.ts";
import { endpoint, readForm, uncached } from "./endpoint.ts";
import { AuthFault } from "./fault.ts";
import type { GrantBook, Issued } from "./grants.ts";
import { type GrantTypes, type TokenRequest, userGrantTypes } from "./token-request.ts";

export interface TokenGround {
  readonly grants: GrantBook;
  /** Who asks; rejects with an AuthFault. */
  authenticate(request: RouteRequest, form: URLSearchParams): Promise<Client>;
  /** Ways to a token besides a code and a refresh token. */
  readonly others: GrantTypes;
  /** Told of every client that got a token. */
  onToken(client: Client): Promise<void>;
}

type Answer = { readonly [name: string]: unknown };

export function createTokenEndpoint(ground: TokenGround): Route {
  return endpoint({ method: "POST" }, async (request) => {
    const form = await readForm(request);
    const client = await ground.authenticate(request, form);
    const type = form.get("grant_type");
    if (type === null) throw new AuthFault("invalid_request", "grant_type is missing");
    const answer = await answerTo(type, { client, form }, ground);
    await ground.onToken(client);
    return { headers: uncached, body: answer };
  });
}

async function answerTo(type: string, request: TokenRequest, ground: TokenGround): Promise<Answer> {
  const other = Object.hasOwn(ground.others, type) ? ground.others[type] : undefined;
  if (!other && !userGrantTypes.includes(type))
    throw new AuthFault("unsupported_grant_type", "That grant type is not known here");
  if (!request.client.grantTypes.includes(type))
    throw new AuthFault("unauthorized_client", "The client is not registered for that grant type");
  if (other) {
    const granted = await other(request);
    return "answer" in granted ? granted.answer : toAnswer(await ground.grants.issue(granted));
  }
  return toAnswer(await (type === "refresh_token" ? refresh(request, ground) : redeem(request, ground)));
}

function redeem({ client, form }: TokenRequest, { grants }: TokenGround): Promise<Issued> {
  const code = form.get("code");
  if (code === null) throw new AuthFault("invalid_request", "code is missing");
  return grants.redeemCode({
    code,
    client,
    redirectUri: form.get("redirect_uri") ?? undefined,
    verifier: form.get("code_verifier") ?? undefined,
    resource: form.get("resource") ?? undefined,
  });
}

function refresh({ client, form }: TokenRequest, { grants }: TokenGround): Promise<Issued> {
  const token = form.get("refresh_token");
  if (token === null) throw new AuthFault("invalid_request", "refresh_token is missing");
  const scopes = form
    .get("scope")
    ?.split(" ")
    .filter((scope) => scope !== "" && scope !== "offline_access");
  return grants.refresh({
    token,
    client,
    // Some ask for nothing but what is no scope of a resource.
    scopes: scopes && scopes.length > 0 ? [...new Set(scopes)] : undefined,
    resource: form.get("resource") ?? undefined,
  });
}

function toAnswer({ accessToken, expiresInS, scopes, refreshToken }: Issued): Answer {
  return {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: expiresInS,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  };
}
