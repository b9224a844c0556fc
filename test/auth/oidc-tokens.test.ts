// The life of tokens with an authorization server that nobody here wrote: how they are refreshed, bound to a key, revoked, kept
// in a file, and had by programs that ask nobody.
import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { promisify } from "node:util";
import { exportJWK, generateKeyPair } from "jose";
import { type Revision, revisions } from "plenum";
import { clientCredentials, type OAuthOptions } from "plenum/auth/client";
import { fileTokens, loopbackRedirect } from "plenum/auth/node";
import { createMemoryStore } from "plenum/store";
import { describe, expect, onTestFinished, test } from "vitest";
import { bundleProgram } from "../client/harness.ts";
import { covers } from "../requirements/covers.ts";
import { type Joined, join, type Notes, refusalOf, serveNotes } from "./oidc-notes.ts";
import { openProvider, type Provider } from "./oidc-provider.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** A second more than what a client keeps as a margin: after it the next request takes a new one. */
const brief = 11;
const lasting = 3600;

/** Until tokens that are brief end soon; those that are made from here on last, and are counted. */
async function ripen(provider: Provider): Promise<void> {
  await pause(1200);
  provider.lifetimeS = lasting;
  provider.asked.length = 0;
}

/** The same until tokens that live for two seconds have ended. */
async function expire(provider: Provider): Promise<void> {
  await pause(1300);
  await ripen(provider);
}

/** A store that shows the tokens in it. */
function createOpenStore() {
  const store = createMemoryStore();
  const kept = new Map<string, string>();
  return {
    ...store,
    get: store.get,
    put: async (key: string, value: string, options?: Parameters<typeof store.put>[2]) => {
      const isPut = await store.put(key, value, options);
      if (isPut) kept.set(key, value);
      return isPut;
    },
    delete: store.delete,
    /** Of the first server. */
    tokens(): { readonly accessToken: string; readonly refreshToken?: string; readonly clientId: string } {
      const [, text = "{}"] = [...kept].find(([key]) => key.includes('tokens"')) ?? [];
      return JSON.parse(text);
    },
  };
}

const fourTimes = ({ whoami }: Joined) => Promise.all([whoami(), whoami(), whoami(), whoami()]);

/** A server, and where it is spoken to in that revision. */
async function serveIn(revision: Revision, provider: Provider): Promise<Notes & { readonly at: string }> {
  const isOldest = revision === "2024-11-05";
  const notes = await serveNotes(provider, { isWhole: isOldest });
  return { ...notes, at: isOldest ? notes.sseUrl : notes.url };
}

describe.each<Revision>(["2024-11-05", "2025-06-18", "2026-07-28"])("refreshing, in %s", (revision) => {
  test("a token that ends soon: once for all callers, and the old one is worth nothing", async () => {
    covers(["auth-flow-local-public-client", "auth-flow-resource-both-requests"], revision);
    const provider = await openProvider();
    const notes = await serveIn(revision, provider);
    const store = createOpenStore();
    provider.lifetimeS = brief;
    const joined = await join(notes.at, { redirect: provider.redirect, store }, { revision });
    await ripen(provider);
    const old = store.tokens();
    const four = await fourTimes(joined);
    expect(four.map(({ subject }) => subject)).toEqual(["ann", "ann", "ann", "ann"]);
    expect(await joined.whoami()).toMatchObject({ subject: "ann", scopes: ["notes:read"] });
    expect(provider.grants()).toEqual(["refresh_token"]);
    expect(provider.asked[0]).toMatchObject({ resource: notes.resource });
    expect(provider.visits).toHaveLength(1);
    const fresh = store.tokens();
    expect(fresh.accessToken).not.toBe(old.accessToken);
    expect(fresh.refreshToken).not.toBe(old.refreshToken);
    const stolen = await provider.send("/token", {
      grant_type: "refresh_token",
      client_id: old.clientId,
      refresh_token: old.refreshToken ?? "",
    });
    expect(stolen).toEqual({ status: 400, error: "invalid_grant" });
  });

  test("a token that the server says has ended: once for all callers", async () => {
    covers(["auth-flow-invalid-token-401", "auth-flow-validate-token"], revision);
    const provider = await openProvider({ hidesLifetime: true });
    const notes = await serveIn(revision, provider);
    provider.lifetimeS = 2;
    const joined = await join(notes.at, { redirect: provider.redirect }, { revision });
    await joined.whoami();
    await expire(provider);
    const four = await fourTimes(joined);
    expect(four.map(({ subject }) => subject)).toEqual(["ann", "ann", "ann", "ann"]);
    expect(provider.grants()).toEqual(["refresh_token"]);
    expect(provider.visits).toHaveLength(1);
  });

  test("with a token that somebody has used before: the user is asked again", async () => {
    covers(["auth-flow-refresh-not-assumed"], revision);
    const provider = await openProvider({ hidesLifetime: true });
    const notes = await serveIn(revision, provider);
    const store = createOpenStore();
    provider.lifetimeS = 2;
    const joined = await join(notes.at, { redirect: provider.redirect, store }, { revision });
    const { refreshToken = "", clientId } = store.tokens();
    const thief = { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken };
    expect((await provider.send("/token", { ...thief, resource: notes.resource })).status).toBe(200);
    await expire(provider);
    const four = await fourTimes(joined);
    expect(four.map(({ subject }) => subject)).toEqual(["ann", "ann", "ann", "ann"]);
    expect(provider.visits).toHaveLength(2);
    expect(provider.grants()).toEqual(["refresh_token: invalid_grant", "authorization_code"]);
  });
});

