// Our client and our protected server with an authorization server that nobody here wrote: how a user gets in, in every revision.
import { revisions } from "plenum";
import { loopbackRedirect } from "plenum/auth/node";
import { createMemoryStore } from "plenum/store";
import { describe, expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { join, refusalOf, serveNotes } from "./oidc-notes.ts";
import { callback, openProvider } from "./oidc-provider.ts";

const listed = (scope: string | null): string[] => (scope ?? "").split(" ").sort();

describe.each(revisions)("%s", (revision) => {
  const isOldest = revision === "2024-11-05";

  test("a user logs in, and again where a tool takes more", async () => {
    covers(
      [
        "auth-discovery-as-metadata-client",
        "auth-discovery-client-parse-challenge",
        "auth-discovery-prm-authorization-servers",
        "auth-discovery-prm-client",
        "auth-discovery-prm-server",
        "auth-flow-401-required",
        "auth-flow-403-scope",
        "auth-flow-bearer-header",
        "auth-flow-client-starts-on-401",
        "auth-flow-every-request",
        "auth-flow-local-public-client",
        "auth-flow-offline-access",
        "auth-flow-resource-both-requests",
        "auth-flow-resource-canonical",
        "auth-flow-resource-identifies-server",
        "auth-flow-scope-authoritative",
        "auth-flow-scope-least-privilege",
        "auth-flow-scope-priority",
        "auth-flow-step-up",
        "auth-flow-step-up-scopes",
        "auth-flow-step-up-union",
        "auth-flow-step-up-user",
        "auth-flow-validate-token",
        "auth-registration-dcr-2025-11",
        "auth-registration-dcr-application-type",
        "auth-registration-dcr-client",
        "auth-registration-dcr-native",
        "auth-registration-obtain-client-id",
        "auth-registration-refresh-grant-type",
        "security-pkce",
        "security-pkce-s256",
        "security-redirect-registered",
        "security-redirect-scheme",
        "security-scope-minimization",
      ],
      revision,
    );
    const provider = await openProvider();
    // HTTP+SSE has paths of its own, beside that of MCP: the resource is what both are part of.
    const notes = await serveNotes(provider, { isWhole: isOldest });
    const url = isOldest ? notes.sseUrl : notes.url;
    const { client, whoami } = await join(url, { redirect: provider.redirect, clientName: "Desk" }, { revision });
    expect(client.revision).toBe(revision);

    const [registered] = provider.registered;
    expect(provider.registered).toHaveLength(1);
    expect(registered).toMatchObject({ client_name: "Desk", redirect_uris: [callback], application_type: "native" });
    expect(registered?.grant_types).toContain("refresh_token");
    expect(await whoami()).toMatchObject({ subject: "ann", clientId: expect.any(String), scopes: ["notes:read"] });
    expect(provider.visits).toHaveLength(1);
    const first = provider.visits[0]?.searchParams as URLSearchParams;
    expect(Object.fromEntries(first)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      resource: notes.resource,
      redirect_uri: callback,
      state: expect.stringMatching(/^[\w-]{20,}$/),
    });
    expect(listed(first.get("scope"))).toEqual(["notes:read", "offline_access"]);
    expect(provider.asked).toEqual([
      expect.objectContaining({
        grant: "authorization_code",
        auth: "none",
        resource: notes.resource,
        error: undefined,
      }),
    ]);

    expect((await client.callTool("write")).text).toBe("written");
    expect(provider.visits).toHaveLength(2);
    expect(listed(provider.visits[1]?.searchParams.get("scope") ?? null)).toEqual([
      "notes:read",
      "notes:write",
      "offline_access",
    ]);
    expect((await whoami()).scopes).toEqual(["notes:read", "notes:write"]);
    expect(provider.visits).toHaveLength(2);
    // The client is the same one.
    expect(provider.registered).toHaveLength(1);

    await client.close();
    const { seen } = notes;
    const begun = seen.findIndex((header) => header !== undefined);
    expect(begun).toBe(1);
    expect(seen.slice(begun).filter((header) => !header?.startsWith("Bearer "))).toEqual([]);
  });
});

