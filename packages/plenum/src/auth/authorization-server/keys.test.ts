import { decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import { createKeys } from "./keys.ts";

const settings = { issuer: "https://auth.example.com", keyTtlS: 86_400, accessTokenTtlS: 600 };
const typ = "at+jwt";
const soon = (): number => Math.floor(Date.now() / 1000) + 300;
const kidOf = (token: string): string | undefined => decodeProtectedHeader(token).kid;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (seconds: number): unknown => vi.setSystemTime(Date.now() + seconds * 1000);

test("what is signed is read again, and says who signed it and when", async () => {
  const keys = createKeys(createMemoryStore(), settings);
  const token = await keys.sign({ sub: "ada", exp: soon() }, { typ });
  expect(decodeProtectedHeader(token)).toMatchObject({ alg: "ES256", typ });
  expect(await keys.open(token, { typ })).toMatchObject({ iss: settings.issuer, iat: 1_800_000_000, sub: "ada" });
});

test("nothing but the public halves is shown", async () => {
  const keys = createKeys(createMemoryStore(), settings);
  const { keys: shown } = await keys.jwks();
  expect(shown).toHaveLength(1);
  expect(Object.keys(shown[0] ?? {}).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
});

test("processes that start together share one key", async () => {
  const store = createMemoryStore();
  const slow = {
    ...store,
    get: (key: string) => new Promise<string | undefined>((done) => setTimeout(() => done(store.get(key)), 5)),
  };
  const tokens = await Promise.all(
    Array.from({ length: 6 }, () => createKeys(slow, settings).sign({ exp: soon() }, { typ })),
  );
  expect(new Set(tokens.map(kidOf)).size).toBe(1);
  expect((await createKeys(store, settings).jwks()).keys).toHaveLength(1);
});

describe("a key", () => {
  test("is followed by another, which is shown before it signs, and shown until its last token has ended", async () => {
    const store = createMemoryStore();
    const keys = createKeys(store, settings);
    const first = await keys.sign({ exp: soon() }, { typ });
    pass(86_400 - 700);
    expect((await keys.jwks()).keys).toHaveLength(1);
    pass(200);
    // Ahead of its time.
    expect((await keys.jwks()).keys).toHaveLength(2);
    const last = await keys.sign({ exp: soon() + 900 }, { typ });
    expect(kidOf(last)).toBe(kidOf(first));
    pass(700);
    const next = await createKeys(store, settings).sign({ exp: soon() + 86_400 }, { typ });
    expect(kidOf(next)).not.toBe(kidOf(first));
    expect(await keys.open(last, { typ })).toBeDefined();
    pass(700);
    expect((await keys.jwks()).keys.map(({ kid }) => kid)).toEqual([kidOf(next)]);
    expect(await keys.open(next, { typ })).toBeDefined();
  });

  test("that was not used for long is followed all the same", async () => {
    const keys = createKeys(createMemoryStore(), settings);
    const first = await keys.sign({ exp: soon() }, { typ });
    pass(10 * 86_400);
    expect(kidOf(await keys.sign({ exp: soon() }, { typ }))).toBe(kidOf(first));
    pass(600);
    expect(kidOf(await keys.sign({ exp: soon() }, { typ }))).not.toBe(kidOf(first));
  });

  test("is followed at once where the application says so", async () => {
    const keys = createKeys(createMemoryStore(), settings);
    const first = await keys.sign({ exp: soon() }, { typ });
    await keys.rotate();
    expect(kidOf(await keys.sign({ exp: soon() }, { typ }))).not.toBe(kidOf(first));
    expect(await keys.open(first, { typ })).toBeDefined();
    await keys.rotate({ dropOld: true });
    expect(await keys.open(first, { typ })).toBeUndefined();
    expect((await keys.jwks()).keys).toHaveLength(1);
  });
});

describe("a token is worth nothing", () => {
  test("of another issuer, of another kind, or past its time", async () => {
    const store = createMemoryStore();
    const keys = createKeys(store, settings);
    const other = createKeys(createMemoryStore(), settings);
    const token = await keys.sign({ exp: soon() }, { typ });
    expect(await keys.open(token, { typ: "oauth-id-jag+jwt" })).toBeUndefined();
    expect(await keys.open(await other.sign({ exp: soon() }, { typ }), { typ })).toBeUndefined();
    expect(
      await keys.open(await keys.sign({ exp: soon(), iss: "https://evil.example" }, { typ }), { typ }),
    ).toBeUndefined();
    expect(await keys.open(await keys.sign({}, { typ }), { typ })).toBeUndefined();
    expect(await keys.open("a.b.c", { typ })).toBeUndefined();
    pass(301);
    expect(await keys.open(token, { typ })).toBeUndefined();
  });

  test("that is signed in another way, with what everybody knows, or with a key of its own", async () => {
    const keys = createKeys(createMemoryStore(), settings);
    const token = await keys.sign({ exp: soon() }, { typ });
    const [, payload = "", signature = ""] = token.split(".");
    const [shown] = (await keys.jwks()).keys;
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const claims = { iss: settings.issuer, exp: soon() };
    const encode = (header: object): string => btoa(JSON.stringify(header)).replace(/=+$/, "");
    const forged = [
      // No signature at all.
      `${encode({ alg: "none", typ })}.${payload}.`,
      // A signature that is not of these claims.
      `${encode({ alg: "ES256", typ, kid: shown?.kid })}.${btoa(JSON.stringify({ ...claims, sub: "eve" })).replace(/=+$/, "")}.${signature}`,
      // The public key as a secret.
      await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", typ, kid: shown?.kid ?? "" })
        .sign(new TextEncoder().encode(JSON.stringify(shown))),
      // A key that the token brings along.
      await new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", typ, kid: shown?.kid ?? "", jwk: await exportJWK(publicKey) })
        .sign(privateKey),
    ];
    for (const one of forged) expect(await keys.open(one, { typ })).toBeUndefined();
  });
});
