import { describe, expect, test } from "vitest";
import { createSigner, nowS, type Signer, unsigned } from "../../../../../test/auth/signer.ts";
import { covers } from "../../../../../test/requirements/covers.ts";
import { createMemoryStore } from "../../store/memory.ts";
import type { Fetch } from "../guarded-fetch.ts";
import type { Client } from "./client.ts";
import { createJwtBearer, jwtBearerType } from "./jwt-bearer.ts";
import type { AuthorizationServerOptions, TrustedIssuer } from "./options.ts";
import { toSettings } from "./settings.ts";

const issuer = "https://auth.example.com";
const resource = "https://mcp.example.com/mcp";
const idp = "https://idp.example.com";
const platform = "https://platform.example.com";
const [idpKey, platformKey] = [await createSigner(), await createSigner()];

const trustedIssuers: readonly TrustedIssuer[] = [
  { issuer: idp, jwks: idpKey.jwks },
  { issuer: platform, jwks: platformKey.jwks, kind: "workload" },
];

const app: Client = {
  id: "app",
  name: undefined,
  redirectUris: [],
  authMethod: "client_secret_basic",
  grantTypes: [jwtBearerType],
  origin: "registered",
};
const worker: Client = { ...app, id: "worker", authMethod: "none", origin: "given" };

const noFetch: Fetch = () => Promise.reject(new Error("nothing is there"));

function createGrant(options: Partial<AuthorizationServerOptions> = {}, fetch = noFetch) {
  const settings = toSettings({
    issuer,
    resources: [resource],
    login: () => ({ subject: "ada" }),
    scopes: { read: "Read", write: "Write", admin: "All" },
    defaultScopes: ["read"],
    trustedIssuers,
    ...options,
  });
  return createJwtBearer({ settings, keys: { sign: async () => "signed" }, store: createMemoryStore(), fetch });
}

type Changes = { readonly [name: string]: unknown };
let count = 0;

function jagClaims(changes: Changes = {}) {
  const now = nowS();
  const own = { iss: idp, sub: "ada", aud: issuer, client_id: "app", resource };
  return { ...own, jti: String(++count), iat: now, exp: now + 60, ...changes };
}

const typ = "oauth-id-jag+jwt";

function jag(changes?: Changes, by: Signer = idpKey): Promise<string> {
  return by.sign(jagClaims(changes), { typ });
}

function workloadClaims(changes: Changes = {}) {
  return { iss: platform, sub: "worker", aud: issuer, exp: nowS() + 3600, ...changes };
}

async function ask(
  assertion: string | Promise<string>,
  form: { [name: string]: string } = {},
  client = app,
  grant = createGrant(),
) {
  return grant({ client, form: new URLSearchParams({ ...form, assertion: await assertion }) });
}

const refused = { name: "AuthFault", error: "invalid_grant", status: 400 };

