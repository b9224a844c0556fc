// Time goes by when the test says so: timers run in order at their time, and what the library times can be tested without waiting.
import { connect, createServer, revisions } from "plenum";
import { toFetchHandler } from "plenum/http";
import { afterEach, expect, test } from "vitest";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";

let clock: FakeClock | undefined;
afterEach(() => clock?.restore());

function createSubject() {
  const server = createServer({ name: "subject", version: "1.0.0" });
  server.tool("hang", {}, (_, ctx) => {
    return new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
  });
  server.tool("steps", {}, async (_, ctx) => {
    for (let step = 1; step <= 5; step++) {
      await new Promise((resolve) => setTimeout(resolve, 40_000));
      ctx.progress(step, 5);
    }
    return "done";
  });
  server.tool("quick", {}, () => "quick");
  return server;
}

/** What a promise has come to. */
function watch(promise: Promise<unknown>): { outcome: string } {
  const seen = { outcome: "open" };
  promise.then(
    () => {
      seen.outcome = "resolved";
    },
    (error: { code?: string }) => {
      seen.outcome = error.code ?? "rejected";
    },
  );
  return seen;
}

test("timers run in order at their time", async () => {
  clock = createFakeClock({ now: Date.UTC(2026, 0, 1) });
  const ran: unknown[] = [];
  const note = (name: string): void => void ran.push([name, Date.now() - Date.UTC(2026, 0, 1)]);
  setTimeout(note, 30, "late");
  setTimeout(async () => {
    note("early");
    await null;
    setTimeout(note, 5, "set by early");
  }, 10);
  const timer = setInterval(note, 12, "again");
  const cleared = setTimeout(note, 1, "never");
  clearTimeout(cleared);
  await clock.advance(9);
  expect(ran).toEqual([]);
  await clock.advance(21);
  expect(ran).toEqual([
    ["early", 10],
    ["again", 12],
    ["set by early", 15],
    ["again", 24],
    ["late", 30],
  ]);
  clearInterval(timer);
  expect(clock.pending).toBe(0);
});

test("dates, performance.now and signals go with it", async () => {
  clock = createFakeClock({ now: new Date("2026-07-28T12:00:00Z") });
  const began = performance.now();
  const signal = AbortSignal.timeout(60_000);
  expect(new Date().toISOString()).toBe("2026-07-28T12:00:00.000Z");
  expect(new Date(0).getTime()).toBe(0);
  expect(new Date() instanceof Date).toBe(true);
  expect(typeof Date()).toBe("string");
  await clock.advance(59_999);
  expect(signal.aborted).toBe(false);
  await clock.advance(1);
  expect(signal.aborted).toBe(true);
  expect(performance.now() - began).toBe(60_000);
  expect(clock.now).toBe(Date.parse("2026-07-28T12:01:00Z"));
});

test("there is one at a time, and afterwards all is as before", async () => {
  const before = [setTimeout, clearTimeout, setInterval, clearInterval, Date, performance.now, AbortSignal.timeout];
  {
    using first = createFakeClock();
    expect(() => createFakeClock()).toThrow(/already/);
    expect(setTimeout).not.toBe(before[0]);
    first.restore();
    first.restore();
    using second = createFakeClock();
    // It is not the first one's any more.
    first.restore();
    expect(Date.now()).toBe(second.now);
  }
  expect([setTimeout, clearTimeout, setInterval, clearInterval, Date, performance.now, AbortSignal.timeout]).toEqual(
    before,
  );
});

test("timers as Node has them: refreshed, and cleared though they were set before", async () => {
  let isLate = false;
  const early = setTimeout(() => {
    isLate = true;
  }, 1);
  clock = createFakeClock();
  clearTimeout(early);
  let runs = 0;
  const timer = setTimeout(() => runs++, 100);
  expect(timer.unref().hasRef()).toBe(false);
  await clock.advance(60);
  timer.refresh();
  await clock.advance(60);
  expect(runs).toBe(0);
  await clock.advance(40);
  expect(runs).toBe(1);
  clock.restore();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isLate).toBe(false);
});

test("what a timer throws is thrown by advance, and one that waits for another is not waited for", async () => {
  clock = createFakeClock();
  setTimeout(() => {
    throw new RangeError("no");
  }, 1);
  await expect(clock.advance(5)).rejects.toThrow(RangeError);
  await expect(clock.advance(-1)).rejects.toThrow(TypeError);
  let isOver = false;
  setTimeout(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    isOver = true;
  }, 1);
  await clock.advance(50);
  expect(isOver).toBe(false);
  await clock.advance(51);
  expect(isOver).toBe(true);
});

test.each(revisions)("%s: a client's timeout, and progress that puts it off", async (revision) => {
  const client = await connect(createSubject(), { revision });
  // The modules are there from the first call on.
  await client.callTool("quick");
  clock = createFakeClock();
  const hanging = watch(client.callTool("hang", {}, { timeoutMs: 60_000 }));
  const stepping = watch(client.callTool("steps", {}, { timeoutMs: 60_000, onProgress() {} }));
  const limited = watch(client.callTool("steps", {}, { timeoutMs: 60_000, maxTimeoutMs: 150_000, onProgress() {} }));
  await clock.advance(59_000);
  expect([hanging, stepping, limited].map(({ outcome }) => outcome)).toEqual(["open", "open", "open"]);
  await clock.advance(2000);
  expect(hanging.outcome).toBe("timeout");
  await clock.advance(100_000);
  expect([stepping, limited].map(({ outcome }) => outcome)).toEqual(["open", "timeout"]);
  await clock.advance(40_000);
  expect(stepping.outcome).toBe("resolved");
  const closing = client.close();
  await clock.advance(1000);
  await closing;
});

test("a session that nobody uses is gone", async () => {
  const handle = toFetchHandler(createSubject(), { sessions: { idleMs: 300_000 } });
  const send = (body: object, session?: string): Promise<Response> =>
    handle(
      new Request("http://127.0.0.1/mcp", {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", ...body }),
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          host: "127.0.0.1",
          ...(session !== undefined && { "mcp-session-id": session }),
        },
      }),
    );
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  clock = createFakeClock();
  const opened = await send({ id: 1, method: "initialize", params });
  const session = opened.headers.get("mcp-session-id") as string;
  expect(session).toBeTruthy();
  await send({ method: "notifications/initialized" }, session);
  await clock.advance(299_000);
  expect((await send({ id: 2, method: "ping" }, session)).status).toBe(200);
  await clock.advance(299_000);
  expect((await send({ id: 3, method: "ping" }, session)).status).toBe(200);
  await clock.advance(300_000);
  expect((await send({ id: 4, method: "ping" }, session)).status).toBe(404);
  const closing = handle.close?.();
  await clock.advance(10_000);
  await closing;
});
