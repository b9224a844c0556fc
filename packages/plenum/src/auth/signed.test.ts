import { createLocalJWKSet, type JWTPayload } from "jose";
import { describe, expect, test } from "vitest";
import { createSigner, nowS, unsigned } from "../../../../test/auth/signer.ts";
import { peekSigned, readSigned, type SignedOptions } from "./signed.ts";

const issuer = "https://idp.example.com";
const audience = "https://auth.example.com";
const signer = await createSigner();
const keys = createLocalJWKSet(signer.jwks);
const options: SignedOptions = {
  issuer,
  audiences: [audience],
  typ: "x+jwt",
  requiredClaims: ["jti"],
  maxLifetimeS: 300,
};

function claims(changes: JWTPayload = {}): JWTPayload {
  return { iss: issuer, sub: "ada", aud: audience, jti: "1", iat: nowS(), exp: nowS() + 60, ...changes };
}

function read(token: string): Promise<JWTPayload | undefined> {
  return readSigned(token, keys, options);
}

const typ = "x+jwt";

test("what is signed as it should be is believed", async () => {
  expect(await read(await signer.sign(claims(), { typ }))).toMatchObject({ sub: "ada" });
  expect(await read(await signer.sign(claims({ aud: [audience] }), { typ }))).toMatchObject({ sub: "ada" });
});

describe("worth nothing is", () => {
  const { jti: _, ...nameless } = claims();
  const { exp: __, ...endless } = claims();
  const { aud: ___, ...open } = claims();
  test.each<[string, JWTPayload]>([
    ["what has ended", claims({ iat: nowS() - 100, exp: nowS() - 10 })],
    ["what is from the future", claims({ iat: nowS() + 60 })],
    ["what is good later", claims({ nbf: nowS() + 60 })],
    ["what is good for too long", claims({ exp: nowS() + 400 })],
    ["what never ends", endless],
    ["what has no name", nameless],
    ["what is for another", claims({ aud: "https://other.example.com" })],
    ["what is for another as well", claims({ aud: [audience, "https://other.example.com"] })],
    ["what is for nobody", open],
    ["what is for an empty list", claims({ aud: [] })],
    ["what somebody else says", claims({ iss: "https://idp.example.com/" })],
    ["what has times that are none", claims({ iat: "now" as never })],
  ])("%s", async (_name, changed) => {
    expect(await read(await signer.sign(changed, { typ }))).toBeUndefined();
  });

  test("what is of another kind, or of none", async () => {
    expect(await read(await signer.sign(claims(), { typ: "at+jwt" }))).toBeUndefined();
    expect(await read(await signer.sign(claims()))).toBeUndefined();
  });

  test("what is about another", async () => {
    const token = await signer.sign(claims(), { typ });
    expect(await readSigned(token, keys, { ...options, subject: "bob" })).toBeUndefined();
  });

  test("what nobody has signed, or anybody could have", async () => {
    expect(await read(unsigned(claims(), { typ }))).toBeUndefined();
    for (const token of await signer.signWithPublicHalf(claims(), { typ })) expect(await read(token)).toBeUndefined();
  });

  test("what another has signed, with a key of the same name", async () => {
    const other = await createSigner();
    expect(await read(await other.sign(claims(), { typ }))).toBeUndefined();
  });

  test("what was changed afterwards", async () => {
    const [head, , signature] = (await signer.sign(claims(), { typ })).split(".");
    const body = Buffer.from(JSON.stringify(claims({ sub: "eve" }))).toString("base64url");
    expect(await read(`${head}.${body}.${signature}`)).toBeUndefined();
  });

  test("what is signed in a way that is not allowed", async () => {
    const token = await signer.sign(claims(), { typ });
    expect(await readSigned(token, keys, { ...options, algorithms: ["RS256"] })).toBeUndefined();
  });

  test("what is too long to be read", async () => {
    const token = await signer.sign(claims({ filler: "x".repeat(20_000) }), { typ });
    expect(await read(token)).toBeUndefined();
    expect(peekSigned(token)).toBeUndefined();
  });

  test.each(["", "a", "a.b.c", "....", "e30.e30.", "null"])("%o", async (token) => {
    expect(await read(token)).toBeUndefined();
  });
});

test("of keys that have no name each is tried, and not without end", async () => {
  const signers = await Promise.all(Array.from({ length: 9 }, () => createSigner()));
  const all = createLocalJWKSet({ keys: signers.map(({ jwk: { kid: _, ...jwk } }) => jwk) });
  const token = (at: number) => signers[at]?.sign(claims(), { typ, kid: undefined as never }) as Promise<string>;
  expect(await readSigned(await token(7), all, options)).toMatchObject({ sub: "ada" });
  expect(await readSigned(await token(8), all, options)).toBeUndefined();
});

test("trouble with the keys is no word on the token", async () => {
  const token = await signer.sign(claims(), { typ });
  const trouble = new Error("not there");
  await expect(readSigned(token, () => Promise.reject(trouble), options)).rejects.toBe(trouble);
});

test("a look at a token tells whose it would be", async () => {
  expect(peekSigned(await signer.sign(claims(), { typ }))).toEqual({ typ, issuer, subject: "ada" });
  expect(peekSigned(unsigned({ iss: 1 as never }))).toEqual({ typ: undefined, issuer: undefined, subject: undefined });
  expect(peekSigned("nothing")).toBeUndefined();
});
