import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  issuer,
  makeClient,
  makeCodeGrant,
  makeSettings,
  redirectUri,
  resource,
  verifier,
} from "../../../../../test/auth/as-ground.ts";
import { covers } from "../../../../../test/requirements/covers.ts";
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import { digestOf } from "../../util/digest.ts";
import { createGrants, type GrantBook, type Issued, type Redemption } from "./grants.ts";
import { createKeys } from "./keys.ts";
import type { AuthorizationServerOptions } from "./options.ts";

const client = makeClient();
const refused = expect.objectContaining({ name: "AuthFault", error: "invalid_grant", status: 400 });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (seconds: number): unknown => vi.setSystemTime(Date.now() + seconds * 1000);

function open(store: Store = createMemoryStore(), more: Partial<AuthorizationServerOptions> = {}): GrantBook {
  const settings = makeSettings({ store, ...more });
  return createGrants(store, createKeys(store, settings), settings);
}

function redeem(grants: GrantBook, code: string, more: Partial<Redemption> = {}): Promise<Issued> {
  return grants.redeemCode({ code, client, redirectUri, verifier, resource: undefined, ...more });
}

async function begin(grants: GrantBook, more = {}): Promise<Issued & { readonly refreshToken: string }> {
  const issued = await redeem(grants, await grants.issueCode(await makeCodeGrant(more)));
  return issued as Issued & { readonly refreshToken: string };
}

const renew = (grants: GrantBook, token: string, more = {}): Promise<Issued> =>
  grants.refresh({ token, client, scopes: undefined, resource: undefined, ...more });

describe("a code", () => {
  test("is worth tokens, which say for whom they are", async () => {
    const grants = open();
    const issued = await begin(grants, {
      claims: { email: "ada@example.com", sub: "eve", aud: "elsewhere", exp: 9e9, cnf: {}, scp: ["admin"] },
    });
    expect(issued).toMatchObject({ expiresInS: 600, scopes: ["notes:read", "notes:write"] });
    expect(decodeProtectedHeader(issued.accessToken)).toMatchObject({ typ: "at+jwt", alg: "ES256" });
    const claims = decodeJwt(issued.accessToken);
    expect(claims).toEqual({
      iss: issuer,
      sub: "ada",
      aud: resource,
      client_id: "app",
      iat: 1_800_000_000,
      exp: 1_800_000_600,
      jti: expect.any(String),
      scope: "notes:read notes:write",
      family: expect.any(String),
      email: "ada@example.com",
    });
    expect(await grants.isAlive(claims.family as string)).toBe(true);
  });

  test("is worth nothing to another client", async () => {
    const grants = open();
    const code = await grants.issueCode(await makeCodeGrant());
    await expect(redeem(grants, code, { client: makeClient({ id: "other" }) })).rejects.toEqual(refused);
    // Who tried does not take it from who may have it.
    await expect(redeem(grants, code)).resolves.toBeDefined();
  });

  test.each([
    ["for another redirect URI", { redirectUri: "https://app.example.com/other" }],
    ["for one that only begins alike", { redirectUri: `${redirectUri}/` }],
    ["with the verifier of somebody else", { verifier: "another-verifier-that-is-long-enough-to-be-one" }],
    ["without a verifier", { verifier: undefined }],
    ["with a verifier that is too short", { verifier: "short" }],
    ["with the challenge in place of the verifier", { verifier: "challenge" }],
  ])("is worth nothing %s, and is not asked for again", async (_, more) => {
    const grants = open();
    const grant = await makeCodeGrant();
    const code = await grants.issueCode(grant);
    const given = "verifier" in more && more.verifier === "challenge" ? { verifier: grant.codeChallenge } : more;
    await expect(redeem(grants, code, given)).rejects.toEqual(refused);
    await expect(redeem(grants, code)).rejects.toEqual(refused);
  });

  test("that was asked for without a digest, as plain PKCE has it, is worth nothing", async () => {
    const grants = open();
    const code = await grants.issueCode(await makeCodeGrant({ codeChallenge: verifier }));
    await expect(redeem(grants, code)).rejects.toEqual(refused);
  });

  test("is worth nothing with a verifier that could be guessed", async () => {
    const grants = open();
    for (const weak of ["short", "a".repeat(42), "a".repeat(129), `${verifier}!`]) {
      const code = await grants.issueCode(await makeCodeGrant({ codeChallenge: await digestOf(weak) }));
      await expect(redeem(grants, code, { verifier: weak })).rejects.toEqual(refused);
    }
  });

  test("is redeemed without a redirect URI, as OAuth 2.1 has it", async () => {
    const grants = open();
    const code = await grants.issueCode(await makeCodeGrant());
    await expect(redeem(grants, code, { redirectUri: undefined })).resolves.toBeDefined();
  });

  test("ends after a minute", async () => {
    const grants = open();
    const code = await grants.issueCode(await makeCodeGrant());
    pass(61);
    await expect(redeem(grants, code)).rejects.toEqual(refused);
  });

  test("that comes again takes back what came of it", async () => {
    const grants = open();
    const code = await grants.issueCode(await makeCodeGrant());
    const { accessToken, refreshToken = "" } = await redeem(grants, code);
    await expect(redeem(grants, code, { client: makeClient({ id: "other" }) })).rejects.toEqual(refused);
    expect(await grants.findAccess(accessToken)).toBeDefined();
    await expect(redeem(grants, code)).rejects.toEqual(refused);
    expect(await grants.findAccess(accessToken)).toBeUndefined();
    await expect(renew(grants, refreshToken)).rejects.toEqual(refused);
  });

  test("that comes many times at once is good for one at most, and then for nobody", async () => {
    const store = createMemoryStore();
    const [one, other] = [open(store), open(store)];
    const code = await one.issueCode(await makeCodeGrant());
    const all = await Promise.allSettled([0, 1, 2, 3, 4, 5].map((i) => redeem(i % 2 ? one : other, code)));
    const good = all.filter((each) => each.status === "fulfilled");
    expect(good.length).toBeLessThanOrEqual(1);
    for (const each of good) expect(await one.findAccess(each.value.accessToken)).toBeUndefined();
  });

  test("is for the resource that it was asked for", async () => {
    const other = "https://other.example.com/mcp";
    const grants = open(createMemoryStore(), { resources: [resource, other] });
    const code = await grants.issueCode(await makeCodeGrant());
    const wrong = expect.objectContaining({ error: "invalid_target" });
    await expect(redeem(grants, code, { resource: other })).rejects.toEqual(wrong);
    await expect(redeem(grants, code, { resource: "https://evil.example/" })).rejects.toEqual(wrong);
    expect(decodeJwt((await redeem(grants, code, { resource })).accessToken).aud).toBe(resource);
    const open2 = await grants.issueCode(await makeCodeGrant({ resource: undefined }));
    await expect(redeem(grants, open2)).rejects.toEqual(wrong);
    expect(decodeJwt((await redeem(grants, open2, { resource: other })).accessToken).aud).toBe(other);
  });

  test("gives no refresh token to who cannot use one", async () => {
    const grants = open();
    const code = await grants.issueCode(await makeCodeGrant());
    const issued = await redeem(grants, code, { client: makeClient({ grantTypes: ["authorization_code"] }) });
    expect(issued.refreshToken).toBeUndefined();
    expect(await grants.findAccess(issued.accessToken)).toBeDefined();
  });
});

