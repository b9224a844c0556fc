// Attacks on the authorization server, over real HTTP: stolen codes and tokens, forged ones, requests that say two things at once,
// floods, and addresses that lead where this server must not go.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportSPKI, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { createAuthorizationServer, fixedLogin } from "plenum/auth/authorization-server";
import { serveAuthorizationServer } from "plenum/auth/authorization-server/node";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import {
  allow,
  answerIn,
  challenge,
  closeAfter,
  confidential,
  native,
  openStage,
  resource,
  type Stage,
  verifier,
  web,
} from "./front-stage.ts";

type Obj = { readonly [name: string]: unknown };
type Form = { readonly [name: string]: string };

async function token(stage: Stage, form: Form | string, origin = stage.origin): Promise<{ status: number; body: Obj }> {
  const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const response = await fetch(`${origin}/token`, { method: "POST", headers, body });
  return { status: response.status, body: (await response.json()) as Obj };
}

async function codeFor(stage: Stage, parameters = {}): Promise<string> {
  const { code } = answerIn(await allow(stage.browse(), stage.ask(parameters)));
  if (code === undefined) throw new Error("no code");
  return code;
}

const codeForm = (code: string, more: Form = {}): Form => ({
  ...{ grant_type: "authorization_code", client_id: "web", code, code_verifier: verifier },
  redirect_uri: web.redirectUris?.[0] ?? "",
  ...more,
});

/** The same authorization server once more, as another process would run it. */
async function openTwin(stage: Stage): Promise<string> {
  const twin = createAuthorizationServer({
    issuer: stage.issuer,
    resources: [resource],
    login: fixedLogin("alice"),
    store: stage.store,
    clients: [web, confidential, native],
  });
  const serving = await serveAuthorizationServer(twin);
  closeAfter(() => serving.close(0));
  return serving.origin;
}

describe("a stolen code", () => {
  test("is worth nothing to another client", async () => {
    const stage = await openStage();
    const code = await codeFor(stage);
    const { status, body } = await token(stage, codeForm(code, { client_id: "native" }));
    expect([status, body.error]).toEqual([400, "invalid_grant"]);
    expect((await token(stage, codeForm(code))).status).toBe(200);
  });

  test.each([
    ["without a verifier", { code_verifier: "" }],
    ["with another verifier", { code_verifier: "another-verifier-that-is-long-enough-for-everybody" }],
    ["with the challenge for a verifier", { code_verifier: "challenge" }],
    ["from another place", { redirect_uri: "https://client.example/other" }],
  ])("is worth nothing %s", async (_, more) => {
    const stage = await openStage();
    const code = await codeFor(stage);
    expect(await token(stage, codeForm(code, more))).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await token(stage, codeForm(code))).status).toBe(400);
  });

  test.each([
    ["without PKCE", { code_challenge: undefined, code_challenge_method: undefined }],
    ["with plain PKCE", { code_challenge_method: "plain", code_challenge: verifier }],
    ["with PKCE of no kind", { code_challenge_method: undefined }],
  ])("does not come about %s", async (_, parameters) => {
    const page = await (await openStage()).browse().visit((await openStage()).ask(parameters));
    expect(page.text).not.toContain("code=");
    expect(answerIn(page)).not.toHaveProperty("code");
  });

  test("that was used takes back what came of it", async () => {
    const stage = await openStage();
    const code = await codeFor(stage);
    const { body } = await token(stage, codeForm(code));
    expect(await stage.server.verifier.verify(body.access_token as string)).toBeDefined();
    expect((await token(stage, codeForm(code))).body.error).toBe("invalid_grant");
    expect(await stage.server.verifier.verify(body.access_token as string)).toBeUndefined();
  });

  test("sent to two processes at once is good for one at most", async () => {
    const stage = await openStage();
    const twin = await openTwin(stage);
    for (let i = 0; i < 10; i++) {
      const code = await codeFor(stage);
      const all = await Promise.all([
        token(stage, codeForm(code)),
        token(stage, codeForm(code), twin),
        token(stage, codeForm(code)),
      ]);
      const good = all.filter(({ status }) => status === 200);
      expect(good.length).toBeLessThanOrEqual(1);
      for (const { body } of good)
        expect(await stage.server.verifier.verify(body.access_token as string)).toBeUndefined();
    }
  });
});

