import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { covers } from "../../../../../test/requirements/covers.ts";
import type { Fetch } from "../guarded-fetch.ts";
import { checkDocumentId, createClientDocuments } from "./client-document.ts";

const id = "https://app.example.com/client.json";
const document = {
  client_id: id,
  client_name: "App",
  redirect_uris: ["https://app.example.com/callback", "http://127.0.0.1/cb"],
};
const refused = expect.objectContaining({ name: "AuthFault", error: "invalid_client" });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function answer(body: unknown, headers: { readonly [name: string]: string } = {}, status = 200) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return vi.fn<Fetch>(
    async () => new Response(text, { status, headers: { "content-type": "application/json", ...headers } }),
  );
}

const open = (fetch: Fetch, more = {}) =>
  createClientDocuments({ isLocal: false, fetch, blockPrivateAddresses: true, lookup: undefined, ...more });

test("what is at the id says who the client is", async () => {
  covers(["auth-registration-cimd-as-fetch"]);
  const fetch = answer(document);
  expect(await open(fetch).read(id)).toMatchObject({
    id,
    name: "App",
    redirectUris: document.redirect_uris,
    authMethod: "none",
    grantTypes: ["authorization_code", "refresh_token"],
    origin: "document",
  });
  expect(fetch).toHaveBeenCalledExactlyOnceWith(id, expect.objectContaining({ redirect: "manual" }));
});

test.each([
  "https://app.example.com",
  "https://app.example.com/",
  "http://app.example.com/client.json",
  "https://app.example.com/client.json#a",
  "https://app.example.com/client.json#",
  "https://user@app.example.com/client.json",
  "https://user:secret@app.example.com/client.json",
  "https://app.example.com/a/../client.json",
  "https://app.example.com/./client.json",
  "https://app.example.com/%2e%2e/client.json",
  "https://APP.example.com/client.json",
  "https://app.example.com:443/client.json",
  "https://app.example.com\\client.json",
  "HTTPS://app.example.com/client.json",
  `https://app.example.com/${"a".repeat(2000)}`,
  "http://127.0.0.1:3000/client.json",
])("%s is nobody's id, and is not asked", async (one) => {
  const fetch = answer(document);
  await expect(open(fetch).read(one)).rejects.toEqual(refused);
  expect(fetch).not.toHaveBeenCalled();
});

test("on this machine, for a server on this machine, http will do", () => {
  expect(checkDocumentId("http://127.0.0.1:3000/client.json", true)).toBeUndefined();
  expect(checkDocumentId("http://app.example.com/client.json", true)).toBeDefined();
});

describe("a document is not taken", () => {
  test.each([
    ["of another client", { ...document, client_id: "https://app.example.com/other.json" }],
    ["of a client that is spelt otherwise", { ...document, client_id: "https://APP.example.com/client.json" }],
    ["without an id", { ...document, client_id: undefined }],
  ])("%s", async (_, body) => {
    covers(["auth-registration-cimd-as-client-id"]);
    await expect(open(answer(body)).read(id)).rejects.toEqual(refused);
  });

  test.each([
    ["that is no JSON", "{"],
    ["that is a list", "[]"],
    ["that is null", "null"],
    ["without a name", { ...document, client_name: undefined }],
    ["with an empty name", { ...document, client_name: " " }],
    ["with a name that leaves nothing on a page", { ...document, client_name: "\u3164 \u2800" }],
    ["with a name that is not to be seen", { ...document, client_name: "Good\u202eevil" }],
    ["without redirect URIs", { ...document, redirect_uris: undefined }],
    ["with no redirect URI", { ...document, redirect_uris: [] }],
    ["with one that is a text", { ...document, redirect_uris: "https://app.example.com/callback" }],
    ["with one that is not safe", { ...document, redirect_uris: ["http://app.example.com/callback"] }],
    ["with a script", { ...document, redirect_uris: ["javascript:alert(1)"] }],
    ["with a secret", { ...document, client_secret: "hidden" }],
    ["with the end of a secret", { ...document, client_secret_expires_at: 0 }],
    ["that wants a secret to be shown", { ...document, token_endpoint_auth_method: "client_secret_post" }],
    ["that wants a secret to sign", { ...document, token_endpoint_auth_method: "client_secret_jwt" }],
    ["that signs without keys", { ...document, token_endpoint_auth_method: "private_key_jwt" }],
    [
      "with a private key",
      { ...document, token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "EC", d: "x" }] } },
    ],
    ["that wants no user", { ...document, grant_types: ["client_credentials"] }],
    ["with a script as its page", { ...document, client_uri: "javascript:alert(1)" }],
  ])("%s", async (_, body) => {
    covers(["auth-registration-cimd-as-structure"]);
    await expect(open(answer(body)).read(id)).rejects.toEqual(refused);
  });

  test("that is a page, that is not there, or that is elsewhere", async () => {
    await expect(open(answer(document, { "content-type": "text/html" })).read(id)).rejects.toEqual(refused);
    await expect(open(answer(document, {}, 404)).read(id)).rejects.toEqual(refused);
    const elsewhere = answer("", { location: "/other.json" }, 302);
    await expect(open(elsewhere).read(id)).rejects.toEqual(refused);
    expect(elsewhere).toHaveBeenCalledOnce();
  });

  test("that is longer than 10 KiB, or never comes", async () => {
    await expect(open(answer({ ...document, more: "a".repeat(10_240) })).read(id)).rejects.toEqual(refused);
    await expect(
      open(vi.fn(async () => Promise.reject(new TypeError("secret of the network")))).read(id),
    ).rejects.toEqual(refused);
  });
});

