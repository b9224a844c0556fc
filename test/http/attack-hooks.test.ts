// What an application gives to the server and does not do as it should: every request is answered all the same, nothing
// is rejected where nobody catches it, and what went wrong is told to the application alone.
import { createServer } from "plenum";
import { toFetchHandler } from "plenum/http";
import type { Authenticate, HttpOptions, Route } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { callOf, goodCall, hostOf, json, mirrorOf, post } from "./attack-requests.ts";
import { expectAlive, expectRefused, openStage, until } from "./attack-stage.ts";
import { compose, openWire, sendRaw } from "./attack-wire.ts";

watchStrays();

const secret = "s3cret-of-the-application";

/** A server whose one tool counts, and which keeps what it reports. */
function createWatched() {
  const errors: unknown[] = [];
  const server = createServer({ name: "hooks", version: "1", onError: (error) => void errors.push(error) });
  const target = { server, ran: 0 };
  server.tool("echo", { input: { type: "object" } }, ({ message }) => {
    target.ran++;
    return String(message);
  });
  return { target, errors };
}

const fail = (): never => {
  throw new Error(secret);
};
const circular: { self?: unknown } = {};
circular.self = circular;

const badAuth: readonly [name: string, auth: () => unknown][] = [
  ["throws", fail],
  ["throws nothing", () => Promise.reject(undefined)],
  ["rejects", async () => fail()],
  ["gives true", () => true],
  ["gives text", () => secret],
  ["refuses with a status that is none", () => ({ status: 99_999, message: secret })],
  ["refuses with the status 0", () => ({ status: 0 })],
  ["refuses with NaN", () => ({ status: Number.NaN })],
  ["refuses with an interim status", () => ({ status: 101 })],
  [
    "refuses with a line break in a header",
    () => ({ status: 401, headers: { "www-authenticate": `a\r\nSet-Cookie: ${secret}` } }),
  ],
  [
    "refuses with a header that is no Latin",
    () => ({ status: 401, headers: { "www-authenticate": "Bearer error=\u4f60" } }),
  ],
  ["refuses with a name that is none", () => ({ status: 401, headers: { "a b": "c" } })],
];

const badRoutes: readonly [name: string, route: () => unknown][] = [
  ["throws", fail],
  ["rejects", async () => fail()],
  ["gives undefined", () => undefined],
  ["gives null", () => null],
  ["has a status that is none", () => ({ status: 1000, body: secret })],
  ["has a line break in a header", () => ({ headers: { location: `/\r\nSet-Cookie: ${secret}` } })],
  ["has a header that is no Latin", () => ({ headers: { title: "\u4f60" } })],
  ["has a name that is none", () => ({ headers: { "": "x" } })],
  ["has a body that is a circle", () => ({ body: circular })],
  ["has a body that is no JSON", () => ({ body: 1n })],
  ["has a body that throws", () => ({ body: { toJSON: fail } })],
];

describe.each(badAuth)("an auth that %s", (_, auth) => {
  let isGood = false;
  const options: HttpOptions = {
    auth: ((head) => (isGood ? { scopes: [] } : auth.call(undefined, ...([head] as unknown as [])))) as Authenticate,
  };

  test("lets nobody in, and is a 500 that says nothing", async () => {
    isGood = false;
    const { target, errors } = createWatched();
    const stage = await openStage({ ...options, sse: true }, target);
    const raws = [goodCall(stage), compose("GET", "/mcp", [hostOf(stage)]), compose("GET", "/sse", [hostOf(stage)])];
    for (const raw of raws) {
      const answer = await expectRefused(stage, raw, 500);
      expect(JSON.stringify(answer)).not.toContain(secret);
      expect(JSON.parse(answer.body).error.code).toBe(-32603);
    }
    expect(errors).toHaveLength(raws.length);
    isGood = true;
    await expectAlive(stage);
  });

  test("and so it is of a web-standard handler", async () => {
    isGood = false;
    const { target, errors } = createWatched();
    const handle = toFetchHandler(target.server, options);
    const headers = Object.fromEntries([...json, ...mirrorOf(callOf())]);
    const init = { method: "POST", headers, body: JSON.stringify(callOf()) };
    const answer = await handle(new Request("http://127.0.0.1/mcp", init));
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain(secret);
    expect(errors).toHaveLength(1);
    expect(target.ran).toBe(0);
    isGood = true;
    expect((await handle(new Request("http://127.0.0.1/mcp", init))).status).toBe(200);
    await handle.close(0);
  });
});

