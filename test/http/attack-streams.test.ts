// Readers that do not read, and streams by the hundred: nobody's memory or places are taken for longer than the limits say.
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { handshake } from "../fuzz/target.ts";
import { covers } from "../requirements/covers.ts";
import { floodCall, openFlood } from "./attack-flood.ts";
import { callOf, eventStream, get, goodCall, hostOf, json, latest, post, sessionPost } from "./attack-requests.ts";
import { expectAlive, expectRefused, openSession, openStage, openStream, type Stage, until } from "./attack-stage.ts";
import { compose, eventsIn, openWire, sendRaw, type Wire } from "./attack-wire.ts";

watchStrays();

/** Sends and never reads. */
async function ignore(stage: Stage, raw: string): Promise<Wire> {
  const wire = await openWire(stage.port);
  wire.socket.pause();
  wire.write(raw);
  return wire;
}

describe("readers that do not read", () => {
  test("of a stream of 2026-07-28 are cut off when too much waits, and the call with them", async () => {
    covers(["http-disconnect-is-cancel", "http-disconnect-stop"]);
    const stage = await openFlood({ maxQueuedBytes: 100_000 });
    const before = process.memoryUsage().rss;
    const wires = await Promise.all(
      Array.from({ length: 10 }, () => ignore(stage, goodCall(stage, [], floodCall(100_000)))),
    );
    await until(() => stage.log.length === 10, "the cuts");
    await until(() => stage.running() === 0, "the end of the calls");
    for (const entry of stage.log) {
      expect(entry.outcome).toBe("gone");
      // What the sockets of both sides take, and not a gigabyte.
      expect(entry.responseBytes).toBeLessThan(50_000_000);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000);
    for (const wire of wires) wire.close();
    await expectAlive(stage);
  });

  test("of a session's streams are cut off, and what is kept for them is bounded", async () => {
    const stage = await openFlood({ maxQueuedBytes: 100_000, sessions: { maxEvents: 50, maxEventBytes: 200_000 } });
    const id = await openSession(stage, latest);
    const message = {
      ...floodCall(3000),
      params: { name: "flood", arguments: { times: 3000 }, _meta: { progressToken: 1 } },
    };
    const wire = await ignore(stage, sessionPost(stage, id, latest, message));
    await until(() => stage.log.some(({ outcome }) => outcome === "gone"), "the cut");
    // The call goes on: a session's client may come back for the rest, and is told that a part is lost.
    await until(() => stage.running() === 0, "the end of the call");
    wire.close();
    await expectRefused(stage, get(stage, id, [["Last-Event-ID", "2-1"]]), 400);
    expect((await sendRaw(stage.port, sessionPost(stage, id, latest)))?.status).toBe(200);
  });

  test("of HTTP+SSE lose their stream and their session", async () => {
    const stage = await openFlood({ sse: true, maxQueuedBytes: 100_000 });
    const wire = await openStream(stage, compose("GET", "/sse", [hostOf(stage), eventStream]));
    const address = eventsIn((await wire.chunk()) ?? "")[0]?.data ?? "";
    const tell = async (message: unknown) => (await sendRaw(stage.port, post(stage, message, json, address)))?.status;
    expect(await tell(handshake("2024-11-05"))).toBe(202);
    wire.socket.pause();
    const params = { name: "flood", arguments: { times: 100_000 }, _meta: { progressToken: 1 } };
    expect(await tell({ jsonrpc: "2.0", id: 1, method: "tools/call", params })).toBe(202);
    await until(() => stage.log.some(({ outcome }) => outcome === "gone"), "the cut");
    await until(() => stage.running() === 0, "the end of the call");
    expect(await tell({ jsonrpc: "2.0", id: 2, method: "ping" })).toBe(404);
    wire.close();
  });

  test("are cut off in time where little waits, and where the answer is one piece", async () => {
    const stage = await openFlood({ readerTimeoutMs: 300, maxQueuedBytes: 50_000_000 });
    const connections = (): Promise<number> =>
      new Promise((resolve) => stage.node.getConnections((_, count) => resolve(count)));
    const wires = await Promise.all([
      ignore(stage, goodCall(stage, [], floodCall(2000))),
      ignore(stage, Array.from({ length: 6 }, () => goodCall(stage, [], callOf({}, "big"))).join("")),
    ]);
    // Six answers that are written and not read, and the stream, which has more to say than anybody takes.
    await until(() => stage.log.length === 7, "seven ends");
    let open = await connections();
    for (let i = 0; i < 200 && open > 0; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      open = await connections();
    }
    expect(open).toBe(0);
    for (const wire of wires) wire.close();
    await expectAlive(stage);
  });
});

describe("too many streams", () => {
  test("of one session take each other's place, and of many sessions are bounded", async () => {
    const stage = await openStage({ maxStreams: 20 });
    const id = await openSession(stage, latest);
    const wires: Wire[] = [];
    for (let i = 0; i < 60; i++) wires.push(await openStream(stage, get(stage, id)));
    await until(
      () => wires.filter(({ isClosed, text }) => isClosed || text.endsWith("0\r\n\r\n")).length === 59,
      "the end of all but one",
    );
    for (const wire of wires) wire.close();
    const ids: string[] = [];
    for (let i = 0; i < 25; i++) ids.push(await openSession(stage, latest));
    const open: Wire[] = [];
    let status = 0;
    for (const one of ids) {
      const wire = await openWire(stage.port);
      wire.write(get(stage, one));
      status = (await wire.head())?.status ?? 0;
      if (status === 200) open.push(wire);
      else expect(status).toBe(503);
    }
    expect(open.length).toBeLessThanOrEqual(20);
    expect(open.length).toBeGreaterThanOrEqual(19);
    // A call that would stream is answered all the same.
    await expectAlive(stage);
    for (const wire of open) wire.close();
  });
});
