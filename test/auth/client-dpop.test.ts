// Tokens that are bound to a key: a proof of it goes with each request, and nothing less is taken. RFC 9449.
import { createHash } from "node:crypto";
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, type JWTPayload, jwtVerify } from "jose";
import { type Authorizer, createAuthorizedFetch, oauth } from "plenum/auth/client";
import { createMemoryStore } from "plenum/store";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer, Place, Seen } from "./place.ts";
import { follow, openStage, refusalOf, type Stage } from "./stage.ts";

interface Proof extends JWTPayload {
  readonly htm: string;
  readonly htu: string;
  readonly ath?: string;
  readonly nonce?: string;
  readonly key: string;
}

async function readProof({ headers }: Seen): Promise<Proof> {
  const text = String(headers.dpop);
  const { payload } = await jwtVerify(text, EmbeddedJWK, { typ: "dpop+jwt", algorithms: ["ES256"] });
  const { jwk } = decodeProtectedHeader(text);
  expect(jwk).not.toHaveProperty("d");
  return { ...(payload as unknown as Proof), key: await calculateJwkThumbprint(jwk ?? {}) };
}

interface Bound {
  readonly stage: Stage;
  readonly url: string;
  readonly pages: Place["pages"];
  readonly proofs: Proof[];
  asked(): Seen[];
}

/** A server that wants to see proofs, and the authorization server that binds its tokens. */
async function openBound(wantsNonce = false): Promise<Bound> {
  const stage = await openStage();
  stage.authority.metadata.dpop_signing_alg_values_supported = ["RS256", "ES256"];
  const place = await stage.open("bound");
  const proofs: Proof[] = [];
  const url = `${place.origin}/api`;
  let nonce = 0;
  const refuse = (error: string): Answer => ({
    status: 401,
    headers: {
      "www-authenticate": `DPoP error="${error}", resource_metadata="${place.origin}/meta"`,
      ...(error === "use_dpop_nonce" && { "dpop-nonce": `n${++nonce}` }),
    },
  });
  place.pages.set("/api", async (seen) => {
    const token = /^DPoP (\S+)$/.exec(seen.headers.authorization ?? "")?.[1] ?? "";
    const issued = stage.authority.tokens.get(token);
    if (!issued || issued.isRevoked) return refuse("invalid_token");
    const proof = await readProof(seen);
    proofs.push(proof);
    expect(proof.ath).toBe(createHash("sha256").update(token).digest("base64url"));
    if (wantsNonce && proof.nonce !== `n${nonce}`) return refuse("use_dpop_nonce");
    return { body: "told" };
  });
  place.pages.set("/meta", { body: { resource: url, authorization_servers: [stage.authority.issuer] } });
  stage.authority.bendToken = async (answer, seen) => {
    if (!seen.headers.dpop) return answer;
    await readProof(seen);
    return { ...answer, body: { ...(answer.body as object), token_type: "DPoP" } };
  };
  return { stage, url, pages: place.pages, proofs, asked: () => stage.log.filter(({ path }) => path === "/api") };
}

async function get(auth: Authorizer, url: string): Promise<string> {
  const response = await createAuthorizedFetch(auth, url)(url);
  return response.ok ? response.text() : `HTTP ${response.status}`;
}

test("each request has a proof of its own, for it alone", async () => {
  const { url, proofs } = await openBound();
  const auth = oauth({ dpop: true, redirect: follow() });
  for (let i = 0; i < 3; i++) expect(await get(auth, `${url}?secret=1`)).toBe("told");
  expect(new Set(proofs.map(({ jti }) => jti)).size).toBe(3);
  for (const { htm, htu } of proofs) expect([htm, htu]).toEqual(["GET", url]);
});

test("the key outlives the process, and is one for all who begin at once", async () => {
  const { url, proofs } = await openBound();
  const store = createMemoryStore();
  const redirect = follow();
  const all = [1, 2, 3].map(() => oauth({ dpop: true, redirect, store }));
  expect(await Promise.all(all.map((auth) => get(auth, url)))).toEqual(["told", "told", "told"]);
  expect(await get(oauth({ dpop: true, redirect, store }), url)).toBe("told");
  expect(new Set(proofs.map(({ key }) => key)).size).toBe(1);
});

