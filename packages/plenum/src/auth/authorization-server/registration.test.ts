import { describe, expect, test } from "vitest";
import { ask, issuer, makeJson, makeRequest, type Said } from "../../../../../test/auth/as-ground.ts";
import { covers } from "../../../../../test/requirements/covers.ts";
import { createMemoryStore } from "../../store/memory.ts";
import { digestOf } from "../../util/digest.ts";
import type { Route } from "../route.ts";
import { createRegistered, type Registered } from "./registered.ts";
import { createRegistrationEndpoint } from "./registration.ts";

const metadata = { client_name: "App", redirect_uris: ["https://app.example.com/callback"] };

function open({ max = 1000, perMinute = 1000 } = {}): { readonly route: Route; readonly registered: Registered } {
  const settings = { issuer, registration: { max, perMinute }, refreshTokenTtlS: 1000 };
  const registered = createRegistered(createMemoryStore(), settings);
  return { route: createRegistrationEndpoint({ registered, perMinute }), registered };
}

const register = (route: Route, more: object = {}): Promise<Said> => ask(route, makeJson({ ...metadata, ...more }));

describe("a client that registers", () => {
  test("is told what was registered, and its secret is not kept", async () => {
    covers(["auth-registration-dcr-as", "auth-registration-dcr-server"]);
    const { route, registered } = open();
    const { status, headers, body } = await register(route, {
      application_type: "web",
      scope: "notes:read",
      software_id: "x",
    });
    expect(status).toBe(201);
    expect(headers).toMatchObject({ "cache-control": "no-store", "access-control-allow-origin": "*" });
    expect(JSON.parse(JSON.stringify(body))).toEqual({
      client_id: expect.stringMatching(/^[\w-]{22}$/),
      client_id_issued_at: expect.any(Number),
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
      client_secret_expires_at: 0,
      client_name: "App",
      redirect_uris: metadata.redirect_uris,
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "web",
    });
    const client = await registered.get(body.client_id as string);
    expect(client).toMatchObject({ origin: "registered", secretHash: await digestOf(body.client_secret as string) });
    expect(JSON.stringify(client)).not.toContain(body.client_secret);
  });

  test("without a secret gets none", async () => {
    const { body } = await register(open().route, { token_endpoint_auth_method: "none" });
    expect(body).not.toHaveProperty("client_secret");
    expect(body).toMatchObject({ token_endpoint_auth_method: "none" });
  });

  test("gets the grant types that there are for it, and no others", async () => {
    const device = "urn:ietf:params:oauth:grant-type:device_code";
    const { body } = await register(open().route, {
      grant_types: ["authorization_code", "client_credentials", device],
    });
    expect(body.grant_types).toEqual(["authorization_code"]);
  });

  test("may sign who it is", async () => {
    const jwks = { keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y" }] };
    const { status, body } = await register(open().route, { token_endpoint_auth_method: "private_key_jwt", jwks });
    expect([status, body.jwks]).toEqual([201, jwks]);
  });

  test.each([
    [["http://app.example.com/callback"]],
    [["https://app.example.com/callback", "javascript:alert(1)"]],
    [["https://app.example.com/callback#a"]],
    [["https://*.example.com/callback"]],
    [["https://user@app.example.com/callback"]],
    [["editor://callback"]],
    [[]],
    [undefined],
    ["https://app.example.com/callback"],
    [[7]],
    [Array.from({ length: 21 }, (_, i) => `https://app.example.com/${i}`)],
  ])("is refused with %j to go back to", async (uris) => {
    covers(["security-redirect-scheme"]);
    const { status, body } = await register(open().route, { redirect_uris: uris });
    expect([status, body.error]).toEqual([400, "invalid_redirect_uri"]);
  });

  test.each([
    [{ token_endpoint_auth_method: "client_secret_jwt" }],
    [{ token_endpoint_auth_method: "tls_client_auth" }],
    [{ token_endpoint_auth_method: "private_key_jwt" }],
    [{ token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "oct", k: "x" }] } }],
    [{ jwks: { keys: [] } }],
    [{ jwks: { keys: [{ kty: "EC" }] }, jwks_uri: "https://app.example.com/jwks" }],
    [{ jwks_uri: "file:///etc/passwd" }],
    [{ grant_types: ["client_credentials"] }],
    [{ grant_types: ["implicit"] }],
    [{ response_types: ["token"] }],
    [{ client_name: "a".repeat(201) }],
    [{ client_name: "two\nlines" }],
    [{ client_name: 7 }],
    [{ client_uri: "javascript:alert(1)" }],
  ])("is refused with %j", async (more) => {
    const { status, body } = await register(open().route, more);
    expect([status, body.error]).toEqual([400, "invalid_client_metadata"]);
  });
});

test("what is no JSON object, and no POST, is refused", async () => {
  const { route } = open();
  for (const text of ["{", "[]", "null", ""]) expect(await ask(route, makeJson(text))).toMatchObject({ status: 400 });
  expect(
    await ask(route, makeRequest("POST", { body: "{}", headers: { "content-type": "text/plain" } })),
  ).toMatchObject({ status: 400 });
  expect(await ask(route, makeRequest("GET"))).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
});

describe("of a flood of registrations", () => {
  test("so many are taken in a minute", async () => {
    const { route } = open({ perMinute: 5 });
    const all = await Promise.all(Array.from({ length: 20 }, () => register(route)));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(15);
    expect(all.at(-1)?.headers).toHaveProperty("retry-after");
  });

  test("the oldest go that never got a token", async () => {
    const { route, registered } = open({ max: 3 });
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push((await register(route)).body.client_id as string);
    const [first = "", second = "", third = ""] = ids;
    const kept = await registered.get(first);
    await registered.keep(kept as NonNullable<typeof kept>);
    await register(route);
    expect(await registered.get(first)).toBeDefined();
    expect(await registered.get(second)).toBeUndefined();
    expect(await registered.get(third)).toBeDefined();
  });

  test("what is remembered of those that went is nothing", async () => {
    const store = createMemoryStore();
    let longest = 0;
    const settings = { issuer, registration: { max: 3, perMinute: 1000 }, refreshTokenTtlS: 1000 };
    const spy: typeof store = {
      ...store,
      put(key, value, options) {
        longest = Math.max(longest, value.length);
        return store.put(key, value, options);
      },
    };
    const route = createRegistrationEndpoint({ registered: createRegistered(spy, settings), perMinute: 1000 });
    for (let i = 0; i < 40; i++) expect((await register(route)).status).toBe(201);
    expect(longest).toBeLessThan(1000);
  });

  test("no more are taken where all are in use", async () => {
    const { route, registered } = open({ max: 2 });
    for (let i = 0; i < 2; i++) {
      const client = await registered.get((await register(route)).body.client_id as string);
      await registered.keep(client as NonNullable<typeof client>);
    }
    expect(await register(route)).toMatchObject({ status: 503, body: { error: "temporarily_unavailable" } });
  });

  test("none is lost that came together with others", async () => {
    const { route, registered } = open({ max: 100 });
    const all = await Promise.all(Array.from({ length: 20 }, () => register(route)));
    for (const { body } of all) expect(await registered.get(body.client_id as string)).toBeDefined();
  });
});
