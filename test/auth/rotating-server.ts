// An authorization server that is strict about refresh tokens, and a server that wants its access tokens: each refresh token is good
// once, and whoever sends one twice loses all that came of the same login. Both on one port of 127.0.0.1.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

interface Family {
  isRevoked: boolean;
  /** The one refresh token that is good. */
  refresh: string;
}

export interface RotatingServer {
  /** Of the server that wants tokens. */
  readonly url: string;
  logins: number;
  refreshes: number;
  /** How often a refresh token came that had been used up. */
  reuses: number;
  /** How many requests showed a refresh token in their address or a header. */
  leaks: number;
  /** How many requests had a good token. */
  served: number;
  /** Called with each refresh before it is looked at, and before it is answered. */
  onRefresh: (when: "before" | "after") => unknown;
  /** Access tokens that are refused, by their number, although they are new. */
  isStillborn: (number: number) => boolean;
}

export async function startRotatingServer(): Promise<RotatingServer> {
  const families = new Map<string, Family>();
  const access = new Map<string, { readonly family: Family; readonly isDead: boolean }>();
  const codes = new Set<string>();
  let made = 0;

  function give(family: Family) {
    const token = randomUUID();
    access.set(token, { family, isDead: state.isStillborn(++made) });
    family.refresh = randomUUID();
    families.set(family.refresh, family);
    // So short that it is renewed before each request.
    return { access_token: token, token_type: "Bearer", expires_in: 1, refresh_token: family.refresh };
  }

  async function answerToken(request: IncomingMessage): Promise<readonly [status: number, body: object]> {
    const form = new URLSearchParams(await text(request));
    if (form.get("grant_type") === "authorization_code") {
      if (!codes.delete(form.get("code") ?? "")) return [400, { error: "invalid_grant" }];
      state.logins++;
      return [200, give({ isRevoked: false, refresh: "" })];
    }
    state.refreshes++;
    await state.onRefresh("before");
    const token = form.get("refresh_token") ?? "";
    const family = families.get(token);
    const isGood = family !== undefined && family.refresh === token && !family.isRevoked;
    if (family && family.refresh !== token) {
      state.reuses++;
      family.isRevoked = true;
    }
    const answer = isGood ? ([200, give(family)] as const) : ([400, { error: "invalid_grant" }] as const);
    await state.onRefresh("after");
    return answer;
  }

  const http = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", origin);
    const open = `${request.url} ${request.rawHeaders.join(" ")}`;
    if ([...families.keys()].some((token) => open.includes(token))) state.leaks++;
    const send = (status: number, body: object, headers = {}): void => {
      response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
      response.end(JSON.stringify(body));
    };
    if (pathname === "/mcp") {
      const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
      const known = access.get(token);
      const isGood = known && !known.isDead && !known.family.isRevoked;
      if (isGood) state.served++;
      const wanted = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return isGood ? send(200, {}) : send(401, {}, { "www-authenticate": wanted });
    }
    if (pathname === "/.well-known/oauth-protected-resource/mcp")
      return send(200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname === "/.well-known/oauth-authorization-server")
      return send(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    if (pathname === "/authorize") {
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      const code = randomUUID();
      codes.add(code);
      back.search = new URLSearchParams({ code, state: searchParams.get("state") ?? "" }).toString();
      return send(302, {}, { location: back.href });
    }
    if (pathname === "/token") {
      const [status, body] = await answerToken(request);
      return send(status, body);
    }
    return send(404, {});
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const state: RotatingServer = {
    url: `${origin}/mcp`,
    logins: 0,
    refreshes: 0,
    reuses: 0,
    leaks: 0,
    served: 0,
    onRefresh: () => {},
    isStillborn: () => false,
  };
  return state;
}
