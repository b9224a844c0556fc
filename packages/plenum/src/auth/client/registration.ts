// Who a client is to an authorization server: what it was given, a document of its own, or what the server made of it.
// Specification: basic/authorization/client-registration; RFC 7591.
import type { AuthorizationServer } from "oauth4webapi";
import { reasonOf } from "../../util/call-back.ts";
import { type Fetch, isLoopbackHost, toSafeUrl } from "../guarded-fetch.ts";
import { OAuthError, readWords } from "../oauth-error.ts";
import type { Registration } from "./saved.ts";

/** Credentials that somebody has got from the authorization server before. */
export interface GivenClient {
  readonly id: string;
  readonly secret?: string;
  /** The authorization server that gave them. Default: whichever the server names; a secret is shown to none but the first. */
  readonly issuer?: string;
  /** How the client shows who it is. Default: what the authorization server prefers. */
  readonly authMethod?: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";
}

export interface ClientIdentity {
  /** What people see on the consent page. Default "Plenum". */
  readonly clientName?: string | undefined;
  readonly clientUri?: string | undefined;
  readonly client?: GivenClient | undefined;
  /** Where the client's metadata document is: an https URL with a path, which is then the client's id. */
  readonly clientMetadataUrl?: string | undefined;
}

/** Throws a TypeError for a URL that cannot be the id of a client. */
export function assertMetadataUrl(given: string): void {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== "https:" || url.pathname === "/" || url.hash || url.username || url.password)
    throw new TypeError(
      "oauth: clientMetadataUrl must be an https URL with a path, and without a fragment or a password",
    );
}

/** The document to put at `clientMetadataUrl`. */
export function toClientMetadata(
  url: string,
  redirectUris: readonly string[],
  { clientName = "Plenum", clientUri }: ClientIdentity = {},
): { readonly [key: string]: unknown } {
  assertMetadataUrl(url);
  return { client_id: url, ...metadataOf(redirectUris, clientName, clientUri), token_endpoint_auth_method: "none" };
}

function metadataOf(redirectUris: readonly string[], clientName: string, clientUri: string | undefined) {
  return {
    client_name: clientName,
    ...(clientUri !== undefined && { client_uri: clientUri }),
    redirect_uris: [...redirectUris],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
}

/** What needs no registration; undefined where there is nothing of it. Throws an OAuthError for what is another server's. */
export function findClient(
  as: AuthorizationServer,
  { client, clientMetadataUrl }: ClientIdentity,
): Registration | undefined {
  if (client) {
    if (client.issuer !== undefined && client.issuer !== as.issuer)
      throw new OAuthError(
        "client_mismatch",
        `The client id that was given is of ${client.issuer}; the server names ${as.issuer}, to which it is not shown`,
      );
    return {
      client_id: client.id,
      client_secret: client.secret,
      token_endpoint_auth_method: client.authMethod,
    };
  }
  if (clientMetadataUrl !== undefined && as.client_id_metadata_document_supported === true)
    return { client_id: clientMetadataUrl, token_endpoint_auth_method: "none" };
  return undefined;
}

/** Throws an OAuthError, `no_client` or `registration_failed`. */
export async function register(
  as: AuthorizationServer,
  redirectUris: readonly string[],
  { clientName = "Plenum", clientUri }: ClientIdentity,
  { fetch, signal }: { readonly fetch: Fetch; readonly signal?: AbortSignal | undefined },
): Promise<Registration> {
  if (as.registration_endpoint === undefined)
    throw new OAuthError(
      "no_client",
      `${as.issuer} registers nobody by itself. Register a client there, and give its id: oauth({ client: { id: … } })`,
    );
  const isNative = redirectUris.every((uri) => {
    const { protocol, hostname } = new URL(uri);
    return !/^https?:$/.test(protocol) || isLoopbackHost(hostname);
  });
  const body = {
    ...metadataOf(redirectUris, clientName, clientUri),
    application_type: isNative ? "native" : "web",
    token_endpoint_auth_method: preferredMethod(as),
  };
  const { href } = toSafeUrl(as.registration_endpoint);
  const response = await fetch(href, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (error instanceof OAuthError || signal?.aborted) throw error;
    throw new OAuthError("registration_failed", `${as.issuer} did not register this client: ${reasonOf(error)}`);
  });
  // By hand: many leave out what a library insists on, such as when a secret ends.
  const made = toObject(await response.json().catch(() => undefined));
  const text = (name: string): string | undefined => (typeof made[name] === "string" ? made[name] : undefined);
  const id = text("client_id");
  if (!response.ok || !id) {
    const { error, words = `HTTP ${response.status}${response.ok ? " without a client id" : ""}` } = readWords(
      made.error,
      made.error_description,
    );
    throw new OAuthError("registration_failed", `${as.issuer} did not register this client: ${words}`, { error });
  }
  const { client_secret_expires_at: end } = made;
  return {
    client_id: id,
    client_secret: text("client_secret"),
    client_secret_expires_at: typeof end === "number" ? end : undefined,
    token_endpoint_auth_method: text("token_endpoint_auth_method") ?? body.token_endpoint_auth_method,
    redirect_uris: redirectUris,
  };
}

function toObject(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** A client that cannot keep a secret needs none; one is taken where the server knows nothing else. */
function preferredMethod({ token_endpoint_auth_methods_supported: known = ["none"] }: AuthorizationServer): string {
  return ["none", "client_secret_basic", "client_secret_post"].find((method) => known.includes(method)) ?? "none";
}