describe("a stolen refresh token", () => {
  test("ends the family when the other one of the two uses it", async () => {
    covers(["security-refresh-rotation", "security-token-rotation"]);
    const stage = await openStage();
    const { body: first } = await token(stage, codeForm(await codeFor(stage)));
    const refresh = (one: Obj) =>
      token(stage, { grant_type: "refresh_token", client_id: "web", refresh_token: one.refresh_token as string });
    const { body: second } = await refresh(first);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(await refresh(first)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await refresh(second)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await stage.server.verifier.verify(second.access_token as string)).toBeUndefined();
  });

  test("sent to two processes at once is good for one at most, and then for nobody", async () => {
    const stage = await openStage();
    const twin = await openTwin(stage);
    for (let i = 0; i < 10; i++) {
      const { body } = await token(stage, codeForm(await codeFor(stage)));
      const form = { grant_type: "refresh_token", client_id: "web", refresh_token: body.refresh_token as string };
      const all = await Promise.all([token(stage, form), token(stage, form, twin)]);
      const good = all.filter(({ status }) => status === 200);
      expect(good.length).toBeLessThanOrEqual(1);
      for (const { body: given } of good)
        expect(await stage.server.verifier.verify(given.access_token as string)).toBeUndefined();
    }
  });

  test("is worth nothing to another client", async () => {
    const stage = await openStage();
    const { body } = await token(stage, codeForm(await codeFor(stage)));
    const form = { grant_type: "refresh_token", client_id: "native", refresh_token: body.refresh_token as string };
    expect(await token(stage, form)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });
});

test("tokens that were not made here are worth nothing here", async () => {
  covers(["auth-flow-as-own-tokens"]);
  const [stage, other] = [await openStage(), await openStage()];
  const good = (await token(stage, codeForm(await codeFor(stage)))).body.access_token as string;
  const foreign = (await token(other, codeForm(await codeFor(other)))).body.access_token as string;
  const { keys } = (await (await fetch(`${stage.issuer}/jwks`)).json()) as { keys: JWK[] };
  const [shown = {}] = keys;
  const exp = Math.floor(Date.now() / 1000) + 300;
  const [head = "", payload = ""] = good.split(".");
  const claims = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as Obj;
  const own = await generateKeyPair("ES256");
  const spki = await exportSPKI((await importJWK(shown, "ES256")) as CryptoKey);
  const header = { typ: "at+jwt", kid: shown.kid ?? "" };
  const forged = [
    foreign,
    `${btoa('{"alg":"none","typ":"at+jwt"}')}.${payload}.`,
    `${head}.${payload}.`,
    `${head}.${btoa(JSON.stringify({ ...claims, sub: "bob" })).replace(/=+$/, "")}.${good.split(".")[2]}`,
    await new SignJWT({ ...claims, exp })
      .setProtectedHeader({ ...header, alg: "HS256" })
      .sign(new TextEncoder().encode(spki)),
    await new SignJWT({ ...claims, exp })
      .setProtectedHeader({ ...header, alg: "HS256" })
      .sign(new TextEncoder().encode(JSON.stringify(shown))),
    await new SignJWT({ ...claims, exp }).setProtectedHeader({ ...header, alg: "ES256" }).sign(own.privateKey),
  ];
  const authorization = `Basic ${btoa(`confidential:${encodeURIComponent(confidential.secret ?? "")}`)}`;
  const introspect = async (one: string) =>
    (await (
      await fetch(`${stage.issuer}/introspect`, {
        method: "POST",
        body: new URLSearchParams({ token: one }),
        headers: { authorization },
      })
    ).json()) as Obj;
  expect((await introspect(good)).active).toBe(true);
  expect(await stage.server.verifier.verify(good)).toBeDefined();
  for (const one of forged) {
    expect(await introspect(one)).toEqual({ active: false });
    expect(await stage.server.verifier.verify(one)).toBeUndefined();
  }
});

describe("a redirect", () => {
  test.each([
    "https://client.example/callback?kept=1&more=2",
    "https://client.example/callback?kept=1/more",
    "https://client.example/callback",
    "https://client.example/callback/?kept=1",
    "https://client.example/Callback?kept=1",
    "https://CLIENT.example/callback?kept=1",
    "https://client.example:8443/callback?kept=1",
    "https://user@client.example/callback?kept=1",
    "https://client.example@evil.example/callback?kept=1",
    "https://client.example\\@evil.example/callback?kept=1",
    "https://evil.example/https://client.example/callback?kept=1",
    "http://client.example/callback?kept=1",
    "//evil.example",
    "javascript:alert(1)",
  ])("to %s is shown, and not made", async (uri) => {
    covers(["security-redirect-exact", "security-redirect-untrusted", "security-redirect-validate-server"]);
    const stage = await openStage();
    const page = await stage.browse().visit(stage.ask({ redirect_uri: uri }));
    expect(page.status).toBe(400);
    expect(page.location).toBeUndefined();
    expect(page.headers.get("content-type")).toContain("text/html");
  });

  test("to a program of the user's machine takes any port, and nothing else", async () => {
    const stage = await openStage();
    const visit = (uri: string) => stage.browse().visit(stage.ask({ client_id: "native", redirect_uri: uri }));
    expect((await visit("http://127.0.0.1:54321/callback")).status).toBe(200);
    for (const uri of [
      "http://127.0.0.1:54321/other",
      "http://localhost:54321/callback",
      "http://127.0.0.1:1@evil.example/callback",
    ])
      expect((await visit(uri)).status).toBe(400);
  });
});

describe("a request to the token endpoint", () => {
  test.each(["code", "client_id", "code_verifier", "redirect_uri", "grant_type", "resource", "scope"])(
    "says %s once",
    async (name) => {
      const stage = await openStage();
      const code = await codeFor(stage);
      const form = new URLSearchParams(codeForm(code, { resource, scope: "notes:read" }));
      form.append(name, "again");
      expect(await token(stage, form.toString())).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    },
  );

  test("is a form, not too long, and no parameter of it is in its address", async () => {
    covers(["auth-flow-400-malformed"]);
    const stage = await openStage();
    const code = await codeFor(stage);
    const url = `${stage.issuer}/token`;
    const json = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(codeForm(code)),
    });
    expect(json.status).toBe(400);
    const inAddress = await fetch(`${url}?${new URLSearchParams(codeForm(code))}`, {
      method: "POST",
      body: new URLSearchParams(),
    });
    expect(inAddress.status).toBe(401);
    expect((await fetch(`${url}?${new URLSearchParams(codeForm(code))}`)).status).toBe(405);
    const long = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(codeForm(code, { more: "a".repeat(20_000) })),
    });
    expect(long.status).toBe(413);
    expect(await long.text()).not.toContain("aaaa");
    expect((await token(stage, codeForm(code))).status).toBe(200);
  });

  test("gets a token for the resource that the user saw, and no other", async () => {
    const other = "https://other.example.com/mcp";
    const stage = await openStage({ resources: [resource, other] });
    const code = await codeFor(stage, { resource });
    for (const wrong of [other, "https://evil.example/mcp", `${resource}#a`])
      expect(await token(stage, codeForm(code, { resource: wrong }))).toMatchObject({
        status: 400,
        body: { error: "invalid_target" },
      });
    const { body } = await token(stage, codeForm(code, { resource }));
    expect(await stage.server.verifier.verify(body.access_token as string)).toMatchObject({ audience: resource });
    const form = { grant_type: "refresh_token", client_id: "web", refresh_token: body.refresh_token as string };
    expect(await token(stage, { ...form, resource: other })).toMatchObject({
      status: 400,
      body: { error: "invalid_target" },
    });
    expect(await token(stage, { ...form, scope: "notes:read notes:write" })).toMatchObject({
      body: { error: "invalid_scope" },
    });
  });
});