describe("an identity provider's word on a user", () => {
  test("is worth a token for that user, and nothing to refresh", async () => {
    expect(await ask(jag({ scope: "read write", email: "ada@example.com" }))).toEqual({
      grant: { clientId: "app", subject: "ada", scopes: ["read", "write"], resource },
      isLasting: false,
    });
  });

  test("is of its own kind", async () => {
    covers(["ext-auth-ema-as-typ"]);
    expect(await ask(jag())).toHaveProperty("grant");
    for (const other of ["JWT", "at+jwt", "application/jwt"])
      await expect(ask(idpKey.sign(jagClaims(), { typ: other }))).rejects.toMatchObject({ name: "AuthFault" });
    // Nor may a client that needs no such word use it for another kind.
    await expect(ask(idpKey.sign(jagClaims({ sub: "worker" })), {}, worker)).rejects.toMatchObject(refused);
    expect(await ask(idpKey.sign(jagClaims(), { typ: `application/${typ}` }))).toHaveProperty("grant");
  });

  test.each<[string, Changes]>([
    ["another server", { aud: "https://other.example.com" }],
    ["the resource in place of the server", { aud: resource }],
    ["another server as well", { aud: [issuer, "https://other.example.com"] }],
    ["nobody", { aud: undefined }],
    ["this server with a slash", { aud: `${issuer}/` }],
  ])("is refused where it is for %s", async (_name, changes) => {
    covers(["ext-auth-ema-as-audience"]);
    await expect(ask(jag(changes))).rejects.toMatchObject(refused);
  });

  test.each<[string, Changes]>([
    ["another client", { client_id: "other" }],
    ["no client", { client_id: undefined }],
    ["clients", { client_id: ["app"] }],
  ])("is refused where it names %s", async (_name, changes) => {
    covers(["ext-auth-ema-as-client"]);
    await expect(ask(jag(changes))).rejects.toMatchObject(refused);
  });

  test.each<[string, Changes]>([
    ["has ended", { iat: nowS() - 120, exp: nowS() - 60 }],
    ["is from the future", { iat: nowS() + 60 }],
    ["is good later", { nbf: nowS() + 60 }],
    ["is good for long", { exp: nowS() + 7200 }],
    ["has no end", { exp: undefined }],
    ["has no beginning", { iat: undefined }],
    ["has no name", { jti: undefined }],
    ["has an empty name", { jti: "" }],
    ["is about nobody", { sub: undefined }],
    ["is about an empty name", { sub: "" }],
  ])("is refused where it %s", async (_name, changes) => {
    covers(["ext-auth-ema-as-rfc7521"]);
    await expect(ask(jag(changes))).rejects.toMatchObject(refused);
  });

  test("is good once, whoever shows it first", async () => {
    covers(["ext-auth-ema-as-rfc7521"]);
    const grant = createGrant();
    const assertion = await jag();
    const sent = await Promise.allSettled([1, 2, 3].map(() => ask(assertion, {}, app, grant)));
    expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(ask(assertion, {}, app, grant)).rejects.toMatchObject(refused);
  });

  test("is not used up by a request that was wrong", async () => {
    const grant = createGrant();
    const assertion = await jag({ scope: "read" });
    await expect(ask(assertion, { scope: "write" }, app, grant)).rejects.toMatchObject({ error: "invalid_scope" });
    await expect(ask(assertion, {}, { ...app, id: "other" }, grant)).rejects.toMatchObject(refused);
    expect(await ask(assertion, {}, app, grant)).toHaveProperty("grant");
  });

  test("is refused without a signature, or with one that everybody can make", async () => {
    covers(["ext-auth-ema-as-rfc7521"]);
    const forged = [
      unsigned(jagClaims(), { typ }),
      ...(await idpKey.signWithPublicHalf(jagClaims(), { typ })),
      await jag({}, await createSigner()),
    ];
    for (const assertion of forged) await expect(ask(assertion)).rejects.toMatchObject(refused);
  });

  test("is refused of whoever is not trusted, and of one who signs in the name of another", async () => {
    const other = await createSigner();
    const evil = "https://evil.example.com";
    await expect(ask(jag({ iss: evil }, other))).rejects.toMatchObject(refused);
    // Trusted, but not with users; and a key of one is no key of the other, though they have the same name.
    await expect(ask(jag({ iss: platform }, platformKey))).rejects.toMatchObject(refused);
    await expect(ask(jag({}, platformKey))).rejects.toMatchObject(refused);
    await expect(ask(jag({ iss: `${idp}/` }))).rejects.toMatchObject(refused);
    await expect(ask(jag({ iss: undefined }))).rejects.toMatchObject(refused);
  });

  test("is refused where it is too long, or none", async () => {
    await expect(ask(jag({ filler: "x".repeat(20_000) }))).rejects.toMatchObject({ name: "AuthFault" });
    for (const text of ["x", "a.b.c", "..", "{}"]) await expect(ask(text)).rejects.toMatchObject({ name: "AuthFault" });
    await expect(ask("")).rejects.toMatchObject({ error: "invalid_request" });
  });

  test("is for a client that can show who it is, and may go this way", async () => {
    for (const client of [
      { ...app, authMethod: "none" as const },
      { ...app, grantTypes: ["authorization_code"] },
    ])
      await expect(ask(jag(), {}, client)).rejects.toMatchObject({ error: "unauthorized_client" });
  });

  test("names the resource: one of this server, and the one that is asked for", async () => {
    expect(await ask(jag(), { resource })).toMatchObject({ grant: { resource } });
    const other = "https://mcp.example.com/other";
    const grant = createGrant({ resources: [resource, other] });
    const foreign = { resource: "https://foreign.example.com/mcp" };
    await expect(ask(jag(foreign), {}, app, grant)).rejects.toMatchObject({ error: "invalid_target" });
    await expect(ask(jag(), { resource: other }, app, grant)).rejects.toMatchObject({ error: "invalid_target" });
    await expect(ask(jag({ resource: 1 }), {}, app, grant)).rejects.toMatchObject({ error: "invalid_target" });
    await expect(ask(jag({ resource: [] }), {}, app, grant)).rejects.toMatchObject({ error: "invalid_target" });
    await expect(ask(jag({ resource: undefined }), {}, app, grant)).rejects.toMatchObject(refused);
    const both = { resource: [resource, other] };
    await expect(ask(jag(both), {}, app, grant)).rejects.toMatchObject({ error: "invalid_target" });
    expect(await ask(jag(both), { resource: other }, app, grant)).toMatchObject({ grant: { resource: other } });
  });

  test("narrows what can be asked for", async () => {
    expect(await ask(jag({ scope: "read write" }), { scope: "write admin" })).toMatchObject({
      grant: { scopes: ["write"] },
    });
    expect(await ask(jag({ scope: "read strange" }))).toMatchObject({ grant: { scopes: ["read"] } });
    expect(await ask(jag({ scope: "" }))).toMatchObject({ grant: { scopes: [] } });
    await expect(ask(jag({ scope: "read" }), { scope: "admin" })).rejects.toMatchObject({ error: "invalid_scope" });
    await expect(ask(jag({ scope: "" }), { scope: "admin" })).rejects.toMatchObject({ error: "invalid_scope" });
    await expect(ask(jag({ scope: "strange" }))).rejects.toMatchObject({ error: "invalid_scope" });
    // It says nothing of scopes: what is asked for, or the default.
    expect(await ask(jag(), { scope: "admin" })).toMatchObject({ grant: { scopes: ["admin"] } });
    expect(await ask(jag())).toMatchObject({ grant: { scopes: ["read"] } });
  });

  test("says who that is here", async () => {
    const subject = (claims: Changes) => (claims.email === undefined ? undefined : `mail:${claims.email}`);
    const grant = createGrant({ trustedIssuers: [{ issuer: idp, jwks: idpKey.jwks, subject }] });
    expect(await ask(jag({ email: "ada@x" }), {}, app, grant)).toMatchObject({ grant: { subject: "mail:ada@x" } });
    await expect(ask(jag(), {}, app, grant)).rejects.toMatchObject(refused);
  });

  test("waits for keys that cannot be had", async () => {
    const grant = createGrant({ trustedIssuers: [{ issuer: idp }] });
    await expect(ask(jag(), {}, app, grant)).rejects.toMatchObject({ error: "temporarily_unavailable", status: 503 });
  });

  test("is looked at with the keys that its issuer publishes", async () => {
    const fetch: Fetch = async (url) =>
      url === `${idp}/keys` ? Response.json(idpKey.jwks) : Response.json({ issuer: idp, jwks_uri: `${idp}/keys` });
    const grant = createGrant({ trustedIssuers: [{ issuer: idp }] }, fetch);
    expect(await ask(jag(), {}, app, grant)).toHaveProperty("grant");
  });
});

