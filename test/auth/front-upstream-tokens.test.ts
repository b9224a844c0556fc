// The tokens of a third-party authorization server behind ours: they stay here, and ours are good for as long as they are.
import { createServer } from "plenum";
import { requireAuth } from "plenum/auth/resource-server";
import { serveHttp } from "plenum/http/node";
import { createMemoryStore, type Store } from "plenum/store";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { answerIn, closeAfter, resource, type Stage, verifier } from "./front-stage.ts";
import { cross, openProxy, tokensOf } from "./proxy-stage.ts";
import { clientSecret } from "./third-party.ts";

describe("a token of ours is good while the third party's is", () => {
  test("when it is revoked there, the next request of the client is refused", async () => {
    covers(["auth-third-party-status"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const { access_token: token } = await tokensOf(proxy);
    const auth = requireAuth({ verify: stage.server.verifier, resource });
    const serving = await serveHttp(createServer({ name: "notes", version: "1" }), { auth });
    closeAfter(() => serving.close(0));
    const request = async (): Promise<number> => {
      const headers = {
        ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...{ accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26" },
      };
      const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "c", version: "1" } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      return (await fetch(serving.url, { method: "POST", headers, body })).status;
    };
    expect(await request()).toBe(200);
    party.alive.clear();
    expect(await request()).toBe(401);
  });

  test("when it is revoked there, ours is over at once", async () => {
    covers(["auth-third-party-status"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const { access_token: token, refresh_token: refresh } = await tokensOf(proxy);
    expect(await stage.server.verifier.verify(token)).toBeDefined();
    party.alive.clear();
    expect(await stage.server.verifier.verify(token)).toBeUndefined();
    expect((await renew(stage, refresh)).status).toBe(400);
  });

  test("when it ends it is renewed, once for all who ask, and nobody notices", async () => {
    covers(["auth-third-party-renewal"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    party.ways = { expiresInS: 1 };
    const { access_token: token } = await tokensOf(proxy);
    party.ways = {};
    const before = party.asked.length;
    const all = await Promise.all([1, 2, 3, 4].map(() => stage.server.verifier.verify(token)));
    expect(all.every((one) => one?.subject === "carol")).toBe(true);
    expect(party.asked.slice(before).filter((path) => path === "/token")).toHaveLength(1);
    expect(await stage.server.verifier.verify(token)).toBeDefined();
  });

  test("when it ends and is not renewed, ours is over", async () => {
    covers(["auth-third-party-renewal"]);
    const proxy = await openProxy();
    proxy.party.ways = { expiresInS: 1 };
    const { access_token: token } = await tokensOf(proxy);
    proxy.party.alive.clear();
    expect(await proxy.stage.server.verifier.verify(token)).toBeUndefined();
    // Without a refresh token there is no way to renew it.
    const other = await openProxy();
    other.party.ways = { expiresInS: 1, noRefresh: true };
    const { code = "" } = answerIn(await cross(other, other.stage.browse()));
    expect((await other.stage.redeem(code, "web")).status).toBe(400);
  });

  test("when the third party cannot be asked nobody is let in, and nothing is lost", async () => {
    covers(["auth-third-party-status"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const { access_token: token } = await tokensOf(proxy);
    party.ways = { isDown: true };
    await expect(stage.server.verifier.verify(token)).rejects.toThrow();
    party.ways = {};
    expect(await stage.server.verifier.verify(token)).toBeDefined();
  });

  test("when ours is revoked the third party is told, and nothing is kept", async () => {
    covers(["auth-third-party-lifecycle"]);
    const inner = createMemoryStore();
    const kept = new Set<string>();
    const store: Store = {
      get: inner.get,
      put(key, value, options) {
        if (key.includes("upstream-tokens")) kept.add(key);
        return inner.put(key, value, options);
      },
      delete(key) {
        kept.delete(key);
        return inner.delete(key);
      },
    };
    const proxy = await openProxy({}, { store });
    const { stage, party } = proxy;
    const { access_token: token, refresh_token: refresh } = await tokensOf(proxy);
    const { claims } = (await stage.server.verifier.verify(token)) ?? {};
    const family = String(claims?.family);
    expect(await stage.server.upstreamToken(family)).toBe(party.given[0]);
    expect(kept.size).toBe(1);
    const body = new URLSearchParams({ token: refresh, client_id: "web" });
    expect((await fetch(`${stage.origin}/revoke`, { method: "POST", body })).status).toBe(200);
    expect(await stage.server.verifier.verify(token)).toBeUndefined();
    expect(await stage.server.upstreamToken(family)).toBeUndefined();
    expect(kept.size).toBe(0);
    expect(party.asked).toContain("/revoke");
  });

  test("without introspection the application can say how it stands", async () => {
    covers(["auth-third-party-status"]);
    let isGood = true;
    const seen: string[] = [];
    const proxy = await openProxy({
      isAlive(token) {
        seen.push(token);
        return isGood;
      },
    });
    const { access_token: token } = await tokensOf(proxy);
    expect(await proxy.stage.server.verifier.verify(token)).toBeDefined();
    isGood = false;
    expect(await proxy.stage.server.verifier.verify(token)).toBeUndefined();
    expect(seen.every((one) => proxy.party.given.includes(one))).toBe(true);
  });
});

test("each token of ours stands on one of the third party's, which is nowhere to be seen", async () => {
  covers(["auth-third-party-mapping", "auth-third-party-credentials"]);
  const inner = createMemoryStore();
  const written: string[] = [];
  const store: Store = {
    ...inner,
    put(key, value, options) {
      written.push(`${key} ${value}`);
      return inner.put(key, value, options);
    },
  };
  const proxy = await openProxy({}, { store });
  const { stage, party } = proxy;
  const [first, second] = [await tokensOf(proxy), await tokensOf(proxy)];
  const upstreamOf = async (token: string): Promise<string | undefined> => {
    const verified = await stage.server.verifier.verify(token);
    return stage.server.upstreamToken(String(verified?.claims?.family));
  };
  expect(await upstreamOf(first.access_token)).toBe(party.given[0]);
  expect(await upstreamOf(second.access_token)).toBe(party.given[2]);
  const [, payload = ""] = first.access_token.split(".");
  const seen = [...written, JSON.stringify(first), Buffer.from(payload, "base64url").toString()].join("\n");
  for (const secret of [...party.given, clientSecret, verifier]) expect(seen).not.toContain(secret);
});

async function renew(stage: Stage, refresh: string): Promise<Response> {
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refresh, client_id: "web" });
  return fetch(`${stage.origin}/token`, { method: "POST", body });
}