test("keys of two authorization servers are two", async () => {
  covers("auth-registration-separate-state");
  const [one, two] = [await openBound(), await openBound()];
  const auth = oauth({ dpop: true, redirect: follow() });
  await get(auth, one.url);
  await get(auth, two.url);
  expect(one.proofs[0]?.key).not.toBe(two.proofs[0]?.key);
  // Also where one takes the other's place.
  one.pages.set("/meta", { body: { resource: one.url, authorization_servers: [two.stage.authority.issuer] } });
  one.stage.authority.revoke();
  await refusalOf(get(auth, one.url));
  const [shown, ...others] = await Promise.all(two.stage.authority.of("token").map(readProof));
  expect(others.length).toBeGreaterThan(0);
  for (const { key } of others) expect(key).toBe(shown?.key);
});

describe("a nonce", () => {
  test("that the server wants is in the next proof", async () => {
    const { url, proofs } = await openBound(true);
    const auth = oauth({ dpop: true, redirect: follow() });
    for (let i = 0; i < 3; i++) expect(await get(auth, url)).toBe("told");
    expect(proofs.map(({ nonce }) => nonce)).toEqual([undefined, "n1", "n1", "n1"]);
  });

  test("that is another each time is not run after for ever", async () => {
    const { url, asked, pages } = await openBound();
    const auth = oauth({ dpop: true, redirect: follow() });
    await get(auth, url);
    let count = 0;
    const before = asked().length;
    pages.set("/api", () => ({
      status: 401,
      headers: { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": `x${++count}` },
    }));
    expect(await get(auth, url)).toBe("HTTP 401");
    expect(asked().length - before).toBeLessThanOrEqual(4);
  });
});

describe("a token that is not bound", () => {
  test("is refused where it should be", async () => {
    const { stage, url, asked } = await openBound();
    stage.authority.bendToken = (answer) => answer;
    const auth = oauth({ dpop: true, redirect: follow() });
    expect(await refusalOf(get(auth, url))).toMatchObject({ code: "token_failed" });
    expect(asked().every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  test("is not used where it was saved by who wanted none, and is still there for him", async () => {
    const { stage, url, asked, pages } = await openBound();
    const guarded = pages.get("/api") as (seen: Seen) => Answer;
    // A server that takes either.
    pages.set("/api", (seen) => (seen.headers.authorization?.startsWith("Bearer ") ? { body: "told" } : guarded(seen)));
    const store = createMemoryStore();
    expect(await get(oauth({ redirect: follow(), store }), url)).toBe("told");
    const begun = asked().length;
    const redirect = follow();
    expect(await get(oauth({ dpop: true, redirect, store }), url)).toBe("told");
    expect(redirect.visits).toHaveLength(1);
    const sent = asked().slice(begun);
    expect(sent.map(({ headers }) => headers.authorization?.split(" ")[0])).toEqual([undefined, "DPoP"]);
    // Both are found again, each by who wants it.
    for (const dpop of [true, false]) expect(await get(oauth({ dpop, store }), url)).toBe("told");
    expect(stage.authority.of("authorize")).toHaveLength(2);
  });

  test.each([[undefined], [[]], [["RS256"]]])(
    "is not asked for: nobody is sent to a server that lists %j",
    async (algs) => {
      const { stage, url } = await openBound();
      stage.authority.metadata.dpop_signing_alg_values_supported = algs;
      const redirect = follow();
      expect(await refusalOf(get(oauth({ dpop: true, redirect }), url))).toMatchObject({ code: "dpop_unsupported" });
      expect(redirect.visits).toEqual([]);
      expect(stage.authority.of("register")).toEqual([]);
    },
  );

  test("or is, to a key that is not used any more, is asked for anew", async () => {
    const { stage, url } = await openBound();
    const store = createMemoryStore();
    await get(oauth({ dpop: true, redirect: follow(), store }), url);
    const redirect = follow();
    const plain = oauth({ redirect, store });
    expect(await refusalOf(get(plain, url).then(() => get(plain, url)))).toMatchObject({ code: "unauthorized" });
    expect(redirect.visits).toHaveLength(1);
    expect(stage.log.some(({ headers }) => headers.authorization?.startsWith("Bearer"))).toBe(true);
  });
});
