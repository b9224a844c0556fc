// Ways to a token for programs: nobody is asked. The extensions oauth-client-credentials and enterprise-managed-authorization.
import { decodeJwt, decodeProtectedHeader, generateKeyPair, jwtVerify } from "jose";
import { connect } from "plenum";
import { clientCredentials, enterpriseManaged, jwtBearer, oauth } from "plenum/auth/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { credentialsIn } from "./authority.ts";
import type { Answer } from "./place.ts";
import { logIn, openStage, refusalOf, textOf } from "./stage.ts";

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

describe("client credentials", () => {
  test.each(["client_secret_basic", "client_secret_post"])("with a secret, by %s", async (method) => {
    covers(["ext-auth-cc-authentication", "ext-auth-cc-secret-request", "ext-auth-cc-conform"]);
    const stage = await openStage();
    stage.scopes = ["read"];
    stage.authority.metadata.token_endpoint_auth_methods_supported = [method];
    const auth = oauth({ client: { id: "program", secret: "a secret: + é" }, grant: clientCredentials() });
    const client = await logIn(stage, { auth });
    expect((await client.callTool("tell")).text).toBe("told");
    const [asked] = stage.authority.of("token");
    expect(Object.fromEntries(asked?.form ?? [])).toMatchObject({
      grant_type: "client_credentials",
      resource: stage.url,
      scope: "read",
    });
    expect(asked?.headers.authorization !== undefined).toBe(method === "client_secret_basic");
    if (method === "client_secret_post") expect(asked && credentialsIn(asked)).toEqual(["program", "a secret: + é"]);
    else expect(asked?.headers.authorization).toBe(`Basic ${btoa("program:a+secret%3A+%2B+%C3%A9")}`);
    expect(stage.authority.of("register")).toEqual([]);
    expect(stage.authority.of("authorize")).toEqual([]);
  });

  test("with a key, which is preferred to a secret", async () => {
    covers(["ext-auth-cc-authentication", "ext-auth-cc-jwt-request", "ext-auth-cc-jwt-preferred"]);
    const stage = await openStage();
    stage.authority.metadata.token_endpoint_auth_methods_supported = ["client_secret_basic", "private_key_jwt"];
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const auth = oauth({
      client: { id: "program", secret: "not-used" },
      clientKey: { key: privateKey, kid: "k1" },
      grant: clientCredentials(),
    });
    await logIn(stage, { auth });
    const [asked] = stage.authority.of("token");
    expect(asked?.form.get("client_assertion_type")).toBe(assertionType);
    expect(`${asked?.body} ${asked?.headers.authorization}`).not.toContain("not-used");
    const assertion = asked?.form.get("client_assertion") ?? "";
    await jwtVerify(assertion, publicKey, { issuer: "program", subject: "program", audience: stage.authority.issuer });
    expect(decodeJwt(assertion)).toMatchObject({ jti: expect.any(String), exp: expect.any(Number) });
    expect(decodeProtectedHeader(assertion)).toMatchObject({ alg: "ES256", kid: "k1" });
  });

  test("that the server does not take are an error that says so", async () => {
    covers("ext-auth-cc-authentication");
    const stage = await openStage();
    stage.authority.metadata.token_endpoint_auth_methods_supported = ["tls_client_auth"];
    const auth = oauth({ client: { id: "program", secret: "program-secret" }, grant: clientCredentials() });
    expect(await refusalOf(logIn(stage, { auth }))).toMatchObject({ code: "no_client" });
    expect(stage.authority.of("token")).toEqual([]);
  });

  test("show no secret where they fail", async () => {
    covers("ext-auth-cc-security");
    const stage = await openStage();
    stage.authority.bendToken = ({ body: _ }, seen): Answer => ({
      status: 401,
      body: { error: "invalid_client", error_description: `not ${credentialsIn(seen).join(":")}` },
    });
    const auth = oauth({ client: { id: "program", secret: "hunter2hunter2" }, grant: clientCredentials() });
    const error = await logIn(stage, { auth }).catch((thrown: unknown) => thrown);
    expect(textOf(error)).toContain("invalid_client");
    expect(textOf(error)).not.toContain("hunter2");
  });
});

