// A client gives back what it holds: with one token all that came of the same permission ends. RFC 7009.
import type { Route, RouteRequest } from "../route.ts";
import type { Client } from "./client.ts";
import { endpoint, readForm, uncached } from "./endpoint.ts";
import { AuthFault } from "./fault.ts";
import type { GrantBook } from "./grants.ts";

export interface RevocationGround {
  readonly grants: GrantBook;
  authenticate(request: RouteRequest, form: URLSearchParams): Promise<Client>;
}

export function createRevocationEndpoint({ grants, authenticate }: RevocationGround): Route {
  return endpoint({ method: "POST" }, async (request) => {
    const form = await readForm(request);
    const client = await authenticate(request, form);
    const token = form.get("token");
    if (token === null) throw new AuthFault("invalid_request", "token is missing");
    const held = await findOwner(token, grants);
    // Of a token that is worth nothing already there is nothing to say.
    if (held && held.clientId !== client.id)
      throw new AuthFault("unauthorized_client", "The token was given to another client");
    if (held) await grants.revokeFamily(held.family);
    return { headers: uncached, body: {} };
  });
}

/** Whatever the hint says: it is one or the other, and both are quickly found. */
async function findOwner(
  token: string,
  grants: GrantBook,
): Promise<{ readonly clientId: string; readonly family: string } | undefined> {
  const refresh = await grants.findRefresh(token);
  if (refresh) return { clientId: refresh.grant.clientId, family: refresh.family };
  const access = await grants.findAccess(token);
  return access && { clientId: access.client_id, family: access.family };
}