test.each([undefined, null, false] as const)("an auth that gives %s lets nobody in", async (told) => {
  const { target, errors } = createWatched();
  const stage = await openStage({ auth: () => told }, target);
  await expectRefused(stage, goodCall(stage), 401);
  expect(errors).toEqual([]);
});

describe.each(badRoutes)("a page that %s", (_, route) => {
  const options: HttpOptions = { routes: { "/page": route as Route, "/good": () => ({ body: "<b>good</b>" }) } };

  test("is a 500 that says nothing, on either feed", async () => {
    const { target, errors } = createWatched();
    const stage = await openStage(options, target);
    const answer = await expectRefused(stage, compose("GET", "/page", [hostOf(stage)]), 500);
    expect(JSON.stringify(answer)).not.toContain(secret);
    expect(errors).toHaveLength(1);
    const good = await sendRaw(stage.port, compose("GET", "/good", [hostOf(stage)]));
    expect(good).toMatchObject({ status: 200, body: "<b>good</b>" });
    expect(good?.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(good?.headers["x-content-type-options"]).toBe("nosniff");
    await expectAlive(stage);
    const handle = toFetchHandler(target.server, options);
    const page = await handle(new Request("http://127.0.0.1/page"));
    expect(page.status).toBe(500);
    expect(await page.text()).not.toContain(secret);
    await handle.close(0);
  });
});

describe("hooks that", () => {
  test("fail when they are told change nothing", async () => {
    const { target } = createWatched();
    const stage = await openStage({ onAccess: fail, onMetrics: async () => fail() }, target);
    for (let i = 0; i < 3; i++) await expectAlive(stage);
    await expectRefused(stage, compose("GET", "/nothing", [hostOf(stage)]), 404);
  });

  test("never end keep no more than the exchanges whose clients wait", async () => {
    const { target } = createWatched();
    let asked = 0;
    let gone = 0;
    const stage = await openStage(
      {
        maxInFlight: 4,
        routes: { "/never": () => new Promise(() => void asked++) },
        onAccess({ outcome }) {
          if (outcome === "gone") gone++;
        },
      },
      target,
    );
    for (let round = 1; round <= 3; round++) {
      const wires = await Promise.all([1, 2, 3, 4].map(() => openWire(stage.port)));
      for (const wire of wires) wire.write(compose("GET", "/never", [hostOf(stage)]));
      await until(() => asked === round * 4, "the requests");
      await expectRefused(stage, goodCall(stage), 503);
      for (const wire of wires) wire.cut();
      await until(() => gone === round * 4, "the cuts");
      await expectAlive(stage);
    }
  });

  test("are told of foreign text only on one line, and not of all of it", async () => {
    const lines: string[] = [];
    const { target } = createWatched();
    const stage = await openStage(
      { onAccess: (entry) => void lines.push(entry.path + entry.method + entry.rpcMethod) },
      target,
    );
    await sendRaw(stage.port, compose("GET", `/${"a".repeat(9000)}`, [hostOf(stage)]));
    const message = { ...callOf(), method: `x\n2026-01-01 GET /admin ${"y".repeat(5000)}\u202e` };
    await sendRaw(stage.port, post(stage, message, [...json, ...mirrorOf(callOf())]));
    await until(() => lines.length === 2, "the lines");
    for (const line of lines) {
      expect(line.length).toBeLessThan(1000);
      expect(line).not.toMatch(/[\p{Cc}\u202e\u2028]/u);
    }
  });
});
