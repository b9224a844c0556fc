import { describe, expect, test } from "vitest";
import { keychainTokens } from "./keychain-tokens.ts";
import { clientCredentials, enterpriseManaged, jwtBearer } from "./machine-grants.ts";
import { oauth } from "./oauth.ts";
import type { OAuthOptions } from "./oauth-options.ts";
import { createRedirect } from "./redirect.ts";

const redirect = createRedirect({ uri: "http://127.0.0.1:9/callback", open: async () => "" });

describe("options", () => {
  test.each<[string, unknown, string]>([
    ["one that is misspelt", { redirects: redirect }, '"redirects"'],
    ["both a user and nobody", { redirect, grant: clientCredentials(), client: { id: "c" } }, "not both"],
    ["a grant that was not called", { grant: clientCredentials, client: { id: "c", secret: "hunter2" } }, "brackets"],
    ["a program that shows nothing", { grant: clientCredentials(), client: { id: "c" } }, "clientKey"],
    ["a client with a misspelt secret", { client: { id: "c", secrets: "hunter2" } }, 'did you mean "secret"'],
    ["a secret that is none", { client: { id: "c", secret: 5 } }, "secret"],
    ["fewer tries than none", { maxStepUps: -1 }, "maxStepUps"],
    ["half a try", { maxStepUps: 0.5 }, "maxStepUps"],
    ["dpop as text", { dpop: "false" }, "true or false"],
    ["a fetch that is none", { fetch: {} }, "a function"],
    ["no options", null, "object of options"],
    ["a time in text", { timeoutMs: "5000" }, "timeoutMs"],
    ["a time without end", { timeoutMs: Number.POSITIVE_INFINITY }, "timeoutMs"],
    ["a grant for nobody", { grant: clientCredentials() }, "needs the client"],
    ["a client without an id", { client: { secret: "hunter2" } }, "needs the id"],
    ["a redirect that is none", { redirect: () => {} }, "loopbackRedirect"],
    ["a store that is none", { store: {} }, "fileTokens"],
    ["a store that cannot forget", { store: { get() {}, put() {} } }, "fileTokens"],
    ["scopes in one text", { scopes: "a b" }, "list of texts"],
    ["no time at all", { timeoutMs: 0 }, "timeoutMs"],
    ["a document at a host", { clientMetadataUrl: "https://client.example" }, "clientMetadataUrl"],
  ])("%s is refused with what to do", (_, options, remedy) => {
    expect(() => oauth(options as OAuthOptions)).toThrow(TypeError);
    expect(() => oauth(options as OAuthOptions)).toThrow(remedy);
    expect(() => oauth(options as OAuthOptions)).not.toThrow("hunter2");
  });
});

test("a client of ever new servers does not grow without end, and nothing is sent", async () => {
  let sent = 0;
  const fetch = async (): Promise<Response> => {
    sent++;
    return new Response();
  };
  const auth = oauth({ redirect, fetch });
  for (let i = 0; i < 2500; i++) {
    const server = new URL(`https://s${i}.example/mcp`);
    expect(await auth.authorize({ method: "POST", url: server, server })).toEqual({});
  }
  expect(sent).toBe(0);
});

test.each<[string, () => unknown, string]>([
  ["a text for a workload", () => jwtBearer("ey…" as never), "function"],
  ["no options for an enterprise", () => enterpriseManaged(undefined as never), "object of options"],
  ["no identity provider", () => enterpriseManaged({ idToken: () => "" } as never), "enterpriseManaged({ idp })"],
  [
    "one that is misspelt",
    () => enterpriseManaged({ idp: { isuer: "https://idp.example" }, idToken: () => "" } as never),
    'did you mean "issuer"',
  ],
  [
    "one without its endpoint",
    () => enterpriseManaged({ idp: { issuer: "https://idp.example" }, idToken: () => "" } as never),
    "idp needs tokenEndpoint",
  ],
  [
    "a token in place of a function",
    () =>
      enterpriseManaged({
        idp: { issuer: "https://idp.example", tokenEndpoint: "https://idp.example/token", clientId: "c" },
        idToken: "ey…",
      } as never),
    "idToken must be a function",
  ],
  ["a keychain that cannot forget", () => keychainTokens({ get() {}, set() {} } as never), "remove"],
])("a grant or a store is refused with what to do: %s", (_, make, remedy) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(remedy);
});
