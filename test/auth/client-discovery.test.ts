// Who authorizes for a server: where a client looks, in which order, and what it does not believe.
import type { Revision } from "plenum";
import { clientCredentials } from "plenum/auth/client";
import { describe, expect, test } from "vitest";
import { findPort } from "../find-port.ts";
import { covers } from "../requirements/covers.ts";
import type { Answer } from "./place.ts";
import { authRevisions, follow, logIn, openStage, refusalOf, type Stage } from "./stage.ts";

const wellKnown = "/.well-known/oauth-protected-resource";
const asWellKnown = "/.well-known/oauth-authorization-server";
const oidc = "/.well-known/openid-configuration";

/** From 2025-06-18 on a server has metadata of its own. */
const withMetadata = authRevisions.filter((revision) => revision > "2025-03-26");

/** Metadata that was asked for, in order. */
const lookedAt = (stage: Stage): string[] =>
  stage.log.filter(({ path }) => path.includes(".well-known")).map(({ place, path }) => `${place} ${path}`);

/** The server says nothing of where its metadata is. */
function silence(stage: Stage): void {
  stage.challenge = (usual) => ({ ...usual, header: undefined });
}

describe("the metadata of the server", () => {
  test.each(withMetadata)("leads to an authorization server elsewhere, in %s", async (revision) => {
    covers(["auth-discovery-prm-client", "auth-flow-client-starts-on-401"], revision);
    const stage = await openStage();
    const client = await logIn(stage, { revision });
    expect(client.revision).toBe(revision);
    expect((await client.callTool("tell")).text).toBe("told");
    expect(stage.order.slice(0, 6)).toEqual([
      "server POST /mcp",
      `server GET ${wellKnown}/mcp`,
      `authority GET ${asWellKnown}`,
      "authority POST /register",
      "authority GET /authorize",
      "authority POST /token",
    ]);
    expect(new URL(stage.url).origin).not.toBe(stage.authority.place.origin);
  });

  test.each([
    ["quoted", (url: string) => `Bearer resource_metadata="${url}"`],
    ["not quoted", (url: string) => `Bearer resource_metadata=${url}`],
    ["behind another scheme", (url: string) => `Basic realm="a, b", Bearer error="x", resource_metadata="${url}"`],
    ["before another scheme", (url: string) => `Bearer resource_metadata="${url}", Negotiate YWJj==`],
    ["with spaces and in capitals", (url: string) => `BEARER Resource_Metadata = "${url}" , Digest realm=x`],
  ])("is where the challenge says: %s", async (_, toHeader) => {
    covers(["auth-discovery-client-parse-challenge", "auth-discovery-client-both-mechanisms"]);
    const stage = await openStage();
    const { place, authority } = stage;
    const hint = `${place.origin}/somewhere/else.json`;
    place.pages.set("/somewhere/else.json", {
      body: { resource: stage.url, authorization_servers: [authority.issuer] },
    });
    // What is at the well-known path leads elsewhere.
    stage.metadata = { resource: stage.url, authorization_servers: ["https://wrong.example"] };
    stage.challenge = (usual) => ({ ...usual, header: toHeader(hint) });
    await logIn(stage);
    expect(lookedAt(stage)).toEqual([`authority ${asWellKnown}`]);
    expect(stage.order[1]).toBe("server GET /somewhere/else.json");
  });

  test("is looked for at the path of the server first, then at the root", async () => {
    covers([
      "auth-discovery-client-both-mechanisms",
      "auth-discovery-client-well-known-order",
      "auth-discovery-prm-well-known-uri",
      "auth-flow-resource-trailing-slash",
    ]);
    const stage = await openStage();
    silence(stage);
    stage.place.pages.delete(`${wellKnown}/mcp`);
    stage.place.pages.set(wellKnown, {
      body: { resource: stage.place.origin, authorization_servers: [stage.authority.issuer] },
    });
    await logIn(stage);
    expect(lookedAt(stage)).toEqual([`server ${wellKnown}/mcp`, `server ${wellKnown}`, `authority ${asWellKnown}`]);
    // To the letter, as the metadata has it.
    expect(stage.authority.of("authorize")[0]?.query.get("resource")).toBe(stage.place.origin);
  });

  test("that is at the path of the server is enough", async () => {
    covers(["auth-discovery-client-both-mechanisms", "auth-discovery-prm-well-known-uri"]);
    const stage = await openStage();
    silence(stage);
    await logIn(stage);
    expect(lookedAt(stage)).toEqual([`server ${wellKnown}/mcp`, `authority ${asWellKnown}`]);
  });

  test("may be written in capitals, and is sent as it is written", async () => {
    covers("auth-flow-resource-uppercase");
    const stage = await openStage();
    const resource = stage.url.replace("http", "HTTP");
    stage.metadata.resource = resource;
    await logIn(stage);
    expect(stage.authority.of("authorize")[0]?.query.get("resource")).toBe(resource);
  });

  test.each([
    ["another origin", () => "https://other.example/mcp"],
    ["another path", (url: string) => `${url}2`],
    ["a longer path", (url: string) => `${url}/more`],
    ["a fragment", (url: string) => `${url}#x`],
    ["a query", (url: string) => `${url}?tenant=2`],
    ["no URL", () => "mcp"],
    ["nothing", () => undefined],
    ["a number", () => 5],
  ])("of another resource is not used: %s", async (_, toResource) => {
    covers("auth-discovery-prm-resource-match");
    const stage = await openStage();
    stage.metadata.resource = toResource(stage.url);
    expect(await refusalOf(logIn(stage))).toMatchObject({ code: "resource_mismatch" });
    expect(stage.order.filter((one) => one.startsWith("authority"))).toEqual([]);
  });

  test("of another resource is an error that names it, on one short line", async () => {
    const stage = await openStage();
    stage.metadata.resource = `https://other.example/\u001b[2J\n${"x".repeat(5000)}`;
    const { message } = await refusalOf(logIn(stage));
    expect(message).toContain('"https://other.example/');
    expect(message).toContain("connect to that address");
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(600);
  });

  test.each([[undefined], [[]], ["https://as.example"], [[5]]])(
    "names an authorization server, not %j",
    async (named) => {
      covers("auth-discovery-prm-client");
      const stage = await openStage();
      stage.metadata.authorization_servers = named;
      expect(await refusalOf(logIn(stage))).toMatchObject({ code: "discovery_failed" });
      expect(stage.order.filter((one) => one.startsWith("authority"))).toEqual([]);
    },
  );

  test("may name several: the first is taken, or the one that the application chooses", async () => {
    covers("auth-discovery-prm-client-selects");
    const stage = await openStage();
    const second = await stage.openAuthority("second");
    const both = [stage.authority.issuer, second.issuer];
    stage.metadata.authorization_servers = both;
    await logIn(stage);
    expect([stage.authority.of("token").length, second.of("token").length]).toEqual([1, 0]);
    const asked: (readonly string[])[] = [];
    await logIn(stage, {
      chooseIssuer(issuers) {
        asked.push(issuers);
        return second.issuer;
      },
    });
    expect(asked).toEqual([both]);
    expect([stage.authority.of("token").length, second.of("token").length]).toEqual([1, 1]);
    const wrong = logIn(stage, { chooseIssuer: () => "https://third.example" });
    expect(await refusalOf(wrong)).toMatchObject({ code: "discovery_failed" });
  });

  test("that is in trouble is not passed over", async () => {
    covers("auth-discovery-prm-client");
    for (const status of [500, 503, 429]) {
      const stage = await openStage();
      silence(stage);
      stage.place.pages.set(`${wellKnown}/mcp`, { status });
      expect(await refusalOf(logIn(stage))).toMatchObject({ code: "discovery_failed" });
      expect(lookedAt(stage)).toEqual([`server ${wellKnown}/mcp`]);
    }
  });

  test("that is not where the challenge says is an error that says so", async () => {
    covers("auth-discovery-client-both-mechanisms");
    const stage = await openStage();
    stage.challenge = (usual) => ({
      ...usual,
      header: `Bearer resource_metadata="${stage.place.origin}/gone?x=secret"`,
    });
    const error = await refusalOf(logIn(stage));
    expect(error).toMatchObject({ code: "discovery_failed", message: expect.stringContaining("/gone") });
    expect(error.message).not.toContain("secret");
  });
});

