// The authorization server from a client's first look to its last token, over real HTTP: by hand, and by our own client and
// server.
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { connect, createServer } from "plenum";
import { createAuthorizationServer, fixedLogin } from "plenum/auth/authorization-server";
import { serveAuthorizationServer } from "plenum/auth/authorization-server/node";
import { createRedirect, oauth } from "plenum/auth/client";
import { jwt, requireAuth } from "plenum/auth/resource-server";
import { serveHttp } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { findPort } from "../find-port.ts";
import { covers } from "../requirements/covers.ts";
import {
  allow,
  answerIn,
  closeAfter,
  confidential,
  createBrowser,
  openStage,
  resource,
  type Stage,
  verifier,
  web,
} from "./front-stage.ts";

type Obj = { readonly [name: string]: unknown };

async function post(
  stage: Stage,
  path: string,
  form: { readonly [name: string]: string },
  headers = {},
): Promise<{ status: number; body: Obj }> {
  const response = await fetch(`${stage.issuer}${path}`, { method: "POST", body: new URLSearchParams(form), headers });
  return { status: response.status, body: (await response.json()) as Obj };
}

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`,
});

async function codeFor(stage: Stage, parameters = {}): Promise<string> {
  return answerIn(await allow(stage.browse(), stage.ask(parameters))).code as string;
}

describe("a code flow with PKCE", () => {
  test("works for a client without a secret, and the token is what it says", async () => {
    covers(["auth-flow-oauth21-as", "auth-flow-oauth21-implementation", "security-short-lived-tokens"]);
    const stage = await openStage();
    const metadata = (await (await fetch(`${stage.issuer}/.well-known/oauth-authorization-server`)).json()) as Obj;
    expect(metadata).toMatchObject({ issuer: stage.issuer, code_challenge_methods_supported: ["S256"] });
    const code = await codeFor(stage, { resource });
    const form = {
      grant_type: "authorization_code",
      client_id: "web",
      code,
      code_verifier: verifier,
      redirect_uri: web.redirectUris?.[0] ?? "",
      resource,
    };
    const { status, body } = await post(stage, "/token", form);
    expect([status, body.token_type, body.expires_in, body.scope]).toEqual([200, "Bearer", 600, "notes:read"]);
    const token = body.access_token as string;
    const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(metadata.jwks_uri as string)), {
      issuer: stage.issuer,
      audience: resource,
      typ: "at+jwt",
      algorithms: ["ES256"],
    });
    expect(payload).toMatchObject({ sub: "alice", client_id: "web", scope: "notes:read" });
    expect(await stage.server.verifier.verify(token)).toMatchObject({
      subject: "alice",
      audience: resource,
      scopes: ["notes:read"],
    });

    const told = await post(stage, "/introspect", { token }, basic("confidential", confidential.secret ?? ""));
    expect(told.body).toMatchObject({ active: true, sub: "alice", aud: resource });

    const renewed = await post(stage, "/token", {
      grant_type: "refresh_token",
      client_id: "web",
      refresh_token: body.refresh_token as string,
    });
    expect(renewed.status).toBe(200);
    const revoked = await post(stage, "/revoke", { client_id: "web", token: renewed.body.refresh_token as string });
    expect(revoked.status).toBe(200);
    expect(await stage.server.verifier.verify(token)).toBeUndefined();
    expect(await stage.server.verifier.verify(renewed.body.access_token as string)).toBeUndefined();
  });

  test("works for a client with a secret, and not without it", async () => {
    covers(["auth-flow-oauth21-as", "auth-flow-oauth21-implementation"]);
    const stage = await openStage();
    const code = await codeFor(stage, { client_id: "confidential" });
    const form = { grant_type: "authorization_code", code, code_verifier: verifier };
    expect((await post(stage, "/token", { ...form, client_id: "confidential" })).status).toBe(401);
    expect((await post(stage, "/token", form, basic("confidential", "another secret"))).status).toBe(401);
    expect((await post(stage, "/token", form, basic("web", confidential.secret ?? ""))).status).toBe(401);
    expect((await post(stage, "/token", form, basic("confidential", confidential.secret ?? ""))).status).toBe(200);
  });

  test("is one of the ways that the metadata names, and each of them leads to a token", async () => {
    covers(["auth-flow-grant-types"]);
    const stage = await openStage();
    const metadata = (await (await fetch(`${stage.issuer}/.well-known/oauth-authorization-server`)).json()) as Obj;
    expect(metadata.grant_types_supported).toEqual(["authorization_code", "refresh_token", "client_credentials"]);
    const shown = basic("confidential", confidential.secret ?? "");
    const code = await codeFor(stage, { client_id: "confidential" });
    const first = await post(
      stage,
      "/token",
      { grant_type: "authorization_code", code, code_verifier: verifier },
      shown,
    );
    const refreshToken = first.body.refresh_token as string;
    const second = await post(stage, "/token", { grant_type: "refresh_token", refresh_token: refreshToken }, shown);
    const third = await post(stage, "/token", { grant_type: "client_credentials", scope: "notes:write" }, shown);
    expect([first.status, second.status, third.status]).toEqual([200, 200, 200]);
    expect(await stage.server.verifier.verify(third.body.access_token as string)).toMatchObject({
      subject: "confidential",
      scopes: ["notes:write"],
      audience: resource,
    });
    expect(third.body).not.toHaveProperty("refresh_token");
  });

  test("works for a client that registers, and its registration stays once it has a token", async () => {
    const stage = await openStage({ registration: { max: 2 } });
    const redirectUri = "http://127.0.0.1:1234/callback";
    const register = () =>
      stage.register({ client_name: "New", redirect_uris: [redirectUri], token_endpoint_auth_method: "none" });
    const { client_id: id } = await register();
    const code = await codeFor(stage, { client_id: id, redirect_uri: redirectUri });
    expect((await stage.redeem(code, id, redirectUri)).status).toBe(200);
    await register();
    const { client_id: last } = await register();
    for (const one of [id, last])
      expect((await stage.browse().visit(stage.ask({ client_id: one, redirect_uri: redirectUri }))).status).toBe(200);
  });
});

test("keys are rotated while tokens are in use, and shared by who shares the store", async () => {
  const stage = await openStage();
  const again = createAuthorizationServer({
    issuer: stage.issuer,
    resources: [resource],
    login: fixedLogin("alice"),
    store: stage.store,
  });
  const tokenOf = async () =>
    ((await (await stage.redeem(await codeFor(stage), "web")).json()) as Obj).access_token as string;
  const before = await tokenOf();
  await again.rotateKeys();
  const after = await tokenOf();
  expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
  const keys = createRemoteJWKSet(new URL(`${stage.issuer}/jwks`));
  for (const token of [before, after]) await expect(jwtVerify(token, keys)).resolves.toBeDefined();
  expect(await again.verifier.verify(after)).toBeDefined();
  await again.revoke({ subject: "alice" });
  expect(await stage.server.verifier.verify(after)).toBeUndefined();
});

describe("our client, our server and our authorization server", () => {
  test.each(["by its word", "by its keys"])("get along, the token checked %s", async (how) => {
    const port = await findPort();
    const url = `http://127.0.0.1:${port}/mcp`;
    const stage = await openStage({ resources: [url] });
    const server = createServer({ name: "notes", version: "1.0.0" });
    server.tool("whoami", {}, (_, ctx) => `${ctx.auth?.subject} by ${ctx.auth?.clientId}`);
    const verify = how === "by its word" ? stage.server.verifier : jwt({ issuer: stage.issuer });
    const serving = await serveHttp(server, {
      port,
      auth: requireAuth({ verify, resource: url, scopes: ["notes:read"] }),
    });
    closeAfter(() => serving.close(0));
    const browser = stage.browse();
    let visits = 0;
    const redirect = createRedirect({
      uri: "http://127.0.0.1:1/callback",
      async open(page) {
        visits++;
        return (await allow(browser, page.href)).location as URL;
      },
    });
    await using client = await connect({ url, auth: oauth({ redirect, clientName: "Ours" }) });
    expect(await client.callTool("whoami")).toMatchObject({
      content: [{ text: expect.stringMatching(/^alice by [\w-]{22}$/) }],
    });
    expect(visits).toBe(1);
  });

  test("in one server, as 2025-03-26 has it: metadata and endpoints at the root", async () => {
    covers([
      "auth-discovery-as-metadata-server",
      "auth-discovery-metadata-location",
      "auth-discovery-fallback-server",
      "auth-registration-dcr-server",
    ]);
    const port = await findPort();
    const [origin, url] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port}/mcp`];
    const as = createAuthorizationServer({ issuer: origin, resources: [url], login: fixedLogin("alice") });
    const server = createServer({ name: "notes", version: "1.0.0" });
    server.tool("whoami", {}, (_, ctx) => ctx.auth?.subject);
    const auth = requireAuth({ verify: as.verifier, resource: url });
    const serving = await serveHttp(server, { port, auth, routes: as.routes });
    closeAfter(() => serving.close(0));
    const metadata = await fetch(`${origin}/.well-known/oauth-authorization-server`);
    expect([metadata.status, ((await metadata.json()) as Obj).issuer]).toEqual([200, origin]);
    expect((await fetch(`${url}/.well-known/oauth-authorization-server`)).ok).toBe(false);
    // Where a client goes that finds no metadata. Each is there, and says what it misses.
    expect((await fetch(`${origin}/authorize`)).status).toBe(400);
    expect((await fetch(`${origin}/token`, { method: "POST", body: new URLSearchParams() })).status).toBe(401);
    const registration = await fetch(`${origin}/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: ["http://localhost:3000/callback"] }),
    });
    expect(registration.status).toBe(201);
    const browser = createBrowser(origin, origin);
    const redirect = createRedirect({
      uri: "http://127.0.0.1:1/callback",
      open: async (page) => (await allow(browser, page.href)).location as URL,
    });
    await using client = await connect({ url, auth: oauth({ redirect }) });
    expect(await client.callTool("whoami")).toMatchObject({ content: [{ text: "alice" }] });
  });
});

test("an issuer with a path has everything below it", async () => {
  const serving = await serveAuthorizationServer((origin) =>
    createAuthorizationServer({ issuer: `${origin}/tenant`, resources: [resource], login: fixedLogin("alice") }),
  );
  closeAfter(() => serving.close(0));
  const { origin } = serving;
  const read = async (path: string) => ((await (await fetch(`${origin}${path}`)).json()) as Obj).issuer;
  for (const place of [
    "/.well-known/oauth-authorization-server/tenant",
    "/.well-known/openid-configuration/tenant",
    "/tenant/.well-known/openid-configuration",
  ])
    expect(await read(place)).toBe(`${origin}/tenant`);
  expect((await fetch(`${origin}/tenant/jwks`)).status).toBe(200);
  for (const path of ["/jwks", "/token", "/.well-known/oauth-authorization-server"])
    expect((await fetch(`${origin}${path}`)).status).toBe(404);
});