describe("registration", () => {
  const post = (stage: Stage, body: unknown) =>
    fetch(`${stage.issuer}/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  test("is not for floods, nor for novels", async () => {
    covers(["security-redirect-scheme"]);
    const stage = await openStage({ registration: { perMinute: 10, max: 4 } });
    expect(
      (await post(stage, { redirect_uris: ["https://app.example.com/cb"], client_name: "a".repeat(20_000) })).status,
    ).toBe(413);
    expect((await post(stage, { redirect_uris: ["http://app.example.com/cb"] })).status).toBe(400);
    const all = await Promise.all(
      Array.from({ length: 30 }, () => post(stage, { redirect_uris: ["https://app.example.com/cb"] })),
    );
    expect(all.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(10);
    expect(all.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(20);
  });

  test("gives nobody a token without a user", async () => {
    const stage = await openStage();
    const { client_id: id, client_secret: secret = "" } = await stage.register({
      redirect_uris: ["https://app.example.com/cb"],
      grant_types: ["authorization_code", "client_credentials"],
    });
    const response = await fetch(`${stage.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    });
    expect([response.status, ((await response.json()) as Obj).error]).toEqual([400, "unauthorized_client"]);
  });
});

describe("a client's document", () => {
  async function openDocument(
    change: (id: string) => Obj = () => ({}),
  ): Promise<{ readonly id: string; readonly asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      const id = `http://127.0.0.1:${(server.address() as AddressInfo).port}${request.url}`;
      const document = {
        client_id: id,
        client_name: "By document",
        redirect_uris: ["http://127.0.0.1/callback"],
        ...change(id),
      };
      response
        .writeHead(200, { "content-type": "application/json", "cache-control": "max-age=60" })
        .end(JSON.stringify(document));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closeAfter(() => new Promise((resolve) => server.close(() => resolve())));
    return { id: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client.json`, asked };
  }

  test("is fetched once, and the client gets its token", async () => {
    covers(["auth-registration-cimd-as-fetch", "auth-registration-cimd-as-cache", "auth-registration-cimd-support"]);
    const stage = await openStage();
    const { id, asked } = await openDocument();
    const redirectUri = "http://127.0.0.1:4321/callback";
    const code = await codeFor(stage, { client_id: id, redirect_uri: redirectUri });
    const { status } = await token(stage, codeForm(code, { client_id: id, redirect_uri: redirectUri }));
    expect([status, asked]).toEqual([200, ["/client.json"]]);
  });

  test("says where codes go, and nobody else does", async () => {
    covers(["auth-registration-cimd-as-redirect"]);
    const stage = await openStage();
    const { id } = await openDocument();
    const page = await stage
      .browse()
      .visit(stage.ask({ client_id: id, redirect_uri: "https://evil.example/callback" }));
    expect([page.status, page.location]).toEqual([400, undefined]);
  });

  test("of another client, or not as it should be, lets nobody in", async () => {
    covers(["auth-registration-cimd-as-client-id", "auth-registration-cimd-as-structure"]);
    const stage = await openStage();
    for (const change of [
      { client_id: "https://other.example/client.json" },
      { client_name: undefined },
      { redirect_uris: 7 },
      { client_secret: "x" },
    ]) {
      const { id, asked } = await openDocument(() => change);
      const page = await stage.browse().visit(stage.ask({ client_id: id, redirect_uri: "http://127.0.0.1/callback" }));
      expect([page.status, page.location, asked.length]).toEqual([400, undefined, 1]);
    }
  });

  test("is not fetched from the network that the server is in", async () => {
    covers(["security-cimd-ssrf"]);
    const asked: string[] = [];
    const as = createAuthorizationServer({
      issuer: "https://auth.example.com",
      resources: [resource],
      login: () => ({ subject: "alice" }),
      async fetch(url) {
        asked.push(url);
        return Response.json({ client_id: url, client_name: "Inside", redirect_uris: ["http://127.0.0.1/callback"] });
      },
      lookup: async (host) => (host === "inside.example.com" ? ["10.0.0.1"] : ["93.184.216.34"]),
    });
    const visit = async (id: string): Promise<number> => {
      const parameters = { response_type: "code", client_id: id, redirect_uri: "http://127.0.0.1/callback" };
      const pkce = { code_challenge: challenge, code_challenge_method: "S256" };
      const query = new URLSearchParams({ ...parameters, ...pkce });
      return (await as.fetch(new Request(`https://auth.example.com/authorize?${query}`))).status;
    };
    for (const id of [
      "http://127.0.0.1:3000/client.json",
      "https://127.0.0.1:3000/client.json",
      "https://localhost/client.json",
      "https://[::1]/client.json",
      "https://10.0.0.1/client.json",
      "https://169.254.169.254/latest/meta-data",
      "https://2852039166/latest/meta-data",
      "https://0x7f.1/client.json",
      "https://inside.example.com/client.json",
    ])
      expect(await visit(id)).toBe(400);
    expect(asked).toEqual([]);
    expect(await visit("https://outside.example.com/client.json")).toBeLessThan(400);
    expect(asked).toEqual(["https://outside.example.com/client.json"]);
  });
});
