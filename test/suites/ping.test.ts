// Ping, and the time that the server's own requests are given: both of the sessioned revisions.
import { createServer, type McpError, revisions } from "plenum";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createDeferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { isHeardUnopened, modern, openPeer, sessioned } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const pinging = revisions.filter((revision) => revision !== modern);

afterEach(() => {
  vi.useRealTimers();
});

describe.each(pinging)("ping in %s", (revision) => {
  test("is answered with nothing, before, during and after the handshake and beside a long call", async () => {
    covers(["ping-respond", "ping-no-params"], revision);
    const gate = createDeferred<string>();
    const server = createServer({ name: "s", version: "1", lifespan: () => gate.promise });
    server.tool("long", {}, () => new Promise<void>(() => {}));
    const peer = await openPeer(server, revision, { closed: true });
    if (isHeardUnopened(revision)) expect(await peer.call("ping")).toEqual({});
    // The handshake waits for what the server opens first; a ping does not.
    const opening = peer.open();
    if (isHeardUnopened(revision)) expect(await peer.call("ping")).toEqual({});
    gate.resolve("open");
    await opening;
    expect(await peer.call("ping")).toEqual({});
    peer.start("tools/call", { name: "long" });
    expect(await peer.call("ping", { _meta: { "com.example/x": 1 } })).toEqual({});
  });
});

describe.each(sessioned)("a request of the server's in %s", (revision) => {
  test("that gets no answer in time is cancelled and given up; a late answer is dropped", async () => {
    covers(["timeout-every-request", "timeout-cancels"], revision);
    const { server } = createQuietServer();
    const errors: McpError[] = [];
    server.tool("roots", {}, async (_, ctx) => {
      await ctx.roots().catch((error: McpError) => errors.push(error));
      return "gave up";
    });
    const peer = await openPeer(server, revision, { capabilities: { roots: {} }, askTimeoutMs: 5000 });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const id = peer.start("tools/call", { name: "roots" });
    const ask = await peer.asked();
    await vi.advanceTimersByTimeAsync(4999);
    expect(errors).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(errors.map(({ code }) => code)).toEqual(["timeout"]);
    const answer = peer.messages.find((message) => message.id === id && !message.method);
    expect(textOf(answer?.result ?? {})).toBe("gave up");
    expect(peer.notifications("notifications/cancelled").map(({ params }) => params)).toEqual([
      { requestId: ask.id, reason: "No answer in 5000 ms" },
    ]);
    vi.useRealTimers();
    const before = peer.messages.length;
    peer.answer(ask, { roots: [] });
    await peer.settle();
    expect(peer.messages).toHaveLength(before);
    expect(await peer.call("ping")).toEqual({});
  });

  test("is given ten minutes unless told otherwise", async () => {
    covers(["timeout-every-request"], revision);
    const { server } = createQuietServer();
    server.tool("roots", {}, async (_, ctx) => (await ctx.roots().catch((error: McpError) => error.code)) as string);
    const peer = await openPeer(server, revision, { capabilities: { roots: {} } });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const id = peer.start("tools/call", { name: "roots" });
    await peer.asked();
    await vi.advanceTimersByTimeAsync(599_999);
    expect(peer.messages.find((message) => message.id === id && !message.method)).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    const answer = peer.messages.find((message) => message.id === id && !message.method);
    expect(textOf(answer?.result ?? {})).toBe("timeout");
  });
});
