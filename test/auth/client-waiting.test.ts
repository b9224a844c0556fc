// A user who takes his time: who waits for him, who need not, and who leaves.
import { connect } from "plenum";
import { type Authorizer, oauth, type Redirect } from "plenum/auth/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { authRevisions, follow, logIn, openStage, refusalOf, soon } from "./stage.ts";

interface Slow extends Redirect {
  /** Pages that a user was sent to. */
  readonly visits: URL[];
  /** Visits that are over. */
  readonly closed: number;
  /** The user comes back, from this visit and all later ones. */
  comeBack(): void;
  readonly isAborted: boolean;
}

/** A user who is away until he is told to come back. */
function createSlow(heedsSignal = true): Slow {
  const quick = follow();
  const visits: URL[] = [];
  let closed = 0;
  let isAborted = false;
  let comeBack = (): void => {};
  const back = new Promise<void>((resolve) => {
    comeBack = resolve;
  });
  return {
    visits,
    get closed() {
      return closed;
    },
    get isAborted() {
      return isAborted;
    },
    comeBack: () => comeBack(),
    async begin() {
      const visit = await quick.begin();
      return {
        uri: visit.uri,
        async open(url, signal) {
          visits.push(url);
          signal?.addEventListener("abort", () => {
            isAborted = true;
          });
          const left = new Promise<never>((_, reject) => {
            if (heedsSignal) signal?.addEventListener("abort", () => reject(signal.reason));
          });
          await Promise.race([back, left]);
          return visit.open(url, signal);
        },
        close() {
          closed++;
        },
      };
    },
  };
}

/** Tells how many requests have asked for leave. */
function count(auth: Authorizer): Authorizer & { readonly asked: number } {
  let asked = 0;
  return {
    get asked() {
      return asked;
    },
    authorize(request) {
      asked++;
      return auth.authorize(request);
    },
    refused: (request, answer, sent) => auth.refused(request, answer, sent),
  };
}

const settings = { connectTimeoutMs: 20_000 };

test.each(authRevisions)("all who come while the user is away wait for one visit, in %s", async (revision) => {
  covers("auth-flow-client-starts-on-401", revision);
  const stage = await openStage();
  const redirect = createSlow();
  const auth = oauth({ redirect });
  const clients = [1, 2, 3].map(() => logIn(stage, { auth, revision }));
  await expect.poll(() => redirect.visits.length, soon).toBe(1);
  // One more, who has not even asked.
  clients.push(logIn(stage, { auth, revision }));
  redirect.comeBack();
  for (const client of await Promise.all(clients)) expect((await client.callTool("tell")).text).toBe("told");
  expect(redirect.visits).toHaveLength(1);
  expect(stage.authority.of("register")).toHaveLength(1);
  expect(redirect.closed).toBe(1);
});

test("a user who takes his time is not taken for a server of an older revision", async () => {
  const stage = await openStage();
  const redirect = createSlow();
  const connecting = logIn(stage, { redirect });
  await expect.poll(() => redirect.visits.length, soon).toBe(1);
  // Longer than a server may take to say what it is.
  await new Promise((resolve) => setTimeout(resolve, 5500));
  redirect.comeBack();
  const client = await connecting;
  expect(client.revision).toBe("2026-07-28");
  expect((await client.callTool("tell")).text).toBe("told");
});