describe("a refresh token", () => {
  test("is good once, and followed by another", async () => {
    covers(["security-refresh-rotation", "security-token-rotation"]);
    const grants = open();
    const first = await begin(grants);
    const second = await renew(grants, first.refreshToken);
    expect(second.refreshToken).toBeDefined();
    expect(second.refreshToken).not.toBe(first.refreshToken);
    const third = await renew(grants, second.refreshToken as string);
    expect(await grants.findAccess(third.accessToken)).toBeDefined();
    // One that was used is known to somebody else: nobody keeps anything.
    await expect(renew(grants, first.refreshToken)).rejects.toEqual(refused);
    await expect(renew(grants, third.refreshToken as string)).rejects.toEqual(refused);
    for (const { accessToken } of [first, second, third]) expect(await grants.findAccess(accessToken)).toBeUndefined();
  });

  test("that comes twice at once is good for one at most, and then for nobody", async () => {
    covers(["security-refresh-rotation"]);
    const store = createMemoryStore();
    const [one, other] = [open(store), open(store)];
    const { refreshToken } = await begin(one);
    const all = await Promise.allSettled([
      renew(one, refreshToken),
      renew(other, refreshToken),
      renew(one, refreshToken),
    ]);
    const good = all.filter((each) => each.status === "fulfilled");
    expect(good).toHaveLength(1);
    for (const each of good) expect(await one.findAccess(each.value.accessToken)).toBeUndefined();
    for (const each of good) await expect(renew(one, each.value.refreshToken as string)).rejects.toEqual(refused);
  });

  test("cannot be made of what an access token says", async () => {
    const grants = open();
    const { accessToken, refreshToken } = await begin(grants);
    const { family } = decodeJwt(accessToken) as { family: string };
    const secret = refreshToken.split(".")[1];
    for (const token of [
      `${family}.${secret}`,
      `${family.slice(0, 22)}.${secret}`,
      refreshToken.slice(0, -1),
      secret,
      "",
      accessToken,
    ])
      await expect(renew(grants, token as string)).rejects.toEqual(refused);
    // Nor can anybody who knows only that take it back.
    await expect(renew(grants, refreshToken)).resolves.toBeDefined();
  });

  test("is worth nothing to another client, nor after its time, and lives on with each use", async () => {
    const grants = open(createMemoryStore(), { refreshTokenTtlS: 1000 });
    const { refreshToken } = await begin(grants);
    await expect(renew(grants, refreshToken, { client: makeClient({ id: "other" }) })).rejects.toEqual(refused);
    pass(900);
    const next = await renew(grants, refreshToken);
    pass(900);
    const last = await renew(grants, next.refreshToken as string);
    pass(1001);
    await expect(renew(grants, last.refreshToken as string)).rejects.toEqual(refused);
  });

  test("reaches as far as what was granted, or less, and for the same resource", async () => {
    const grants = open();
    const { refreshToken } = await begin(grants, { scopes: ["notes:read"] });
    await expect(renew(grants, refreshToken, { scopes: ["notes:read", "notes:write"] })).rejects.toMatchObject({
      error: "invalid_scope",
    });
    await expect(renew(grants, refreshToken, { resource: "https://evil.example/" })).rejects.toMatchObject({
      error: "invalid_target",
    });
    // What was refused has not used it up.
    const next = await renew(grants, refreshToken, { scopes: [], resource });
    expect(next.scopes).toEqual([]);
    expect((await renew(grants, next.refreshToken as string)).scopes).toEqual(["notes:read"]);
  });
});

