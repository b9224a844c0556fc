// Connections that end when they should not: at random moments of calls and streams, with requests queued behind others,
// with bodies that nobody wanted. Afterwards everything is free again.
import { type Revision, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { request } from "../fuzz/target.ts";
import { covers } from "../requirements/covers.ts";
import { floodCall, openFlood } from "./attack-flood.ts";
import { createRandom } from "./attack-random.ts";
import {
  callOf,
  eventStream,
  get,
  goodCall,
  hostOf,
  json,
  latest,
  post,
  remove,
  sessionHeaders,
  sessionPost,
} from "./attack-requests.ts";
import { expectAlive, expectRefused, openSession, openStream, until } from "./attack-stage.ts";
import { compose, openWire, sendRaw } from "./attack-wire.ts";

watchStrays();

const seed = Number(process.env.PLENUM_FUZZ_SEED ?? 20260728);

test("200 connections cut at random moments leave nothing open", async () => {
  covers("http-disconnect-is-cancel");
  const stage = await openFlood({ sse: true, maxInFlight: 40, maxStreams: 40, sessions: { max: 20, idleMs: 300 } });
  const random = createRandom(seed);
  const id = await openSession(stage, latest);
  const flood = floodCall(40);
  const raws = [
    goodCall(stage),
    goodCall(stage, [], flood),
    goodCall(stage, [], callOf({}, "wait")),
    goodCall(stage, [], callOf({}, "big")),
    post(stage, request(latest, "initialize"), json),
    sessionPost(stage, id, latest, { jsonrpc: "2.0", id: "f", method: "tools/call", params: flood.params }),
    get(stage, id),
    get(stage, id, [["Last-Event-ID", "2-1"]]),
    compose("GET", "/sse", [hostOf(stage), eventStream]),
    goodCall(stage) + goodCall(stage, [], flood) + goodCall(stage, [], callOf({}, "wait")) + goodCall(stage),
  ];
  const one = async (): Promise<void> => {
    const raw = random.pick(raws);
    const wire = await openWire(stage.port);
    // Within the request, just behind it, or while the answer comes.
    const at = random.below(2) === 0 ? random.below(raw.length) : raw.length;
    wire.write(raw.slice(0, at));
    await new Promise((resolve) => setTimeout(resolve, random.below(12)));
    if (random.below(2) === 0) wire.cut();
    else wire.close();
    await wire.closed;
  };
  for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 10 }, one));
  await until(() => stage.running() === 0, `the end of all calls (seed ${seed})`);
  const connections = (): Promise<number> =>
    new Promise((resolve) => stage.node.getConnections((_, count) => resolve(count)));
  let open = 1;
  for (let i = 0; i < 200 && open > 0; i++) {
    open = await connections();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(open).toBe(0);
  // Every place is free: as many calls wait, and as many streams are open, as there may be.
  const waiting = await Promise.all(Array.from({ length: 40 }, () => openWire(stage.port)));
  for (const wire of waiting) wire.write(goodCall(stage, [], callOf({}, "wait")));
  await until(() => stage.running() === 40, "forty calls");
  for (const wire of waiting) wire.cut();
  await until(() => stage.running() === 0, "their end");
  await new Promise((resolve) => setTimeout(resolve, 700));
  const streams = [];
  for (let i = 0; i < 20; i++)
    streams.push(await openStream(stage, compose("GET", "/sse", [hostOf(stage), eventStream])));
  for (const wire of streams) wire.close();
  await expectAlive(stage);
});

describe("requests queued behind another on one connection", () => {
  test("end with it, whether or not their turn had come", async () => {
    covers("http-disconnect-is-cancel");
    const stage = await openFlood({ maxInFlight: 8 });
    for (let round = 1; round <= 3; round++) {
      const wire = await openWire(stage.port);
      wire.write(Array.from({ length: 8 }, (_, i) => goodCall(stage, [], callOf({}, "wait", i))).join(""));
      await until(() => stage.running() === 8, "eight calls");
      await expectRefused(stage, goodCall(stage), 503);
      wire.cut();
      await until(() => stage.running() === 0, "their end");
      expect(stage.aborted()).toBe(round * 8);
      await expectAlive(stage);
    }
  });

  test("streams behind a stream that does not end are given up with the connection", async () => {
    const stage = await openFlood({ maxStreams: 6, sse: true });
    const ids = await Promise.all(Array.from({ length: 3 }, () => openSession(stage, latest)));
    for (let round = 1; round <= 3; round++) {
      const wire = await openWire(stage.port);
      wire.write(ids.map((id) => get(stage, id)).join("") + compose("GET", "/sse", [hostOf(stage), eventStream]));
      expect((await wire.head())?.status).toBe(200);
      const before = stage.log.length;
      await new Promise((resolve) => setTimeout(resolve, 50));
      wire.cut();
      await until(() => stage.log.length === before + 4, "the end of four streams");
    }
    const streams = [];
    for (let i = 0; i < 6; i++)
      streams.push(await openStream(stage, compose("GET", "/sse", [hostOf(stage), eventStream])));
    for (const wire of streams) wire.close();
  });
});

test("a GET with a body that is not wanted does not hide that its client is gone", async () => {
  const stage = await openFlood();
  const id = await openSession(stage, latest);
  for (const [path, length] of [
    ["/mcp", 10_000_000],
    ["/mcp", 300_000],
  ] as const) {
    const wire = await openWire(stage.port);
    const headers = [
      hostOf(stage),
      eventStream,
      ...sessionHeaders(id, latest),
      ["Content-Length", `${length}`],
    ] as const;
    wire.write(compose("GET", path, headers, "x".repeat(300_000)));
    expect((await wire.head())?.status).toBe(200);
    const before = stage.log.length;
    wire.close();
    await until(() => stage.log.length > before, "the end of the stream");
  }
});

const sessioned = revisions.filter((revision) => revision !== "2024-11-05" && revision !== "2026-07-28");

test.each(sessioned)(
  "without sessions, calls of %s whose clients left still count against the limit",
  async (revision: Revision) => {
    covers("http-disconnect-not-cancel", revision);
    const stage = await openFlood({ sessions: false, maxInFlight: 5 });
    const headers = [...json, ["MCP-Protocol-Version", revision]] as const;
    const wait = request(revision, "tools/call", { name: "wait", arguments: {} });
    for (let i = 1; i <= 5; i++) {
      const wire = await openWire(stage.port);
      wire.write(post(stage, wait, headers));
      await until(() => stage.running() === i, "the call");
      const before = stage.log.length;
      wire.cut();
      await until(() => stage.log.length > before, "the cut");
    }
    await expectRefused(stage, post(stage, wait, headers), 503);
    expect(stage.running()).toBe(5);
    expect(stage.aborted()).toBe(0);
  },
);

test("a session's calls whose clients left are bounded too", async () => {
  const stage = await openFlood({ maxInFlight: 5 });
  const id = await openSession(stage, latest);
  let refused = 0;
  for (let i = 1; i <= 8; i++) {
    const wire = await openWire(stage.port);
    const before = stage.log.length;
    wire.write(sessionPost(stage, id, latest, request(latest, "tools/call", { name: "wait", arguments: {} }, i)));
    await until(() => stage.running() === i || stage.log.length > before, "the call");
    if (stage.log.length > before) refused++;
    wire.cut();
    await until(() => stage.log.length > before, "the cut");
  }
  expect(stage.running()).toBe(5);
  expect(refused).toBe(3);
  // The end of the session is the end of them all.
  expect((await sendRaw(stage.port, remove(stage, id)))?.status).toBe(204);
  await until(() => stage.running() === 0, "their end");
});
