// Authorization requests on a real socket: what is refused on a page, what is told to the client, and that a browser is never sent
// where a stranger wants it.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { allow, answerIn, challenge, openStage, resource, web } from "./front-stage.ts";

const callback = "https://client.example/callback?kept=1";

describe("before it is known where to go back to, nothing leads away", () => {
  test.each([
    ["no client", { client_id: undefined }],
    ["an unknown client", { client_id: "nobody" }],
    ["two clients", { client_id: ["web", "web"] }],
    ["another place", { redirect_uri: "https://evil.example/callback" }],
    ["one more path", { redirect_uri: "https://client.example/callback/more?kept=1" }],
    ["one more parameter", { redirect_uri: `${callback}&more=1` }],
    ["without the parameter", { redirect_uri: "https://client.example/callback" }],
    ["another host in front", { redirect_uri: "https://client.example@evil.example/callback?kept=1" }],
    ["a fragment", { redirect_uri: `${callback}#x` }],
    ["http", { redirect_uri: callback.replace("https", "http") }],
    ["upper case", { redirect_uri: callback.replace("client", "CLIENT") }],
    ["dots", { redirect_uri: "https://client.example/x/../callback?kept=1" }],
    ["encoded", { redirect_uri: "https://client.example/%63allback?kept=1" }],
    ["javascript", { redirect_uri: "javascript:alert(1)" }],
    ["two of them", { redirect_uri: [callback, callback] }],
    ["several to choose from", { client_id: "two" }],
    ["another host on this machine", { client_id: "native", redirect_uri: "http://127.0.0.2:9/callback" }],
    ["another path on this machine", { client_id: "native", redirect_uri: "http://127.0.0.1:9/callback2" }],
    ["user info on this machine", { client_id: "native", redirect_uri: "http://127.0.0.1:9@evil.example/callback" }],
  ])("%s", async (_, given) => {
    covers([
      "security-redirect-validate-server",
      "security-redirect-exact",
      "security-redirect-untrusted",
      "security-proxy-redirect-exact",
    ]);
    const two = { id: "two", redirectUris: ["https://a.example/", "https://b.example/"] };
    const native = { id: "native", redirectUris: ["http://127.0.0.1/callback"] };
    const stage = await openStage({ clients: [web, two, native] });
    for (const method of ["GET", "POST"]) {
      const url = new URL(stage.ask(given));
      const page = await (method === "GET"
        ? stage.browse().send(url.href)
        : stage.browse().send(url.href.replace(/\?.*/, ""), { method, body: url.searchParams }));
      expect(page.status).toBe(400);
      expect(page.location).toBeUndefined();
      expect(page.headers.get("refresh")).toBeNull();
      expect(page.headers.get("content-type")).toContain("text/html");
      expect(page.headers.get("cache-control")).toBe("no-store");
      expect(page.text).not.toMatch(/evil|<a |<script|http-equiv/);
      expect(page.headers.getSetCookie()).toEqual([]);
    }
  });
});