describe("the metadata of the authorization server", () => {
  test.each([
    ["without a path", "", [asWellKnown, oidc]],
    ["with a path", "/tenant", [`${asWellKnown}/tenant`, `${oidc}/tenant`, `/tenant${oidc}`]],
  ])("of an issuer %s is looked for in order", async (_, path, places) => {
    covers([
      path ? "auth-discovery-order-with-path" : "auth-discovery-order-without-path",
      "auth-discovery-as-metadata-uri",
      "auth-discovery-client-multiple-endpoints",
      "auth-discovery-default-suffix",
    ]);
    const stage = await openStage({ issuerPath: path });
    const { pages } = stage.authority.place;
    pages.delete(`${asWellKnown}${path}`);
    const error = await refusalOf(logIn(stage));
    expect(error).toMatchObject({ code: "discovery_failed", message: expect.stringContaining(stage.authority.issuer) });
    expect(lookedAt(stage).filter((one) => one.startsWith("authority"))).toEqual(
      places.map((place) => `authority ${place}`),
    );
    expect(stage.order.filter((one) => one.startsWith("authority")).length).toBe(places.length);
  });

  test.each([
    ["", asWellKnown],
    ["", oidc],
    ["/tenant", `${asWellKnown}/tenant`],
    ["/tenant", `${oidc}/tenant`],
    ["/tenant", `/tenant${oidc}`],
  ])("of an issuer with the path %j is found at %s alone", async (path, only) => {
    covers(["auth-discovery-client-both-metadata", "auth-discovery-client-multiple-endpoints"]);
    const stage = await openStage({ issuerPath: path });
    const { pages } = stage.authority.place;
    const page = pages.get(`${asWellKnown}${path}`);
    pages.delete(`${asWellKnown}${path}`);
    if (page) pages.set(only, page);
    const client = await logIn(stage);
    expect((await client.callTool("tell")).text).toBe("told");
  });

  test.each(authRevisions)("names the endpoints, in %s", async (revision) => {
    covers("auth-discovery-as-metadata-client", revision);
    const stage = await openStage();
    const { authority } = stage;
    const { origin, pages } = authority.place;
    for (const name of ["authorize", "token", "register"]) {
      const page = pages.get(`/${name}`);
      pages.delete(`/${name}`);
      if (page) pages.set(`/deep/${name}`, page);
    }
    Object.assign(authority.metadata, {
      authorization_endpoint: `${origin}/deep/authorize?tenant=1`,
      token_endpoint: `${origin}/deep/token`,
      registration_endpoint: `${origin}/deep/register`,
    });
    await logIn(stage, { revision });
    const asked = authority.of("deep/authorize")[0]?.query;
    expect([asked?.get("tenant"), asked?.get("response_type")]).toEqual(["1", "code"]);
    expect(authority.of("deep/token")).toHaveLength(1);
  });

  test.each([
    ["of another host", (issuer: string) => issuer.replace("127.0.0.1", "localhost")],
    ["with a slash", (issuer: string) => `${issuer}/`],
    ["in capitals", (issuer: string) => issuer.replace("http", "HTTP")],
    ["that is none", () => undefined],
  ])("with an issuer %s is not used", async (_, toIssuer) => {
    covers("auth-discovery-issuer-match");
    const stage = await openStage();
    const { authority } = stage;
    authority.metadata.issuer = toIssuer(authority.issuer);
    const named = authority.metadata.issuer ? `another issuer, "${authority.metadata.issuer}"` : "names no issuer";
    expect(await refusalOf(logIn(stage))).toMatchObject({
      code: "issuer_mismatch",
      message: expect.stringContaining(named),
    });
    for (const what of ["authorize", "register", "token"]) expect(authority.of(what)).toEqual([]);
  });

  test("with members of another kind is as if they were not there", async () => {
    const stage = await openStage();
    Object.assign(stage.authority.metadata, {
      scopes_supported: 5,
      token_endpoint_auth_methods_supported: "none",
      client_id_metadata_document_supported: "yes",
      authorization_response_iss_parameter_supported: "no",
    });
    const client = await logIn(stage, { clientMetadataUrl: "https://client.example/id.json" });
    expect((await client.callTool("tell")).text).toBe("told");
    expect(stage.authority.of("register")).toHaveLength(1);
    stage.authority.metadata.code_challenge_methods_supported = "S256 and more";
    expect(await refusalOf(logIn(stage))).toMatchObject({ code: "pkce_unsupported" });
  });
});

