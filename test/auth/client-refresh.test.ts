// Tokens that end: one refresh for all who need it, whatever comes in between, and nothing is lost by it.
import { type Authorizer, clientCredentials, oauth } from "plenum/auth/client";
import { createMemoryStore, type Store } from "plenum/store";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer, Seen } from "./place.ts";
import { authRevisions, follow, logIn, openStage, refusalOf, type Stage, textOf } from "./stage.ts";

const isRefresh = ({ form }: Seen): boolean => form.get("grant_type") === "refresh_token";
const refreshes = (stage: Stage): Seen[] => stage.authority.of("token").filter(isRefresh);

/** What is said to a refresh; any other request is answered as usual. */
const bendRefresh =
  (bend: (answer: Answer) => Answer | Promise<Answer>) =>
  (answer: Answer, seen: Seen): Answer | Promise<Answer> =>
    isRefresh(seen) ? bend(answer) : answer;

describe.each(authRevisions)("in %s", (revision) => {
  test.each([true, false])(
    "four calls with a token that has ended make one refresh (rotation: %s)",
    async (isRotating) => {
      covers(["auth-flow-local-public-client", "auth-flow-resource-both-requests"], revision);
      const stage = await openStage();
      const { authority } = stage;
      authority.isRotating = isRotating;
      const redirect = follow();
      const client = await logIn(stage, { revision, redirect });
      for (let round = 1; round <= 3; round++) {
        authority.revoke();
        authority.bendToken = bendRefresh((answer) => ({ ...answer, delayMs: 50 }));
        const results = await Promise.all([1, 2, 3, 4].map(() => client.callTool("tell")));
        expect(results.map(({ text }) => text)).toEqual(["told", "told", "told", "told"]);
        expect(refreshes(stage)).toHaveLength(round);
        expect(stage.runs).toBe(4 * round);
      }
      expect(redirect.visits).toHaveLength(1);
      expect(authority.reused).toEqual([]);
      const sent = refreshes(stage).map(({ form }) => form.get("refresh_token"));
      expect(new Set(sent).size).toBe(isRotating ? 3 : 1);
    },
  );
});

test("a token that is about to end is renewed before it is sent, once for all", async () => {
  covers("auth-flow-local-public-client");
  const stage = await openStage();
  stage.authority.expiresIn = 1;
  const client = await logIn(stage, { revision: "2026-07-28" });
  await client.listTools().all();
  const before = refreshes(stage).length;
  stage.authority.expiresIn = 3600;
  stage.authority.bendToken = bendRefresh((answer) => ({ ...answer, delayMs: 50 }));
  const sent = stage.calls().length;
  await Promise.all([1, 2, 3, 4].map(() => client.callTool("tell")));
  expect(refreshes(stage)).toHaveLength(before + 1);
  // Not one was sent with the old one.
  expect(stage.calls()).toHaveLength(sent + 4);
  expect(stage.authority.reused).toEqual([]);
});

test("the next start goes on where this one ended, without a visit", async () => {
  const stage = await openStage();
  const store = createMemoryStore();
  await logIn(stage, { store });
  const redirect = follow();
  await (await logIn(stage, { store, redirect })).callTool("tell");
  stage.authority.revoke();
  await (await logIn(stage, { store, redirect })).callTool("tell");
  expect(redirect.visits).toEqual([]);
  expect(refreshes(stage)).toHaveLength(1);
});

test("also where only the challenge says where the metadata is", async () => {
  covers("auth-discovery-client-both-mechanisms");
  const stage = await openStage();
  const { place } = stage;
  const page = place.pages.get("/.well-known/oauth-protected-resource/mcp");
  place.pages.delete("/.well-known/oauth-protected-resource/mcp");
  if (page) place.pages.set("/hidden", page);
  stage.challenge = (usual) => ({ ...usual, header: `Bearer resource_metadata="${place.origin}/hidden"` });
  const store = createMemoryStore();
  stage.authority.expiresIn = 1;
  await logIn(stage, { store });
  const before = refreshes(stage).length;
  const redirect = follow();
  const client = await logIn(stage, { store, redirect });
  expect((await client.callTool("tell")).text).toBe("told");
  expect(refreshes(stage).length).toBeGreaterThan(before);
  expect(redirect.visits).toEqual([]);
});

