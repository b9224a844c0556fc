// Who a client is to an authorization server: what is preferred, what is said, and that one is never told of another.
import { clientCredentials, createRedirect, oauth, toClientMetadata } from "plenum/auth/client";
import { createMemoryStore } from "plenum/store";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { type Authority, credentialsIn } from "./authority.ts";
import type { Answer } from "./place.ts";
import { authRevisions, follow, logIn, openStage, refusalOf, type Stage } from "./stage.ts";

const documentUrl = "https://client.example/oauth/plenum.json";

const idOnPage = (authority: Authority): (string | null | undefined)[] =>
  authority.of("authorize").map(({ query }) => query.get("client_id"));

const registered = (stage: Stage, index = 0): { readonly [name: string]: unknown } =>
  JSON.parse(stage.authority.of("register")[index]?.body ?? "{}");

/** A store that tells what was written to it. */
function createToldStore() {
  const store = createMemoryStore();
  const written: [key: string, value: string][] = [];
  return {
    ...store,
    written,
    put(...args: Parameters<typeof store.put>) {
      written.push([args[0], args[1]]);
      return store.put(...args);
    },
  };
}

describe("of all ways to an id", () => {
  test("one that was given comes first, then a document, then registration", async () => {
    covers([
      "auth-registration-priority",
      "auth-registration-obtain-client-id",
      "auth-registration-static-credentials",
      "auth-registration-cimd-support",
      "auth-registration-cimd-advertised",
      "auth-registration-cimd-fallback",
      "auth-registration-dcr-2025-11",
      "auth-registration-dcr-client",
    ]);
    const stage = await openStage();
    const { authority } = stage;
    const client = { id: "given", secret: "given-secret" };
    authority.metadata.client_id_metadata_document_supported = true;
    await logIn(stage, { client, clientMetadataUrl: documentUrl });
    await logIn(stage, { clientMetadataUrl: documentUrl });
    expect(authority.of("register")).toEqual([]);
    await logIn(stage);
    authority.metadata.client_id_metadata_document_supported = undefined;
    await logIn(stage, { clientMetadataUrl: documentUrl });
    expect(idOnPage(authority)).toEqual(["given", documentUrl, "authority-client-1", "authority-client-2"]);
    expect(authority.of("token").map(credentialsIn)).toEqual([
      ["given", "given-secret"],
      [documentUrl, undefined],
      ["authority-client-1", undefined],
      ["authority-client-2", undefined],
    ]);
  });

  test.each(authRevisions)("none is left where the server registers nobody, in %s", async (revision) => {
    covers(["auth-registration-no-dcr-client", "auth-registration-priority"], revision);
    const stage = await openStage();
    stage.authority.metadata.registration_endpoint = undefined;
    const redirect = follow();
    const error = await refusalOf(logIn(stage, { revision, redirect }));
    expect(error).toMatchObject({
      code: "no_client",
      message: expect.stringContaining("oauth({ client: { id: … } })"),
    });
    expect(redirect.visits).toEqual([]);
    const client = await logIn(stage, { revision, client: { id: "by-hand" } });
    expect((await client.callTool("tell")).text).toBe("told");
    expect(idOnPage(stage.authority)).toEqual(["by-hand"]);
  });
});