test("a refresh token that is worth nothing is not sent again and again", async () => {
  covers(["auth-flow-refresh-not-assumed"]);
  const provider = await openProvider();
  const notes = await serveNotes(provider);
  const store = createOpenStore();
  provider.lifetimeS = brief;
  const joined = await join(notes.url, { redirect: provider.redirect, store });
  const { refreshToken = "", clientId } = store.tokens();
  await provider.send("/token/revocation", { client_id: clientId, token: refreshToken });
  await ripen(provider);
  // The access token is good for some seconds yet.
  await fourTimes(joined);
  await joined.whoami();
  expect(provider.grants()).toEqual(["refresh_token: invalid_grant"]);
  expect(provider.visits).toHaveLength(1);
});

test("logging in to one server does not log out of another of the same authorization server", async () => {
  const provider = await openProvider({ hidesLifetime: true });
  const [one, two] = [await serveNotes(provider), await serveNotes(provider)];
  const store = createMemoryStore();
  provider.lifetimeS = 2;
  const open = async (url: URL): Promise<void> => void (await fetch(await provider.browse(url)));
  const first = await join(one.url, { store, redirect: loopbackRedirect({ open, path: "/one" }) });
  const second = await join(two.url, { store, redirect: loopbackRedirect({ open, path: "/two" }) });
  expect(provider.registered).toHaveLength(2);
  await expire(provider);
  expect((await first.whoami()).subject).toBe("ann");
  expect((await second.whoami()).subject).toBe("ann");
  expect(provider.grants()).toEqual(["refresh_token", "refresh_token"]);
  expect(provider.visits).toHaveLength(2);
});

test.each([false, true])(
  "many servers at once, and what is kept of them is good for the next time; bound: %s",
  async (dpop) => {
    const provider = await openProvider({ tokens: "opaque" });
    const servers = [await serveNotes(provider), await serveNotes(provider), await serveNotes(provider)];
    const store = createMemoryStore();
    const redirect = loopbackRedirect({ open: async (url) => void (await fetch(await provider.browse(url))) });
    const first = await Promise.all(servers.map(({ url }) => join(url, { store, redirect, dpop })));
    for (const { whoami } of first) expect((await whoami()).subject).toBe("ann");
    expect(provider.visits).toHaveLength(3);
    // Nobody could be asked.
    const second = await Promise.all(servers.map(({ url }) => join(url, { store, dpop })));
    for (const { whoami } of second) expect((await whoami()).subject).toBe("ann");
    for (const notes of servers) await provider.forget(notes.token());
    for (const { whoami } of second) expect((await whoami()).subject).toBe("ann");
    expect(provider.visits).toHaveLength(3);
    expect(provider.grants().filter((grant) => grant !== "authorization_code")).toEqual(Array(3).fill("refresh_token"));
  },
);

