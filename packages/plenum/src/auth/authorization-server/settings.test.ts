import { describe, expect, test } from "vitest";
import { baseOptions, issuer, makeSettings, resource } from "../../../../../test/auth/as-ground.ts";
import { covers } from "../../../../../test/requirements/covers.ts";
import type { AuthorizationServerOptions } from "./options.ts";
import { chooseResource, chooseScopes, toSettings } from "./settings.ts";

const wrong = (more: object): (() => unknown) => {
  return () => toSettings({ ...baseOptions, ...more } as AuthorizationServerOptions);
};

test("what is not given has a default", () => {
  expect(makeSettings()).toMatchObject({
    issuer,
    origin: issuer,
    path: "",
    isLocal: false,
    registration: { max: 1000, perMinute: 30 },
    clientDocuments: true,
    accessTokenTtlS: 600,
    refreshTokenTtlS: 2_592_000,
    name: "auth.example.com",
    blockPrivateAddresses: true,
  });
  expect(makeSettings({ issuer: "https://auth.example.com/tenant/" })).toMatchObject({ path: "/tenant" });
  expect(makeSettings({ issuer: "http://127.0.0.1:4000" })).toMatchObject({
    isLocal: true,
    blockPrivateAddresses: false,
  });
  expect(makeSettings({ registration: false }).registration).toBeUndefined();
});

test.each([
  "http://auth.example.com",
  "ftp://auth.example.com",
  "http://127.0.0.1.example.com",
  "https://auth.example.com?a=b",
  "https://auth.example.com/#a",
  "https://auth.example.com/?",
  "https://user:secret@auth.example.com",
  "https://AUTH.example.com",
  "https://auth.example.com:443",
  "https://auth.example.com/a/../b",
  "auth.example.com",
  "",
  undefined,
  7,
])("%s is no issuer", (given) => {
  covers(["security-as-https"]);
  expect(wrong({ issuer: given })).toThrow(TypeError);
});

test.each([
  "https://auth.example.com/",
  "http://localhost:4000",
  "http://[::1]:4000/tenant",
  "https://auth.example.com/a/b",
])("%s is one", (given) => {
  expect(makeSettings({ issuer: given }).issuer).toBe(given);
});

test.each([
  [{ resources: [] }, "resources"],
  [{ resources: "https://mcp.example.com" }, "resources"],
  [{ resources: ["/mcp"] }, "resources"],
  [{ resources: ["https://mcp.example.com/#a"] }, "fragment"],
  [{ resources: ["javascript:alert(1)"] }, "resources"],
  [{ login: undefined }, "login"],
  [{ login: "ada" }, "login"],
  [{ scopes: { "two words": "Two" } }, "two words"],
  [{ scopes: { 'a"b': "Quote" } }, "scopes"],
  [{ scopes: { "": "Nothing" } }, "scopes"],
  [{ scopes: { offline_access: "Always" } }, "refresh tokens are given"],
  [{ scopes: { a: "" } }, "means to people"],
  [{ scopes: ["a"] }, "scopes"],
  [{ defaultScopes: ["admin"] }, "admin"],
  [{ store: {} }, "store"],
  [{ clients: [{}] }, '"id"'],
  [{ clients: [{ id: "a" }, { id: "a" }] }, "twice"],
  [{ clients: [{ id: "a", secret: "short" }] }, "secret"],
  [{ clients: [{ id: "a", redirectUris: ["http://example.com/"] }] }, "redirectUris"],
  [{ clients: [{ id: "a", authMethod: "client_secret_post" }] }, "needs a"],
  [{ clients: [{ id: "a", authMethod: "private_key_jwt" }] }, "jwks"],
  [{ clients: [{ id: "a", authMethod: "client_secret_jwt" }] }, "authMethod"],
  [{ clients: [{ id: "a", redirect_uris: [] }] }, "redirectUris"],
  [{ registration: { max: 0 } }, "registration.max"],
  [{ registration: { perHour: 3 } }, "perHour"],
  [{ trustedIssuers: [{ issuer: "https://idp.example.com", kind: "saml" }] }, "kind"],
  [{ accessTokenTtlS: 0 }, "accessTokenTtlS"],
  [{ refreshTokenTtlS: 1.5 }, "refreshTokenTtlS"],
  [{ loginTtlS: "8h" }, "loginTtlS"],
  [{ keyTtlS: Number.POSITIVE_INFINITY }, "keyTtlS"],
  [{ fetch: "fetch" }, "fetch"],
  [{ name: "" }, "name"],
  [{ accessTokenTtl: 10 }, 'did you mean "accessTokenTtlS"'],
])("%j is refused, and what to write is said", (more, said) => {
  expect(wrong(more)).toThrow(TypeError);
  expect(wrong(more)).toThrow(said);
});

test("an error shows no secret", () => {
  expect(wrong({ clients: [{ id: "a", secret: "short" }] })).not.toThrow('short"');
  expect(wrong({ issuer: "https://user:secret@auth.example.com" })).not.toThrow(/secret/);
});

describe("a resource", () => {
  const settings = makeSettings();
  const several = makeSettings({ resources: [resource, "https://other.example.com"] });

  test("is the only one there is, or has to be named", () => {
    expect(chooseResource(settings, undefined)).toBe(resource);
    expect(() => chooseResource(several, undefined)).toThrow(expect.objectContaining({ error: "invalid_target" }));
  });

  test.each(["https://mcp.example.com/mcp", "HTTPS://MCP.example.com/mcp", "https://mcp.example.com/mcp/"])(
    "%s is found in any spelling of the same place",
    (asked) => {
      covers(["auth-flow-resource-uppercase"]);
      expect(chooseResource(several, asked)).toBe(resource);
    },
  );

  test.each([
    "https://mcp.example.com/",
    "https://mcp.example.com/MCP",
    "https://mcp.example.com/mcp?a=b",
    "https://mcp.example.com/mcp#a",
    "https://mcp.example.com.evil.example/mcp",
    "http://mcp.example.com/mcp",
    "mcp",
    "",
  ])("%s is none of them", (asked) => {
    expect(() => chooseResource(settings, asked)).toThrow(expect.objectContaining({ error: "invalid_target" }));
  });
});

test("of the scopes that are asked for those are granted that there are", () => {
  const settings = makeSettings({ defaultScopes: ["notes:read"] });
  expect(chooseScopes(settings, "notes:write  notes:write offline_access admin")).toEqual(["notes:write"]);
  expect(chooseScopes(settings, undefined)).toEqual(["notes:read"]);
  expect(chooseScopes(settings, "offline_access")).toEqual(["notes:read"]);
  for (const asked of ["admin", "constructor", "__proto__"])
    expect(() => chooseScopes(settings, asked)).toThrow(expect.objectContaining({ error: "invalid_scope" }));
  expect(chooseScopes(makeSettings({ scopes: {} }), "whatever")).toEqual([]);
});
