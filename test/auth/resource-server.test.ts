// A protected server, over real HTTP, in every revision: who is let in, who is not, and what they are told.
import { createServer, type Server } from "plenum";
import { introspection, jwt, type RequireAuthOptions, requireAuth } from "plenum/auth/resource-server";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Answer } from "../http/answer.ts";
import { callModern, modern, openSession, sessioned } from "../http/callers.ts";
import { type Headers, type Http, openHttp } from "../http/harness.ts";
import { covers } from "../requirements/covers.ts";
import { type Issuer, makePair, openIssuer, type Pair, resource } from "./issuer.ts";

const metadataUrl = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
const httpRevisions = [...sessioned, modern] as const;
type HttpRevision = (typeof httpRevisions)[number];

interface Stage {
  readonly http: Http;
  readonly issuer: Issuer;
  readonly ran: string[];
  readonly seen: (string | undefined)[];
  readonly errors: unknown[];
}

function createNotes(ran: string[], seen: (string | undefined)[], errors: unknown[]): Server {
  const server = createServer({ name: "notes", version: "1.0.0", onError: (error) => void errors.push(error) });
  server.tool("whoami", {}, (_, ctx) => {
    ran.push("whoami");
    seen.push(ctx.sender?.header?.("authorization"), ctx.sender?.header?.("dpop"), JSON.stringify(ctx.auth));
    return ctx.auth?.subject;
  });
  server.tool("write", { input: z.object({ text: z.string() }), scopes: ["notes:write", "notes:own"] }, ({ text }) => {
    ran.push(text);
    return "written";
  });
  server.tool("purge", { scopes: ["admin"], hidden: true }, () => {
    ran.push("purge");
    return "gone";
  });
  return server;
}

async function openStage(options: Partial<RequireAuthOptions> = {}): Promise<Stage> {
  const issuer = await openIssuer();
  const ran: string[] = [];
  const seen: (string | undefined)[] = [];
  const errors: unknown[] = [];
  const auth = requireAuth({
    verify: jwt({ issuer: issuer.issuer }),
    resource,
    scopes: ["notes:read"],
    scopesSupported: ["notes:read", "notes:write"],
    ...options,
  });
  const http = await openHttp(createNotes(ran, seen, errors), { auth });
  return { http, issuer, ran, seen, errors };
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** Calls a tool as a client of that revision does: the first request that the server refuses is what comes back. */
async function call(
  http: Http,
  revision: HttpRevision,
  headers: Headers,
  name = "whoami",
  args: Record<string, unknown> = {},
): Promise<Answer> {
  const params = { name, arguments: args };
  if (revision === modern) return callModern(http, "tools/call", params, { headers });
  const session = await openSession(http, revision, { headers });
  return session.request("tools/call", params);
}

/** As a client that is not let in begins. */
function knock(http: Http, revision: HttpRevision, headers: Headers = {}): Promise<Answer> {
  if (revision === modern) return callModern(http, "tools/call", { name: "whoami" }, { headers });
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "x", version: "1" } };
  return http.post({ jsonrpc: "2.0", id: 1, method: "initialize", params }, headers);
}