describe("no token is had", () => {
  test("where the user says no", async () => {
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    provider.isDenying = true;
    const refused = await refusalOf(join(notes.url, { redirect: provider.redirect }));
    expect(refused).toMatchObject({ code: "denied", error: "access_denied" });
    expect(refused.message).toContain("Not today");
    expect(provider.asked).toEqual([]);
    // Who is asked again may think better of it.
    provider.isDenying = false;
    const { whoami } = await join(notes.url, { redirect: provider.redirect });
    expect((await whoami()).subject).toBe("ann");
  });

  test("for more, where the user says no to that; what was granted stays good", async () => {
    covers(["auth-flow-step-up"]);
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    const { client, whoami } = await join(notes.url, { redirect: provider.redirect });
    provider.isDenying = true;
    const refused = await refusalOf(client.callTool("write"));
    expect(refused.code).toBe("denied");
    expect((await whoami()).scopes).toEqual(["notes:read"]);
    expect(provider.visits).toHaveLength(2);
    expect(provider.grants()).toEqual(["authorization_code"]);
  });

  test("where the answer belongs to another question", async () => {
    covers(["security-state-verified"]);
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    const redirect = {
      begin: () => ({
        uri: callback,
        async open(url: URL) {
          const back = await provider.browse(url);
          back.searchParams.set("state", "another");
          return back;
        },
      }),
    };
    const refused = await refusalOf(join(notes.url, { redirect }));
    expect(refused.code).toBe("state_mismatch");
    expect(provider.asked).toEqual([]);
  });

  test("where the answer says that it is of another issuer, or nothing of it", async () => {
    covers(["auth-flow-iss-compare", "auth-flow-iss-absent-advertised", "auth-flow-iss-no-normalization"]);
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    for (const iss of ["https://evil.example", `${provider.issuer}/`, undefined]) {
      const redirect = {
        begin: () => ({
          uri: callback,
          async open(url: URL) {
            const back = await provider.browse(url);
            if (iss === undefined) back.searchParams.delete("iss");
            else back.searchParams.set("iss", iss);
            return back;
          },
        }),
      };
      const refused = await refusalOf(join(notes.url, { redirect }));
      expect(refused.code).toBe("issuer_mismatch");
    }
    expect(provider.asked).toEqual([]);
  });

  test("for a resource that the authorization server does not know", async () => {
    covers(["auth-flow-resource-identifies-server"]);
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    provider.resources.clear();
    const refused = await refusalOf(join(notes.url, { redirect: provider.redirect }));
    expect(refused).toMatchObject({ code: "denied", error: "invalid_target" });
  });
});

test("a token for one server is refused by another, and never sent there", async () => {
  covers([
    "auth-flow-audience-validate",
    "auth-flow-audience-reject",
    "auth-flow-server-no-foreign-tokens",
    "auth-flow-client-own-tokens",
    "security-verify-inbound",
  ]);
  const provider = await openProvider();
  const [notes, other] = [await serveNotes(provider), await serveNotes(provider)];
  const store = createMemoryStore();
  const options = { redirect: provider.redirect, store };
  expect((await (await join(notes.url, options)).whoami()).subject).toBe("ann");
  provider.account = "ann";
  expect((await (await join(other.url, options)).whoami()).subject).toBe("ann");
  const sent = (seen: readonly (string | undefined)[]): Set<string> =>
    new Set(seen.filter((header) => header !== undefined));
  expect([...sent(notes.seen)].filter((header) => sent(other.seen).has(header))).toEqual([]);
  // One client for both, since both have the same authorization server.
  expect(provider.registered).toHaveLength(1);

  expect((await notes.knock({ authorization: `Bearer ${notes.token()}` })).status).toBe(200);
  const foreign = await other.knock({ authorization: `Bearer ${notes.token()}` });
  expect(foreign.status).toBe(401);
  expect(foreign.headers.get("www-authenticate")).toContain('error="invalid_token"');
});

