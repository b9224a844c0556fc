import { jwtVerify } from "jose";
import { afterEach, expect, test, vi } from "vitest";
import { createSigner } from "../../../../test/auth/signer.ts";
import { issuerKeys } from "./issuer-keys.ts";

const issuer = "https://idp.example.com";

afterEach(() => {
  vi.useRealTimers();
});

/** Answers by URL; all others with 404. */
function serve(pages: { [url: string]: unknown }) {
  return vi.fn(async (url: string) =>
    Object.hasOwn(pages, url) ? Response.json(pages[url]) : new Response(null, { status: 404 }),
  );
}

test("keys that were given need no fetch", async () => {
  const { sign, jwks } = await createSigner();
  const fetch = serve({});
  const token = await sign({ sub: "ada" });
  const { payload } = await jwtVerify(token, issuerKeys({ issuer, jwks, fetch }));
  expect(payload.sub).toBe("ada");
  expect(fetch).not.toHaveBeenCalled();
});

test("the metadata says where the keys are, and is asked once", async () => {
  const { sign, jwks } = await createSigner();
  const fetch = serve({
    [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: "https://keys.example.com/all" },
    "https://keys.example.com/all": jwks,
  });
  const keys = issuerKeys({ issuer, fetch });
  expect(fetch).not.toHaveBeenCalled();
  for (const sub of ["ada", "bob"]) await jwtVerify(await sign({ sub }), keys);
  expect(fetch.mock.calls.map(([url]) => url)).toEqual([
    `${issuer}/.well-known/oauth-authorization-server`,
    `${issuer}/.well-known/openid-configuration`,
    "https://keys.example.com/all",
  ]);
});

test("the path of an issuer stands where each standard puts it", async () => {
  const { sign } = await createSigner();
  const fetch = serve({});
  const keys = issuerKeys({ issuer: `${issuer}/tenant/`, fetch });
  await expect(jwtVerify(await sign({}), keys)).rejects.toThrow("does not say where its keys are");
  expect(fetch.mock.calls.map(([url]) => url)).toEqual([
    `${issuer}/.well-known/oauth-authorization-server/tenant`,
    `${issuer}/.well-known/openid-configuration/tenant`,
    `${issuer}/tenant/.well-known/openid-configuration`,
  ]);
  fetch.mockClear();
  await expect(jwtVerify(await sign({}), issuerKeys({ issuer, fetch }))).rejects.toThrow("does not say");
  expect(fetch).toHaveBeenCalledTimes(2);
});

test("metadata of another issuer is not believed", async () => {
  const { sign, jwks } = await createSigner();
  const fetch = serve({
    [`${issuer}/.well-known/oauth-authorization-server`]: {
      issuer: "https://evil.example.com",
      jwks_uri: "https://evil.example.com/keys",
    },
    "https://evil.example.com/keys": jwks,
  });
  await expect(jwtVerify(await sign({}), issuerKeys({ issuer, fetch }))).rejects.toThrow("is of another issuer");
  expect(fetch).toHaveBeenCalledTimes(1);
});

test("what could not be had is asked for again, though not with every request", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { sign, jwks } = await createSigner();
  const token = await sign({ sub: "ada" });
  const jwksUri = "https://keys.example.com/all";
  const pages: { [url: string]: unknown } = {};
  const fetch = serve(pages);
  for (const keys of [issuerKeys({ issuer, fetch }), issuerKeys({ issuer, jwksUri, fetch })]) {
    fetch.mockClear();
    for (const url of Object.keys(pages)) delete pages[url];
    await expect(jwtVerify(token, keys)).rejects.not.toHaveProperty("code");
    const asked = fetch.mock.calls.length;
    expect(asked).toBeGreaterThan(0);
    await expect(jwtVerify(token, keys)).rejects.toThrow();
    expect(fetch).toHaveBeenCalledTimes(asked);
    pages[`${issuer}/.well-known/oauth-authorization-server`] = { issuer, jwks_uri: jwksUri };
    pages[jwksUri] = jwks;
    vi.setSystemTime(Date.now() + 1000);
    await expect(jwtVerify(token, keys)).resolves.toMatchObject({ payload: { sub: "ada" } });
  }
});

test("a new key is found, and the old ones are good while none can be had", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const [old, next] = [await createSigner("old"), await createSigner("new")];
  const jwksUri = "https://keys.example.com/all";
  const pages: { [url: string]: unknown } = { [jwksUri]: old.jwks };
  const fetch = serve(pages);
  const keys = issuerKeys({ issuer, jwksUri, fetch });
  await jwtVerify(await old.sign({}), keys);
  vi.setSystemTime(Date.now() + 31_000);
  delete pages[jwksUri];
  await expect(jwtVerify(await next.sign({}), keys)).rejects.toThrow(`The keys of ${issuer} cannot be had`);
  await jwtVerify(await old.sign({}), keys);
  vi.setSystemTime(Date.now() + 2000);
  pages[jwksUri] = { keys: [old.jwk, next.jwk] };
  await jwtVerify(await next.sign({}), keys);
  expect(fetch).toHaveBeenCalledTimes(3);
});
