import { beforeEach, describe, expect, test, vi } from "vitest";
import { createSigner, nowS, unsigned } from "../../../../../test/auth/signer.ts";
import { createMemoryStore } from "../../store/memory.ts";
import { digestOf } from "../../util/digest.ts";
import type { RouteRequest } from "../route.ts";
import type { Client, ClientAuthMethod } from "./client.ts";
import { authenticateClient, type ClientAuthGround } from "./client-auth.ts";
import { AuthFault } from "./fault.ts";

const issuer = "https://auth.example.com";
const tokenEndpoint = `${issuer}/token`;
const secret = "50% + a:b&c=d ü";
/** Another one when it is decoded. */
const plus = "a+b%41c";
const jwksUri = "https://robot.example.com/keys";
const signer = await createSigner();
const published = await createSigner("published", "RS256");

function client(id: string, authMethod: ClientAuthMethod, more: Partial<Client> = {}): Client {
  return { id, name: undefined, redirectUris: [], authMethod, grantTypes: [], origin: "given", ...more };
}

const secretHash = await digestOf(secret);
const all = [
  client("open", "none"),
  client("basic", "client_secret_basic", { secretHash }),
  client("plus", "client_secret_basic", { secretHash: await digestOf(plus) }),
  client("post", "client_secret_post", { secretHash }),
  client("key", "private_key_jwt", { jwks: signer.jwks }),
  client("uri", "private_key_jwt", { jwksUri }),
  client("keyless", "private_key_jwt"),
  client("broken", "private_key_jwt", { jwks: { keys: "none" as never } }),
  client("hashless", "client_secret_basic"),
];

let ground: ClientAuthGround;
const fetch = vi.fn(async (_url: string) => Response.json(published.jwks));

beforeEach(() => {
  fetch.mockClear();
  ground = {
    clients: { find: async (id) => all.find((one) => one.id === id) },
    issuer,
    tokenEndpoint,
    store: createMemoryStore(),
    fetch: (url) => fetch(url),
  };
});

interface Sent {
  readonly authorization?: string;
  readonly form?: { readonly [name: string]: string };
}

function send({ authorization, form = {} }: Sent): Promise<Client> {
  const request: RouteRequest = {
    method: "POST",
    path: "/token",
    query: "",
    header: (name) => (name === "authorization" ? authorization : undefined),
    body: async () => "",
  };
  return authenticateClient(request, new URLSearchParams(form), ground);
}

async function faultOf(sent: Sent): Promise<AuthFault> {
  const fault = await send(sent).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(AuthFault);
  return fault as AuthFault;
}

function basic(id: string, password: string): string {
  return `Basic ${Buffer.from(`${id}:${password}`).toString("base64")}`;
}

function encoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

describe("a client shows who it is", () => {
  test("by its id alone, where nothing else is registered", async () => {
    expect((await send({ form: { client_id: "open" } })).id).toBe("open");
  });

  test("by a secret in the header, written as in forms", async () => {
    expect((await send({ authorization: basic("basic", encoded(secret)) })).id).toBe("basic");
    const header = basic("basic", encodeURIComponent(secret)).replace("Basic", "basic");
    expect((await send({ authorization: header, form: { client_id: "basic" } })).id).toBe("basic");
  });

  test("by a secret in the header as it stands, as many write it", async () => {
    expect((await send({ authorization: basic("basic", secret) })).id).toBe("basic");
    for (const written of [plus, encoded(plus), encodeURIComponent(plus)])
      expect((await send({ authorization: basic("plus", written) })).id).toBe("plus");
    for (const wrong of [encoded(encoded(plus)), "a bAc"])
      expect((await faultOf({ authorization: basic("plus", wrong) })).error).toBe("invalid_client");
  });

  test("by a secret in the form", async () => {
    expect((await send({ form: { client_id: "post", client_secret: secret } })).id).toBe("post");
  });

  test.each(["basic", "post", "key"])("%s: not by its id alone", async (id) => {
    expect(await faultOf({ form: { client_id: id } })).toMatchObject({ error: "invalid_client", status: 401 });
  });

  test("only in the way that is registered for it", async () => {
    const ways: Sent[] = [
      { authorization: basic("post", encoded(secret)) },
      { form: { client_id: "basic", client_secret: secret } },
      { form: { client_id: "open", client_secret: secret } },
      { authorization: basic("open", "") },
      { authorization: basic("key", encoded(secret)) },
    ];
    for (const way of ways) expect(await faultOf(way)).toMatchObject({ error: "invalid_client", status: 401 });
  });

  test("in one way", async () => {
    const authorization = basic("basic", encoded(secret));
    const assertion = await assert("key");
    const ways: Sent[] = [
      { authorization, form: { client_id: "basic", client_secret: secret } },
      { authorization, form: assertion },
      { form: { ...assertion, client_id: "key", client_secret: secret } },
    ];
    for (const way of ways) expect(await faultOf(way)).toMatchObject({ error: "invalid_request", status: 400 });
  });

  test("as one and the same", async () => {
    const fault = await faultOf({ authorization: basic("basic", encoded(secret)), form: { client_id: "open" } });
    expect(fault.error).toBe("invalid_request");
    expect((await faultOf({ form: { ...(await assert("key")), client_id: "open" } })).error).toBe("invalid_request");
  });
});

