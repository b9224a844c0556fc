// What a token is worth, for servers that do not read it themselves. RFC 7662.
import type { Route, RouteAnswer, RouteRequest } from "../route.ts";
import type { Client } from "./client.ts";
import { endpoint, readForm, uncached } from "./endpoint.ts";
import { AuthFault } from "./fault.ts";
import type { GrantBook } from "./grants.ts";

export interface IntrospectionGround {
  readonly issuer: string;
  readonly grants: GrantBook;
  authenticate(request: RouteRequest, form: URLSearchParams): Promise<Client>;
}

export function createIntrospectionEndpoint(ground: IntrospectionGround): Route {
  return endpoint({ method: "POST", isOpen: false }, async (request) => {
    const form = await readForm(request);
    const client = await ground.authenticate(request, form);
    if (client.authMethod === "none")
      throw new AuthFault("invalid_client", "Only a client that can show who it is may ask about tokens", 401);
    const token = form.get("token");
    if (token === null) throw new AuthFault("invalid_request", "token is missing");
    return toAnswer((await ofAccess(token, client, ground)) ?? (await ofRefresh(token, client, ground)));
  });
}

type Told = { readonly [name: string]: unknown };

/** Whoever registers itself may ask about its own tokens: of others it would learn whom they belong to. */
function mayAsk({ id, origin }: Client, owner: string): boolean {
  return origin === "given" || id === owner;
}

async function ofAccess(token: string, client: Client, { grants }: IntrospectionGround): Promise<Told | undefined> {
  const claims = await grants.findAccess(token);
  return claims && mayAsk(client, claims.client_id) ? { ...claims, token_type: "Bearer" } : undefined;
}

/** A refresh token is between the client and this server: no other has to know of it. */
async function ofRefresh(
  token: string,
  client: Client,
  { issuer, grants }: IntrospectionGround,
): Promise<Told | undefined> {
  const { grant } = (await grants.findRefresh(token)) ?? {};
  if (grant?.clientId !== client.id) return undefined;
  const { subject: sub, scopes } = grant;
  return { iss: issuer, sub, client_id: client.id, ...(scopes.length > 0 && { scope: scopes.join(" ") }) };
}

function toAnswer(told: Told | undefined): RouteAnswer {
  return { headers: uncached, body: told ? { ...told, active: true } : { active: false } };
}