describe("a refresh that fails", () => {
  test.each([
    ["500", { status: 500, body: "broken" }],
    ["503 in JSON", { status: 503, body: { error: "temporarily_unavailable" } }],
    ["429", { status: 429, body: { error: "slow_down" } }],
    ["garbage", { body: "<html>" }],
    ["an empty object", { body: {} }],
    ["a cut", { isCut: true }],
    ["another place", { status: 307, headers: { location: "https://other.example/token" } }],
  ])("with %s keeps the tokens, and asks nobody", async (_, answer) => {
    const stage = await openStage();
    // Used up only where it is answered.
    stage.authority.isRotating = false;
    const redirect = follow();
    const store = createMemoryStore();
    const client = await logIn(stage, { redirect, store });
    stage.authority.revoke();
    stage.authority.bendToken = bendRefresh(() => answer);
    const error = await refusalOf(client.callTool("tell"));
    expect(["token_failed", "unsafe_url"]).toContain(error.code);
    stage.authority.bendToken = (usual) => usual;
    expect((await client.callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(1);
    expect(stage.runs).toBe(1);
  });

  test("before the end of a token lets the token go on", async () => {
    const stage = await openStage();
    stage.authority.expiresIn = 5;
    stage.authority.isRotating = false;
    const client = await logIn(stage, { revision: "2026-07-28" });
    stage.authority.bendToken = bendRefresh(() => ({ status: 500 }));
    const before = refreshes(stage).length;
    for (let i = 0; i < 5; i++) expect((await client.callTool("tell")).text).toBe("told");
    // It is not tried again and again: what the server says of the token is what counts.
    expect(refreshes(stage).length).toBeLessThanOrEqual(before + 1);
  });

  test("for good asks the user, and the dead token is not sent again", async () => {
    covers("auth-flow-refresh-not-assumed");
    const stage = await openStage();
    const redirect = follow();
    const client = await logIn(stage, { redirect });
    stage.authority.revoke();
    stage.authority.isGranting = false;
    stage.authority.bendToken = bendRefresh(() => ({ status: 400, body: { error: "invalid_grant" } }));
    for (let i = 0; i < 2; i++) expect(await refusalOf(client.callTool("tell"))).toMatchObject({ code: "denied" });
    expect(refreshes(stage)).toHaveLength(1);
    stage.authority.isGranting = true;
    expect((await client.callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(4);
  });

  test("shows nothing of what was sent, even where the server does", async () => {
    covers(["security-token-storage-client", "auth-flow-refresh-confidential"]);
    const stage = await openStage();
    const client = await logIn(stage, { client: { id: "mine", secret: "hunter2hunter2" } });
    stage.authority.revoke();
    stage.authority.bendToken = (_, seen) => ({
      status: 400,
      body: { error: "invalid_request", error_description: `you sent ${seen.body} ${seen.headers.authorization}` },
    });
    const error = await client.callTool("tell").catch((thrown: unknown) => thrown);
    expect(textOf(error)).toContain("invalid_request");
    for (const secret of [...stage.authority.secrets, "hunter2"]) expect(textOf(error)).not.toContain(secret);
  });

  test("does not wipe what another has just saved", async () => {
    const stage = await openStage();
    const store = createMemoryStore();
    const redirect = follow();
    const [one, two] = [oauth({ store, redirect }), oauth({ store, redirect })];
    const first = await logIn(stage, { auth: one });
    const second = await logIn(stage, { auth: two });
    stage.authority.revoke();
    const key = `oauth:${JSON.stringify(["tokens", stage.authority.issuer, stage.url])}`;
    let isFirst = true;
    stage.authority.bendToken = bendRefresh(async (answer) => {
      if (!isFirst) return answer;
      isFirst = false;
      // While this one waits, another process logs in again; and then this one is told that its token is dead.
      const { access_token: accessToken } = answer.body as { access_token: string };
      const kept = JSON.parse((await store.get(key)) ?? "{}");
      await store.put(key, JSON.stringify({ ...kept, accessToken, refreshToken: "kept by another" }));
      return { status: 400, body: { error: "invalid_grant" } };
    });
    expect((await first.callTool("tell")).text).toBe("told");
    expect((await second.callTool("tell")).text).toBe("told");
    expect(JSON.parse((await store.get(key)) ?? "{}").refreshToken).toBe("kept by another");
    expect(redirect.visits).toHaveLength(1);
    expect(refreshes(stage)).toHaveLength(1);
  });
});

describe("without a refresh token", () => {
  test("the end of a token leads back to the user", async () => {
    covers("auth-flow-refresh-not-assumed");
    const stage = await openStage();
    stage.authority.hasRefresh = false;
    stage.authority.expiresIn = 1;
    const redirect = follow();
    const client = await logIn(stage, { redirect });
    stage.authority.revoke();
    expect((await client.callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(2);
    expect(refreshes(stage)).toEqual([]);
  });

  test("a program gets a new one by itself, once for all", async () => {
    covers(["ext-auth-cc-token-renewal", "ext-auth-cc-no-dcr", "ext-auth-cc-discovery"]);
    const stage = await openStage();
    stage.authority.hasRefresh = false;
    const auth = oauth({ client: { id: "program", secret: "program-secret" }, grant: clientCredentials() });
    const client = await logIn(stage, { auth });
    expect(stage.order.slice(0, 4)).toEqual([
      "server POST /mcp",
      "server GET /.well-known/oauth-protected-resource/mcp",
      "authority GET /.well-known/oauth-authorization-server",
      "authority POST /token",
    ]);
    stage.authority.revoke();
    await Promise.all([1, 2, 3, 4].map(() => client.callTool("tell")));
    expect(stage.authority.of("token")).toHaveLength(2);
    expect(stage.authority.of("register")).toEqual([]);
  });
});

describe("two processes with one store", () => {
  async function openBoth(): Promise<{ stage: Stage; both: Authorizer[]; visits: URL[] }> {
    const stage = await openStage();
    const store = createMemoryStore();
    const redirect = follow();
    const both = [oauth({ store, redirect }), oauth({ store, redirect })];
    return { stage, both, visits: redirect.visits };
  }

  test("never send one refresh token twice", async () => {
    const { stage, both, visits } = await openBoth();
    const clients = [];
    for (const auth of both) clients.push(await logIn(stage, { auth }));
    for (let round = 0; round < 20; round++) {
      stage.authority.revoke();
      const calls = clients.flatMap((client) => [client.callTool("tell"), client.callTool("tell")]);
      for (const { text } of await Promise.all(calls)) expect(text).toBe("told");
    }
    expect(stage.authority.reused).toEqual([]);
    expect(refreshes(stage)).toHaveLength(20);
    expect(visits).toHaveLength(1);
  });

  test("one takes what the other has got since, though its own was made a moment ago", async () => {
    const stage = await openStage();
    const inner = createMemoryStore();
    let newer = "";
    const store: Store = {
      ...inner,
      async put(key, value, options) {
        const isPut = await inner.put(key, value, options);
        // The other refreshes as soon as this one has, which ends the token that this one was given.
        if (isPut && value.includes('"stale"')) await inner.put(key, value.replace("stale", newer));
        return isPut;
      },
    };
    const redirect = follow();
    const client = await logIn(stage, { auth: oauth({ store, redirect }) });
    stage.authority.revoke();
    stage.authority.bendToken = bendRefresh((answer) => {
      newer = (answer.body as { access_token: string }).access_token;
      return { ...answer, body: { ...(answer.body as object), access_token: "stale" } };
    });
    expect((await client.callTool("tell")).text).toBe("told");
    expect(refreshes(stage)).toHaveLength(1);
    expect(redirect.visits).toHaveLength(1);
  });

  test("one takes what the other has got meanwhile, also without a refresh token", async () => {
    const { stage, both, visits } = await openBoth();
    stage.authority.hasRefresh = false;
    const [one, two] = [
      await logIn(stage, { auth: both[0] as Authorizer }),
      await logIn(stage, { auth: both[1] as Authorizer }),
    ];
    stage.authority.revoke();
    await one.callTool("tell");
    expect(visits).toHaveLength(2);
    await two.callTool("tell");
    expect(visits).toHaveLength(2);
  });
});

test("a store that cannot be written to does not bring back what was used up", async () => {
  const stage = await openStage();
  const memory = createMemoryStore();
  let isFull = false;
  const store: Store = {
    ...memory,
    async put(key, value, options) {
      if (isFull && key.includes('"tokens"')) throw new Error("the disk is full");
      return memory.put(key, value, options);
    },
  };
  const redirect = follow();
  const client = await logIn(stage, { store, redirect });
  await client.listTools().all();
  isFull = true;
  stage.authority.revoke();
  await expect(client.callTool("tell")).rejects.toThrow("the disk is full");
  // The new token is there all the same.
  expect((await client.callTool("tell")).text).toBe("told");
  stage.authority.revoke();
  await expect(client.callTool("tell")).rejects.toThrow("the disk is full");
  isFull = false;
  stage.authority.revoke();
  expect((await client.callTool("tell")).text).toBe("told");
  expect(stage.authority.reused).toEqual([]);
  expect(redirect.visits).toHaveLength(1);
});

test("who leaves in the middle of a refresh does not lose the new token", async () => {
  const stage = await openStage();
  const redirect = follow();
  const client = await logIn(stage, { redirect });
  await client.listTools().all();
  stage.authority.revoke();
  let begun = (): void => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  stage.authority.bendToken = bendRefresh((answer) => {
    begun();
    return { ...answer, delayMs: 100 };
  });
  const controller = new AbortController();
  const left = client.callTool("tell", {}, { signal: controller.signal });
  await isBegun;
  controller.abort();
  await expect(left).rejects.toMatchObject({ code: "aborted" });
  expect((await client.callTool("tell")).text).toBe("told");
  expect(refreshes(stage)).toHaveLength(1);
  expect(stage.authority.reused).toEqual([]);
  expect(redirect.visits).toHaveLength(1);
});
