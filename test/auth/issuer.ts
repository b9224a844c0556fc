// An authorization server's other half: whoever publishes keys, signs tokens with them and answers what a token is worth. Real
// sockets on 127.0.0.1; what it is asked is recorded.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { afterEach } from "vitest";

export interface Pair {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export interface Issuer {
  readonly issuer: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  /** What introspection says of a token. */
  readonly known: Map<string, { readonly [name: string]: unknown }>;
  /** The keys that are published. */
  keys: Pair[];
  /** Answers nothing but 503. */
  isDown: boolean;
  /** A token that is as it should be, but for what is given. */
  sign(
    claims?: { readonly [name: string]: unknown },
    header?: { readonly [name: string]: unknown },
    pair?: Pair,
  ): Promise<string>;
}

export const resource = "https://mcp.example.com/mcp";

const open = new Set<() => void>();
afterEach(() => {
  for (const close of open) close();
  open.clear();
});

export async function makePair(kid: string, alg = "ES256"): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

export async function openIssuer(): Promise<Issuer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const json = (status: number, value: unknown): void => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
      };
      if (issuer.isDown) return json(503, {});
      if (path === "/.well-known/oauth-authorization-server")
        return json(200, { issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/keys` });
      if (path === "/keys") return json(200, { keys: issuer.keys.map(({ jwk }) => jwk) });
      if (path === "/introspect") {
        const isUs = request.headers.authorization === `Basic ${btoa("us:our%20secret")}`;
        const token = new URLSearchParams(body).get("token") ?? "";
        return isUs ? json(200, issuer.known.get(token) ?? { active: false }) : json(401, { error: "invalid_client" });
      }
      json(404, {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.add(() => {
    server.closeAllConnections();
    server.close();
  });
  const first = await makePair("first");
  const issuer: Issuer = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    known: new Map(),
    keys: [first],
    isDown: false,
    sign(claims = {}, header = {}, pair = issuer.keys[0] as Pair) {
      const now = Math.floor(Date.now() / 1000);
      const whole = {
        iss: issuer.issuer,
        sub: "ann",
        aud: resource,
        client_id: "app",
        scope: "notes:read",
        iat: now,
        exp: now + 300,
        ...claims,
      };
      return new SignJWT(whole)
        .setProtectedHeader({ alg: pair.jwk.alg as string, kid: pair.kid, typ: "at+jwt", ...header })
        .sign(pair.privateKey);
    },
  };
  return issuer;
}
