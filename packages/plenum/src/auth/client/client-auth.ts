// How a client shows a token endpoint who it is. RFC 6749 § 2.3, RFC 7523.
import * as oauth from "oauth4webapi";
import { OAuthError } from "../oauth-error.ts";
import type { Registration } from "./saved.ts";

/** The key with which a client signs who it is, in place of a secret. */
export interface ClientKey {
  readonly key: CryptoKey;
  /** Which of several it is. */
  readonly kid?: string;
}

/** Throws an OAuthError, `no_client`, where the authorization server takes nothing that the client has. */
export function toClientAuth(
  as: oauth.AuthorizationServer,
  { client_secret: secret, token_endpoint_auth_method: method }: Registration,
  key?: ClientKey,
): oauth.ClientAuth {
  switch (method ?? chooseMethod(as, secret, key)) {
    case "none":
      return oauth.None();
    case "client_secret_basic":
      return basic(assertSecret(secret, as));
    case "client_secret_post":
      return oauth.ClientSecretPost(assertSecret(secret, as));
    case "private_key_jwt":
      if (key) return oauth.PrivateKeyJwt(key);
  }
  throw new OAuthError("no_client", `${as.issuer} wants this client to show who it is in a way that it cannot`);
}

/** As forms are written, and no more than that: of what need not be encoded many servers do not expect it. */
function basic(secret: string): oauth.ClientAuth {
  return (_as, { client_id }, _body, headers) => {
    headers.set("authorization", `Basic ${btoa(`${encode(client_id)}:${encode(secret)}`)}`);
  };
}

function encode(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function chooseMethod(
  { token_endpoint_auth_methods_supported: known }: oauth.AuthorizationServer,
  secret: string | undefined,
  key: ClientKey | undefined,
): string | undefined {
  const able = [
    ...(key ? ["private_key_jwt"] : []),
    ...(secret === undefined ? [] : ["client_secret_basic", "client_secret_post"]),
    ...(secret === undefined && !key ? ["none"] : []),
  ];
  return known ? able.find((method) => known.includes(method)) : able[0];
}

function assertSecret(secret: string | undefined, { issuer }: oauth.AuthorizationServer): string {
  if (secret === undefined) throw new OAuthError("no_client", `${issuer} wants a client secret, and there is none`);
  return secret;
}
