// Who authorizes for a server: from the server's address to the metadata of its authorization server.
// Specification: basic/authorization/authorization-server-discovery; RFC 9728, RFC 8414, OpenID Connect Discovery.
import type { AuthorizationServer } from "oauth4webapi";
import { reasonOf } from "../../util/call-back.ts";
import { quote } from "../../util/quote.ts";
import { type Fetch, nameOf, toSafeUrl } from "../guarded-fetch.ts";
import { metadataPlaces } from "../metadata-places.ts";
import { OAuthError } from "../oauth-error.ts";

/** What is known of a server that wants tokens. */
export interface Discovered {
  /** The metadata of its authorization server. */
  readonly as: AuthorizationServer;
  /** As the metadata names it, to the letter; undefined where it has none: then nothing is said about it (2025-03-26). */
  readonly resource: string | undefined;
  readonly scopesSupported: readonly string[] | undefined;
  /** Found in the way of 2025-03-26, which did not make authorization servers tell of PKCE. */
  readonly isLegacy: boolean;
  /** No metadata is anywhere: its endpoints are where 2025-03-26 says, if there are any. */
  readonly isGuessed?: boolean;
}

export interface DiscoveryOptions {
  readonly fetch: Fetch;
  /** Which of several authorization servers. Default: the first. */
  readonly chooseIssuer?: ((issuers: readonly string[]) => string | Promise<string>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface ResourceMetadata {
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
}

/**
 * @param server the address of the MCP endpoint
 * @param hinted where the server says that its metadata is
 */
export async function discover(
  server: URL,
  hinted: string | undefined,
  options: DiscoveryOptions,
): Promise<Discovered> {
  const metadata = await findResourceMetadata(server, hinted, options);
  if (!metadata) return discoverLegacy(server, options);
  const { resource, issuers, scopesSupported } = metadata;
  const issuer = issuers.length > 1 && options.chooseIssuer ? await options.chooseIssuer(issuers) : issuers[0];
  if (issuer === undefined || !issuers.includes(issuer))
    throw new OAuthError("discovery_failed", "The authorization server that was chosen is none that the server names");
  const as = await findServerMetadata(issuer, options);
  return { as, resource, scopesSupported, isLegacy: false };
}

async function findResourceMetadata(
  server: URL,
  hinted: string | undefined,
  options: DiscoveryOptions,
): Promise<ResourceMetadata | undefined> {
  if (hinted !== undefined) {
    const found = await readJson(toSafeUrl(hinted).href, options);
    if (!found) throw new OAuthError("discovery_failed", `There is no metadata at ${nameOf(new URL(hinted))}`);
    return toResourceMetadata(found, server);
  }
  const path = server.pathname.replace(/\/$/, "");
  const places = path === "" ? [""] : [path, ""];
  for (const place of places) {
    const found = await readJson(`${server.origin}/.well-known/oauth-protected-resource${place}`, options);
    if (found) return toResourceMetadata(found, server);
  }
  return undefined;
}

function toResourceMetadata(found: { readonly [key: string]: unknown }, server: URL): ResourceMetadata {
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = found;
  if (typeof resource !== "string")
    throw new OAuthError("resource_mismatch", `The metadata of ${nameOf(server)} does not say of which resource it is`);
  if (!isWithin(server, resource))
    throw new OAuthError(
      "resource_mismatch",
      `The metadata of ${nameOf(server)} is of another resource, ${quote(resource, 200)}: no token is asked for with it. If that is the same server, connect to that address`,
    );
  if (!isTexts(issuers) || issuers.length === 0)
    throw new OAuthError("discovery_failed", `The metadata of ${nameOf(server)} names no authorization server`);
  return { resource, issuers, scopesSupported: isTexts(scopes) ? scopes : undefined };
}

/** Whether a resource is this server, or what this server is a part of. */
export function isWithin(server: URL, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, search, hash } = new URL(resource);
  if (origin !== server.origin || hash !== "" || (search !== "" && search !== server.search)) return false;
  const base = pathname.replace(/\/$/, "");
  return server.pathname === base || server.pathname.startsWith(`${base}/`);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** In the order of the specification. Throws where there is none, and for metadata of another issuer. */
export async function findServerMetadata(issuer: string, options: DiscoveryOptions): Promise<AuthorizationServer> {
  for (const place of metadataPlaces(toSafeUrl(issuer))) {
    const found = await readJson(place, options);
    if (!found) continue;
    // Letter by letter: what is the same to a reader may be another to who issued it.
    if (found.issuer !== issuer) throw toMismatch(issuer, found.issuer);
    return toServerMetadata(found, issuer);
  }
  throw new OAuthError("discovery_failed", `The authorization server ${issuer} has no metadata where it should be`);
}

function toMismatch(asked: string, found: unknown): OAuthError {
  const other = typeof found === "string" ? `is of another issuer, ${quote(found, 200)}` : "names no issuer";
  return new OAuthError("issuer_mismatch", `The metadata of ${asked} ${other}: it is not used`);
}

const texts = [
  ...["authorization_endpoint", "token_endpoint", "registration_endpoint"],
  ...["revocation_endpoint", "introspection_endpoint"],
] as const;
const lists = [
  "scopes_supported",
  "code_challenge_methods_supported",
  "token_endpoint_auth_methods_supported",
  "id_token_signing_alg_values_supported",
  "dpop_signing_alg_values_supported",
] as const;
const flags = ["client_id_metadata_document_supported", "authorization_response_iss_parameter_supported"] as const;

/** What is used of it, and is of the right kind. What is of another kind is not there. */
function toServerMetadata(found: { readonly [key: string]: unknown }, issuer: string): AuthorizationServer {
  const as: { [key: string]: unknown; issuer: string } = { issuer };
  for (const name of texts) if (typeof found[name] === "string") as[name] = found[name];
  for (const name of lists) if (isTexts(found[name])) as[name] = found[name];
  for (const name of flags) if (found[name] === true) as[name] = true;
  return as as AuthorizationServer;
}

/** 2025-03-26: the server is its own authorization server, with metadata at the root of its origin or fixed paths. */
async function discoverLegacy({ origin }: URL, options: DiscoveryOptions): Promise<Discovered> {
  const found = await readJson(`${origin}/.well-known/oauth-authorization-server`, options);
  const fixed: AuthorizationServer = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
  const issuer: unknown = (found ?? fixed).issuer;
  if (typeof issuer !== "string" || toSafeUrl(issuer).origin !== origin) throw toMismatch(origin, issuer);
  const as = found ? toServerMetadata(found, issuer) : fixed;
  return { as, resource: undefined, scopesSupported: as.scopes_supported, isLegacy: true, isGuessed: !found };
}

/**
 * What is said where nothing is found at the endpoints that were guessed: most likely the server has no OAuth at all. Any other
 * error stays what it is, as does the word of who answered as an authorization server does.
 * @param code what the first request to them fails with
 */
export function toGuessError(
  error: unknown,
  { as, isGuessed }: Discovered,
  code: "registration_failed" | "token_failed",
): unknown {
  const isNothing =
    error instanceof OAuthError && error.error === undefined && (error.code === code || error.code === "unsafe_url");
  if (!isGuessed || !isNothing) return error;
  return new OAuthError(
    "discovery_failed",
    `${as.issuer} wants a token, and names no authorization server. Perhaps it takes a fixed token: connect({ url, headers: { authorization: … } }). Where an older server has it nothing was found either (${error.message})`,
  );
}

const passing: readonly number[] = [408, 425, 429];

/** Undefined where nothing is there. */
async function readJson(
  url: string,
  { fetch, signal }: DiscoveryOptions,
): Promise<{ readonly [key: string]: unknown } | undefined> {
  const headers = { accept: "application/json", "mcp-protocol-version": "2025-03-26" };
  const response = await fetch(url, { headers, ...(signal && { signal }) }).catch((error: unknown) => {
    if (error instanceof OAuthError || signal?.aborted) throw error;
    throw new OAuthError("discovery_failed", reasonOf(error));
  });
  if (!response.ok) {
    await response.body?.cancel();
    // It may be there another time: to look elsewhere would find another server's word.
    if (response.status >= 500 || passing.includes(response.status))
      throw new OAuthError("discovery_failed", `${nameOf(new URL(url))} answered ${response.status}`);
    return undefined;
  }
  const value: unknown = await response.json().catch(() => undefined);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