describe("then the client is told", () => {
  test.each([
    ["no response type", { response_type: undefined }, "invalid_request"],
    ["a token at once", { response_type: "token" }, "unsupported_response_type"],
    ["a fragment", { response_mode: "fragment" }, "invalid_request"],
    ["no challenge", { code_challenge: undefined }, "invalid_request"],
    ["plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["plain, unsaid", { code_challenge_method: undefined }, "invalid_request"],
    ["a challenge that is none", { code_challenge: "short" }, "invalid_request"],
    ["another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["two resources", { resource: [resource, resource] }, "invalid_target"],
    ["no scope that is known", { scope: "admin" }, "invalid_scope"],
    ["two scopes parameters", { scope: ["notes:read", "notes:write"] }, "invalid_request"],
    ["a request object", { request: "e30.e30." }, "request_not_supported"],
    ["a request by reference", { request_uri: "https://evil.example/" }, "request_uri_not_supported"],
    ["none and more", { prompt: "none login" }, "invalid_request"],
    ["nobody logged in", { prompt: "none" }, "login_required"],
  ])("%s", async (_, given, error) => {
    covers(["auth-flow-as-emits-iss"]);
    const stage = await openStage();
    const page = await stage.browse().send(stage.ask(given));
    expect(page.status).toBe(302);
    expect(page.location?.href).toMatch(/^https:\/\/client\.example\/callback\?kept=1&/);
    expect(answerIn(page)).toMatchObject({ error, state: "the state", iss: stage.issuer, kept: "1" });
    expect(answerIn(page).code).toBeUndefined();
    expect(page.headers.get("cache-control")).toBe("no-store");
  });

  test("a state that is too long, or there twice, is not sent back", async () => {
    const stage = await openStage();
    for (const state of ["x".repeat(5000), ["one", "two"]]) {
      const page = await stage.browse().send(stage.ask({ state }));
      expect(answerIn(page)).toMatchObject({ error: "invalid_request", iss: stage.issuer });
      expect(page.location?.searchParams.has("state")).toBe(false);
    }
  });

  test("a client that is not to ask users is told so", async () => {
    const machine = { ...web, grantTypes: ["client_credentials"], secret: "a secret of it" };
    const stage = await openStage({ clients: [machine] });
    expect(answerIn(await stage.browse().send(stage.ask()))).toMatchObject({ error: "unauthorized_client" });
  });
});

test("a site that only a stranger has named is not gone to before the user says so", async () => {
  covers(["security-redirect-auto", "security-redirect-untrusted"]);
  const stage = await openStage();
  const { client_id: id } = await stage.register({
    redirect_uris: ["https://evil.example/callback"],
    token_endpoint_auth_method: "none",
  });
  for (const given of [{ scope: "admin" }, { prompt: "none" }, { response_type: "token" }]) {
    const page = await stage.browse().visit(stage.ask({ client_id: id, ...given }));
    expect(page.status).toBe(400);
    expect(page.location).toBeUndefined();
    expect(page.text).toContain("Go back to evil.example");
  }
  const consent = await stage.browse().visit(stage.ask({ client_id: id }));
  expect(consent.status).toBe(200);
  expect(consent.location).toBeUndefined();
  expect(consent.text).toContain("evil.example");
});

test("a program on this machine is told what is wrong at once, on whichever port it listens", async () => {
  const stage = await openStage();
  const { client_id: id } = await stage.register({
    redirect_uris: ["http://127.0.0.1/callback"],
    token_endpoint_auth_method: "none",
  });
  const redirectUri = "http://127.0.0.1:45678/callback";
  const page = await stage.browse().send(stage.ask({ client_id: id, redirect_uri: redirectUri, scope: "admin" }));
  expect(page.location?.origin).toBe("http://127.0.0.1:45678");
  expect(answerIn(page)).toMatchObject({ error: "invalid_scope" });
});

test.each(["GET", "POST"])(
  "a good request by %s ends with a code, the state as it was, and the issuer",
  async (method) => {
    covers(["auth-flow-as-emits-iss", "auth-flow-oauth21-as"]);
    const stage = await openStage();
    const browser = stage.browse();
    const state = 'a state with = & + % # " < > é 漢';
    const url = new URL(stage.ask({ state, resource }));
    const shown =
      method === "GET"
        ? await browser.visit(url.href)
        : await browser.visit(url.href.replace(/\?.*/, ""), { method, body: url.searchParams });
    const page = await browser.submit(shown, { answer: "allow" });
    expect(page.status).toBe(303);
    expect(page.location?.href).toMatch(/^https:\/\/client\.example\/callback\?kept=1&code=/);
    const { code = "", ...rest } = answerIn(page);
    expect(rest).toEqual({ kept: "1", state, iss: stage.issuer });
    const response = await stage.redeem(code, "web", callback);
    expect(response.status).toBe(200);
    const { access_token: token, scope } = (await response.json()) as { access_token: string; scope: string };
    expect(scope).toBe("notes:read");
    expect(await stage.server.verifier.verify(token)).toMatchObject({
      subject: "alice",
      clientId: "web",
      audience: resource,
    });
  },
);

test("metadata says that answers name the issuer", async () => {
  covers(["auth-flow-as-advertises-iss"]);
  const stage = await openStage();
  const response = await fetch(`${stage.origin}/.well-known/oauth-authorization-server`);
  expect(await response.json()).toMatchObject({ authorization_response_iss_parameter_supported: true });
});

test("without a state none is sent back", async () => {
  const stage = await openStage();
  const page = await allow(stage.browse(), stage.ask({ state: undefined }));
  expect(answerIn(page).code).toBeDefined();
  expect(page.location?.searchParams.has("state")).toBe(false);
});

test("a code is worth nothing with another verifier", async () => {
  const stage = await openStage();
  const { code = "" } = answerIn(
    await allow(stage.browse(), stage.ask({ code_challenge: challenge.replace(/^./, "_") })),
  );
  expect((await stage.redeem(code, "web")).status).toBe(400);
});

test("there are bounds on how many wait", async () => {
  const stage = await openStage();
  const statuses: number[] = [];
  for (let i = 0; i < 300 && !statuses.includes(503); i++)
    statuses.push((await fetch(stage.ask(), { redirect: "manual" })).status);
  expect(statuses[0]).toBe(302);
  expect(statuses).toContain(503);
});

test.each(["PUT", "DELETE", "HEAD", "PATCH"])("%s is not how a page is called", async (method) => {
  const stage = await openStage();
  for (const path of ["authorize", "login", "consent"])
    expect((await fetch(`${stage.origin}/${path}`, { method })).status).toBe(405);
});
