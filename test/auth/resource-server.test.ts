// A protected server, over real HTTP, in every revision: who is let in, who is not, and what they are told.
import { jwt, type RequireAuthOptions, requireAuth } from "plenum/auth/resource-server";
import { beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../http/answer.ts";
import { callModern, modern, openSession, sessioned } from "../http/callers.ts";
import { type Headers, openHttp } from "../http/harness.ts";
import { covers } from "../requirements/covers.ts";
import { type Issuer, makePair, type Pair, resource } from "./issuer.ts";
import { bearer, call, createNotes, httpRevisions, knock, metadataUrl, openStage, type Stage } from "./notes-stage.ts";

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