describe("who leaves", () => {
  test("is gone at once, and the last one closes the visit", async () => {
    const stage = await openStage();
    const redirect = createSlow();
    const auth = oauth({ redirect });
    const [one, two] = [new AbortController(), new AbortController()];
    const first = connect(stage.url, { auth, signal: one.signal });
    const second = connect(stage.url, { auth, signal: two.signal });
    await expect.poll(() => redirect.visits.length, soon).toBe(1);
    one.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
    expect([redirect.isAborted, redirect.closed]).toEqual([false, 0]);
    two.abort();
    await expect(second).rejects.toMatchObject({ code: "aborted" });
    await expect.poll(() => redirect.closed, soon).toBe(1);
    expect(redirect.isAborted).toBe(true);
    expect(stage.authority.of("token")).toEqual([]);
  });

  test("does not take the visit away from the others", async () => {
    const stage = await openStage();
    const redirect = createSlow();
    const auth = count(oauth({ redirect }));
    const controller = new AbortController();
    const first = connect(stage.url, { auth, signal: controller.signal });
    await expect.poll(() => redirect.visits.length, soon).toBe(1);
    const second = logIn(stage, { auth });
    await expect.poll(() => auth.asked, soon).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
    redirect.comeBack();
    expect((await (await second).callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(1);
  });

  test("does not stand in the way of who comes next, even where the page heeds no signal", async () => {
    const stage = await openStage();
    const redirect = createSlow(false);
    const auth = oauth({ redirect });
    const controller = new AbortController();
    const first = connect(stage.url, { auth, signal: controller.signal });
    await expect.poll(() => redirect.visits.length, soon).toBe(1);
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
    await expect.poll(() => redirect.closed, soon).toBe(1);
    redirect.comeBack();
    const client = await logIn(stage, { auth });
    expect((await client.callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(2);
  });

  test("leaves a visit that takes its time to end, and nobody is taken along with it", async () => {
    const stage = await openStage();
    const slow = createSlow();
    const quick = follow();
    let visits = 0;
    const redirect: Redirect = {
      async begin() {
        if (++visits > 1) return quick.begin();
        const visit = await slow.begin();
        return { ...visit, close: () => new Promise((resolve) => setTimeout(resolve, 300)) };
      },
    };
    const auth = oauth({ redirect });
    const controller = new AbortController();
    const first = connect(stage.url, { auth, signal: controller.signal });
    await expect.poll(() => slow.visits.length, soon).toBe(1);
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
    // The first visit is not over yet: who was told to log in is to try again, and not turned away.
    const server = new URL(stage.url);
    const header = (): undefined => undefined;
    expect(await auth.refused({ method: "POST", url: server, server }, { status: 401, header }, {})).toBe(true);
    expect(visits).toBe(1);
    const client = await logIn(stage, { auth });
    expect((await client.callTool("tell")).text).toBe("told");
    expect(visits).toBe(2);
  });

  test("because it takes too long is told so", async () => {
    const stage = await openStage();
    const redirect = createSlow();
    const late = connect(stage.url, { auth: oauth({ redirect }), connectTimeoutMs: 300 });
    await expect(late).rejects.toMatchObject({ code: "timeout" });
    await expect.poll(() => redirect.closed, soon).toBe(1);
  });
});

describe("a visit that fails", () => {
  test("fails for all who waited for it, and the user is not asked once for each", async () => {
    const stage = await openStage();
    stage.authority.isGranting = false;
    const redirect = createSlow();
    const auth = count(oauth({ redirect }));
    const ends = [1, 2, 3].map(() => refusalOf(connect(stage.url, { auth, ...settings })));
    await expect.poll(() => redirect.visits.length, soon).toBe(1);
    ends.push(refusalOf(connect(stage.url, { auth, ...settings })));
    await expect.poll(() => auth.asked, soon).toBe(4);
    // Until all of them have heard that they have to wait.
    await new Promise((resolve) => setTimeout(resolve, 300));
    redirect.comeBack();
    for (const error of await Promise.all(ends))
      expect(error).toMatchObject({ code: "denied", error: "access_denied" });
    expect(redirect.visits).toHaveLength(1);
    expect(redirect.closed).toBe(1);
  });

  test("is forgotten by the next", async () => {
    const stage = await openStage();
    stage.authority.isGranting = false;
    const redirect = follow();
    const auth = oauth({ redirect });
    expect(await refusalOf(logIn(stage, { auth }))).toMatchObject({ code: "denied" });
    stage.authority.isGranting = true;
    expect((await (await logIn(stage, { auth })).callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(2);
  });

  test("is not made again for a call that could be repeated", async () => {
    const stage = await openStage();
    stage.authority.hasRefresh = false;
    const redirect = follow();
    const client = await logIn(stage, { redirect });
    stage.authority.revoke();
    stage.authority.isGranting = false;
    const error = await refusalOf(client.listTools().all());
    expect(error).toMatchObject({ code: "denied" });
    expect(redirect.visits).toHaveLength(2);
    expect(client.state).toBe("open");
  });

  test("because there is nobody to ask says what to give", async () => {
    covers("auth-flow-client-starts-on-401");
    const stage = await openStage();
    const failure = connect(stage.url, { auth: oauth() });
    await expect(failure).rejects.toMatchObject({
      code: "peer_error",
      message: expect.stringContaining("give oauth({ redirect: … })"),
      data: { status: 401 },
    });
    expect(await refusalOf(failure)).toMatchObject({ code: "no_redirect" });
    expect(stage.authority.of("register")).toEqual([]);
  });
});

test.each(authRevisions.filter((revision) => revision < "2026"))(
  "nobody is asked for a stream that is taken up again, nor for the end of a session, in %s",
  async (revision) => {
    const stage = await openStage();
    stage.authority.hasRefresh = false;
    const redirect = follow();
    const client = await connect(
      { url: stage.url, reconnect: { delayMs: 20, maxDelayMs: 20 } },
      {
        auth: oauth({ redirect }),
        revision,
      },
    );
    onTestFinished(() => client.close());
    await expect.poll(() => stage.calls("GET").length, soon).toBe(1);
    stage.authority.revoke();
    stage.place.cut();
    await expect.poll(() => stage.calls("GET").length, soon).toBeGreaterThan(3);
    expect(redirect.visits).toHaveLength(1);
    // The next call asks, and the stream comes back with it.
    expect((await client.callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(2);
    // Nor for more scopes.
    stage.scopes = ["more"];
    const before = stage.calls("GET").length;
    stage.place.cut();
    await expect.poll(() => stage.calls("GET").length, soon).toBeGreaterThan(before + 2);
    expect(redirect.visits).toHaveLength(2);
    stage.scopes = [];
    stage.authority.revoke();
    await client.close();
    expect(stage.calls("DELETE").length).toBeGreaterThan(0);
    expect(redirect.visits).toHaveLength(2);
  },
);

test("a call that was refused for want of a token has not run, and runs once", async () => {
  const stage = await openStage();
  const client = await logIn(stage);
  for (let i = 1; i <= 3; i++) {
    stage.authority.revoke();
    expect((await client.callTool("tell")).text).toBe("told");
    expect(stage.runs).toBe(i);
  }
});

test.each(authRevisions)("in %s a call waits for a user who takes longer than its answer may", async (revision) => {
  const stage = await openStage();
  stage.authority.hasRefresh = false;
  const quick = follow();
  let awayMs = 0;
  const redirect: Redirect = {
    async begin() {
      const visit = await quick.begin();
      return {
        uri: visit.uri,
        async open(url, signal) {
          await new Promise((resolve) => setTimeout(resolve, awayMs));
          return visit.open(url, signal);
        },
      };
    },
  };
  const client = await logIn(stage, { revision, redirect });
  await client.callTool("tell");
  stage.authority.revoke();
  awayMs = 1500;
  expect((await client.callTool("tell", {}, { timeoutMs: 500 })).text).toBe("told");
  expect(quick.visits).toHaveLength(2);
});
