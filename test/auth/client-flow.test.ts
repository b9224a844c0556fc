// The way to a token and with it: PKCE, resource, who answers, and where the token goes.
import { createHash } from "node:crypto";
import { connect } from "plenum";
import { createAuthorizedFetch, createRedirect, oauth } from "plenum/auth/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer } from "./place.ts";
import { authRevisions, follow, logIn, openStage, refusalOf, type Stage, textOf } from "./stage.ts";

/** Another Location for the browser to go back to. */
const bendBack =
  (bend: (back: URL) => void) =>
  (answer: Answer): Answer => {
    const back = new URL(answer.headers?.location ?? "");
    bend(back);
    return { ...answer, headers: { location: back.href } };
  };

const tokenRequests = (stage: Stage) => stage.authority.of("token");

describe.each(authRevisions)("in %s", (revision) => {
  test("a stolen code is worth nothing: PKCE with S256", async () => {
    covers(["security-pkce", "security-pkce-s256"], revision);
    const stage = await openStage();
    await logIn(stage, { revision });
    const asked = stage.authority.of("authorize")[0]?.query;
    const verifier = tokenRequests(stage)[0]?.form.get("code_verifier") ?? "";
    expect(asked?.get("code_challenge_method")).toBe("S256");
    expect(verifier.length).toBeGreaterThanOrEqual(43);
    expect(asked?.get("code_challenge")).toBe(createHash("sha256").update(verifier).digest("base64url"));
    expect(asked?.has("code_verifier")).toBe(false);
  });

  test("a token is for one server: resource in every request for one", async () => {
    covers(
      [
        "auth-flow-resource-both-requests",
        "auth-flow-resource-identifies-server",
        "auth-flow-resource-canonical",
        "auth-flow-resource-specific",
        "auth-flow-resource-always",
      ],
      revision,
    );
    const stage = await openStage();
    stage.authority.expiresIn = 1;
    const client = await logIn(stage, { revision });
    await client.callTool("tell");
    const grants = tokenRequests(stage).map(({ form }) => form.get("grant_type"));
    expect(grants).toContain("refresh_token");
    const values = [
      ...stage.authority.of("authorize").map(({ query }) => query),
      ...tokenRequests(stage).map((one) => one.form),
    ];
    for (const value of values) expect(value.getAll("resource")).toEqual([stage.url]);
    expect(new URL(stage.url).href).toBe(stage.url);
  });

  test("a token is in the header of every request, and nowhere else", async () => {
    covers(["auth-flow-bearer-header", "auth-flow-every-request", "auth-flow-no-query-token"], revision);
    const stage = await openStage();
    const client = await logIn(stage, { revision });
    await client.callTool("tell");
    await client.close();
    const after = stage.calls().slice(stage.calls().findIndex(({ headers }) => headers.authorization));
    const verbs = new Set(after.map(({ verb }) => verb));
    expect([...verbs].sort()).toEqual(revision === "2026-07-28" ? ["POST"] : ["DELETE", "GET", "POST"]);
    const [token] = stage.authority.tokens.keys();
    for (const { headers } of after) expect(headers.authorization).toBe(`Bearer ${token}`);
    for (const { query, headers } of stage.log) {
      expect(query.has("access_token")).toBe(false);
      const { authorization: _, ...others } = headers;
      expect(`${query} ${JSON.stringify(others)}`).not.toContain(token);
    }
  });

  test("a confidential client shows its secret, a public one has none", async () => {
    covers(["auth-flow-oauth21-implementation", "auth-flow-local-public-client"], revision);
    const stage = await openStage();
    await logIn(stage, { revision });
    expect(tokenRequests(stage)[0]?.headers.authorization).toBeUndefined();
    expect(JSON.parse(stage.authority.of("register")[0]?.body ?? "{}").token_endpoint_auth_method).toBe("none");
    await logIn(stage, { revision, client: { id: "mine", secret: "my secret" } });
    const shown = Buffer.from((tokenRequests(stage)[1]?.headers.authorization ?? "").slice(6), "base64").toString();
    expect(shown).toBe("mine:my+secret");
  });
});

test("the transport of 2024-11-05 is authorized too", async () => {
  covers("auth-flow-none-in-protocol");
  const stage = await openStage();
  stage.metadata.resource = stage.place.origin;
  const redirect = follow();
  const client = await logIn(stage, { url: stage.sseUrl, revision: "2024-11-05", redirect });
  expect((await client.callTool("tell")).text).toBe("told");
  expect(redirect.visits).toHaveLength(1);
  expect(stage.calls().at(-1)).toMatchObject({ path: "/messages", headers: { authorization: /^Bearer / } });
});

