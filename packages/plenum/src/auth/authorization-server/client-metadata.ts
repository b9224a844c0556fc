// What a client says of itself, when it registers and in a document of its own: one language, read strictly. RFC 7591 § 2.
import type { JSONWebKeySet } from "jose";
import { isLoopbackHost } from "../guarded-fetch.ts";
import type { ClientAuthMethod } from "./client.ts";
import { AuthFault } from "./fault.ts";
import { checkRedirectUri } from "./redirect-uri.ts";
import { userGrantTypes } from "./token-request.ts";

export type Metadata = { readonly [name: string]: unknown };

/** What there is to know of a client that has told it itself. */
export interface Described {
  readonly name: string | undefined;
  readonly uri: string | undefined;
  readonly redirectUris: readonly string[];
  readonly authMethod: ClientAuthMethod;
  readonly jwks: JSONWebKeySet | undefined;
  readonly jwksUri: string | undefined;
  readonly grantTypes: readonly string[];
}

const maxRedirectUris = 20;
const maxNameLength = 200;
const maxKeys = 20;
/** Members of keys that are nobody's business. RFC 7518 § 6 */
const secretMembers = ["d", "k", "p", "q", "dp", "dq", "qi", "oth"];

function refuse(message: string): never {
  throw new AuthFault("invalid_client_metadata", message);
}

/**
 * Throws an AuthFault, `invalid_redirect_uri` or `invalid_client_metadata`. What is not known here is left out.
 * @param methods how a client of this kind may show who it is; the first is the default
 */
export function readMetadata(
  metadata: Metadata,
  methods: readonly [ClientAuthMethod, ...ClientAuthMethod[]],
): Described {
  const authMethod = toMethod(metadata.token_endpoint_auth_method, methods);
  const jwks = toJwks(metadata.jwks);
  const jwksUri = toWebUrl(metadata.jwks_uri, "jwks_uri");
  if (jwks && jwksUri !== undefined) refuse("jwks and jwks_uri are not given together");
  if (authMethod === "private_key_jwt" && !jwks && jwksUri === undefined)
    refuse("private_key_jwt takes the keys of the client: jwks or jwks_uri");
  return {
    name: toName(metadata.client_name),
    uri: toWebUrl(metadata.client_uri, "client_uri"),
    redirectUris: toRedirectUris(metadata.redirect_uris),
    authMethod,
    jwks,
    jwksUri,
    grantTypes: toGrantTypes(metadata),
  };
}

function toMethod(given: unknown, methods: readonly [ClientAuthMethod, ...ClientAuthMethod[]]): ClientAuthMethod {
  if (given === undefined) return methods[0];
  return (
    methods.find((method) => method === given) ?? refuse(`token_endpoint_auth_method is one of ${methods.join(", ")}`)
  );
}

function toName(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  // Some letters, and a pattern of Braille, leave nothing on a page.
  const isShown = typeof given === "string" && given.replace(/[\p{Default_Ignorable_Code_Point}\u2800]/gu, "").trim();
  if (!isShown || given.length > maxNameLength) refuse(`client_name is a text of at most ${maxNameLength} characters`);
  // People read it, and decide by it.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u.test(given))
    refuse("client_name has characters that are not to be seen");
  return given;
}

/** One that is shown, or fetched: in either case nothing but a page. */
function toWebUrl(given: unknown, member: string): string | undefined {
  if (given === undefined) return undefined;
  const url = typeof given === "string" && given.length <= 2000 && URL.canParse(given) ? new URL(given) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  return url && isSafe && !url.username && !url.password ? url.href : refuse(`${member} is an https URL`);
}

function toRedirectUris(given: unknown): readonly string[] {
  const fault = (message: string): AuthFault => new AuthFault("invalid_redirect_uri", message);
  if (!Array.isArray(given) || given.length === 0) throw fault("redirect_uris lists where a code may be sent");
  if (given.length > maxRedirectUris) throw fault(`redirect_uris lists at most ${maxRedirectUris}`);
  const problem = given.map((uri) => checkRedirectUri(uri)).find(Boolean);
  if (problem) throw fault(problem);
  return [...new Set(given as string[])];
}

function toJwks(given: unknown): JSONWebKeySet | undefined {
  if (given === undefined) return undefined;
  const { keys } = (given ?? {}) as { readonly keys?: unknown };
  const isKey = (key: unknown): boolean =>
    typeof key === "object" && key !== null && !Array.isArray(key) && !secretMembers.some((member) => member in key);
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > maxKeys || !keys.every(isKey))
    refuse(`jwks has one to ${maxKeys} keys, and only their public halves`);
  return { keys };
}

/** Who tells it itself gets tokens with a user alone: others of its grant types are left out. */
function toGrantTypes({
  grant_types: types = userGrantTypes,
  response_types: answers = ["code"],
}: Metadata): readonly string[] {
  if (!Array.isArray(types) || !Array.isArray(answers)) refuse("grant_types and response_types are lists");
  if (!types.includes("authorization_code") || !answers.includes("code"))
    refuse(
      "grant_types must have authorization_code, and response_types code: there is no other way for a client of this kind",
    );
  return userGrantTypes.filter((type) => types.includes(type));
}
