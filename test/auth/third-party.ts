// A third-party authorization server, made by hand: it knows one client, and lets every browser pass that was there before, as
// those do that remember consent. Real sockets on 127.0.0.1; what it is asked is recorded.
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { generateKeyPair, SignJWT } from "jose";
import { closeAfter } from "./front-stage.ts";

export const clientId = "plenum";
export const clientSecret = "a secret that the third party knows";

export interface ThirdParty {
  readonly issuer: string;
  /** Paths of requests, with their queries. */
  readonly asked: string[];
  /** All access tokens and refresh tokens that it gave. */
  readonly given: string[];
  /** Those that are good. */
  readonly alive: Set<string>;
  /** Who is logged in there. */
  user: string;
  /** How its answers differ from good ones. */
  ways: {
    error?: string;
    iss?: string;
    nonce?: string;
    expiresInS?: number;
    hasIntrospection?: boolean;
    noRefresh?: boolean;
    isDown?: boolean;
    tokenError?: string;
  };
  /** What its page leads back to, for a browser that is sent there. */
  pass(location: URL | undefined): URL;
}

interface Issued {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string | null;
  readonly user: string;
}

export async function openThirdParty(): Promise<ThirdParty> {
  const { privateKey } = await generateKeyPair("ES256");
  const codes = new Map<string, Issued>();
  const refreshes = new Map<string, string>();

  async function toTokens(user: string, nonce: string | null): Promise<object> {
    const { expiresInS = 3600, noRefresh } = party.ways;
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    party.given.push(access, refresh);
    party.alive.add(access).add(refresh);
    refreshes.set(refresh, user);
    const idToken = await new SignJWT({ ...(nonce !== null && { nonce: party.ways.nonce ?? nonce }) })
      .setProtectedHeader({ alg: "ES256" })
      .setIssuer(party.issuer)
      .setAudience(clientId)
      .setSubject(user)
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(privateKey);
    return {
      ...{ access_token: access, token_type: "Bearer", expires_in: expiresInS, id_token: idToken },
      ...(!noRefresh && { refresh_token: refresh }),
    };
  }

  async function answer(request: IncomingMessage, form: URLSearchParams): Promise<[status: number, body: object]> {
    const { pathname } = new URL(request.url ?? "/", party.issuer);
    if (party.ways.isDown) return [503, {}];
    if (pathname === "/.well-known/oauth-authorization-server")
      return [
        200,
        {
          issuer: party.issuer,
          authorization_endpoint: `${party.issuer}/authorize`,
          token_endpoint: `${party.issuer}/token`,
          revocation_endpoint: `${party.issuer}/revoke`,
          ...((party.ways.hasIntrospection ?? true) && { introspection_endpoint: `${party.issuer}/introspect` }),
          code_challenge_methods_supported: ["S256"],
          id_token_signing_alg_values_supported: ["ES256"],
          authorization_response_iss_parameter_supported: true,
        },
      ];
    const encode = (text: string): string => encodeURIComponent(text).replaceAll("%20", "+");
    if (request.headers.authorization !== `Basic ${btoa(`${encode(clientId)}:${encode(clientSecret)}`)}`)
      return [401, { error: "invalid_client" }];
    const token = form.get("token") ?? "";
    if (pathname === "/introspect") return [200, { active: party.alive.has(token) }];
    if (pathname === "/revoke") {
      party.alive.delete(token);
      return [200, {}];
    }
    if (party.ways.tokenError !== undefined) return [400, { error: party.ways.tokenError }];
    if (form.get("grant_type") === "refresh_token") {
      const refresh = form.get("refresh_token") ?? "";
      const user = party.alive.delete(refresh) ? refreshes.get(refresh) : undefined;
      return user === undefined ? [400, { error: "invalid_grant" }] : [200, await toTokens(user, null)];
    }
    const code = form.get("code") ?? "";
    const issued = codes.get(code);
    codes.delete(code);
    const digest = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (!issued || issued.redirectUri !== form.get("redirect_uri") || issued.challenge !== digest)
      return [400, { error: "invalid_grant" }];
    return [200, await toTokens(issued.user, issued.nonce)];
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", party.issuer);
    party.asked.push(request.url ?? "");
    if (url.pathname === "/authorize") {
      response.writeHead(302, { location: party.pass(url).href }).end();
      return;
    }
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", async () => {
      const [status, value] = await answer(request, new URLSearchParams(body));
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfter(async () => {
    server.close();
    server.closeAllConnections();
  });
  const party: ThirdParty = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    given: [],
    alive: new Set(),
    user: "carol",
    ways: {},
    pass(location) {
      if (location?.origin !== party.issuer || location.pathname !== "/authorize")
        throw new Error(`not a request to the third party: ${location}`);
      const { searchParams: asked } = location;
      const back = new URL(asked.get("redirect_uri") ?? "");
      const code = randomUUID();
      codes.set(code, {
        redirectUri: back.href,
        challenge: asked.get("code_challenge") ?? "",
        nonce: asked.get("nonce"),
        user: party.user,
      });
      if (party.ways.error === undefined) back.searchParams.set("code", code);
      else back.searchParams.set("error", party.ways.error);
      back.searchParams.set("state", asked.get("state") ?? "");
      back.searchParams.set("iss", party.ways.iss ?? party.issuer);
      return back;
    },
  };
  return party;
}