test("who is not known and who shows something wrong get the same answer, which shows nothing", async () => {
  const faults = [
    await faultOf({ authorization: basic("nobody", encoded(secret)) }),
    await faultOf({ authorization: basic("basic", "wrong") }),
    await faultOf({ authorization: basic("basic", "") }),
    await faultOf({ authorization: basic("hashless", "wrong") }),
    await faultOf({ authorization: basic("x".repeat(3000), secret) }),
  ];
  for (const { message, status, headers, error } of faults)
    expect({ message, status, headers, error }).toEqual({
      message: "The client is not known here, or has not shown who it is",
      status: 401,
      headers: { "www-authenticate": 'Basic realm="token endpoint", charset="UTF-8"' },
      error: "invalid_client",
    });
});

test.each([
  "Bearer abc",
  "Basic",
  "Basic !!!",
  "Basic /////w==",
  basic("", "secret"),
  `Basic ${Buffer.from("no colon").toString("base64")}`,
])("what cannot be read shows nothing: %s", async (authorization) => {
  const fault = await faultOf({ authorization });
  expect(fault).toMatchObject({ error: "invalid_client", status: 401 });
  expect(fault.headers["www-authenticate"]).toMatch(/^Basic /);
});

test("nothing shown is no client, and the answer names no scheme that was not used", async () => {
  for (const sent of [{}, { form: { client_id: "nobody" } }, { form: { client_id: "post", client_secret: "wrong" } }]) {
    const { error, status, headers } = await faultOf(sent);
    expect({ error, status, headers }).toEqual({ error: "invalid_client", status: 401, headers: {} });
  }
});

test("an id that is too long for one is looked for nowhere", async () => {
  const find = vi.fn(async () => undefined);
  ground = { ...ground, clients: { find } };
  await faultOf({ form: { client_id: `https://app.example.com/${"x".repeat(3000)}` } });
  expect(find).not.toHaveBeenCalled();
});

test("trouble with the document of a client is told as it is", async () => {
  const fault = new AuthFault("invalid_client", "no document", 400);
  ground = { ...ground, clients: { find: () => Promise.reject(fault) } };
  expect(await faultOf({ form: { client_id: "https://app.example.com/client" } })).toBe(fault);
});

let count = 0;

function assertion(id: string, changes: { readonly [claim: string]: unknown } = {}) {
  return { iss: id, sub: id, aud: issuer, jti: String(++count), iat: nowS(), exp: nowS() + 60, ...changes };
}

