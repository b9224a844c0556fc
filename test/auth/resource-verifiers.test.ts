// What says what a token is worth: keys that are published, an authorization server that is asked, a function of one's own.
import { introspection, jwt } from "plenum/auth/resource-server";
import { describe, expect, test } from "vitest";
import { modern } from "../http/callers.ts";
import { covers } from "../requirements/covers.ts";
import { makePair, resource } from "./issuer.ts";
import { bearer, knock, metadataUrl, openStage, type Stage } from "./notes-stage.ts";

describe("audience", () => {
  test.each([
    ["HTTPS://MCP.EXAMPLE.COM/mcp", 200],
    [`${resource}/`, 200],
    ["https://mcp.example.com:443/mcp", 200],
    ["https://mcp.example.com/MCP", 401],
    ["http://mcp.example.com/mcp", 401],
    ["https://mcp.example.com.evil.example/mcp", 401],
    ["https://mcp.example.com/mcp?x=1", 401],
    ["https://mcp.example.com/mcp#x", 401],
  ])("%s: %i", async (aud, status) => {
    covers(["auth-flow-resource-uppercase", "auth-flow-resource-trailing-slash", "auth-flow-audience-validate"]);
    const { http, issuer } = await openStage();
    expect((await knock(http, modern, bearer(await issuer.sign({ aud })))).status).toBe(status);
  });
});

describe("keys", () => {
  test("of an authorization server that rotates them are found, and old ones die with it", async () => {
    covers("auth-flow-validate-token");
    const { http, issuer } = await openStage({});
    const old = await issuer.sign();
    expect((await knock(http, modern, bearer(old))).status).toBe(200);
    issuer.keys = [await makePair("second")];
    const fresh = await issuer.sign();
    // Not at once: who sends unknown keys must not make us ask each time.
    await expect.poll(async () => (await knock(http, modern, bearer(fresh))).status, { timeout: 15_000 }).toBe(200);
    expect((await knock(http, modern, bearer(old))).status).toBe(401);
  });

  test("of an authorization server that is down let nobody in, and everybody when it is back", async () => {
    covers("auth-flow-validate-before-processing");
    const { http, issuer, ran, errors } = await openStage();
    issuer.isDown = true;
    const token = await issuer.sign();
    expect((await knock(http, modern, bearer(token))).status).toBe(500);
    expect(ran).toEqual([]);
    expect(errors.length).toBe(1);
    expect(String(errors[0])).not.toContain(token);
    issuer.isDown = false;
    // It is not asked again at once.
    await expect.poll(async () => (await knock(http, modern, bearer(token))).status, { timeout: 10_000 }).toBe(200);
  });

  test("are not asked for because of what is no JWT", async () => {
    covers("auth-flow-validate-token");
    const { http, issuer } = await openStage();
    expect((await knock(http, modern, bearer("opaque"))).status).toBe(401);
    expect(issuer.asked).toEqual([]);
  });

  test("that would let anybody sign are refused when the server is made", () => {
    for (const algorithm of ["none", "HS256", "hs256", "dir"])
      expect(() => jwt({ issuer: "https://as.example", algorithms: [algorithm] })).toThrow(/not a signature/);
  });
});

test.each([
  [-2, 200],
  [-60, 401],
])("clocks may be a little apart: a token that ended %i s from now is %i", async (s, status) => {
  covers("auth-flow-invalid-token-401");
  const { http, issuer } = await openStage();
  const exp = Math.floor(Date.now() / 1000) + s;
  expect((await knock(http, modern, bearer(await issuer.sign({ exp })))).status).toBe(status);
});