describe("tokens that are bound to a key", () => {
  test.each([
    { tokens: "jwt", wantsNonces: false },
    { tokens: "jwt", wantsNonces: true },
    { tokens: "opaque", wantsNonces: false },
    { tokens: "opaque", wantsNonces: true },
  ] as const)("are had, used and refreshed: %j", async (options) => {
    covers(["auth-flow-every-request", "auth-flow-validate-token"]);
    const provider = await openProvider(options);
    const notes = await serveNotes(provider);
    const store = createOpenStore();
    provider.lifetimeS = brief;
    const joined = await join(notes.url, { redirect: provider.redirect, dpop: true, store });
    expect((await joined.whoami()).subject).toBe("ann");
    const before = [...provider.asked];
    expect(before.find(({ error }) => error === undefined)?.grant).toBe("authorization_code");
    await ripen(provider);
    await fourTimes(joined);
    expect(provider.grants()).toEqual(["refresh_token"]);
    expect(provider.visits).toHaveLength(1);
    const all = [...before, ...provider.asked];
    const proofs = all.flatMap(({ proof, error }) => (error === undefined ? [proof] : []));
    expect(new Set(proofs)).toEqual(new Set([options.wantsNonces ? "nonce" : "plain"]));
    // A nonce is asked for once, and kept.
    expect(all.flatMap(({ error }) => error ?? [])).toEqual(options.wantsNonces ? ["use_dpop_nonce"] : []);
    const begun = notes.seen.findIndex((header) => header !== undefined);
    expect(notes.seen.slice(begun).filter((header) => !header?.startsWith("DPoP "))).toEqual([]);

    // Who has the tokens, and not the key, has nothing.
    const token = notes.token();
    for (const scheme of ["Bearer", "DPoP"])
      expect((await notes.knock({ authorization: `${scheme} ${token}` })).status).toBe(401);
    const { refreshToken = "", clientId } = store.tokens();
    const thief = { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken };
    expect((await provider.send("/token", thief)).status).toBe(400);
  });

  test.each(revisions)("have a proof for each request: %s", async (revision) => {
    covers(["auth-flow-every-request", "auth-flow-validate-token", "auth-flow-step-up"], revision);
    const provider = await openProvider({ wantsNonces: true });
    const notes = await serveIn(revision, provider);
    const { client, whoami } = await join(notes.at, { redirect: provider.redirect, dpop: true }, { revision });
    expect((await whoami()).subject).toBe("ann");
    expect((await client.callTool("write")).text).toBe("written");
    expect(provider.visits).toHaveLength(2);
    await client.close();
    expect(notes.seen.slice(1).filter((header) => !header?.startsWith("DPoP "))).toEqual([]);
  });

  test("and their key are found again", async () => {
    covers(["auth-flow-validate-token"]);
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    const store = createMemoryStore();
    await (await join(notes.url, { redirect: provider.redirect, dpop: true, store })).whoami();
    // Nobody could be asked.
    const again = await join(notes.url, { dpop: true, store });
    expect((await again.whoami()).subject).toBe("ann");
    expect(provider.visits).toHaveLength(1);
  });
});

describe("a program that asks nobody", () => {
  const robot = { grant_types: ["client_credentials"], response_types: [], redirect_uris: [] };

  async function openRobot(how: string): Promise<{ readonly provider: Provider; readonly options: OAuthOptions }> {
    const id = `robot ${how}`;
    const secret = "s e+c:r%e&t";
    if (how === "jwt") {
      const { privateKey, publicKey } = await generateKeyPair("ES256");
      const jwk = { ...(await exportJWK(publicKey)), kid: "robot", use: "sig", alg: "ES256" };
      const provider = await openProvider({
        clients: [
          {
            ...robot,
            client_id: id,
            token_endpoint_auth_method: "private_key_jwt",
            token_endpoint_auth_signing_alg: "ES256",
            jwks: { keys: [jwk as never] },
          },
        ],
      });
      const clientKey = { key: privateKey, kid: "robot" };
      // It has a secret as well, which is not what it shows.
      return { provider, options: { client: { id, secret }, clientKey, grant: clientCredentials() } };
    }
    const authMethod = how === "basic" ? "client_secret_basic" : "client_secret_post";
    const provider = await openProvider({
      clients: [{ ...robot, client_id: id, client_secret: secret, token_endpoint_auth_method: authMethod }],
    });
    return { provider, options: { client: { id, secret, authMethod }, grant: clientCredentials() } };
  }

  test.each(["basic", "post", "jwt"])("gets in, gets more, and gets in again: %s", async (how) => {
    covers([
      "ext-auth-cc-authentication",
      "ext-auth-cc-conform",
      "ext-auth-cc-discovery",
      "ext-auth-cc-jwt-preferred",
      "ext-auth-cc-jwt-request",
      "ext-auth-cc-no-dcr",
      "ext-auth-cc-secret-request",
      "ext-auth-cc-server-validates",
      "ext-auth-cc-token-renewal",
      "auth-flow-step-up-machine",
    ]);
    const { provider, options } = await openRobot(how);
    const notes = await serveNotes(provider);
    provider.lifetimeS = brief;
    const joined = await join(notes.url, options);
    await ripen(provider);
    expect((await joined.client.callTool("write")).text).toBe("written");
    const who = await joined.whoami();
    expect(who).toMatchObject({ clientId: `robot ${how}`, scopes: ["notes:read", "notes:write"] });
    expect(provider.visits).toEqual([]);
    expect(provider.registered).toEqual([]);
    // One because the first was about to end, and one for more.
    expect(provider.grants()).toEqual(["client_credentials", "client_credentials"]);
    expect(new Set(provider.asked.map(({ auth }) => auth))).toEqual(new Set([how]));
    expect(new Set(provider.asked.map(({ resource }) => resource))).toEqual(new Set([notes.resource]));
    expect(provider.asked.map(({ scope }) => scope)).toEqual(["notes:read", "notes:read notes:write"]);
  });

  test("gets a token that is bound to its key", async () => {
    covers(["ext-auth-cc-conform"]);
    const { provider, options } = await openRobot("basic");
    const notes = await serveNotes(provider);
    const joined = await join(notes.url, { ...options, dpop: true });
    expect((await joined.whoami()).clientId).toBe("robot basic");
    expect(notes.seen.at(-1)).toMatch(/^DPoP /);
  });

  test("does not get in with a secret that is wrong, which nobody gets to read", async () => {
    covers(["ext-auth-cc-security", "ext-auth-cc-server-validates"]);
    const { provider, options } = await openRobot("basic");
    const notes = await serveNotes(provider);
    const client = { id: "robot basic", secret: "guessed-wrong" };
    const refused = await refusalOf(join(notes.url, { ...options, client }));
    expect(refused).toMatchObject({ code: "token_failed", error: "invalid_client" });
    expect(`${refused.message}${refused.stack}${JSON.stringify(refused)}`).not.toContain("guessed-wrong");
  });
});