describe("registration", () => {
  test("says what the client is, and that it wants to stay", async () => {
    covers([
      "auth-registration-dcr-client",
      "auth-registration-refresh-grant-type",
      "auth-registration-dcr-application-type",
      "auth-registration-dcr-native",
      "security-redirect-registered",
    ]);
    const stage = await openStage();
    await logIn(stage, { clientName: "Notes", clientUri: "https://notes.example" });
    expect(registered(stage)).toEqual({
      client_name: "Notes",
      client_uri: "https://notes.example",
      redirect_uris: ["http://127.0.0.1:9/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
      token_endpoint_auth_method: "none",
    });
    expect(stage.authority.of("register")[0]?.headers["content-type"]).toBe("application/json");
    expect(stage.authority.of("authorize")[0]?.query.get("redirect_uri")).toBe("http://127.0.0.1:9/callback");
  });

  test.each([
    ["https://app.example/callback", "web"],
    ["http://localhost:4/callback", "native"],
    ["http://[::1]:4/callback", "native"],
    ["com.example.app:/callback", "native"],
  ])("of %s is for a client of the kind %s", async (uri, kind) => {
    covers([
      "auth-registration-dcr-application-type",
      kind === "web" ? "auth-registration-dcr-web" : "auth-registration-dcr-native",
      "security-redirect-registered",
    ]);
    const stage = await openStage();
    await logIn(stage, { redirect: follow(uri) });
    expect(registered(stage)).toMatchObject({ application_type: kind, redirect_uris: [uri] });
  });

  test("that is refused is an error that says why, and nobody waits", async () => {
    covers(["auth-registration-dcr-failure", "auth-registration-dcr-failure-surfaced"]);
    const stage = await openStage();
    const redirect = follow();
    let isRefusing = true;
    stage.authority.bendRegistration = (answer) =>
      isRefusing
        ? { status: 400, body: { error: "invalid_redirect_uri", error_description: "no loopback here" } }
        : answer;
    const auth = oauth({ redirect });
    const error = await refusalOf(logIn(stage, { auth }));
    expect(error).toMatchObject({ code: "registration_failed", error: "invalid_redirect_uri" });
    expect(error.message).toContain("invalid_redirect_uri, no loopback here");
    expect(redirect.visits).toEqual([]);
    // The next one is none the worse.
    isRefusing = false;
    await logIn(stage, { auth });
    expect(redirect.visits).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ["garbage", { status: 201, body: "<html>" }],
    ["a list", { status: 201, body: [] }],
    ["null", { status: 201, body: "null" }],
    ["no id", { status: 201, body: { client_name: "x" } }],
    ["an id that is none", { status: 201, body: { client_id: 5 } }],
    ["an empty one", { status: 201, body: { client_id: "" } }],
    ["a page", { status: 500, body: "<html>", headers: { "content-type": "text/html" } }],
    ["nothing", { isCut: true }],
    ["another place", { status: 307, headers: { location: "https://other.example/" } }],
  ])("that is answered with %s is an error of its kind", async (_, answer) => {
    covers("auth-registration-dcr-failure");
    const stage = await openStage();
    stage.authority.bendRegistration = () => answer;
    const { code } = await refusalOf(logIn(stage));
    expect(code).toBe(answer.status === 307 ? "unsafe_url" : "registration_failed");
    expect(stage.authority.of("authorize")).toEqual([]);
  });

  test("is kept, and made anew for another redirect URI or when the secret has ended", async () => {
    covers("security-redirect-registered");
    const stage = await openStage();
    const store = createMemoryStore();
    await logIn(stage, { store });
    stage.authority.tokens.clear();
    const dead = { bend: stage.authority.bendToken };
    stage.authority.bendToken = (answer, seen) =>
      seen.form.get("grant_type") === "refresh_token"
        ? { status: 400, body: { error: "invalid_grant" } }
        : dead.bend(answer, seen);
    await logIn(stage, { store });
    expect(stage.authority.of("register")).toHaveLength(1);
    stage.authority.tokens.clear();
    await logIn(stage, { store, redirect: follow("http://127.0.0.1:9/another") });
    expect(stage.authority.of("register")).toHaveLength(2);
    stage.authority.tokens.clear();
    stage.authority.bendRegistration = (answer) => ({
      ...answer,
      body: { ...(answer.body as object), client_secret: "s", client_secret_expires_at: 1 },
    });
    const ending = createMemoryStore();
    await logIn(stage, { store: ending });
    stage.authority.tokens.clear();
    await logIn(stage, { store: ending });
    expect(stage.authority.of("register")).toHaveLength(4);
  });

  test("that the server has lost is made anew", async () => {
    const stage = await openStage();
    const store = createMemoryStore();
    const auth = oauth({ store, redirect: follow() });
    const client = await logIn(stage, { auth });
    // It was started anew, and knows nobody.
    stage.authority.revoke();
    stage.authority.bendToken = (answer, seen) =>
      credentialsIn(seen)[0] === "authority-client-1" ? { status: 401, body: { error: "invalid_client" } } : answer;
    expect((await client.callTool("tell")).text).toBe("told");
    expect(idOnPage(stage.authority)).toEqual(["authority-client-1", "authority-client-2"]);
  });
});

describe("a document of the client's own", () => {
  test.each([
    "http://client.example/id.json",
    "https://client.example",
    "https://client.example/",
    "https://client.example/id#x",
    "https://user:pass@client.example/id",
    "ftp://client.example/id",
    "client.example/id",
    "",
  ])("is not at %s", (url) => {
    covers(["auth-registration-cimd-https", "auth-registration-cimd-url-form"]);
    expect(() => oauth({ clientMetadataUrl: url })).toThrow(TypeError);
    expect(() => toClientMetadata(url, ["https://client.example/cb"])).toThrow(TypeError);
  });

  test("says what it must, and is its own id to the letter", () => {
    covers([
      "auth-registration-cimd-fields",
      "auth-registration-cimd-self-match",
      "auth-registration-refresh-grant-type",
    ]);
    const url = "https://Client.example:443/a/../id.json";
    const made = toClientMetadata(url, ["http://127.0.0.1:9/callback"], { clientName: "Notes" });
    expect(made).toEqual({
      client_id: url,
      client_name: "Notes",
      redirect_uris: ["http://127.0.0.1:9/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
  });

  test("is the same to another authorization server", async () => {
    covers("auth-registration-cimd-portable");
    const stage = await openStage();
    const second = await stage.openAuthority("second");
    for (const { metadata } of [stage.authority, second]) metadata.client_id_metadata_document_supported = true;
    const client = await logIn(stage, { clientMetadataUrl: documentUrl });
    stage.metadata.authorization_servers = [second.issuer];
    stage.authority.revoke();
    await client.callTool("tell");
    expect([idOnPage(stage.authority), idOnPage(second)]).toEqual([[documentUrl], [documentUrl]]);
    expect(second.of("register")).toEqual([]);
  });
});

describe("another authorization server", () => {
  test("is registered with anew, and sees nothing of the one before", async () => {
    covers([
      "auth-registration-separate-state",
      "auth-registration-binding-no-reuse",
      "auth-registration-binding-reregister",
      "auth-registration-binding-issuer-key",
    ]);
    const stage = await openStage();
    const store = createToldStore();
    // One that needs secrets, so that there is something to tell.
    stage.authority.metadata.token_endpoint_auth_methods_supported = ["client_secret_post"];
    const client = await logIn(stage, { store });
    const second = await stage.openAuthority("second");
    stage.metadata.authorization_servers = [second.issuer];
    stage.authority.revoke();
    expect((await client.callTool("tell")).text).toBe("told");
    expect(second.of("register")).toHaveLength(1);
    expect(idOnPage(second)).toEqual(["second-client-1"]);
    const seen = JSON.stringify(
      stage.log
        .filter(({ place }) => place === "second")
        .map(({ headers, body, query }) => [headers, body, `${query}`]),
    );
    expect(stage.authority.secrets.size).toBeGreaterThan(3);
    for (const secret of [...stage.authority.secrets, "authority-client-1"]) expect(seen).not.toContain(secret);
    // What is kept is kept under who gave it.
    for (const [key, value] of store.written) {
      if (key.includes("lock") || key.includes('"server"')) continue;
      for (const secret of stage.authority.secrets)
        if (value.includes(secret)) expect(key).toContain(stage.authority.issuer);
      for (const secret of second.secrets) if (value.includes(secret)) expect(key).toContain(second.issuer);
    }
  });

  test("and back again: what is kept is still there", async () => {
    covers("auth-registration-separate-state");
    const stage = await openStage();
    const client = await logIn(stage);
    const second = await stage.openAuthority("second");
    stage.metadata.authorization_servers = [second.issuer];
    stage.authority.revoke();
    await client.callTool("tell");
    stage.metadata.authorization_servers = [stage.authority.issuer];
    second.revoke();
    await client.callTool("tell");
    expect([stage.authority.of("register").length, second.of("register").length]).toEqual([1, 1]);
    const refreshes = second.of("token").filter(({ form }) => form.get("grant_type") === "refresh_token");
    expect(refreshes).toEqual([]);
  });

  test("does not get what was given for one by hand", async () => {
    covers(["auth-registration-binding-prereg-error", "auth-registration-binding-no-reuse"]);
    const stage = await openStage();
    const given = { id: "mine", secret: "mine-secret", issuer: stage.authority.issuer };
    const client = await logIn(stage, { client: given });
    const second = await stage.openAuthority("second");
    stage.metadata.authorization_servers = [second.issuer];
    stage.authority.revoke();
    const error = await refusalOf(client.callTool("tell"));
    expect(error).toMatchObject({ code: "client_mismatch", message: expect.stringContaining(second.issuer) });
    for (const what of ["register", "authorize", "token"]) expect(second.of(what)).toEqual([]);
  });

  test("nor the secret that was shown to the first, where nobody has said whose it is", async () => {
    covers(["auth-registration-binding-prereg-error", "auth-registration-binding-no-reuse"]);
    const stage = await openStage();
    const client = { id: "program", secret: "program-secret" };
    const store = createMemoryStore();
    const make = () => oauth({ client, grant: clientCredentials(), store });
    const program = await logIn(stage, { auth: make() });
    const second = await stage.openAuthority("second");
    stage.metadata.authorization_servers = [second.issuer];
    stage.authority.revoke();
    expect(await refusalOf(program.callTool("tell"))).toMatchObject({ code: "client_mismatch" });
    // Nor in the next process.
    expect(await refusalOf(logIn(stage, { auth: make() }))).toMatchObject({ code: "client_mismatch" });
    expect(second.of("token")).toEqual([]);
    stage.metadata.authorization_servers = [stage.authority.issuer];
    await program.callTool("tell");
  });
});

describe("a redirect URI", () => {
  test.each([
    "http://example.com/callback",
    "http://127.0.0.1.example.com/callback",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///tmp/x",
    "app:/callback",
    "https://example.com/callback#x",
    "https://user:pass@example.com/callback",
    "/callback",
  ])("is not %s", async (uri) => {
    covers("security-redirect-scheme");
    const open = async (): Promise<string> => "";
    expect(() => createRedirect({ uri, open })).toThrow(TypeError);
    const stage = await openStage();
    // Nor where somebody makes one by himself.
    const redirect = { begin: () => ({ uri, open }) };
    await expect(logIn(stage, { redirect })).rejects.toThrow("a redirect URI is https");
    expect(stage.authority.of("register")).toEqual([]);
  });

  test.each([
    "https://example.com/callback",
    "http://localhost/callback",
    "http://127.0.0.1:80/",
    "com.example.app:/x",
  ])("may be %s", (uri) => {
    covers("security-redirect-scheme");
    expect(createRedirect({ uri, open: async () => "" }).begin()).toMatchObject({ uri });
  });
});
