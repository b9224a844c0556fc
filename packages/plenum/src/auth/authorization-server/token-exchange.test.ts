import { createLocalJWKSet, type JWTPayload, jwtVerify } from "jose";
import { describe, expect, test, vi } from "vitest";
import { createSigner } from "../../../../../test/auth/signer.ts";
import { covers } from "../../../../../test/requirements/covers.ts";
import { createMemoryStore } from "../../store/memory.ts";
import type { Client } from "./client.ts";
import { createMachineGrants } from "./machine-grants.ts";
import type { ExchangeOptions, ExchangeSubject } from "./options.ts";
import { toSettings } from "./settings.ts";
import { tokenExchangeType } from "./token-exchange.ts";

const issuer = "https://idp.example.com";
const audience = "https://auth.example.com";
const resource = "https://mcp.example.com/mcp";
const type = "urn:ietf:params:oauth:token-type:";
const signer = await createSigner();

const app: Client = {
  id: "app",
  name: undefined,
  redirectUris: [],
  authMethod: "client_secret_basic",
  grantTypes: [tokenExchangeType],
  origin: "given",
};

const full = {
  requested_token_type: `${type}id-jag`,
  subject_token: "sign-on",
  subject_token_type: `${type}id_token`,
  audience,
  resource,
};

interface Asked {
  readonly form?: { readonly [name: string]: string };
  readonly client?: Client;
  readonly subject?: Partial<ExchangeSubject>;
  readonly options?: Partial<ExchangeOptions>;
}

async function ask({ form, client = app, subject, options }: Asked = {}) {
  const exchange: ExchangeOptions = {
    audiences: [audience],
    verify: (token) => (token === "sign-on" ? { subject: "ada", audience: "app", ...subject } : undefined),
    ...options,
  };
  const settings = toSettings({ issuer, resources: [`${issuer}/mcp`], login: () => ({ subject: "ada" }), exchange });
  const grants = createMachineGrants({
    settings,
    keys: { sign: (claims, header) => signer.sign(claims, header) },
    store: createMemoryStore(),
    fetch: () => Promise.reject(new Error("nothing is fetched")),
  });
  const granted = await grants[tokenExchangeType]?.({ client, form: new URLSearchParams({ ...full, ...form }) });
  const { answer } = granted as { answer: { readonly [name: string]: unknown } };
  const { payload, protectedHeader } = await jwtVerify(answer.access_token as string, createLocalJWKSet(signer.jwks));
  return { answer, claims: payload as JWTPayload, header: protectedHeader };
}

describe("a user's sign-on", () => {
  test("is exchanged for a word to another authorization server", async () => {
    covers(["ext-auth-ema-response", "ext-auth-ema-expires-in", "ext-auth-ema-jag-claims", "ext-auth-ema-jag-typ"]);
    const { answer, claims, header } = await ask({ form: { scope: "read write" } });
    expect(answer).toEqual({
      issued_token_type: `${type}id-jag`,
      access_token: expect.any(String),
      token_type: "N_A",
      expires_in: 300,
    });
    expect(header.typ).toBe("oauth-id-jag+jwt");
    expect(claims).toEqual({
      iss: issuer,
      sub: "ada",
      aud: audience,
      resource,
      client_id: "app",
      jti: expect.stringMatching(/^.{16,}$/),
      iat: expect.any(Number),
      exp: (claims.iat as number) + 300,
      scope: "read write",
    });
    expect((await ask()).claims.jti).not.toBe(claims.jti);
  });

  test("is shown to the application with what it is wanted for", async () => {
    const verify = vi.fn<ExchangeOptions["verify"]>(() => ({ subject: "ada", audience: ["other", "app"] }));
    await ask({ form: { scope: "a b a" }, options: { verify } });
    expect(verify).toHaveBeenCalledExactlyOnceWith("sign-on", `${type}id_token`, {
      clientId: "app",
      audience,
      resource,
      scopes: ["a", "b"],
    });
  });

  test("may tell more of the user, and nothing else than what is so", async () => {
    covers(["ext-auth-ema-extra-claims"]);
    const { claims } = await ask({ subject: { claims: { email: "ada@example.com", sub: "root", aud: "x", exp: 1 } } });
    expect(claims).toMatchObject({ email: "ada@example.com", sub: "ada", aud: audience });
    expect(claims.exp).toBeGreaterThan(1);
  });

  test("names the client as the other authorization server knows it", async () => {
    covers(["ext-auth-ema-jag-client-id"]);
    const { claims } = await ask({ options: { clientIdAt: (id, at) => `${id} at ${at}` } });
    expect(claims.client_id).toBe(`app at ${audience}`);
  });

  test("is worth the scopes that the user may have, and the answer says which", async () => {
    covers(["ext-auth-ema-response"]);
    const subject = { scopes: ["read", "list"] };
    const some = await ask({ form: { scope: "read write" }, subject });
    expect([some.answer.scope, some.claims.scope]).toEqual(["read", "read"]);
    const all = await ask({ form: { scope: "list read" }, subject });
    expect([all.answer.scope, all.claims.scope]).toEqual([undefined, "list read"]);
    const unnamed = await ask({ subject });
    expect([unnamed.answer.scope, unnamed.claims.scope]).toEqual(["read list", "read list"]);
    await expect(ask({ form: { scope: "write" }, subject })).rejects.toMatchObject({ error: "invalid_scope" });
    // No scopes would mean any.
    await expect(ask({ subject: { scopes: [] } })).rejects.toMatchObject({ error: "invalid_scope" });
  });

  test("is of the client that shows it", async () => {
    covers(["ext-auth-ema-idp-validates", "ext-auth-ema-error"]);
    const faults: Asked[] = [
      { subject: { audience: "other" } },
      { subject: { audience: ["other", "another"] } },
      { subject: { audience: [] } },
      { form: { subject_token: "forged" } },
    ];
    for (const fault of faults)
      await expect(ask(fault)).rejects.toMatchObject({ name: "AuthFault", error: "invalid_grant", status: 400 });
  });

  test.each<[string, { readonly [name: string]: string }, string]>([
    ["another authorization server", { audience: "https://evil.example.com" }, "invalid_target"],
    ["no authorization server", { audience: "" }, "invalid_target"],
    ["no resource", { resource: "" }, "invalid_target"],
    ["a resource that is none", { resource: "mcp" }, "invalid_target"],
    ["a place in a resource", { resource: `${resource}#a` }, "invalid_target"],
    ["another kind of token", { requested_token_type: `${type}access_token` }, "invalid_request"],
    ["a kind of sign-on that is none", { subject_token_type: `${type}access_token` }, "invalid_request"],
    ["no sign-on", { subject_token: "" }, "invalid_request"],
    ["somebody who acts for the user", { actor_token: "x" }, "invalid_request"],
  ])("is not exchanged for %s", async (_name, form, error) => {
    covers(["ext-auth-ema-error"]);
    await expect(ask({ form })).rejects.toMatchObject({ name: "AuthFault", error, status: 400 });
  });

  test.each<[string, Partial<Client>]>([
    ["has registered itself", { origin: "registered" }],
    ["is not allowed to", { grantTypes: ["client_credentials"] }],
  ])("is not exchanged for a client that %s", async (_name, changes) => {
    await expect(ask({ client: { ...app, ...changes } })).rejects.toMatchObject({ error: "unauthorized_client" });
  });
});