describe("tokens that only the authorization server understands", () => {
  test("let in until they are revoked", async () => {
    covers(["auth-flow-validate-token", "auth-flow-invalid-token-401", "auth-flow-audience-validate"]);
    const provider = await openProvider({ tokens: "opaque" });
    const [notes, other] = [await serveNotes(provider), await serveNotes(provider)];
    const store = createOpenStore();
    const { whoami } = await join(notes.url, { redirect: provider.redirect, store });
    expect(await whoami()).toMatchObject({ subject: "ann", scopes: ["notes:read"] });
    const token = notes.token();
    expect(token).not.toContain(".");
    const authorization = `Bearer ${token}`;
    expect((await notes.knock({ authorization })).status).toBe(200);
    expect((await other.knock({ authorization })).status).toBe(401);

    // Gone, as if it had never been.
    await provider.forget(token);
    expect((await notes.knock({ authorization })).status).toBe(401);
    // The client gets another by itself.
    expect((await whoami()).subject).toBe("ann");
    expect(provider.grants()).toEqual(["authorization_code", "refresh_token"]);
    expect(provider.visits).toHaveLength(1);

    // The provider revokes with it everything that came of the same consent.
    const { clientId } = store.tokens();
    expect((await provider.send("/token/revocation", { client_id: clientId, token: notes.token() })).status).toBe(200);
    expect((await notes.knock({ authorization: `Bearer ${notes.token()}` })).status).toBe(401);
    expect((await whoami()).subject).toBe("ann");
    expect(provider.visits).toHaveLength(2);
  });
});

describe("a file of tokens", () => {
  const run = promisify(execFile);

  async function makePath(): Promise<string> {
    const folder = await mkdtemp(joinPath(tmpdir(), "plenum-tokens-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    return joinPath(folder, "deep", "tokens.json");
  }

  test("lets another program in, which refreshes for both", async () => {
    covers(["security-token-storage-client", "auth-flow-refresh-confidential"]);
    const program = await bundleProgram("test/auth/oidc-second.ts");
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    const path = await makePath();
    provider.lifetimeS = brief;
    const joined = await join(notes.url, { redirect: provider.redirect, store: fileTokens(path) });
    expect((await stat(path)).mode & 0o777).toBe(0o600);

    await ripen(provider);
    const { stdout } = await run(process.execPath, [program, notes.url, path], { timeout: 30_000 });
    expect(JSON.parse(stdout)).toMatchObject({ subject: "ann", scopes: ["notes:read"] });
    expect(provider.grants()).toEqual(["refresh_token"]);
    // What that one got is found by this one.
    expect((await joined.whoami()).subject).toBe("ann");
    expect(provider.grants()).toEqual(["refresh_token"]);
    const again = await run(process.execPath, [program, notes.url, path], { timeout: 30_000 });
    expect(JSON.parse(again.stdout)).toMatchObject({ subject: "ann" });
    expect(provider.grants()).toEqual(["refresh_token"]);
    expect(provider.visits).toHaveLength(1);
  });

  test("of two who begin at once, both get in", async () => {
    covers(["security-token-storage-client"]);
    const provider = await openProvider();
    const notes = await serveNotes(provider);
    const path = await makePath();
    const options = { redirect: provider.redirect };
    const both = await Promise.all([
      join(notes.url, { ...options, store: fileTokens(path) }),
      join(notes.url, { ...options, store: fileTokens(path) }),
    ]);
    for (const { whoami } of both) expect((await whoami()).subject).toBe("ann");
  });
});