describe("a server of the internet asks nobody at home", () => {
  const lookup = async (host: string) => (host === "inside.example.com" ? ["10.1.2.3"] : ["8.8.8.8"]);

  test.each([
    "https://127.0.0.1/client.json",
    "https://localhost/client.json",
    "https://10.0.0.1/client.json",
    "https://192.168.1.1:8443/admin",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/client.json",
    "https://[fd00::1]/client.json",
    "https://[::ffff:a00:1]/client.json",
    "https://inside.example.com/client.json",
  ])("%s", async (one) => {
    covers(["security-cimd-ssrf"]);
    const fetch = answer({ ...document, client_id: one });
    await expect(open(fetch, { lookup }).read(one)).rejects.toEqual(refused);
    expect(fetch).not.toHaveBeenCalled();
  });

  test("and one on this machine nobody but this machine", async () => {
    covers(["security-cimd-ssrf"]);
    const local = { isLocal: true, blockPrivateAddresses: false, lookup };
    for (const one of ["https://10.0.0.1/client.json", "https://inside.example.com/client.json"]) {
      const fetch = answer({ ...document, client_id: one });
      await expect(open(fetch, local).read(one)).rejects.toEqual(refused);
      expect(fetch).not.toHaveBeenCalled();
    }
    for (const one of ["http://127.0.0.1:3000/client.json", "https://localhost:3000/client.json"])
      expect(await open(answer({ ...document, client_id: one }), local).read(one)).toMatchObject({ id: one });
  });
});

describe("a document is kept", () => {
  const readAt = async (headers: { readonly [name: string]: string }, seconds: readonly number[]): Promise<number> => {
    const fetch = answer(document, headers);
    const documents = open(fetch);
    let now = 0;
    for (const second of seconds) {
      vi.setSystemTime(Date.now() + (second - now) * 1000);
      now = second;
      await documents.read(id);
    }
    return fetch.mock.calls.length;
  };

  test("as long as its server says, and no longer than an hour", async () => {
    covers(["auth-registration-cimd-as-cache"]);
    expect(await readAt({ "cache-control": "max-age=60" }, [0, 59])).toBe(1);
    expect(await readAt({ "cache-control": "public, max-age=60" }, [0, 61])).toBe(2);
    expect(await readAt({ "cache-control": "max-age=99999" }, [0, 3599])).toBe(1);
    expect(await readAt({ "cache-control": "max-age=99999" }, [0, 3601])).toBe(2);
    expect(await readAt({ "cache-control": "no-store" }, [0, 0])).toBe(2);
    expect(await readAt({ "cache-control": "no-cache, max-age=60" }, [0, 0])).toBe(2);
    expect(await readAt({ "cache-control": "max-age=0" }, [0, 0])).toBe(2);
    expect(await readAt({}, [0, 299])).toBe(1);
    expect(await readAt({}, [0, 301])).toBe(2);
  });

  test("only if it is good", async () => {
    const fetch = answer({ ...document, client_name: undefined }, { "cache-control": "max-age=60" });
    const documents = open(fetch);
    for (let i = 0; i < 2; i++) await expect(documents.read(id)).rejects.toEqual(refused);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test("who ask for it at once are one", async () => {
    const fetch = answer(document, { "cache-control": "no-store" });
    const documents = open(fetch);
    await Promise.all([documents.read(id), documents.read(id), documents.read(id)]);
    expect(fetch).toHaveBeenCalledOnce();
  });
});

test("whoever names ever new ids does not make this server ask without end", async () => {
  const fetch = answer("", {}, 404);
  const documents = open(fetch);
  const all = Array.from({ length: 200 }, (_, i) => documents.read(`https://victim.example.com/${i}`));
  const ended = await Promise.allSettled(all);
  expect(fetch.mock.calls.length).toBeLessThan(80);
  expect(ended.map((one) => one.status === "rejected" && one.reason.error)).toContain("temporarily_unavailable");
});
