// Which scopes a client asks for, at first and when a server wants more.
import { clientCredentials, oauth } from "plenum/auth/client";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { follow, logIn, openStage, refusalOf, type Stage, soon } from "./stage.ts";

/** What was asked for on each visit. */
const asked = (stage: Stage): (string | null)[] =>
  stage.authority.of("authorize").map(({ query }) => query.get("scope"));

describe("at first", () => {
  test("those of the challenge are asked for, whatever the metadata lists, and no more", async () => {
    covers([
      "auth-flow-scope-priority",
      "auth-flow-scope-authoritative",
      "auth-flow-scope-no-assumption",
      "auth-flow-scope-any-relation",
      "auth-flow-scope-least-privilege",
      "security-scope-minimization",
    ]);
    const stage = await openStage();
    stage.metadata.scopes_supported = ["read", "write", "admin"];
    stage.authority.metadata.scopes_supported = ["read", "write", "admin"];
    stage.scopes = ["unlisted", "read"];
    await logIn(stage);
    expect(asked(stage)).toEqual(["unlisted read"]);
  });

  test("without them, all that the metadata lists", async () => {
    covers("auth-flow-scope-priority");
    const stage = await openStage();
    stage.metadata.scopes_supported = ["read", "write"];
    await logIn(stage);
    expect(asked(stage)).toEqual(["read write"]);
  });

  test.each([undefined, [], 5])("without either, none (%s)", async (supported) => {
    covers("auth-flow-scope-priority");
    const stage = await openStage();
    stage.metadata.scopes_supported = supported;
    await logIn(stage);
    expect(asked(stage)).toEqual([null]);
  });

  test("the application may say which", async () => {
    covers("auth-flow-scope-least-privilege");
    const stage = await openStage();
    stage.metadata.scopes_supported = ["read", "write"];
    await logIn(stage, { scopes: ["read"] });
    expect(asked(stage)).toEqual(["read"]);
  });

  test.each([
    ["lists it", ["read", "offline_access"], "read offline_access", "consent"],
    ["does not", ["read"], "read", null],
    ["says nothing", undefined, "read", null],
  ])("offline_access is asked for where the authorization server %s", async (_, known, wanted, prompt) => {
    covers("auth-flow-offline-access");
    const stage = await openStage();
    stage.scopes = ["read"];
    stage.authority.metadata.scopes_supported = known;
    await logIn(stage);
    expect(asked(stage)).toEqual([wanted]);
    expect(stage.authority.of("authorize")[0]?.query.get("prompt")).toBe(prompt);
  });
});

