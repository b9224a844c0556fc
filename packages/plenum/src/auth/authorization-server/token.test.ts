import { describe, expect, test, vi } from "vitest";
import {
  ask,
  type FormInit,
  makeClient,
  makeCodeGrant,
  makeForm,
  makeSettings,
  redirectUri,
  resource,
  type Said,
  verifier,
} from "../../../../../test/auth/as-ground.ts";
import { covers } from "../../../../../test/requirements/covers.ts";
import { createMemoryStore } from "../../store/memory.ts";
import type { Client } from "./client.ts";
import { AuthFault } from "./fault.ts";
import { createGrants } from "./grants.ts";
import { createIntrospectionEndpoint } from "./introspection.ts";
import { createKeys } from "./keys.ts";
import { createRevocationEndpoint } from "./revocation.ts";
import { createTokenEndpoint } from "./token.ts";
import type { Granted } from "./token-request.ts";

const clients: readonly Client[] = [
  makeClient(),
  makeClient({ id: "other" }),
  makeClient({ id: "server", authMethod: "client_secret_basic", grantTypes: [] }),
  makeClient({ id: "stranger", authMethod: "client_secret_basic", origin: "registered" }),
  makeClient({ id: "robot", authMethod: "client_secret_basic", grantTypes: ["client_credentials", "exchange"] }),
];

function open() {
  const store = createMemoryStore();
  const settings = makeSettings({ store });
  const keys = createKeys(store, settings);
  const grants = createGrants(store, keys, settings);
  const authenticate = async (_: unknown, form: URLSearchParams): Promise<Client> => {
    const client = clients.find(({ id }) => id === form.get("client_id"));
    if (!client) throw new AuthFault("invalid_client", "Who?", 401);
    return client;
  };
  const onToken = vi.fn(async () => {});
  const others = {
    client_credentials: async ({ client }: { client: Client }): Promise<Granted> => ({
      grant: { clientId: client.id, subject: client.id, scopes: [], resource },
      isLasting: false,
    }),
    exchange: async (): Promise<Granted> => ({ answer: { access_token: "other", token_type: "N_A" } }),
  };
  const token = createTokenEndpoint({ grants, authenticate, others, onToken });
  const revoke = createRevocationEndpoint({ grants, authenticate });
  const introspect = createIntrospectionEndpoint({ issuer: settings.issuer, grants, authenticate });
  return {
    grants,
    keys,
    onToken,
    token: (form: FormInit) => ask(token, makeForm(form)),
    revoke: (form: FormInit) => ask(revoke, makeForm(form)),
    introspect: (form: FormInit) => ask(introspect, makeForm(form)),
    async begin(): Promise<{ readonly access: string; readonly refresh: string; readonly said: Said }> {
      const code = await grants.issueCode(await makeCodeGrant());
      const said = await ask(token, makeForm({ ...codeForm, code }));
      return { access: said.body.access_token as string, refresh: said.body.refresh_token as string, said };
    },
  };
}

const codeForm = {
  grant_type: "authorization_code",
  client_id: "app",
  redirect_uri: redirectUri,
  code_verifier: verifier,
};

describe("the token endpoint", () => {
  test("gives tokens for a code, and nobody keeps the answer", async () => {
    covers(["security-short-lived-tokens", "security-token-lifetime"]);
    const { said } = await open().begin();
    expect(said.status).toBe(200);
    expect(said.headers).toMatchObject({
      "cache-control": "no-store",
      pragma: "no-cache",
      "access-control-allow-origin": "*",
    });
    expect(said.body).toEqual({
      access_token: expect.any(String),
      token_type: "Bearer",
      expires_in: 600,
      scope: "notes:read notes:write",
      refresh_token: expect.any(String),
    });
  });

  test("gives tokens for a refresh token, with fewer scopes where that is wanted", async () => {
    const { token, begin, onToken } = open();
    const { refresh } = await begin();
    const form = { grant_type: "refresh_token", client_id: "app", refresh_token: refresh };
    expect(await token({ ...form, scope: "admin" })).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
    const { status, body } = await token({ ...form, scope: "notes:read", resource });
    expect([status, body.scope]).toEqual([200, "notes:read"]);
    expect(body.refresh_token).not.toBe(refresh);
    expect(onToken).toHaveBeenCalledTimes(2);
  });

  test.each([
    [{}, 401, "invalid_client"],
    [{ client_id: "nobody" }, 401, "invalid_client"],
    [{ client_id: "app" }, 400, "invalid_request"],
    [{ client_id: "app", grant_type: "password" }, 400, "unsupported_grant_type"],
    [{ client_id: "app", grant_type: "implicit" }, 400, "unsupported_grant_type"],
    [{ client_id: "app", grant_type: "constructor" }, 400, "unsupported_grant_type"],
    [{ client_id: "app", grant_type: "client_credentials" }, 400, "unauthorized_client"],
    [{ client_id: "robot", grant_type: "authorization_code", code: "x" }, 400, "unauthorized_client"],
    [{ client_id: "app", grant_type: "authorization_code" }, 400, "invalid_request"],
    [{ client_id: "app", grant_type: "authorization_code", code: "" }, 400, "invalid_request"],
    [{ client_id: "app", grant_type: "authorization_code", code: "unknown" }, 400, "invalid_grant"],
    [{ client_id: "app", grant_type: "refresh_token" }, 400, "invalid_request"],
    [{ client_id: "app", grant_type: "refresh_token", refresh_token: "unknown" }, 400, "invalid_grant"],
  ])("answers %j with %i %s", async (form, status, error) => {
    covers(["auth-flow-400-malformed"]);
    const { token, onToken } = open();
    const said = await token(form);
    expect([said.status, said.body.error]).toEqual([status, error]);
    expect(said.headers).toMatchObject({ "cache-control": "no-store" });
    expect(onToken).not.toHaveBeenCalled();
  });

  test("refuses a parameter that stands twice", async () => {
    const { token } = open();
    for (const name of ["code", "client_id", "code_verifier", "redirect_uri", "resource", "grant_type"]) {
      const said = await token([...Object.entries({ ...codeForm, code: "x", resource }), [name, "again"]]);
      expect([said.status, said.body.error]).toEqual([400, "invalid_request"]);
    }
  });

  test("goes other ways to a token, and to what is none", async () => {
    const { token } = open();
    const said = await token({ client_id: "robot", grant_type: "client_credentials" });
    expect(said.body).toMatchObject({ token_type: "Bearer" });
    expect(said.body).not.toHaveProperty("refresh_token");
    expect((await token({ client_id: "robot", grant_type: "exchange" })).body).toEqual({
      access_token: "other",
      token_type: "N_A",
    });
  });
});

