// Logging out: what was kept for a server is gone, and asked for anew.
import { oauth } from "plenum/auth/client";
import { createMemoryStore } from "plenum/store";
import { describe, expect, test } from "vitest";
import { follow, logIn, openStage } from "./stage.ts";

describe("tokens that are forgotten", () => {
  test.each([true, false])("are not sent again, nor found in the store (dpop: %s)", async (dpop) => {
    const stage = await openStage();
    const store = createMemoryStore();
    const redirect = follow();
    if (dpop) {
      stage.authority.metadata.dpop_signing_alg_values_supported = ["ES256"];
      stage.authority.bendToken = (answer) => ({
        ...answer,
        body: { ...(answer.body as object), token_type: "DPoP" },
      });
    }
    const auth = oauth({ store, redirect, dpop });
    const server = new URL(stage.url);
    const request = { method: "POST", url: server, server };
    const refused = { status: 401, header: () => undefined };
    expect(await auth.refused(request, refused, {})).toBe(true);
    expect(Object.keys(await auth.authorize(request))).toContain("authorization");
    await auth.forget(stage.url);
    expect(await auth.authorize(request)).toEqual({});
    expect(await oauth({ store, dpop }).authorize(request)).toEqual({});
    expect(redirect.visits).toHaveLength(1);
  });

  test("are asked for anew by the next call, of the client that is registered already", async () => {
    const stage = await openStage();
    const redirect = follow();
    const auth = oauth({ redirect });
    const client = await logIn(stage, { auth });
    await auth.forget(new URL(`${stage.url}?tenant=1`));
    expect((await client.callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(2);
    expect(stage.authority.of("register")).toHaveLength(1);
    // Nothing of before was shown to get it.
    expect(stage.authority.of("token").map(({ form }) => form.get("grant_type"))).toEqual([
      "authorization_code",
      "authorization_code",
    ]);
  });

  test("do not come back with a refresh that is under way", async () => {
    const stage = await openStage();
    const auth = oauth({ redirect: follow() });
    const client = await logIn(stage, { auth });
    stage.authority.revoke();
    stage.authority.bendToken = (answer) => ({ ...answer, delayMs: 100 });
    const call = client.callTool("tell").catch(() => {});
    await expect.poll(() => stage.authority.of("token").length, { timeout: 20_000 }).toBe(2);
    await auth.forget(stage.url);
    const forgotten = [...stage.authority.tokens.keys()].map((token) => `Bearer ${token}`);
    const server = new URL(stage.url);
    const { authorization } = await auth.authorize({ method: "POST", url: server, server });
    expect(forgotten).toHaveLength(2);
    expect(forgotten).not.toContain(authorization);
    await call;
  });

  test("of a server that none are of are no error; what is no address is", async () => {
    const auth = oauth();
    await auth.forget("https://mcp.example.com/mcp");
    await expect(auth.forget("mcp")).rejects.toThrow(TypeError);
  });
});

test("scopes that are wanted by now count when the server wants more, and not before", async () => {
  const stage = await openStage();
  const store = createMemoryStore();
  stage.scopes = ["a"];
  await logIn(stage, { store, redirect: follow() });
  const redirect = follow();
  const client = await logIn(stage, { store, redirect, scopes: ["a", "b"] });
  expect((await client.callTool("tell")).text).toBe("told");
  expect(redirect.visits).toEqual([]);
  stage.scopes = ["a", "c"];
  expect((await client.callTool("tell")).text).toBe("told");
  expect(redirect.visits[0]?.searchParams.get("scope")?.split(" ").sort()).toEqual(["a", "b", "c"]);
});
