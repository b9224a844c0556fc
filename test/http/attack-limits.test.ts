// Sessions by the thousand, handshakes and streams whose clients do not stay, and ids that an application makes badly: what
// is kept is bounded, and no two clients share a session.
import type { ServeHttpOptions } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { calm, createTarget, handshake, request } from "../fuzz/target.ts";
import {
  eventStream,
  get,
  hostOf,
  json,
  latest,
  post,
  remove,
  sessionHeaders,
  sessionPost,
} from "./attack-requests.ts";
import {
  createGate,
  expectAlive,
  expectHarmless,
  expectRefused,
  openSession,
  openStage,
  openStream,
  until,
} from "./attack-stage.ts";
import { compose, openWire, sendRaw } from "./attack-wire.ts";

watchStrays();

describe("too many", () => {
  test("thousands of handshakes are bounded", async () => {
    const stage = await openStage({ sessions: { max: 50 } });
    const wire = await openWire(stage.port);
    const statuses: (number | undefined)[] = [];
    for (let i = 0; i < 2000; i++) {
      wire.write(post(stage, handshake(latest), json));
      const answer = await wire.answer();
      statuses.push(answer?.status);
      if (i < 50) continue;
      expect(answer?.headers["retry-after"]).toBeDefined();
      if (answer) expectHarmless(answer);
    }
    wire.close();
    expect(statuses.slice(0, 50).every((status) => status === 200)).toBe(true);
    expect(statuses.slice(50).every((status) => status === 503)).toBe(true);
    await expectAlive(stage);
  });

  test("what is idle makes room", async () => {
    const stage = await openStage({ sessions: { max: 3, idleMs: 200 } });
    for (let i = 0; i < 3; i++) await openSession(stage, latest);
    let status: number | undefined;
    const look = async (): Promise<void> => {
      status = (await sendRaw(stage.port, post(stage, handshake(latest), json)))?.status;
    };
    for (let i = 0; i < 100 && status !== 200; i++) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(status).toBe(200);
  });

  test("handshakes at the same time do not get past the limit, whatever they wait for", async () => {
    const target = createTarget();
    const gate = createGate();
    let refused = 0;
    target.server.use(async (one, next) => {
      if (one.method === "initialize") await gate.passed;
      return next(one);
    });
    const onAccess: ServeHttpOptions["onAccess"] = ({ status }) => {
      if (status === 503) refused++;
    };
    const stage = await openStage({ sessions: { max: 5 }, onAccess }, target);
    const answers = Array.from({ length: 40 }, () => sendRaw(stage.port, post(stage, handshake(latest), json)));
    await until(() => refused === 35, "the refusal of 35");
    gate.open();
    const statuses = (await Promise.all(answers)).map((answer) => answer?.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 503)).toHaveLength(35);
  });

  test("a handshake whose client leaves keeps no place, however long it takes", async () => {
    const target = createTarget();
    const gate = createGate();
    let begun = 0;
    let gone = 0;
    let isSlow = true;
    target.server.use(async (one, next) => {
      if (one.method === "initialize" && isSlow) {
        begun++;
        await gate.passed;
      }
      return next(one);
    });
    const onAccess: ServeHttpOptions["onAccess"] = ({ outcome }) => {
      if (outcome === "gone") gone++;
    };
    const stage = await openStage({ sessions: { max: 5 }, onAccess }, target);
    for (let round = 1; round <= 15; round++) {
      const wire = await openWire(stage.port);
      wire.write(post(stage, handshake(latest), json));
      await until(() => begun === round, "the handshake");
      wire.cut();
      await until(() => gone === round, "the cut");
      await calm();
    }
    isSlow = false;
    for (let i = 0; i < 5; i++) await openSession(stage, latest);
    await expectRefused(stage, post(stage, handshake(latest), json), 503);
    gate.open();
  });

  test("calls whose clients have left count for all sessions together, until they end", async () => {
    const target = createTarget();
    const gate = createGate();
    let begun = 0;
    let gone = 0;
    target.server.tool("stay", {}, async () => {
      begun++;
      await gate.passed;
      return "done";
    });
    const onAccess: ServeHttpOptions["onAccess"] = ({ outcome }) => {
      if (outcome === "gone") gone++;
    };
    const stage = await openStage({ maxInFlight: 4, onAccess }, target);
    const stay = (id: string, n: number): string =>
      sessionPost(stage, id, latest, request(latest, "tools/call", { name: "stay" }, n));
    const sessions = await Promise.all([1, 2, 3].map(() => openSession(stage, latest)));
    for (const id of sessions.slice(0, 2))
      for (const n of [1, 2]) {
        const [before, left] = [begun, gone];
        const wire = await openWire(stage.port);
        wire.write(stay(id, n));
        await until(() => begun > before, "the call");
        wire.cut();
        await until(() => gone > left, "the cut");
      }
    const last = sessions[2] as string;
    await expectRefused(stage, stay(last, 3), 503);
    expect(begun).toBe(4);
    // To cancel, or to leave, needs no room.
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    expect((await sendRaw(stage.port, sessionPost(stage, sessions[0] as string, latest, cancel)))?.status).toBe(202);
    expect((await sendRaw(stage.port, remove(stage, sessions[1] as string)))?.status).toBe(204);
    gate.open();
    await calm();
    expect((await sendRaw(stage.port, stay(last, 4)))?.status).toBe(200);
  });

  test("what a client says of itself is bounded, by what it takes to keep it", async () => {
    const stage = await openStage({ sse: true });
    const opening = (clientInfo: object, capabilities: object = {}): string =>
      post(stage, { ...handshake(latest), params: { protocolVersion: latest, capabilities, clientInfo } }, json);
    const icons = [{ src: `data:image/png;base64,${"A".repeat(40_000)}` }];
    const own = { name: "c", version: "1" };
    expect((await sendRaw(stage.port, opening({ ...own, icons })))?.status).toBe(200);
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, {}]));
    await expectRefused(stage, opening(own, { experimental: many }), 413);
    await expectRefused(stage, opening({ ...own, title: "x".repeat(70_000) }), 413);
    await expectAlive(stage);
  });

  test.each(["/mcp", "/sse"])("a stream whose client left before it was let in holds nothing: %s", async (path) => {
    const gate = createGate();
    let waiting = 0;
    let gone = 0;
    const stage = await openStage({
      sse: true,
      sessions: { max: 5, idleMs: 300 },
      maxStreams: 5,
      onAccess({ outcome }) {
        if (outcome === "gone") gone++;
      },
      async auth(head) {
        if (head.header("x-slow")) {
          waiting++;
          await gate.passed;
        }
        return { subject: "ann", scopes: [] };
      },
    });
    const id = await openSession(stage, latest);
    const ask = compose("GET", path, [hostOf(stage), eventStream, ...sessionHeaders(id, latest), ["X-Slow", "1"]]);
    for (let round = 1; round <= 10; round++) {
      const wire = await openWire(stage.port);
      wire.write(ask);
      await until(() => waiting === round, "the request");
      wire.cut();
      await until(() => gone === round, "the cut");
    }
    gate.open();
    await new Promise((resolve) => setTimeout(resolve, 600));
    // The session was idle all the time, and nothing stands where there is room for five.
    await expectRefused(stage, sessionPost(stage, id, latest), 404);
    const open = compose("GET", "/sse", [hostOf(stage), eventStream]);
    const wires = [];
    for (let i = 0; i < 5; i++) wires.push(await openStream(stage, open));
    await expectRefused(stage, open, 503);
    for (const wire of wires) wire.close();
  });

  test("a session's lifetime ends it, busy or not, and its streams with it", async () => {
    const stage = await openStage({ sessions: { maxAgeMs: 300 } });
    const id = await openSession(stage, latest);
    const wire = await openStream(stage, get(stage, id));
    await wire.until((text) => (text.endsWith("0\r\n\r\n") ? true : undefined));
    await expectRefused(stage, sessionPost(stage, id, latest), 404);
    wire.close();
  });
});