describe("a platform's word on a program", () => {
  const own = (changes?: Changes, by = platformKey) => by.sign(workloadClaims(changes));

  test("is worth a token for that client, as often as it is shown", async () => {
    const grant = createGrant();
    const assertion = await own({ jti: "1" });
    for (let i = 0; i < 2; i++)
      expect(await ask(assertion, { scope: "write" }, worker, grant)).toEqual({
        grant: { clientId: "worker", subject: "worker", scopes: ["write"], resource },
        isLasting: false,
      });
  });

  test.each<[string, Changes]>([
    ["is about another", { sub: "other" }],
    ["is about nobody", { sub: undefined }],
    ["is for another", { aud: "https://other.example.com" }],
    ["has ended", { exp: nowS() - 60 }],
    ["has no end", { exp: undefined }],
    ["is good for long", { exp: nowS() + 200_000 }],
    ["is of one who is trusted with other things", { iss: idp }],
  ])("is refused where it %s", async (_name, changes) => {
    await expect(ask(own(changes), {}, worker)).rejects.toMatchObject(refused);
  });

  test("is refused with a key of another issuer", async () => {
    await expect(ask(own({}, idpKey), {}, worker)).rejects.toMatchObject(refused);
    await expect(ask(own({ iss: idp }, idpKey), {}, worker)).rejects.toMatchObject(refused);
    for (const forged of [unsigned(workloadClaims()), ...(await platformKey.signWithPublicHalf(workloadClaims()))])
      await expect(ask(forged, {}, worker)).rejects.toMatchObject(refused);
  });

  test("is for clients that the application has given", async () => {
    const stranger = { ...worker, origin: "registered" as const };
    await expect(ask(own(), {}, stranger)).rejects.toMatchObject({ error: "unauthorized_client" });
  });

  test("may call the client by another name", async () => {
    const subject = ({ sub }: Changes) => (sub === "spiffe://prod/worker" ? "worker" : undefined);
    const grant = createGrant({
      trustedIssuers: [{ issuer: platform, jwks: platformKey.jwks, kind: "workload", subject }],
    });
    expect(await ask(own({ sub: "spiffe://prod/worker" }), {}, worker, grant)).toMatchObject({
      grant: { subject: "worker" },
    });
    await expect(ask(own(), {}, worker, grant)).rejects.toMatchObject(refused);
  });
});

