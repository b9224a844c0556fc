import { describe, expect, test } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import type { Client } from "./client.ts";
import { createMachineGrants } from "./machine-grants.ts";
import type { AuthorizationServerOptions } from "./options.ts";
import { toSettings } from "./settings.ts";

const resource = "https://mcp.example.com/mcp";
const robot: Client = {
  id: "robot",
  name: undefined,
  redirectUris: [],
  authMethod: "client_secret_basic",
  grantTypes: ["client_credentials"],
  origin: "given",
};

function grants(options: Partial<AuthorizationServerOptions> = {}) {
  const settings = toSettings({
    issuer: "https://auth.example.com",
    resources: [resource],
    login: () => ({ subject: "ada" }),
    scopes: { read: "Read", write: "Write" },
    defaultScopes: ["read"],
    ...options,
  });
  const fetch = () => Promise.reject(new Error("nothing is fetched"));
  return createMachineGrants({ settings, keys: { sign: async () => "signed" }, store: createMemoryStore(), fetch });
}

function ask(form: { [name: string]: string } = {}, client = robot, options?: Partial<AuthorizationServerOptions>) {
  return grants(options).client_credentials?.({ client, form: new URLSearchParams(form) });
}

test("the ways are those that the settings allow", () => {
  expect(Object.keys(grants())).toEqual(["client_credentials"]);
  const all = grants({
    trustedIssuers: [{ issuer: "https://idp.example.com" }],
    exchange: { audiences: [], verify: () => undefined },
  });
  expect(Object.keys(all)).toEqual([
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "urn:ietf:params:oauth:grant-type:token-exchange",
  ]);
});

describe("a client that acts for itself", () => {
  test("gets what it asks for, and nothing to refresh", async () => {
    expect(await ask({ scope: "read write", resource })).toEqual({
      grant: { clientId: "robot", subject: "robot", scopes: ["read", "write"], resource },
      isLasting: false,
    });
  });

  test("gets the default where it asks for nothing", async () => {
    expect(await ask()).toMatchObject({ grant: { scopes: ["read"], resource } });
    expect(await ask({ scope: "", resource: "" })).toMatchObject({ grant: { scopes: ["read"], resource } });
  });

  test("gets nothing for what is not known here", async () => {
    await expect(ask({ scope: "admin" })).rejects.toMatchObject({ error: "invalid_scope", status: 400 });
    await expect(ask({ resource: "https://other.example.com/mcp" })).rejects.toMatchObject({ error: "invalid_target" });
  });

  test("says which of several resources it means", async () => {
    const other = "https://mcp.example.com/other";
    const options = { resources: [resource, other] };
    await expect(ask({}, robot, options)).rejects.toMatchObject({ error: "invalid_target" });
    expect(await ask({ resource: other }, robot, options)).toMatchObject({ grant: { resource: other } });
  });

  test.each<[string, Partial<Client>]>([
    ["cannot show who it is", { authMethod: "none" }],
    ["is not allowed to", { grantTypes: ["authorization_code"] }],
    ["has registered itself", { origin: "registered" }],
    ["has described itself", { origin: "document" }],
  ])("gets nothing where it %s", async (_name, changes) => {
    await expect(ask({}, { ...robot, ...changes })).rejects.toMatchObject({
      error: "unauthorized_client",
      status: 400,
    });
  });
});