test("a client names the extension to its server", async () => {
  covers(["ext-auth-declared", "ext-auth-identifiers"]);
  const stage = await openStage();
  const client = { id: "program", secret: "program-secret" };
  const idp = { issuer: "https://idp.example", tokenEndpoint: `${stage.place.origin}/idp`, clientId: "c" };
  stage.place.pages.set("/idp", () => ({
    body: { access_token: "jag", token_type: "N_A", issued_token_type: "urn:ietf:params:oauth:token-type:id-jag" },
  }));
  const grants = [clientCredentials(), enterpriseManaged({ idp, idToken: () => "id" })];
  const names = ["oauth-client-credentials", "enterprise-managed-authorization"];
  for (const [index, grant] of grants.entries()) {
    const bodies: string[] = [];
    const auth = oauth({ client, grant });
    const target = {
      url: stage.url,
      fetch(url: string, init: RequestInit) {
        if (init.method === "POST") bodies.push(String(init.body));
        return fetch(url, init);
      },
    };
    for (const made of [connect(target, { auth }), connect({ ...target, auth })]) {
      const opened = await made;
      onTestFinished(() => opened.close());
    }
    const wanted = { [`io.modelcontextprotocol/${names[index]}`]: {} };
    const said = bodies
      .map((body) => JSON.parse(body).params)
      .map((params) => params._meta["io.modelcontextprotocol/clientCapabilities"]);
    expect(said.length).toBeGreaterThan(1);
    for (const { extensions } of said) expect(extensions).toEqual(wanted);
  }
});

describe("what an enterprise manages", () => {
  const jag = "urn:ietf:params:oauth:token-type:id-jag";

  async function open(bend: (answer: Answer) => Answer = (answer) => answer) {
    const stage = await openStage();
    stage.scopes = ["read"];
    const idp = await stage.open("idp");
    idp.pages.set("/token", () =>
      bend({ body: { issued_token_type: jag, access_token: "the-jag", token_type: "N_A", expires_in: 300 } }),
    );
    const auth = oauth({
      client: { id: "mcp-client", secret: "mcp-secret" },
      grant: enterpriseManaged({
        idp: {
          issuer: "https://idp.example",
          tokenEndpoint: `${idp.origin}/token`,
          clientId: "idp-client",
          clientSecret: "idp-secret",
        },
        idToken: () => "the-id-token",
      }),
    });
    return { stage, auth, exchanged: () => stage.log.filter(({ place }) => place === "idp") };
  }

  test("is exchanged at the identity provider, and shown to the server's own", async () => {
    covers([
      "ext-auth-ema-token-exchange",
      "ext-auth-ema-requested-type",
      "ext-auth-ema-audience",
      "ext-auth-ema-resource",
      "ext-auth-ema-subject",
      "ext-auth-ema-scope",
      "ext-auth-ema-client-auth",
      "ext-auth-ema-jwt-bearer",
      "ext-auth-ema-no-redirect",
    ]);
    const { stage, auth, exchanged } = await open();
    const client = await logIn(stage, { auth });
    expect((await client.callTool("tell")).text).toBe("told");
    const [exchange] = exchanged();
    expect(Object.fromEntries(exchange?.form ?? [])).toMatchObject({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: jag,
      audience: stage.authority.issuer,
      resource: stage.url,
      subject_token: "the-id-token",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      scope: "read",
    });
    expect(exchange && credentialsIn(exchange)).toEqual(["idp-client", "idp-secret"]);
    const [asked] = stage.authority.of("token");
    expect(Object.fromEntries(asked?.form ?? [])).toMatchObject({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: "the-jag",
    });
    expect(asked && credentialsIn(asked)).toEqual(["mcp-client", "mcp-secret"]);
    expect(stage.authority.of("authorize")).toEqual([]);
    expect(stage.authority.of("register")).toEqual([]);
  });

  test.each<[string, Answer]>([
    ["another kind of token", { body: { issued_token_type: "urn:x", access_token: "t", token_type: "Bearer" } }],
    ["no kind of token", { body: { access_token: "t", token_type: "N_A" } }],
    ["an error", { status: 400, body: { error: "invalid_grant", error_description: "not the-id-token" } }],
    ["garbage", { body: "<html>" }],
  ])("ends with %s from the identity provider", async (_, answer) => {
    covers("ext-auth-ema-token-exchange");
    const { stage, auth } = await open(() => answer);
    const error = await refusalOf(logIn(stage, { auth }));
    expect(error.code).toBe("token_failed");
    expect(textOf(error)).not.toMatch(/the-id-token|idp-secret|mcp-secret/);
    expect(stage.authority.of("token")).toEqual([]);
  });
});

test("what a platform says of a workload is asked for each time", async () => {
  const stage = await openStage();
  const about: unknown[] = [];
  const grant = jwtBearer((one) => {
    about.push(one);
    return `assertion-${about.length}`;
  });
  const client = await logIn(stage, { auth: oauth({ client: { id: "workload" }, grant }) });
  stage.authority.hasRefresh = false;
  stage.authority.revoke();
  stage.authority.bendToken = (answer, seen) =>
    seen.form.get("grant_type") === "refresh_token" ? { status: 400, body: { error: "invalid_grant" } } : answer;
  await client.callTool("tell");
  expect(about).toEqual([1, 2].map(() => ({ issuer: stage.authority.issuer, resource: stage.url })));
  const sent = stage.authority.of("token").flatMap(({ form }) => form.getAll("assertion"));
  expect(sent).toEqual(["assertion-1", "assertion-2"]);
});
