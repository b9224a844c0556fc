// Processes that share one file of tokens, with an authorization server that takes each refresh token once: none is ever sent
// twice, and one who is ended while he refreshes does not keep the others.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createAuthorizedFetch, createRedirect, type Fetch, oauth } from "plenum/auth/client";
import { fileTokens } from "plenum/auth/node";
import type { Store } from "plenum/store";
import { expect, onTestFinished, test } from "vitest";
import { bundleProgram } from "../client/harness.ts";
import { createDeferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { type RotatingServer, startRotatingServer } from "./rotating-server.ts";

interface Stage {
  readonly server: RotatingServer;
  readonly path: string;
  readonly folder: string;
  /** Called before the user logs in. */
  onLogin: () => unknown;
  /** A client of this process, whose user logs in whenever he is asked. */
  createClient(store?: Store): Fetch;
}

/** A server, and a file with the tokens of one login. */
async function openStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "plenum-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "tokens.json");
  const server = await startRotatingServer();
  const redirect = createRedirect({
    uri: "http://127.0.0.1:7777/callback",
    async open(url) {
      await stage.onLogin();
      const response = await fetch(url, { redirect: "manual" });
      return response.headers.get("location") ?? "";
    },
  });
  const createClient = (store: Store = fileTokens(path)): Fetch =>
    createAuthorizedFetch(oauth({ client: { id: "shared" }, store, redirect }), server.url);
  const stage: Stage = { server, path, folder, onLogin: () => {}, createClient };
  expect((await createClient()(server.url)).status).toBe(200);
  expect(server.logins).toBe(1);
  return stage;
}

async function startCalls({ path, server }: Stage, rounds: number) {
  const program = await bundleProgram("test/auth/fixtures/call-loop.ts");
  const child = spawn(process.execPath, [program, path, server.url, `${rounds}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, said: text(child.stdout) };
}

const endOf = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once("close", resolve));

test("two processes never send a refresh token twice, and none of their callers fails", {
  timeout: 120_000,
}, async () => {
  covers("auth-flow-refresh-confidential");
  const stage = await openStage();
  const { server, folder, path } = stage;
  // Now and then one that was given a moment ago is refused: then it is renewed because of that.
  server.isStillborn = (number) => number % 40 === 0;
  const rounds = 200;
  const all = await Promise.all([startCalls(stage, rounds), startCalls(stage, rounds)]);
  for (const { said } of all) expect((await said).trim().split("\n")).toEqual(Array(rounds).fill("200 200"));
  expect([server.reuses, server.logins]).toEqual([0, 1]);
  expect(server.served).toBe(1 + 4 * rounds);
  // Each process renews before most of its rounds, or finds that the other has.
  expect(server.refreshes).toBeGreaterThanOrEqual(rounds);
  expect(await readdir(folder)).toEqual(["tokens.json"]);
  // They go to the token endpoint, in the body, and into a file of the owner's; what the processes said is above.
  expect(server.leaks).toBe(0);
  expect((await stat(path)).mode & 0o077).toBe(0);
});

/** Ends a process when its refresh has come to the authorization server. */
async function endWhileRefreshing(stage: Stage, moment: "before" | "after"): Promise<void> {
  const { server } = stage;
  const reached = createDeferred();
  server.onRefresh = async (when) => {
    if (when !== moment) return;
    reached.resolve();
    await new Promise(() => {});
  };
  const { child } = await startCalls(stage, 1);
  await reached.promise;
  server.onRefresh = () => {};
  const ended = endOf(child);
  child.kill("SIGKILL");
  await ended;
}

test("one who is ended when his refresh token is used up leads to a login each, not to a loop", async () => {
  const stage = await openStage();
  const { server } = stage;
  await endWhileRefreshing(stage, "after");
  // Nobody logs in before both know that they have to.
  const both = createDeferred();
  let asked = 0;
  stage.onLogin = () => {
    if (++asked === 2) both.resolve();
    return both.promise;
  };
  const start = performance.now();
  const [first, second] = [stage.createClient(), stage.createClient()];
  const responses = await Promise.all([first(server.url), first(server.url), second(server.url)]);
  expect(performance.now() - start).toBeLessThan(30_000);
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  // Nobody could know that it was used up: it was sent once more, and no more than once.
  expect([server.logins, server.reuses]).toEqual([3, 1]);
  for (const send of [first, second, stage.createClient()]) expect((await send(server.url)).status).toBe(200);
  expect([server.logins, server.reuses]).toEqual([3, 1]);
});

test("one who is ended before his refresh token was looked at costs the others seconds, and no login", async () => {
  const stage = await openStage();
  const { server } = stage;
  await endWhileRefreshing(stage, "before");
  const start = performance.now();
  expect((await stage.createClient()(server.url)).status).toBe(200);
  const waitedMs = performance.now() - start;
  expect([server.logins, server.reuses]).toEqual([1, 0]);
  // It is about five: whoever is alive might be busy for a moment.
  expect(waitedMs).toBeGreaterThan(2000);
  expect(waitedMs).toBeLessThan(30_000);
});

test("one who stood still while he refreshed, and was overtaken, leaves what the other has saved", async () => {
  const stage = await openStage();
  const { server, path } = stage;
  const [reached, answered] = [createDeferred(), createDeferred()];
  server.onRefresh = async (when) => {
    if (when !== "after") return;
    reached.resolve();
    await answered.promise;
  };
  // What he says of himself does not get through, as if his process had been stopped.
  const file = fileTokens(path);
  const put: Store["put"] = async (key, value, options) =>
    / [1-9]\d*$/.test(value) ? false : file.put(key, value, options);
  const slow = stage.createClient({ ...file, put })(server.url);
  await reached.promise;
  server.onRefresh = () => {};
  expect((await stage.createClient()(server.url)).status).toBe(200);
  expect([server.logins, server.reuses]).toEqual([2, 1]);
  answered.resolve();
  // His own tokens are of a login that is worth nothing any more.
  expect((await slow).status).toBe(200);
  expect((await stage.createClient()(server.url)).status).toBe(200);
  expect([server.logins, server.reuses]).toEqual([2, 1]);
});
