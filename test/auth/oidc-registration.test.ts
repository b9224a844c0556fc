// Who our client is to an authorization server that nobody here wrote, and where it finds out about it.
import { toClientMetadata } from "plenum/auth/client";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { join, refusalOf, serveNotes } from "./oidc-notes.ts";
import { callback, openProvider, type ProviderOptions } from "./oidc-provider.ts";

describe("a client that was registered before", () => {
  const grants = { grant_types: ["authorization_code", "refresh_token"], redirect_uris: [callback] };

  test.each([
    ["none", undefined],
    ["client_secret_basic", "s e+c:r%e&t"],
    ["client_secret_post", "s e+c:r%e&t"],
  ] as const)("is taken as it is: %s", async (method, secret) => {
    covers([
      "auth-registration-no-dcr-client",
      "auth-registration-priority",
      "auth-registration-static-credentials",
      "auth-registration-obtain-client-id",
    ]);
    const provider = await openProvider({
      clients: [
        {
          client_id: "given to us",
          token_endpoint_auth_method: method,
          ...(secret !== undefined && { client_secret: secret }),
          ...grants,
        },
      ],
    });
    const notes = await serveNotes(provider);
    const { whoami } = await join(notes.url, {
      redirect: provider.redirect,
      client: {
        id: "given to us",
        ...(secret !== undefined && { secret }),
        authMethod: method,
        issuer: provider.issuer,
      },
    });
    expect(await whoami()).toEqual({ subject: "ann", clientId: "given to us", scopes: ["notes:read"] });
    expect(provider.registered).toEqual([]);
    const how = { none: "none", client_secret_basic: "basic", client_secret_post: "post" }[method];
    expect(provider.asked.map(({ auth }) => auth)).toEqual([how]);
  });

  test("is all there is where nobody can register", async () => {
    covers(["auth-registration-no-dcr-client"]);
    const provider = await openProvider({
      registers: false,
      clients: [{ client_id: "given", token_endpoint_auth_method: "none", ...grants }],
    });
    const notes = await serveNotes(provider);
    const refused = await refusalOf(join(notes.url, { redirect: provider.redirect }));
    expect(refused.code).toBe("no_client");
    expect(provider.visits).toEqual([]);
    const { whoami } = await join(notes.url, { redirect: provider.redirect, client: { id: "given" } });
    expect((await whoami()).clientId).toBe("given");
  });

  test("is not shown to another authorization server", async () => {
    covers(["auth-registration-binding-prereg-error", "auth-registration-binding-no-reuse"]);
    const provider = await openProvider({
      clients: [{ client_id: "given", token_endpoint_auth_method: "none", ...grants }],
    });
    const notes = await serveNotes(provider);
    const client = { id: "given", issuer: "https://other.example" };
    const refused = await refusalOf(join(notes.url, { redirect: provider.redirect, client }));
    expect(refused.code).toBe("client_mismatch");
    expect(provider.visits).toEqual([]);
  });

  test("may be one with a metadata document of its own", async () => {
    covers([
      "auth-registration-cimd-advertised",
      "auth-registration-cimd-support",
      "auth-registration-cimd-follow-draft",
      "auth-registration-cimd-fields",
      "auth-registration-cimd-self-match",
      "auth-registration-priority",
    ]);
    const id = "https://client.example/plenum.json";
    const provider = await openProvider({ documents: { [id]: toClientMetadata(id, [callback]) } });
    const notes = await serveNotes(provider);
    const { whoami } = await join(notes.url, { redirect: provider.redirect, clientMetadataUrl: id });
    expect((await whoami()).clientId).toBe(id);
    expect(provider.registered).toEqual([]);
  });
});

describe("a client that registers itself", () => {
  test.each([
    ["client_secret_basic", "basic"],
    ["client_secret_post", "post"],
  ] as const)("takes a secret where none will not do: %s", async (method, how) => {
    covers(["auth-registration-dcr-client", "auth-registration-dcr-2025-11"]);
    // The server itself asks what tokens are worth with a header.
    const provider = await openProvider({ authMethods: ["client_secret_basic", method], tokens: "jwt" });
    const notes = await serveNotes(provider);
    const { whoami } = await join(notes.url, { redirect: provider.redirect });
    expect((await whoami()).subject).toBe("ann");
    expect(provider.registered[0]?.token_endpoint_auth_method).toBe("client_secret_basic");
    expect(["basic", how]).toContain(provider.asked[0]?.auth);
  });

  test.each<[string, ProviderOptions]>([
    ["without a secret", {}],
    ["with a secret", { authMethods: ["client_secret_basic"] }],
  ])("does so again where the authorization server has forgotten it: %s", async (_, options) => {
    covers(["auth-registration-obtain-client-id", "auth-flow-refresh-not-assumed"]);
    const provider = await openProvider({ ...options, hidesLifetime: true });
    const notes = await serveNotes(provider);
    provider.lifetimeS = 2;
    const { whoami } = await join(notes.url, { redirect: provider.redirect });
    const { clientId = "" } = await whoami();
    await provider.forgetClient(clientId);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    provider.lifetimeS = 3600;
    provider.asked.length = 0;
    const again = await whoami();
    expect(again.subject).toBe("ann");
    expect(again.clientId).not.toBe(clientId);
    expect(provider.registered).toHaveLength(2);
    expect(provider.grants()).toEqual(["refresh_token: invalid_client", "authorization_code"]);
  });
});

describe("metadata", () => {
  const tenant = "/.well-known/oauth-authorization-server/tenant";
  const openid = "/.well-known/openid-configuration";
  test.each<[ProviderOptions, string[]]>([
    [{ metadata: "oauth" }, ["/.well-known/oauth-authorization-server"]],
    [{ metadata: "openid" }, ["/.well-known/oauth-authorization-server", openid]],
    [{ path: "/", metadata: "oauth" }, ["/.well-known/oauth-authorization-server"]],
    [{ path: "/tenant", metadata: "oauth" }, [tenant]],
    [{ path: "/tenant", metadata: "openid" }, [tenant, `${openid}/tenant`, `/tenant${openid}`]],
  ])("is found in either form: %j", async (options, expected) => {
    covers([
      "auth-discovery-client-both-metadata",
      "auth-discovery-client-multiple-endpoints",
      "auth-discovery-order-with-path",
      "auth-discovery-order-without-path",
      "auth-discovery-as-metadata-uri",
      "auth-discovery-default-suffix",
    ]);
    const provider = await openProvider(options);
    const notes = await serveNotes(provider);
    const { whoami } = await join(notes.url, { redirect: provider.redirect });
    const isMetadata = (path: string): boolean => path.includes("/.well-known/");
    // What the server asks for afterwards, to find the keys, is not of the client.
    const login = provider.paths.findIndex((path) => !isMetadata(path));
    expect(provider.paths.slice(0, login)).toEqual(expected);
    expect((await whoami()).subject).toBe("ann");
  });
});