function toForm(jwt: string) {
  return { client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", client_assertion: jwt };
}

async function assert(id: string, changes?: { readonly [claim: string]: unknown }, by = signer) {
  return toForm(await by.sign(assertion(id, changes)));
}

describe("a client with a key", () => {
  test("signs who it is, for the issuer or its token endpoint", async () => {
    for (const aud of [issuer, tokenEndpoint, [tokenEndpoint]])
      expect((await send({ form: await assert("key", { aud }) })).id).toBe("key");
    expect((await send({ form: { ...(await assert("key")), client_id: "key" } })).id).toBe("key");
  });

  test("may publish its keys: they are fetched, and kept", async () => {
    for (let i = 0; i < 2; i++) expect((await send({ form: await assert("uri", {}, published) })).id).toBe("uri");
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test("that anybody can register has nobody asked a lot", async () => {
    const registered = (id: string, origin: Client["origin"]): Client =>
      client(id, "private_key_jwt", { origin, jwksUri: `https://victim.example/${id}` });
    const find = async (id: string) => registered(id, id.startsWith("own") ? "given" : "registered");
    ground = { ...ground, clients: { find } };
    let refused = 0;
    for (let i = 0; i < 150; i++) {
      const form = await assert(`c${i}`, {}, published);
      refused += await send({ form }).then(
        () => 0,
        () => 1,
      );
    }
    expect(fetch.mock.calls.length).toBeGreaterThanOrEqual(60);
    expect(refused).toBeGreaterThan(0);
    expect(fetch.mock.calls.length + refused).toBe(150);
    // Whom the application knows is not kept out by that.
    expect((await send({ form: await assert("own", {}, published) })).id).toBe("own");
  });

  test("that anybody can register does not fill the store", async () => {
    const find = async (id: string) =>
      client(id, "private_key_jwt", { jwks: signer.jwks, origin: id === "own" ? "given" : "document" });
    ground = { ...ground, clients: { find } };
    const all = await Promise.allSettled(
      Array.from({ length: 600 }, async () => send({ form: await assert("stranger") })),
    );
    const refused = all.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused.length).toBeGreaterThan(0);
    expect(all.length - refused.length).toBeGreaterThanOrEqual(500);
    for (const { reason } of refused) expect(reason).toMatchObject({ error: "temporarily_unavailable", status: 503 });
    expect((await send({ form: await assert("own") })).id).toBe("own");
  });

  test("uses each assertion once, whichever process it is shown to", async () => {
    const form = await assert("key");
    const sent = await Promise.allSettled([send({ form }), send({ form }), send({ form })]);
    expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect((await faultOf({ form })).error).toBe("invalid_client");
  });

  test.each<[string, { readonly [claim: string]: unknown }]>([
    ["has ended", { exp: nowS() - 60, iat: nowS() - 120 }],
    ["is from the future", { iat: nowS() + 120 }],
    ["is good for long", { exp: nowS() + 86_400 }],
    ["has no end", { exp: undefined }],
    ["has no name", { jti: undefined }],
    ["has an empty name", { jti: "" }],
    ["is for another server", { aud: "https://other.example.com" }],
    ["is for another server as well", { aud: [issuer, "https://other.example.com"] }],
    ["is for nobody", { aud: undefined }],
    ["is of another issuer", { iss: "uri" }],
    ["is about another client", { sub: "uri" }],
    ["is about nobody", { iss: undefined, sub: undefined }],
  ])("is not believed with one that %s", async (_name, changes) => {
    expect(await faultOf({ form: await assert("key", changes) })).toMatchObject({
      error: "invalid_client",
      status: 401,
    });
  });

  test("is not believed with a key of somebody else", async () => {
    const other = await createSigner();
    for (const form of [await assert("key", {}, other), await assert("uri"), await assert("keyless")])
      expect((await faultOf({ form })).error).toBe("invalid_client");
  });

  test("is not believed without a signature, or with one that everybody can make", async () => {
    const forged = [unsigned(assertion("key")), ...(await signer.signWithPublicHalf(assertion("key")))];
    for (const jwt of forged) expect((await faultOf({ form: toForm(jwt) })).error).toBe("invalid_client");
  });

  test("is not believed with what is no assertion, or too long for one", async () => {
    const long = await assert("key", { filler: "x".repeat(20_000) });
    const saml = {
      ...(await assert("key")),
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
    };
    for (const form of [toForm("nothing"), long, saml]) expect((await faultOf({ form })).error).toBe("invalid_client");
  });

  test("whose keys cannot be had, or are none, is told so", async () => {
    fetch.mockRejectedValueOnce(new Error("secret address"));
    const fault = await faultOf({ form: await assert("uri", {}, published) });
    expect(fault).toMatchObject({ error: "invalid_client", status: 401 });
    expect(fault.message).toBe("The keys of the client cannot be had, or are none");
    expect((await faultOf({ form: await assert("broken") })).error).toBe("invalid_client");
  });
});