describe("PKCE", () => {
  test.each([
    ["OAuth metadata", "/.well-known/oauth-authorization-server"],
    ["OpenID metadata", "/.well-known/openid-configuration"],
  ])("that is not in %s ends it before anybody is sent there", async (_, path) => {
    covers("security-pkce-absent-refused");
    const stage = await openStage();
    const { pages } = stage.authority.place;
    const redirect = follow();
    for (const methods of [undefined, [], ["plain"]]) {
      stage.authority.metadata.code_challenge_methods_supported = methods;
      const page = pages.get("/.well-known/oauth-authorization-server") ?? pages.get(path);
      pages.delete("/.well-known/oauth-authorization-server");
      if (page) pages.set(path, page);
      expect(await refusalOf(logIn(stage, { redirect }))).toMatchObject({ code: "pkce_unsupported" });
    }
    expect(redirect.visits).toEqual([]);
    for (const what of ["register", "authorize", "token"]) expect(stage.authority.of(what)).toEqual([]);
  });
});

describe("iss in the answer of the page", () => {
  const wrongs: [string, (issuer: string) => string][] = [
    ["of another", () => "https://other.example"],
    ["with a slash", (issuer) => `${issuer}/`],
    ["in capitals", (issuer) => issuer.toUpperCase()],
    ["with another port", (issuer) => issuer.replace(/:\d+$/, ":80")],
    ["with escapes", (issuer) => issuer.replace("1", "%31")],
    ["that is empty", () => ""],
  ];

  describe.each([true, false, undefined])("where the metadata says %s", (isSaid) => {
    test.each(wrongs)("%s is refused before the code is used", async (_, toIss) => {
      covers(["auth-flow-iss-compare", "auth-flow-iss-no-normalization", "auth-flow-record-issuer"]);
      const stage = await openStage();
      stage.authority.metadata.authorization_response_iss_parameter_supported = isSaid;
      stage.authority.bendPage = bendBack((back) => back.searchParams.set("iss", toIss(stage.authority.issuer)));
      const error = await refusalOf(logIn(stage));
      expect(error).toMatchObject({ code: "issuer_mismatch" });
      expect(tokenRequests(stage)).toEqual([]);
    });

    test("that is right is taken", async () => {
      covers("auth-flow-iss-compare");
      const stage = await openStage();
      stage.authority.metadata.authorization_response_iss_parameter_supported = isSaid;
      await logIn(stage);
      expect(tokenRequests(stage)).toHaveLength(1);
    });
  });

  test("is missed where it is said to be there", async () => {
    covers("auth-flow-iss-absent-advertised");
    const stage = await openStage();
    stage.authority.sendsIss = false;
    expect(await refusalOf(logIn(stage))).toMatchObject({ code: "issuer_mismatch" });
    expect(tokenRequests(stage)).toEqual([]);
  });

  test.each([false, undefined])("is not missed where it is not (%s)", async (isSaid) => {
    covers("auth-flow-iss-absent-unadvertised");
    const stage = await openStage();
    stage.authority.sendsIss = false;
    stage.authority.metadata.authorization_response_iss_parameter_supported = isSaid;
    const client = await logIn(stage);
    expect((await client.callTool("tell")).text).toBe("told");
  });

  test("members of a token's answer that are null are as good as none", async () => {
    const stage = await openStage();
    stage.authority.bendToken = (answer) => ({
      ...answer,
      body: { ...(answer.body as object), scope: null, expires_in: null, refresh_token: null, id_token: null },
    });
    expect((await (await logIn(stage)).callTool("tell")).text).toBe("told");
  });

  test("stands once", async () => {
    covers("auth-flow-iss-compare");
    const stage = await openStage();
    stage.authority.bendPage = bendBack((back) => back.searchParams.append("iss", "https://other.example"));
    expect(await refusalOf(logIn(stage))).toMatchObject({ code: "issuer_mismatch" });
  });

  test("of another makes an error that is not shown", async () => {
    covers("auth-flow-iss-error-response");
    const stage = await openStage();
    stage.authority.isGranting = false;
    stage.authority.bendPage = bendBack((back) => {
      back.searchParams.set("iss", "https://other.example");
      back.searchParams.set("error", "misleading_code");
      back.searchParams.set("error_description", "misleading words");
      back.searchParams.set("error_uri", "https://misleading.example");
    });
    const error = await logIn(stage).catch((thrown: unknown) => thrown);
    expect(textOf(error)).toContain("issuer_mismatch");
    expect(textOf(error)).not.toContain("misleading");
  });

  test("that is right shows the error, on one short line", async () => {
    covers("auth-flow-iss-compare");
    const stage = await openStage();
    stage.authority.isGranting = false;
    stage.authority.bendPage = bendBack((back) => {
      back.searchParams.set("error_description", `not\ntoday \u001b[31m${"x".repeat(10_000)}`);
    });
    const error = await refusalOf(logIn(stage));
    expect(error).toMatchObject({ code: "denied", error: "access_denied" });
    expect(error.message).toContain("access_denied, not today");
    for (const char of ["\n", "\u001b"]) expect(error.message).not.toContain(char);
    expect(error.message.length).toBeLessThan(400);
  });
});

