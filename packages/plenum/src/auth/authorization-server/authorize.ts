// What a client asks for when it sends a user here, looked at before anything is shown. OAuth 2.1 § 4.1.1, RFC 7636 (PKCE),
// RFC 8707 (`resource`).
//
// As long as it is not known that the client and the place to go back to belong together, what is wrong is said on a page: whoever
// can choose where we send a browser to would send it anywhere.
import type { Client, Clients } from "./client.ts";
import { AuthFault } from "./fault.ts";
import type { Asked } from "./pending.ts";
import { matchRedirect } from "./redirect-uri.ts";
import { chooseResource, chooseScopes, type Settings } from "./settings.ts";

/** The client is known, and so is the place to go back to; what it asks for is not possible. */
export interface Declined {
  readonly client: Client;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly fault: AuthFault;
}

export interface Accepted {
  readonly client: Client;
  readonly asked: Asked;
}

export type AskSettings = Pick<Settings, "resources" | "scopes" | "defaultScopes">;

const maxState = 4096;
const knownPrompts = ["none", "login", "consent"];

/** Rejects with an AuthFault for what is to be said on a page. */
export async function checkAuthorization(
  given: URLSearchParams,
  settings: AskSettings,
  clients: Clients,
): Promise<Accepted | Declined> {
  const client = await findClient(clients, once(given, "client_id"));
  const redirectUri = chooseRedirect(client, once(given, "redirect_uri"));
  // With two of them nobody knows which the client waits for.
  const [state, ...more] = given.getAll("state").filter((value) => value !== "");
  try {
    if (more.length > 0) throw new AuthFault("invalid_request", "A parameter is there twice");
    return { client, asked: toAsked(given, settings, client, redirectUri, state) };
  } catch (fault) {
    if (!(fault instanceof AuthFault)) throw fault;
    const isTold = more.length === 0 && (state?.length ?? 0) <= maxState;
    return { client, redirectUri, state: isTold ? state : undefined, fault };
  }
}

/** The client of a request, and that it may still be sent back there. Rejects with an AuthFault. */
export async function findClientOf({ clientId, redirectUri }: Asked, clients: Clients): Promise<Client> {
  const client = await findClient(clients, clientId);
  chooseRedirect(client, redirectUri);
  return client;
}

async function findClient(clients: Clients, id: string | undefined): Promise<Client> {
  if (id === undefined) throw new AuthFault("invalid_request", "The application did not say who it is (client_id)");
  const client = await clients.find(id);
  if (!client) throw new AuthFault("invalid_client", "The application that sent you here is not known (client_id)");
  return client;
}

function chooseRedirect(client: Client, asked: string | undefined): string {
  const [only, ...more] = client.redirectUris;
  const uri = asked ?? (more.length === 0 ? only : undefined);
  if (uri === undefined)
    throw new AuthFault("invalid_request", "The application did not say where to go back to (redirect_uri)");
  if (!matchRedirect(client, uri))
    throw new AuthFault(
      "invalid_request",
      "The application wants to go back to a place that does not belong to it (redirect_uri)",
    );
  return uri;
}

/** Throws an AuthFault. Without a value is as if it were not there (RFC 6749 § 3.1). */
function once(given: URLSearchParams, name: string): string | undefined {
  const values = given.getAll(name).filter((value) => value !== "");
  if (values.length > 1) throw new AuthFault("invalid_request", `A parameter is there twice (${name})`);
  return values[0];
}

function toAsked(
  given: URLSearchParams,
  settings: AskSettings,
  client: Client,
  redirectUri: string,
  state: string | undefined,
): Asked {
  const fail = (error: string, message: string): never => {
    throw new AuthFault(error, message);
  };
  if ((state?.length ?? 0) > maxState) fail("invalid_request", `state has more than ${maxState} characters`);
  if (given.getAll("resource").length > 1) fail("invalid_target", "Tokens are for one resource at a time");
  // In one pass: there may be thousands.
  const names = [...given.keys()];
  if (new Set(names).size < names.length) fail("invalid_request", "A parameter is there twice");
  if (given.has("request")) fail("request_not_supported", "Requests as JWT are not taken");
  if (given.has("request_uri")) fail("request_uri_not_supported", "Requests by reference are not taken");
  const responseType = once(given, "response_type");
  if (responseType === undefined) fail("invalid_request", "response_type is missing");
  if (responseType !== "code") fail("unsupported_response_type", "response_type must be code");
  if ((once(given, "response_mode") ?? "query") !== "query") fail("invalid_request", "response_mode must be query");
  if (!client.grantTypes.includes("authorization_code"))
    fail("unauthorized_client", "This client has not registered for authorization_code");
  const codeChallenge =
    once(given, "code_challenge") ?? fail("invalid_request", "code_challenge is missing: PKCE is needed");
  // What is left out means "plain", which shows the verifier to who reads the request.
  if (once(given, "code_challenge_method") !== "S256") fail("invalid_request", "code_challenge_method must be S256");
  if (!/^[\w-]{43}$/.test(codeChallenge)) fail("invalid_request", "code_challenge is not a digest in base64url");
  const prompts = (once(given, "prompt") ?? "").split(" ").filter((prompt) => knownPrompts.includes(prompt));
  if (prompts.includes("none") && prompts.length > 1) fail("invalid_request", "prompt none stands alone");
  return {
    clientId: client.id,
    redirectUri,
    state,
    resource: chooseResource(settings, once(given, "resource")),
    scopes: chooseScopes(settings, once(given, "scope")),
    codeChallenge,
    prompts,
  };
}