describe("the way of 2025-03-26", () => {
  const revision: Revision = "2025-03-26";

  /** The server is its own authorization server. */
  async function openOwn(): Promise<Stage> {
    const stage = await openStage();
    const { place, authority } = stage;
    silence(stage);
    place.pages.delete(`${wellKnown}/mcp`);
    authority.issuer = place.origin;
    authority.metadata.issuer = place.origin;
    for (const name of ["authorize", "token", "register"]) {
      const page = authority.place.pages.get(`/${name}`);
      if (page) place.pages.set(`/${name}`, page);
    }
    return stage;
  }

  test("takes metadata at the root of the server, and its endpoints", async () => {
    covers(
      [
        "auth-discovery-as-metadata-client",
        "auth-discovery-base-url",
        "auth-discovery-version-header",
        "auth-flow-client-starts-on-401",
      ],
      revision,
    );
    const stage = await openOwn();
    const { place } = stage;
    Object.assign(stage.authority.metadata, {
      authorization_endpoint: `${place.origin}/authorize`,
      token_endpoint: `${place.origin}/token`,
      registration_endpoint: `${place.origin}/register`,
    });
    place.pages.set(asWellKnown, () => ({ body: stage.authority.metadata }));
    const client = await logIn(stage, { revision });
    expect((await client.callTool("tell")).text).toBe("told");
    expect(lookedAt(stage)).toEqual([`server ${wellKnown}/mcp`, `server ${wellKnown}`, `server ${asWellKnown}`]);
    const asked = stage.log.filter(({ path }) => path.startsWith("/.well-known"));
    for (const { headers } of asked) expect(headers["mcp-protocol-version"]).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(stage.order).toContain("server GET /authorize");
  });

  test("has fixed paths where there is none", async () => {
    covers(
      [
        "auth-discovery-fallback-client",
        "auth-discovery-metadata-before-fallback",
        "auth-discovery-base-url",
        "auth-flow-oauth21-implementation",
        "security-pkce",
      ],
      revision,
    );
    const stage = await openOwn();
    const client = await logIn(stage, { revision });
    expect((await client.callTool("tell")).text).toBe("told");
    const order = stage.order.filter((one) => !one.endsWith("/mcp") || one.includes("well-known"));
    expect(order).toEqual([
      `server GET ${wellKnown}/mcp`,
      `server GET ${wellKnown}`,
      `server GET ${asWellKnown}`,
      "server POST /register",
      "server GET /authorize",
      "server POST /token",
    ]);
    const page = stage.log.find(({ path }) => path === "/authorize");
    expect(page?.query.get("code_challenge_method")).toBe("S256");
    expect(page?.query.has("resource")).toBe(false);
  });

  test("does not believe in metadata of another issuer, nor in a server without S256", async () => {
    covers("auth-discovery-as-metadata-client", revision);
    const stage = await openOwn();
    const { metadata } = stage.authority;
    stage.place.pages.set(asWellKnown, () => ({ body: metadata }));
    metadata.issuer = "https://other.example";
    expect(await refusalOf(logIn(stage, { revision }))).toMatchObject({ code: "issuer_mismatch" });
    metadata.issuer = stage.place.origin;
    metadata.code_challenge_methods_supported = ["plain"];
    expect(await refusalOf(logIn(stage, { revision }))).toMatchObject({ code: "pkce_unsupported" });
    expect(stage.order).not.toContain("authority POST /register");
  });
});