describe("state", () => {
  test.each<[string, (back: URL, stage: Stage) => void]>([
    ["missing", (back) => back.searchParams.delete("state")],
    ["altered", (back) => back.searchParams.set("state", `${back.searchParams.get("state")}x`)],
    ["of another visit", (back) => back.searchParams.set("state", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")],
    ["twice", (back) => back.searchParams.append("state", back.searchParams.get("state") ?? "")],
  ])("that is %s ends it, and the code is not used", async (_, bend) => {
    covers("security-state-verified");
    const stage = await openStage();
    stage.authority.bendPage = bendBack((back) => bend(back, stage));
    expect(await refusalOf(logIn(stage))).toMatchObject({ code: "state_mismatch" });
    expect(tokenRequests(stage)).toEqual([]);
  });

  test("is another for each visit, and nobody can guess it", async () => {
    covers("security-state-verified");
    const stage = await openStage();
    for (let i = 0; i < 3; i++) await logIn(stage);
    const states = stage.authority.of("authorize").map(({ query }) => query.get("state") ?? "");
    expect(new Set(states).size).toBe(3);
    for (const state of states) expect(state.length).toBeGreaterThanOrEqual(43);
  });

  test("an answer with neither code nor error is none", async () => {
    covers("security-state-verified");
    const stage = await openStage();
    for (const came of ["", "http://127.0.0.1:9/callback", "http://127.0.0.1:9/callback?x=1", "#code=1"]) {
      const redirect = createRedirect({ uri: "http://127.0.0.1:9/callback", open: async () => came });
      expect(await refusalOf(logIn(stage, { redirect }))).toMatchObject({ code: "state_mismatch" });
    }
    expect(tokenRequests(stage)).toEqual([]);
  });

  test("two visits at once do not take each other's answers", async () => {
    covers(["auth-flow-record-issuer", "security-state-verified"]);
    const [one, two] = [await openStage(), await openStage()];
    const came: string[] = [];
    let release = (): void => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const swapped = (index: number) =>
      createRedirect({
        uri: "http://127.0.0.1:9/callback",
        async open(url) {
          came[index] = (await fetch(url, { redirect: "manual" })).headers.get("location") ?? "";
          if (came[0] && came[1]) release();
          await both;
          return came[1 - index] ?? "";
        },
      });
    const ends = [logIn(one, { redirect: swapped(0) }), logIn(two, { redirect: swapped(1) })];
    for (const end of ends) expect(await refusalOf(end)).toMatchObject({ code: "state_mismatch" });
    expect([...tokenRequests(one), ...tokenRequests(two)]).toEqual([]);
  });
});

describe("tokens of one server", () => {
  test("are never sent to another", async () => {
    covers("auth-flow-client-own-tokens");
    const [one, two] = [await openStage(), await openStage()];
    const auth = oauth({ redirect: follow() });
    await (await logIn(one, { auth })).callTool("tell");
    await (await logIn(two, { auth })).callTool("tell");
    const ofOne = [...one.authority.tokens.keys()];
    const sentToTwo = JSON.stringify(two.log.map(({ headers, body }) => [headers, body]));
    for (const token of ofOne) expect(sentToTwo).not.toContain(token);
    const [ofTwo] = two.authority.tokens.keys();
    expect(JSON.stringify(one.log.map(({ headers }) => headers))).not.toContain(ofTwo);
  });

  test("of one path are not sent to another path of the same host", async () => {
    covers("auth-flow-client-own-tokens");
    const stage = await openStage();
    const auth = oauth({ redirect: follow() });
    await logIn(stage, { auth });
    const headers = await auth.authorize({
      method: "POST",
      url: new URL("/other", stage.url),
      server: new URL("/other", stage.url),
    });
    expect(headers).toEqual({});
  });

  test.each([307, 308, 302])("do not go with a redirect to another origin (%s)", async (status) => {
    covers("auth-flow-client-own-tokens");
    const stage = await openStage();
    const thief = await stage.open("thief");
    const auth = oauth({ redirect: follow() });
    const client = await logIn(stage, { auth });
    stage.place.pages.set("/mcp", { status, headers: { location: `${thief.origin}/mcp` } });
    await expect(client.callTool("tell")).rejects.toMatchObject({ code: "peer_error" });
    const authorized = createAuthorizedFetch(auth, stage.url);
    await authorized(stage.url, { method: "POST", body: "{}" });
    await authorized(`${thief.origin}/elsewhere`);
    const stolen = stage.log.filter(({ place }) => place === "thief");
    expect(stolen.length).toBeGreaterThan(0);
    for (const { headers } of stolen) expect(headers.authorization).toBeUndefined();
  });
});

describe("a fetch that is authorized", () => {
  test("logs in, and sends a request again", async () => {
    covers("auth-flow-bearer-header");
    const stage = await openStage();
    const place = await stage.open("plain");
    place.pages.set("/api", ({ headers, body }) =>
      stage.authority.tokens.has(headers.authorization?.slice(7) ?? "")
        ? { body: `heard ${body}` }
        : { status: 401, headers: { "www-authenticate": `Bearer resource_metadata="${place.origin}/meta"` } },
    );
    place.pages.set("/meta", {
      body: { resource: `${place.origin}/api`, authorization_servers: [stage.authority.issuer] },
    });
    const authorized = createAuthorizedFetch(oauth({ redirect: follow() }), `${place.origin}/api`);
    const answer = await authorized(`${place.origin}/api`, { method: "POST", body: "this" });
    expect(await answer.text()).toBe("heard this");
    // What can be read once is not sent twice.
    stage.authority.tokens.clear();
    const body = new Blob(["stream"]).stream();
    const spent = await authorized(`${place.origin}/api`, { method: "POST", body, duplex: "half" } as RequestInit);
    expect(spent.status).toBe(401);
  });
});

test("connect takes auth beside a URL, and beside what leads there", async () => {
  covers("auth-flow-http-conform");
  const stage = await openStage();
  for (const target of [stage.url, new URL(stage.url), { url: stage.url, headers: { "x-app": "1" } }]) {
    const client = await connect(target, { auth: oauth({ redirect: follow() }) });
    onTestFinished(() => client.close());
    expect((await client.callTool("tell")).text).toBe("told");
  }
  expect(stage.calls().at(-1)?.headers["x-app"]).toBe("1");
});

test("who gives nothing is told what to give", async () => {
  covers("auth-flow-http-conform");
  const stage = await openStage();
  await expect(connect(stage.url)).rejects.toThrow("give { url, auth: oauth({ … }) } (plenum/auth/client)");
  expect(stage.order.every((one) => one.endsWith("/mcp"))).toBe(true);
});

test("a command takes what it needs from its environment, and nobody is asked over HTTP", async () => {
  covers("auth-flow-stdio-exempt");
  const program = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      const serverInfo = { name: process.env.NOTES_TOKEN, version: "1" };
      const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo };
      const answer = method === "initialize" ? { result } : { error: { code: -32601, message: "no" } };
      console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });`;
  const fetched = vi.spyOn(globalThis, "fetch");
  onTestFinished(() => fetched.mockRestore());
  const client = await connect({
    command: process.execPath,
    args: ["-e", program],
    env: { NOTES_TOKEN: "from the environment" },
  });
  onTestFinished(() => client.close());
  expect(client.server.info?.name).toBe("from the environment");
  expect(fetched).not.toHaveBeenCalled();
  const auth = oauth({ redirect: follow() });
  const wrong = connect({ command: process.execPath, args: ["-e", program] } as never, { auth });
  await expect(wrong).rejects.toThrow("{ command, env }");
});