describe("when a server wants more", () => {
  test("all that was asked for before is asked for again", async () => {
    covers([
      "auth-flow-step-up",
      "auth-flow-step-up-user",
      "auth-flow-step-up-union",
      "auth-flow-step-up-scopes",
      "security-scope-minimization",
    ]);
    const stage = await openStage();
    stage.scopes = ["s1", "s2"];
    const client = await logIn(stage);
    stage.scopes = ["s2", "s3"];
    expect((await client.callTool("tell")).text).toBe("told");
    expect(asked(stage)).toEqual(["s1 s2", "s1 s2 s3"]);
    expect(stage.runs).toBe(1);
  });

  test("also where the application said which at first", async () => {
    covers("auth-flow-step-up-union");
    const stage = await openStage();
    const client = await logIn(stage, { scopes: ["s1"] });
    stage.scopes = ["s3"];
    expect((await client.callTool("tell")).text).toBe("told");
    expect(asked(stage)).toEqual(["s1", "s1 s3"]);
  });

  test("one that always wants more is asked a few times", async () => {
    covers("auth-flow-step-up-limits");
    const stage = await openStage();
    const redirect = follow();
    const client = await logIn(stage, { redirect });
    await client.listTools().all();
    let count = 0;
    stage.scopes = ["never"];
    stage.authority.bendToken = (answer) => ({ ...answer, body: { ...(answer.body as object), scope: "little" } });
    for (const issued of stage.authority.tokens.values()) Object.assign(issued, { scopes: [] });
    stage.challenge = (usual) => ({
      status: 403,
      header: `Bearer error="insufficient_scope", scope="s${++count}", ${usual.header?.match(/resource_metadata.*/)?.[0]}`,
    });
    stage.authority.bendPage = (answer, seen) => {
      seen.query.set("scope", "little");
      return answer;
    };
    const error = await refusalOf(client.callTool("tell"));
    expect(error).toMatchObject({ code: "insufficient_scope", error: "insufficient_scope" });
    expect(redirect.visits).toHaveLength(1 + 2);
    expect(stage.runs).toBe(0);
  });

  test("what is granted already is not asked for again", async () => {
    covers("auth-flow-step-up-limits");
    const stage = await openStage();
    stage.scopes = ["s1"];
    const redirect = follow();
    const client = await logIn(stage, { redirect });
    stage.challenge = () => ({ status: 403, header: 'Bearer error="insufficient_scope", scope="s1"' });
    stage.scopes = ["x"];
    expect(await refusalOf(client.callTool("tell"))).toMatchObject({ code: "insufficient_scope" });
    expect(redirect.visits).toHaveLength(1);
  });

  test("a 403 of another kind is no question of scopes", async () => {
    covers("auth-flow-step-up");
    const stage = await openStage();
    const redirect = follow();
    const client = await logIn(stage, { redirect });
    stage.scopes = ["x"];
    for (const header of ["Bearer", 'Bearer error="invalid_token"', undefined]) {
      stage.challenge = () => ({ status: 403, header });
      await expect(client.callTool("tell")).rejects.toMatchObject({ code: "peer_error", data: { status: 403 } });
    }
    expect(redirect.visits).toHaveLength(1);
  });

  test("several at once, for different scopes, all come to their end", async () => {
    const stage = await openStage();
    const client = await logIn(stage);
    await client.listTools().all();
    let turn = 0;
    stage.scopes = ["a", "b"];
    // Each caller hears of one that is missing.
    stage.challenge = (usual, { token }) => {
      const has = stage.authority.tokens.get(token ?? "")?.scopes ?? [];
      const missing = stage.scopes.filter((one) => !has.includes(one));
      const one = missing[turn++ % missing.length];
      return { ...usual, header: usual.header?.replace(/scope="[^"]*"/, `scope="${one}"`) };
    };
    const results = await Promise.all([1, 2, 3].map(() => client.callTool("tell")));
    expect(results.map(({ text }) => text)).toEqual(["told", "told", "told"]);
    expect(stage.runs).toBe(3);
    expect(asked(stage).length).toBeLessThanOrEqual(4);
  });

  test("somebody else's new token is not held against who wants more", async () => {
    const stage = await openStage();
    const client = await logIn(stage, { maxStepUps: 1 });
    await client.listTools().all();
    stage.scopes = ["more"];
    stage.authority.bendToken = (answer) => ({ ...answer, delayMs: 200 });
    let count = 0;
    // To the first of two the token is dead, to the other it is not good enough.
    stage.challenge = (usual) => (count++ === 0 ? { ...usual, status: 401 } : usual);
    const results = await Promise.all([1, 2].map(() => client.callTool("tell")));
    expect(results.map(({ text }) => text)).toEqual(["told", "told"]);
    expect(asked(stage)).toEqual([null, "more"]);
  });

  test("a program asks for more as well", async () => {
    covers("auth-flow-step-up-machine");
    const stage = await openStage();
    const auth = oauth({ client: { id: "program", secret: "program secret" }, grant: clientCredentials() });
    const client = await logIn(stage, { auth });
    stage.scopes = ["s1"];
    expect((await client.callTool("tell")).text).toBe("told");
    expect(stage.authority.of("token").map(({ form }) => form.get("scope"))).toEqual([null, "s1"]);
  });

  test("who waits for the user holds up nobody whose token is good enough", async () => {
    const stage = await openStage();
    let isAway = false;
    let comeBack = (): void => {};
    const away = new Promise<void>((resolve) => {
      comeBack = resolve;
    });
    const quick = follow();
    const redirect = {
      async begin() {
        const visit = await quick.begin();
        return {
          uri: visit.uri,
          async open(url: URL, signal: AbortSignal | undefined) {
            if (isAway) await away;
            return visit.open(url, signal);
          },
        };
      },
    };
    const client = await logIn(stage, { redirect });
    await client.listTools().all();
    isAway = true;
    stage.scopes = ["more"];
    const blocked = client.callTool("tell");
    await expect.poll(() => stage.order.filter((one) => one.includes("oauth-protected")).length, soon).toBe(2);
    stage.scopes = [];
    expect((await client.callTool("tell")).text).toBe("told");
    expect(stage.runs).toBe(1);
    comeBack();
    expect((await blocked).text).toBe("told");
    expect(stage.authority.of("authorize")).toHaveLength(2);
  });
});