describe("a server that takes tokens, but has no OAuth", () => {
  /** @param rest what it answers wherever nothing is */
  async function openBare(rest: Answer): Promise<Stage> {
    const stage = await openStage();
    silence(stage);
    stage.place.pages.delete(`${wellKnown}/mcp`);
    for (const path of [wellKnown, `${wellKnown}/mcp`, asWellKnown, "/register", "/token"])
      stage.place.pages.set(path, rest);
    return stage;
  }
  const html = { "content-type": "text/html" };
  const rests: [string, Answer][] = [
    ["404", { status: 404 }],
    ["405", { status: 405, body: "no" }],
    ["a page for everything", { headers: html, body: "<!doctype html><p>Welcome" }],
    ["the way to a login", { status: 302, headers: { location: "/login" } }],
  ];

  test.each(rests)("is an error that says so: %s", async (_, rest) => {
    const stage = await openBare(rest);
    const redirect = follow();
    const error = await refusalOf(logIn(stage, { redirect }));
    expect(error).toMatchObject({ code: "discovery_failed", message: expect.stringContaining("headers") });
    expect(redirect.visits).toEqual([]);
  });

  test.each(rests)("is one for a program, too: %s", async (_, rest) => {
    const stage = await openBare(rest);
    const grant = clientCredentials();
    const error = await refusalOf(logIn(stage, { grant, client: { id: "c", secret: "hunter2222" } }));
    expect(error).toMatchObject({ code: "discovery_failed", message: expect.stringContaining("headers") });
    expect(error.message).not.toMatch(/conform|hunter2222/);
  });

  test("has it after all where its fixed endpoints say why not", async () => {
    const stage = await openBare({ status: 404 });
    stage.place.pages.set("/register", { status: 403, body: { error: "access_denied" } });
    expect(await refusalOf(logIn(stage))).toMatchObject({ code: "registration_failed", error: "access_denied" });
  });
});

test("who cannot be reached is named, with the reason", async () => {
  const stage = await openStage();
  const gone = `http://127.0.0.1:${await findPort()}`;
  stage.metadata.authorization_servers = [gone];
  const { code, message } = await refusalOf(logIn(stage));
  expect(code).toBe("discovery_failed");
  expect(message).toContain(`${gone}/.well-known/oauth-authorization-server could not be reached: `);
  expect(message).toMatch(/ECONNREFUSED.*Is the server running/);
});

test("a server that wants no token is asked for none", async () => {
  covers(["auth-flow-optional", "auth-flow-custom-strategies"]);
  const stage = await openStage();
  const redirect = follow();
  stage.authority.tokens.set("mine", { scopes: [], resource: undefined, clientId: "me", isRevoked: false });
  // One's own way to give leave, in place of OAuth.
  const own = { authorize: async () => ({ authorization: "Bearer mine" }), refused: async () => false };
  const client = await logIn(stage, { auth: own, redirect });
  expect((await client.callTool("tell")).text).toBe("told");
  expect(redirect.visits).toEqual([]);
  expect(stage.order.every((one) => one.startsWith("server POST /mcp"))).toBe(true);
});