test("a browser beside a command line: the page leads back to a port of this machine", async () => {
  covers(["security-redirect-scheme", "security-redirect-registered", "auth-flow-local-public-client"]);
  const provider = await openProvider();
  const notes = await serveNotes(provider);
  const pages: string[] = [];
  const redirect = loopbackRedirect({
    async open(url) {
      const response = await fetch(await provider.browse(url));
      pages.push(await response.text());
    },
  });
  const { whoami } = await join(notes.url, { redirect });
  expect((await whoami()).subject).toBe("ann");
  expect(pages).toEqual([expect.stringContaining("You can close this window")]);
  const [uri = ""] = (provider.registered[0]?.redirect_uris ?? []) as string[];
  expect(uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  // It was open for that one visit.
  await expect(fetch(`${uri}?code=x`)).rejects.toThrow();
});

test.each(revisions.slice(1))(
  "a client stays the same one from login to login, and its session with it: %s",
  async (revision) => {
    covers(["auth-flow-step-up", "auth-registration-obtain-client-id"], revision);
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    // Which port it is nobody knows before.
    const redirect = loopbackRedirect({ open: async (url) => void (await fetch(await provider.browse(url))) });
    const { client, whoami } = await join(notes.url, { redirect }, { revision });
    const { clientId } = await whoami();
    expect((await client.callTool("write")).text).toBe("written");
    expect(await whoami()).toMatchObject({ clientId, scopes: ["notes:read", "notes:write"] });
    expect(provider.visits).toHaveLength(2);
    expect(provider.registered).toHaveLength(1);
  },
);

test("the port of the last time is taken again, if it is free and was for such a visit", async () => {
  const begin = async (...registered: string[]): Promise<string> => {
    const visit = await loopbackRedirect().begin(registered);
    onTestFinished(() => visit.close?.());
    return visit.uri;
  };
  const first = await loopbackRedirect().begin([]);
  await first.close?.();
  expect(await begin("https://app.example/callback", first.uri)).toBe(first.uri);
  // It is not free now.
  const other = await begin(first.uri);
  expect(other).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect(other).not.toBe(first.uri);
  const last = await loopbackRedirect().begin([]);
  await last.close?.();
  for (const uri of [last.uri.replace("callback", "elsewhere"), last.uri.replace("127.0.0.1", "10.0.0.1")])
    expect(await begin(uri)).not.toBe(last.uri);
});

test("a user who takes longer than a server may is asked once", async () => {
  covers(["auth-flow-client-starts-on-401"]);
  const provider = await openProvider();
  const notes = await serveNotes(provider);
  provider.thinkMs = 4000;
  const { client, whoami } = await join(notes.url, { redirect: provider.redirect }, { probeTimeoutMs: 2000 });
  expect((await whoami()).subject).toBe("ann");
  expect(provider.visits).toHaveLength(1);
  expect(client.revision).toBe("2026-07-28");
});

test("scopes of the application's own do not keep a tool from getting what it takes", async () => {
  covers(["auth-flow-scope-authoritative", "auth-flow-step-up"]);
  const provider = await openProvider();
  const notes = await serveNotes(provider);
  const { client } = await join(notes.url, { redirect: provider.redirect, scopes: ["notes:read"] });
  expect((await client.callTool("write")).text).toBe("written");
  expect(provider.visits).toHaveLength(2);
});

test("an application that wants to know who the user is gets an ID token, which changes nothing", async () => {
  const provider = await openProvider();
  const notes = await serveNotes(provider);
  const { client, whoami } = await join(notes.url, { redirect: provider.redirect, scopes: ["openid", "notes:read"] });
  expect(await whoami()).toMatchObject({ subject: "ann", scopes: ["notes:read"] });
  expect((await client.callTool("write")).text).toBe("written");
  expect(listed(provider.visits[1]?.searchParams.get("scope") ?? null)).toContain("openid");
});