describe("a client gives back", () => {
  test.each(["access", "refresh"] as const)("its %s token, and all that came with it", async (kind) => {
    const { begin, revoke, grants, token } = open();
    const held = await begin();
    expect(await revoke({ client_id: "app", token: held[kind], token_type_hint: "whatever" })).toMatchObject({
      status: 200,
    });
    expect(await grants.findAccess(held.access)).toBeUndefined();
    const again = await token({ grant_type: "refresh_token", client_id: "app", refresh_token: held.refresh });
    expect(again.body.error).toBe("invalid_grant");
  });

  test("nothing of another client's", async () => {
    const { begin, revoke, grants } = open();
    const { access, refresh } = await begin();
    for (const one of [access, refresh])
      expect(await revoke({ client_id: "other", token: one })).toMatchObject({
        status: 400,
        body: { error: "unauthorized_client" },
      });
    expect(await grants.findAccess(access)).toBeDefined();
  });

  test("what is none, without a complaint", async () => {
    const { revoke } = open();
    expect(await revoke({ client_id: "app", token: "unknown" })).toMatchObject({ status: 200 });
    expect(await revoke({ client_id: "app" })).toMatchObject({ status: 400 });
    expect(await revoke({ client_id: "nobody", token: "x" })).toMatchObject({ status: 401 });
  });
});

describe("what a token is worth", () => {
  test("is told to a server that can show who it is", async () => {
    const { begin, introspect } = open();
    const { access } = await begin();
    const said = await introspect({ client_id: "server", token: access });
    expect(said.headers).toMatchObject({ "cache-control": "no-store" });
    expect(said.body).toMatchObject({
      active: true,
      iss: "https://auth.example.com",
      aud: resource,
      sub: "ada",
      client_id: "app",
      scope: "notes:read notes:write",
      token_type: "Bearer",
    });
  });

  test("is not told to who cannot, nor to who has registered itself", async () => {
    const { begin, introspect } = open();
    const { access } = await begin();
    expect(await introspect({ client_id: "app", token: access })).toMatchObject({
      status: 401,
      body: { error: "invalid_client" },
    });
    expect(await introspect({ token: access })).toMatchObject({ status: 401 });
    expect((await introspect({ client_id: "stranger", token: access })).body).toEqual({ active: false });
    expect(await introspect({ client_id: "server" })).toMatchObject({ status: 400 });
  });

  test("is nothing for what is revoked, of somebody else, of another kind, or no token", async () => {
    covers(["auth-flow-as-own-tokens"]);
    const { begin, introspect, grants, keys } = open();
    const { access, refresh } = await begin();
    const foreign = (await open().begin()).access;
    const exp = Math.floor(Date.now() / 1000) + 300;
    const jag = await keys.sign({ sub: "ada", aud: resource, exp }, { typ: "oauth-id-jag+jwt" });
    const family = (await grants.findAccess(access))?.family as string;
    const unknown = await keys.sign({ sub: "ada", aud: resource, exp, client_id: "app" }, { typ: "at+jwt" });
    const [head, body] = access.split(".");
    const unsigned = `${btoa('{"alg":"none","typ":"at+jwt"}').replace(/=+$/, "")}.${body}.`;
    for (const token of [foreign, jag, unknown, unsigned, `${head}.${body}.`, "unknown", refresh])
      expect((await introspect({ client_id: "server", token })).body).toEqual({ active: false });
    await grants.revokeFamily(family);
    expect((await introspect({ client_id: "server", token: access })).body).toEqual({ active: false });
  });
});