test("an access token ends with its time", async () => {
  covers(["security-token-expiry-server"]);
  const grants = open();
  const { accessToken, refreshToken } = await begin(grants);
  pass(599);
  expect(await grants.findAccess(accessToken)).toBeDefined();
  pass(2);
  expect(await grants.findAccess(accessToken)).toBeUndefined();
  expect(await grants.findAccess((await renew(grants, refreshToken)).accessToken)).toBeDefined();
});

describe("what is revoked", () => {
  test("is a family, all of it", async () => {
    const grants = open();
    const { accessToken, refreshToken } = await begin(grants);
    const other = await begin(grants);
    await grants.revokeFamily(decodeJwt(accessToken).family as string);
    expect(await grants.findAccess(accessToken)).toBeUndefined();
    await expect(renew(grants, refreshToken)).rejects.toEqual(refused);
    expect(await grants.findAccess(other.accessToken)).toBeDefined();
  });

  test("is all that a user has allowed until now, codes too", async () => {
    const grants = open();
    const { accessToken, refreshToken } = await begin(grants);
    const code = await grants.issueCode(await makeCodeGrant());
    const other = await begin(grants, { subject: "grace" });
    await grants.revokeSubject("ada");
    expect(await grants.findAccess(accessToken)).toBeUndefined();
    await expect(renew(grants, refreshToken)).rejects.toEqual(refused);
    await expect(redeem(grants, code)).rejects.toEqual(refused);
    expect(await grants.findAccess(other.accessToken)).toBeDefined();
    pass(1);
    expect(await grants.findAccess((await begin(grants)).accessToken)).toBeDefined();
  });

  test("ends what goes on with it", async () => {
    const grants = open();
    const { family } = decodeJwt((await begin(grants)).accessToken) as { family: string };
    const grant = { clientId: "app", subject: "ada", scopes: [], resource };
    const { accessToken } = await grants.issue({ grant, isLasting: false, family });
    expect(decodeJwt(accessToken)).toMatchObject({ family });
    await grants.revokeFamily(family);
    expect(await grants.findAccess(accessToken)).toBeUndefined();
    await expect(grants.issue({ grant, isLasting: false, family })).rejects.toEqual(refused);
  });
});

test("a grant without a user has no refresh token unless it is to last", async () => {
  const grants = open();
  const grant = { clientId: "robot", subject: "robot", scopes: ["notes:read"], resource: undefined };
  expect(await grants.issue({ grant, isLasting: false })).not.toHaveProperty("refreshToken");
  const { accessToken, refreshToken = "" } = await grants.issue({ grant, isLasting: true });
  expect(decodeJwt(accessToken)).toMatchObject({ sub: "robot", aud: resource });
  await expect(renew(grants, refreshToken, { client: makeClient({ id: "robot" }) })).resolves.toBeDefined();
});

test("the store has nothing that is worth stealing but the keys", async () => {
  covers(["security-token-storage-server"]);
  const store = createMemoryStore();
  const written: string[] = [];
  const grants = open({
    ...store,
    put(key, value, options) {
      written.push(key, value);
      return store.put(key, value, options);
    },
  });
  const code = await grants.issueCode(await makeCodeGrant());
  const { accessToken, refreshToken = "" } = await redeem(grants, code);
  const all = written.join("\n");
  for (const secret of [code, accessToken, refreshToken, ...refreshToken.split("."), verifier])
    expect(all).not.toContain(secret);
});
