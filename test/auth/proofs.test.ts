// Tokens that are bound to a key (DPoP): what a server takes for a proof, and what not. RFC 9449.
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { createServer } from "plenum";
import { jwt, requireAuth } from "plenum/auth/resource-server";
import { createMemoryStore } from "plenum/store";
import { beforeAll, expect, test } from "vitest";
import { callModern } from "../http/callers.ts";
import { type Http, openHttp } from "../http/harness.ts";
import { covers } from "../requirements/covers.ts";
import { type Issuer, openIssuer, resource } from "./issuer.ts";

interface Key {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
  readonly thumbprint: string;
}

async function makeKey(): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
}

let own: Key;
let other: Key;
beforeAll(async () => {
  [own, other] = await Promise.all([makeKey(), makeKey()]);
});

async function digest(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("base64url");
}

interface Change {
  readonly claims?: { readonly [name: string]: unknown };
  readonly header?: { readonly [name: string]: unknown };
  readonly key?: Key;
}

async function prove(token: string, { claims = {}, header = {}, key = own }: Change = {}): Promise<string> {
  const whole = { htm: "POST", htu: resource, ath: await digest(token), jti: crypto.randomUUID(), ...claims };
  const at = (claims.iat as number | undefined) ?? Math.floor(Date.now() / 1000);
  return new SignJWT(whole)
    .setIssuedAt(at)
    .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: key.jwk, ...header })
    .sign(key.privateKey);
}

async function openBound(): Promise<{ readonly http: Http; readonly issuer: Issuer; readonly token: string }> {
  const issuer = await openIssuer();
  const server = createServer({ name: "bound", version: "1.0.0" });
  server.tool("whoami", {}, (_, ctx) => ctx.auth?.subject);
  const auth = requireAuth({ verify: jwt({ issuer: issuer.issuer }), resource, proofStore: createMemoryStore() });
  const http = await openHttp(server, { auth });
  return { http, issuer, token: await issuer.sign({ cnf: { jkt: own.thumbprint } }) };
}

const send = (http: Http, authorization: string, dpop?: string) =>
  callModern(http, "tools/call", { name: "whoami" }, { headers: { authorization, dpop } });

test("a token with its proof is let in, for one request", async () => {
  covers("auth-flow-validate-token");
  const { http, token } = await openBound();
  const proof = await prove(token);
  expect((await send(http, `DPoP ${token}`, proof)).status).toBe(200);
  const again = await send(http, `DPoP ${token}`, proof);
  expect(again.status).toBe(401);
  expect(again.header("www-authenticate")).toMatch(/^DPoP error="invalid_dpop_proof", .*used before/);
  expect((await send(http, `dpop ${token}`, await prove(token))).status).toBe(200);
});

const now = (): number => Math.floor(Date.now() / 1000);
const changes: { readonly [what: string]: () => Change } = {
  "for another method": () => ({ claims: { htm: "GET" } }),
  "for another address": () => ({ claims: { htu: "https://evil.example/mcp" } }),
  "for another path": () => ({ claims: { htu: "https://mcp.example.com/other" } }),
  "for another token": () => ({ claims: { ath: "x" } }),
  "that is old": () => ({ claims: { iat: now() - 600 } }),
  "from the future": () => ({ claims: { iat: now() + 600 } }),
  "without an id": () => ({ claims: { jti: undefined } }),
  "of another key": () => ({ key: other }),
  "that shows one key and is signed with another": () => ({ key: other, header: { jwk: own.jwk } }),
  "of another type": () => ({ header: { typ: "JWT" } }),
};

test.each(Object.keys(changes))("a proof %s is none", async (what) => {
  covers("auth-flow-validate-token");
  const { http, token } = await openBound();
  const proof = await prove(token, changes[what]?.());
  const answer = await send(http, `DPoP ${token}`, proof);
  expect(answer.status).toBe(401);
  expect(answer.header("www-authenticate")).toContain('error="invalid_dpop_proof"');
});

test("a bound token without its proof, or as if it were not bound, is worth nothing", async () => {
  covers("auth-flow-validate-token");
  const { http, token } = await openBound();
  expect((await send(http, `DPoP ${token}`)).status).toBe(401);
  expect((await send(http, `DPoP ${token}`, "x")).status).toBe(401);
  expect((await send(http, `Bearer ${token}`)).status).toBe(401);
  expect((await send(http, `Bearer ${token}`, await prove(token))).header("www-authenticate")).toMatch(/^DPoP /);
});

test("a proof makes no bound token of one that is not", async () => {
  covers("auth-flow-validate-token");
  const { http, issuer } = await openBound();
  const token = await issuer.sign();
  expect((await send(http, `DPoP ${token}`, await prove(token))).status).toBe(401);
  expect((await send(http, `Bearer ${token}`)).status).toBe(200);
});

test.each([{ "x5t#S256": "of a certificate" }, { jkt: 7 }, {}, "key", 7])(
  "a token that is bound to %j, of which nobody here can make sure, is worth nothing",
  async (cnf) => {
    covers("auth-flow-validate-token");
    const { http, issuer } = await openBound();
    const token = await issuer.sign({ cnf });
    expect((await send(http, `Bearer ${token}`)).status).toBe(401);
    expect((await send(http, `DPoP ${token}`, await prove(token))).status).toBe(401);
  },
);