describe("createId of an application", () => {
  test.each([
    [
      "throws",
      () => {
        throw new Error("no ids today");
      },
    ],
    ["gives undefined", () => undefined as never],
    ["gives an object", () => ({ toString: () => "x".repeat(20) }) as never],
    ["gives one that is too short", () => "short"],
    ["gives one with a line break", () => `${"x".repeat(20)}\r\nSet-Cookie: a=b`],
    ["gives one that is no ASCII", () => "\u00e9".repeat(20)],
    ["gives a promise", () => Promise.resolve("x".repeat(20)) as never],
  ] as [string, () => string][])("%s: 500, and nothing else is harmed", async (_, createId) => {
    let isBroken = false;
    let next = 0;
    const stage = await openStage({
      sse: true,
      sessions: { createId: () => (isBroken ? createId() : `good-session-id-${next++}`) },
    });
    const id = await openSession(stage, latest);
    isBroken = true;
    for (const raw of [post(stage, handshake(latest), json), compose("GET", "/sse", [hostOf(stage), eventStream])]) {
      const answer = await expectRefused(stage, raw, 500);
      expect(answer.body).not.toMatch(/today|createId|Cookie/);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
    expect((await sendRaw(stage.port, sessionPost(stage, id, latest)))?.status).toBe(200);
  });

  test("one that repeats itself never gives two clients one session", async () => {
    const target = createTarget();
    target.server.use(async (one, next) => {
      if (one.method === "initialize") await new Promise((resolve) => setTimeout(resolve, 50));
      return next(one);
    });
    const stage = await openStage({ sessions: { createId: () => "always-the-same-id" } }, target);
    const both = await Promise.all([1, 2].map(() => sendRaw(stage.port, post(stage, handshake(latest), json))));
    expect(both.map((answer) => answer?.status).sort()).toEqual([200, 500]);
    await expectRefused(stage, post(stage, handshake(latest), json), 500);
    expect((await sendRaw(stage.port, sessionPost(stage, "always-the-same-id", latest)))?.status).toBe(200);
    expect((await sendRaw(stage.port, remove(stage, "always-the-same-id")))?.status).toBe(204);
    await openSession(stage, latest);
  });
});