describe("introspection", () => {
  const openIntrospected = async (more: object = {}): Promise<Stage> => {
    const stage = await openStage({
      authorizationServers: ["https://as.example"],
      verify: (token) => made.verify(token),
    });
    const { issuer } = stage.issuer;
    const made = introspection({
      issuer,
      endpoint: `${issuer}/introspect`,
      clientId: "us",
      clientSecret: "our secret",
      ...more,
    });
    return stage;
  };
  const active = { active: true, sub: "ann", aud: resource, scope: "notes:read", client_id: "app" };

  test("lets in what the authorization server knows, and keeps its answer for a moment", async () => {
    covers(["auth-flow-validate-token", "auth-flow-audience-validate"]);
    const { http, issuer } = await openIntrospected();
    issuer.known.set("good", active);
    const answers = await Promise.all([1, 2, 3, 4].map(() => knock(http, modern, bearer("good"))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(issuer.asked).toEqual(["/introspect"]);
    issuer.known.delete("good");
    expect((await knock(http, modern, bearer("good"))).status).toBe(200);
  });

  test("without a cache sees at once that a token was revoked", async () => {
    covers("auth-flow-validate-token");
    const { http, issuer } = await openIntrospected({ cacheMs: 0 });
    issuer.known.set("good", active);
    expect((await knock(http, modern, bearer("good"))).status).toBe(200);
    issuer.known.delete("good");
    expect((await knock(http, modern, bearer("good"))).status).toBe(401);
  });

  test.each([
    ["of another issuer", { iss: "https://evil.example" }],
    ["for another server", { aud: "https://other.example" }],
    ["for nobody", { aud: undefined }],
    ["that has expired", { exp: 1000 }],
    ["that is not active", { active: "true" }],
  ])("does not let in a token %s", async (_, change) => {
    covers(["auth-flow-audience-reject", "auth-flow-audience-validate", "auth-flow-server-no-foreign-tokens"]);
    const { http, issuer } = await openIntrospected();
    issuer.known.set("bad", { ...active, ...change });
    const answer = await knock(http, modern, bearer("bad"));
    expect(answer.status).toBe(401);
    expect(answer.header("www-authenticate")).toContain(`resource_metadata="${metadataUrl}"`);
  });

  test("of a server that answers for us alone needs no audience", async () => {
    covers("auth-flow-audience-reject");
    const { http, issuer } = await openIntrospected({ isForUsOnly: true });
    issuer.known.set("good", { ...active, aud: undefined });
    issuer.known.set("bad", { ...active, aud: "https://other.example" });
    expect((await knock(http, modern, bearer("good"))).status).toBe(200);
    expect((await knock(http, modern, bearer("bad"))).status).toBe(401);
  });

  test("that fails lets nobody in, and says nothing secret", async () => {
    covers(["auth-flow-validate-before-processing", "security-token-storage-server"]);
    const { http, issuer, errors } = await openIntrospected({ clientSecret: "wrong one" });
    issuer.known.set("good", active);
    const answer = await knock(http, modern, bearer("good"));
    expect(answer.status).toBe(500);
    const told = `${await answer.text()}${errors.map(String)}`;
    expect(told).not.toContain("wrong one");
    expect(told).not.toContain("good");
  });
});

test.each([
  ["jwt", () => jwt(undefined as never), /takes an object/],
  ["jwt", () => jwt({ issuer: "https://as.example", jwksUrl: "x" } as never), /did you mean "jwksUri"/],
  ["jwt", () => jwt({ issuer: "http://as.example" }), /must be an https URL, or http on this machine/],
  ["jwt", () => jwt({ issuer: "https://as.example", jwksUri: "http://as.example/keys" }), /jwksUri must be an https/],
  ["jwt", () => jwt({ issuer: "https://as.example", algorithms: "RS256" as never }), /algorithms is a list/],
  ["jwt", () => jwt({ issuer: "https://as.example", clockToleranceS: -1 }), /clockToleranceS/],
  ["introspection", () => introspection({ issuer: "https://as.example" } as never), /endpoint must be/],
  [
    "introspection",
    () => introspection({ issuer: "https://as.example", endpoint: "https://as.example/i", clientId: "us" } as never),
    /give clientId and clientSecret/,
  ],
])("%s refuses options that make no sense: %s", (_, make, message) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
});

test("the operator is told why somebody was not let in, and the client is not", async () => {
  covers("security-token-storage-server");
  const told: string[] = [];
  const { http, issuer } = await openStage({
    onRefused(why, status) {
      told.push(`${status} ${why}`);
      throw new Error("a log that fails");
    },
  });
  const tokens = [
    await issuer.sign({ iss: `${issuer.issuer}/` }),
    await issuer.sign({}, { typ: "dpop+jwt" }),
    await issuer.sign({ exp: 1000 }),
    await issuer.sign({ aud: "https://other.example" }),
    "opaque",
  ];
  for (const token of tokens) {
    const answer = await knock(http, modern, bearer(token));
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain(issuer.issuer);
  }
  expect((await knock(http, modern, bearer(await issuer.sign()))).status).toBe(200);
  expect(told).toEqual([
    `401 Its issuer is "${issuer.issuer}/", not "${issuer.issuer}"`,
    '401 It is no access token: its typ is "dpop+jwt"',
    "401 Its signature, its key or its time is not right",
    "401 The token was made for another server",
    "401 It is no JWT",
  ]);
  for (const token of tokens) expect(told.join()).not.toContain(token.split(".")[1] ?? token);
});

test("a verifier that forgets to say whom a token is for lets nobody in, and is told so", async () => {
  covers("auth-flow-audience-reject");
  const verify = async () => ({ subject: "ann", scopes: ["notes:read"] }) as never;
  const { http, errors, ran } = await openStage({ verify, authorizationServers: ["https://as.example"] });
  expect((await knock(http, modern, bearer("x"))).status).toBe(500);
  expect(String(errors[0])).toContain("verify must say the scopes and the audience");
  expect(ran).toEqual([]);
});