describe.each(httpRevisions)("%s", (revision) => {
  test("who has no token is told where to get one", async () => {
    covers(
      [
        "auth-flow-401-required",
        "auth-discovery-www-authenticate",
        "auth-flow-scope-in-challenge",
        "auth-flow-scope-consistent",
        "auth-flow-server-no-offline-access",
        "auth-discovery-server-one-mechanism",
      ],
      revision,
    );
    const { http, ran } = await openStage();
    for (const headers of [{}, { authorization: "Basic YTpi" }]) {
      const answer = await knock(http, revision, headers);
      expect(answer.status).toBe(401);
      expect(answer.header("www-authenticate")).toBe(`Bearer scope="notes:read", resource_metadata="${metadataUrl}"`);
    }
    expect(ran).toEqual([]);
  });

  test("the metadata is where it is looked for", async () => {
    covers(
      [
        "auth-discovery-prm-server",
        "auth-discovery-prm-authorization-servers",
        "auth-discovery-server-one-mechanism",
        "auth-discovery-well-known-path",
        "auth-flow-server-no-offline-access",
      ],
      revision,
    );
    const { http, issuer } = await openStage({ name: "Notes" });
    for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
      const answer = await http.send({ method: "GET", path });
      expect(answer.status).toBe(200);
      expect(answer.header("access-control-allow-origin")).toBe("*");
      expect(await answer.json()).toEqual({
        resource,
        authorization_servers: [issuer.issuer],
        scopes_supported: ["notes:read", "notes:write"],
        bearer_methods_supported: ["header"],
        resource_name: "Notes",
      });
    }
  });

  test("who has a token is let in, and the token goes no further", async () => {
    covers(
      [
        "auth-flow-validate-token",
        "auth-flow-no-passthrough",
        "auth-flow-server-no-foreign-tokens",
        "security-verify-inbound",
        "ext-auth-cc-server-validates",
      ],
      revision,
    );
    const { http, issuer, seen } = await openStage();
    const token = await issuer.sign();
    const answer = await call(http, revision, bearer(token));
    expect(answer.status).toBe(200);
    expect(JSON.stringify(await answer.result())).toContain("ann");
    const [authorization, dpop, auth] = seen;
    expect([authorization, dpop]).toEqual([undefined, undefined]);
    expect(JSON.parse(auth ?? "")).toMatchObject({ subject: "ann", clientId: "app", scopes: ["notes:read"] });
    expect(auth).not.toContain(token.split(".")[2]);
  });

  test("a token that is not good enough for a tool is challenged with all that it takes", async () => {
    covers(
      [
        "auth-flow-403-scope",
        "auth-flow-insufficient-scope",
        "auth-flow-insufficient-scope-content",
        "auth-flow-single-challenge",
        "auth-flow-failure-response",
      ],
      revision,
    );
    const { http, issuer, ran } = await openStage();
    const refused = await call(http, revision, bearer(await issuer.sign()), "write", { text: "x" });
    expect(refused.status).toBe(403);
    expect(refused.header("www-authenticate")).toBe(
      `Bearer error="insufficient_scope", error_description="The token does not reach that far: it takes notes:read notes:write notes:own", ` +
        `scope="notes:read notes:write notes:own", resource_metadata="${metadataUrl}"`,
    );
    expect(ran).toEqual([]);
    const token = await issuer.sign({ scope: "notes:read notes:write notes:own" });
    const good = await call(http, revision, bearer(token), "write", { text: "x" });
    expect(good.status).toBe(200);
    expect(ran).toEqual(["x"]);
  });

  test("what every request needs is asked for at the door", async () => {
    covers(["auth-flow-403-scope", "auth-flow-insufficient-scope", "ext-auth-cc-server-validates"], revision);
    const { http, issuer } = await openStage();
    const refused = await knock(http, revision, bearer(await issuer.sign({ scope: "other" })));
    expect(refused.status).toBe(403);
    expect(refused.header("www-authenticate")).toContain('error="insufficient_scope"');
    expect(refused.header("www-authenticate")).toContain('scope="notes:read"');
  });

  test("a broader scope stands for what it implies", async () => {
    covers("auth-flow-scope-hierarchy", revision);
    const { http, issuer, ran } = await openStage({
      implies: { owner: ["admin"], admin: ["notes:read", "notes:write", "notes:own"] },
    });
    const token = bearer(await issuer.sign({ scope: "owner" }));
    expect((await call(http, revision, token, "write", { text: "y" })).status).toBe(200);
    expect((await call(http, revision, token, "purge")).status).toBe(200);
    expect(ran).toEqual(["y", "purge"]);
  });

  test("a hidden tool is not there for who lacks its scopes", async () => {
    covers("auth-flow-403-scope", revision);
    const { http, issuer, ran } = await openStage();
    const answer = await call(http, revision, bearer(await issuer.sign()), "purge");
    expect(answer.status).toBe(200);
    expect((await answer.response()).error?.message).toBe('Unknown tool: "purge"');
    expect(ran).toEqual([]);
  });

  test("a header that is no token is a bad request; one in the query is none", async () => {
    covers(["auth-flow-400-malformed", "auth-flow-no-query-token", "auth-flow-failure-response"], revision);
    const { http, issuer, ran } = await openStage();
    const token = await issuer.sign();
    for (const value of [
      "Bearer",
      "Bearer ",
      `Bearer ${token} ${token}`,
      `Bearer ${token}, Bearer ${token}`,
      'Bearer "x"',
    ]) {
      const answer = await knock(http, revision, { authorization: value });
      expect(answer.status).toBe(400);
      expect(answer.header("www-authenticate")).toContain('error="invalid_request"');
    }
    const inQuery = await http.send({
      path: `/mcp?access_token=${token}`,
      headers: { "content-type": "application/json" },
    });
    expect(inQuery.status).toBe(401);
    expect(ran).toEqual([]);
  });

  describe("is not let in", () => {
    let other: Pair;
    let rsa: Pair;
    beforeAll(async () => {
      [other, rsa] = await Promise.all([makePair("first"), makePair("rsa", "RS256")]);
    });
    const now = (): number => Math.floor(Date.now() / 1000);
    const b64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const bad: { readonly [what: string]: (issuer: Issuer) => string | Promise<string> } = {
      "an expired token": ({ sign }) => sign({ exp: now() - 60 }),
      "a token from the future": ({ sign }) => sign({ nbf: now() + 600 }),
      "a token that was made in the future": ({ sign }) => sign({ iat: now() + 600, exp: now() + 1200 }),
      "a token without an end": ({ sign }) => sign({ exp: undefined }),
      "a token of another issuer": ({ sign }) => sign({ iss: "https://evil.example" }),
      "a token without an issuer": ({ sign }) => sign({ iss: undefined }),
      "a token for another server": ({ sign }) => sign({ aud: "https://other.example.com/mcp" }),
      "a token for a part of this server": ({ sign }) => sign({ aud: `${resource}/sub` }),
      "a token for the whole host": ({ sign }) => sign({ aud: "https://mcp.example.com" }),
      "a token for nobody": ({ sign }) => sign({ aud: undefined }),
      "a token for others": ({ sign }) => sign({ aud: ["a", "b"] }),
      "a token that was changed": async ({ sign }) => {
        const [head, , tail] = (await sign()).split(".");
        const claims = { iss: "x", sub: "root", aud: resource, exp: now() + 60, scope: "notes:read" };
        return `${head}.${b64(claims)}.${tail}`;
      },
      "a token signed with another key": ({ sign }) => sign({}, {}, other),
      "a token of a key that nobody published": ({ sign }) => sign({}, {}, rsa),
      "a token without a signature": async ({ sign }) => `${b64({ alg: "none" })}.${(await sign()).split(".")[1]}.`,
      "a token signed with the public key as a secret": async ({ sign, keys }) => {
        const claims = (await sign()).split(".")[1];
        const head = b64({ alg: "HS256", kid: "first", typ: "at+jwt" });
        const secret = new TextEncoder().encode(JSON.stringify(keys[0]?.jwk));
        const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
        const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${head}.${claims}`));
        return `${head}.${claims}.${Buffer.from(mac).toString("base64url")}`;
      },
      "a token that brings its own key": ({ sign }) => sign({}, { jwk: other.jwk, kid: undefined }, other),
      "a proof in place of a token": ({ sign }) => sign({}, { typ: "dpop+jwt" }),
      "an assertion in place of a token": ({ sign }) => sign({}, { typ: "oauth-id-jag+jwt" }),
      "a word": () => "hunter2",
      "three words": () => "a.b.c",
    };
    test.each(Object.keys(bad))("%s", async (what) => {
      covers(
        [
          "auth-flow-validate-token",
          "auth-flow-failure-response",
          "auth-flow-invalid-token-401",
          "auth-flow-audience-validate",
          "auth-flow-audience-reject",
          "auth-flow-validate-before-processing",
          "auth-flow-server-no-foreign-tokens",
          "security-verify-inbound",
          "ext-auth-cc-server-validates",
        ],
        revision,
      );
      const { http, issuer, ran } = await openStage();
      const token = await (bad[what] as (issuer: Issuer) => string | Promise<string>)(issuer);
      // "none" has an empty signature, which is not how a token is written.
      const status = token.endsWith(".") ? [400, 401] : [401];
      for (const answer of [
        await knock(http, revision, bearer(token)),
        await http.get(bearer(token)),
        await http.delete(bearer(token)),
      ]) {
        expect(status).toContain(answer.status);
        expect(answer.header("www-authenticate")).toMatch(/error="invalid_(token|request)"/);
        const text = await answer.text();
        expect(text).not.toContain("ann");
        expect(text).not.toContain(token);
      }
      expect(ran).toEqual([]);
    });
  });
});

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

test("a limit per caller is told with the time to wait", async () => {
  const waits = new Map([["ann", 2.5]]);
  const { http, issuer, ran } = await openStage({ limit: ({ subject }) => waits.get(subject ?? "") });
  const answer = await knock(http, modern, bearer(await issuer.sign()));
  expect(answer.status).toBe(429);
  expect(answer.header("retry-after")).toBe("3");
  expect(ran).toEqual([]);
  expect((await knock(http, modern, bearer(await issuer.sign({ sub: "bob" })))).status).toBe(200);
});

describe("who listens does so no longer than his token lives", () => {
  /** A token that says nothing but when it ends. */
  const openTimed = (): Promise<Stage> =>
    openStage({
      authorizationServers: ["https://as.example"],
      verify: async (token) => ({ subject: "ann", scopes: ["notes:read"], audience: true, expiresAt: Number(token) }),
    });
  const inSeconds = (s: number): Headers => bearer(String(Math.ceil(Date.now() / 1000) + s));
  /** Rejects where it goes on for too long. */
  const endOf = async (answer: Answer): Promise<string> => {
    await answer.events();
    return "over";
  };

  test.each(sessioned)("in %s, and comes back with another to the same session", async (revision) => {
    covers(["auth-flow-invalid-token-401", "security-verify-inbound"], revision);
    const { http } = await openTimed();
    const short = inSeconds(1);
    const session = await openSession(http, revision, { headers: short });
    const stream = await session.get();
    expect(stream.status).toBe(200);
    expect(await endOf(stream)).toBe("over");
    expect((await session.get()).status).toBe(401);
    const long = await session.get(inSeconds(600));
    expect(long.status).toBe(200);
    const first = await Promise.race([endOf(long), new Promise((resolve) => setTimeout(resolve, 1500, "open"))]);
    expect(first).toBe("open");
  });

  test("in 2026-07-28", async () => {
    covers(["auth-flow-invalid-token-401", "security-verify-inbound"], modern);
    const { http } = await openTimed();
    const listen = (headers: Headers): Promise<Answer> =>
      callModern(http, "subscriptions/listen", { notifications: { toolsListChanged: true } }, { headers });
    const stream = await listen(inSeconds(1));
    expect(stream.status).toBe(200);
    expect(await endOf(stream)).toBe("over");
  });
});

test("a batch takes what all of it takes", async () => {
  covers("auth-flow-single-challenge");
  const { http, issuer, ran } = await openStage();
  const session = await openSession(http, "2025-03-26", { headers: bearer(await issuer.sign()) });
  const member = (id: number, name: string) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: { text: "x" } },
  });
  const answer = await session.post([member(1, "whoami"), member(2, "write")]);
  expect(answer.status).toBe(403);
  expect(answer.header("www-authenticate")).toContain('scope="notes:read notes:write notes:own"');
  expect(ran).toEqual([]);
});

test("a server whose tools take scopes and that asks nobody who he is lets nobody use them", async () => {
  const ran: string[] = [];
  const http = await openHttp(createNotes(ran, [], []), {});
  for (const revision of httpRevisions) {
    const answer = await call(http, revision, {}, "write", { text: "x" });
    expect((await answer.response()).error?.message).toContain("notes:write notes:own");
    const hidden = await call(http, revision, {}, "purge");
    expect((await hidden.response()).error?.message).toContain("Unknown tool");
  }
  expect(ran).toEqual([]);
});

test.each([
  ["no verifier", { verify: undefined }, /give verify/],
  ["no authorization server", { verify: async () => undefined }, /give authorizationServers/],
  ["no resource", { resource: undefined }, /resource is this server's own URL/],
  ["a resource with a fragment", { resource: "https://a.example/mcp#x" }, /resource is this server's own URL/],
  ["offline_access", { scopes: ["offline_access"] }, /offline_access is for clients/],
  ["a scope that is none", { scopes: ['a"b'] }, /is no scope/],
  ["a misspelt option", { scope: ["notes:read"] }, /option "scope" is unknown: did you mean "scopes"\?/],
  ["scopes that are no list", { scopes: "notes:read" }, /scopes is a list/],
  ["scopes that imply no list", { implies: { admin: "notes:read" } }, /implies.admin is a list/],
  ["authorization servers that are no list", { authorizationServers: "https://as.example" }, /a list of the URLs/],
  ["a limit that is no function", { limit: 5 }, /limit is a function/],
])("requireAuth refuses %s", (_, change, message) => {
  covers(["auth-discovery-prm-authorization-servers", "auth-flow-server-no-offline-access"]);
  const options = { verify: jwt({ issuer: "https://as.example" }), resource, ...change };
  expect(() => requireAuth(options as unknown as RequireAuthOptions)).toThrow(message);
});