test("of several issuers each has a say on its own users, with its own keys", async () => {
  const second = "https://second.example.com";
  const subject = ({ iss, sub }: Changes) => `${sub} of ${iss}`;
  const grant = createGrant({
    trustedIssuers: [
      { issuer: idp, jwks: idpKey.jwks, subject },
      { issuer: second, jwks: platformKey.jwks, subject },
    ],
  });
  expect(await ask(jag(), {}, app, grant)).toMatchObject({ grant: { subject: `ada of ${idp}` } });
  const other = jag({ iss: second }, platformKey);
  expect(await ask(other, {}, app, grant)).toMatchObject({ grant: { subject: `ada of ${second}` } });
  for (const crossed of [jag({ iss: second }), jag({}, platformKey)])
    await expect(ask(crossed, {}, app, grant)).rejects.toMatchObject(refused);
  // What one has called by a name, the other may call by it, too.
  expect(await ask(jag({ jti: "same" }), {}, app, grant)).toHaveProperty("grant");
  expect(await ask(jag({ jti: "same", iss: second }, platformKey), {}, app, grant)).toHaveProperty("grant");
  await expect(ask(jag({ jti: "same" }), {}, app, grant)).rejects.toMatchObject(refused);
});

test("issuers that could be taken for one another are not taken at all", () => {
  const one = { issuer: idp, jwks: idpKey.jwks };
  const other = { issuer: "https://other.example.com", jwks: platformKey.jwks };
  const subject = () => "ada";
  expect(() => createGrant({ trustedIssuers: [one, one] })).toThrow("stands there twice");
  expect(() => createGrant({ trustedIssuers: [one, { ...other, subject }] })).toThrow('each needs "subject"');
  expect(() =>
    createGrant({
      trustedIssuers: [
        { ...one, subject },
        { ...other, subject },
      ],
    }),
  ).not.toThrow();
  expect(() => createGrant({ trustedIssuers: [one, { ...one, kind: "workload" }] })).not.toThrow();
});
