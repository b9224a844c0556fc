// Cancellation: the handler hears of it and why, and nothing more is said about that request.
import { McpError, type Revision } from "plenum";
import { describe, expect, test } from "vitest";
import { createDeferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { isOneChannel, modern, type Obj, openPeer, reachable, sessioned } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

/** Over HTTP a client of 2026-07-28 cancels by closing the connection, which says nothing. */
const heardIn = (revision: Revision, reason: string): string =>
  isOneChannel || revision !== modern ? reason : "The client closed the connection";

function createHanging() {
  const { server, errors } = createQuietServer();
  const heard: { id: unknown; reason: unknown }[] = [];
  const after: (() => unknown)[] = [];
  let outcome: "return" | "throw" | "mcp" = "return";
  server.tool("hang", {}, async (_, ctx) => {
    await new Promise<void>((resolve) => {
      ctx.signal.addEventListener("abort", () => {
        heard.push({ id: ctx.requestId, reason: ctx.signal.reason });
        resolve();
      });
    });
    after.push(() => ctx.progress(9));
    ctx.progress(5, 10, "too late");
    ctx.log.emergency("too late");
    if (outcome === "throw") throw new Error("too late");
    if (outcome === "mcp") throw new McpError("invalid_params", "too late");
    return "too late";
  });
  server.tool("quick", {}, () => "quick");
  return { server, errors, heard, after, end: (how: typeof outcome) => (outcome = how) };
}

const meta = (isModern: boolean): Obj => ({
  progressToken: "p",
  ...(isModern && { "io.modelcontextprotocol/logLevel": "debug" }),
});

describe.each(reachable)("a cancelled request in %s", (revision) => {
  test.each(["return", "throw", "mcp"] as const)(
    "aborts its handler with the reason and is silent from then on, however that ends: %s",
    async (how) => {
      covers(["cancel-stop-processing", "cancel-no-response", "cancel-log-reason", "progress-stops"], revision);
      const { server, heard, after, end } = createHanging();
      end(how);
      const peer = await openPeer(server, revision);
      peer.start("tools/call", { name: "hang", _meta: meta(peer.isModern) }, "gone");
      await peer.settle();
      const before = peer.messages.length;
      peer.notify("notifications/cancelled", { requestId: "gone", reason: "the user pressed stop" });
      await peer.settle();
      expect(heard).toHaveLength(1);
      expect(heard[0]?.id).toBe("gone");
      const message = heardIn(revision, "the user pressed stop");
      expect(heard[0]?.reason).toMatchObject({ name: "AbortError", message });
      expect(after).toHaveLength(1);
      for (const report of after) report();
      await peer.settle();
      expect(peer.messages).toHaveLength(before);
      expect(textOf(await peer.call("tools/call", { name: "quick" }))).toBe("quick");
    },
  );

  test.each([[undefined], [5], [null], [{ a: 1 }]])(
    "with the reason %j still ends with an AbortError",
    async (reason) => {
      const { server, heard } = createHanging();
      const peer = await openPeer(server, revision);
      peer.start("tools/call", { name: "hang" }, 7);
      await peer.settle();
      peer.notify("notifications/cancelled", { requestId: 7, reason });
      await peer.settle();
      const message = heardIn(revision, "The caller cancelled the request");
      expect(heard[0]?.reason).toMatchObject({ name: "AbortError", message });
    },
  );

  test("frees its place and its id", async () => {
    covers(["cancel-free-resources"], revision);
    const { server, heard } = createHanging();
    const peer = await openPeer(server, revision, { maxInFlight: 1 });
    for (let round = 1; round <= 3; round++) {
      peer.start("tools/call", { name: "hang" }, "same");
      await peer.settle();
      // Other channels have other limits, which count what is open of all clients.
      if (isOneChannel) expect((await peer.fail("tools/list")).message).toBe("Invalid request: too many open requests");
      peer.notify("notifications/cancelled", { requestId: "same" });
      // The place is free when the handler has ended, not before: to call and cancel is no way around the limit.
      await peer.settle();
      expect((await peer.call("tools/list")).tools).toHaveLength(2);
      expect(heard).toHaveLength(round);
    }
  });

  test("whose handler never looks at the signal is silent all the same", async () => {
    covers(["cancel-no-response"], revision);
    const { server } = createQuietServer();
    const gate = createDeferred<void>();
    let aborted: boolean | undefined;
    server.tool("deaf", {}, async (_, ctx) => {
      await gate.promise;
      ctx.progress(1);
      aborted = ctx.signal.aborted;
      return "done";
    });
    const peer = await openPeer(server, revision);
    peer.start("tools/call", { name: "deaf", _meta: { progressToken: 1 } }, "gone");
    await peer.settle();
    const before = peer.messages.length;
    peer.notify("notifications/cancelled", { requestId: "gone" });
    await peer.settle();
    gate.resolve();
    await peer.settle();
    expect(peer.messages).toHaveLength(before);
    // Whoever asks later is told too.
    expect(aborted).toBe(true);
  });

  test('is the one of that very id: 5 is not "5"', async () => {
    const { server, heard } = createHanging();
    const peer = await openPeer(server, revision);
    peer.start("tools/call", { name: "hang" }, 5);
    peer.start("tools/call", { name: "hang" }, "5");
    await peer.settle();
    peer.notify("notifications/cancelled", { requestId: "5" });
    await peer.settle();
    expect(heard.map(({ id }) => id)).toEqual(["5"]);
  });

  test("may be any request: a read and a prompt are told too", async () => {
    covers(["cancel-stop-processing"], revision);
    const { server } = createQuietServer();
    const heard: unknown[] = [];
    const hang = (_: unknown, ctx: { signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => {
          heard.push(ctx.signal.reason.message);
          reject(ctx.signal.reason);
        });
      });
    server.resource("x://a", {}, hang);
    server.prompt("p", {}, hang);
    server.handle("com.example/own", hang);
    const peer = await openPeer(server, revision);
    peer.start("resources/read", { uri: "x://a" }, "r");
    peer.start("prompts/get", { name: "p" }, "p");
    peer.start("com.example/own", {}, "o");
    await peer.settle();
    const before = peer.messages.length;
    for (const requestId of ["r", "p", "o"]) peer.notify("notifications/cancelled", { requestId, reason: requestId });
    await peer.settle();
    expect(heard).toEqual(["r", "p", "o"].map((reason) => heardIn(revision, reason)));
    expect(peer.messages).toHaveLength(before);
  });
});

describe.each(reachable)("a cancellation in %s", (revision) => {
  test("of an unknown or finished request, or a malformed one, is passed over", async () => {
    covers(["cancel-invalid-ids-ignored", "cancel-malformed-ignored", "cancel-receiver-may-ignore"], revision);
    const { server, heard } = createHanging();
    const peer = await openPeer(server, revision);
    peer.start("tools/call", { name: "hang" }, 1000);
    await peer.request("tools/call", { name: "quick" }, "finished");
    const before = peer.messages.length;
    peer.notify("notifications/cancelled", { requestId: 999 });
    peer.notify("notifications/cancelled", { requestId: "finished", reason: "late" });
    peer.notify("notifications/cancelled");
    peer.notify("notifications/cancelled", {});
    for (const requestId of [null, 1000.5, true, ["1000"], { id: 1000 }, "1000"]) {
      peer.notify("notifications/cancelled", { requestId });
    }
    peer.raw.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: [1000] });
    peer.raw.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: "1000" });
    await peer.settle();
    expect(peer.messages).toHaveLength(before);
    expect(heard).toEqual([]);
    expect(textOf(await peer.call("tools/call", { name: "quick" }))).toBe("quick");
  });

  test("that crosses the answer leaves one answer and a connection that works", async () => {
    covers(["cancel-race"], revision);
    const { server } = createHanging();
    // The answer of a tool that waits for nothing is sent in the turn of the request, and cannot be crossed.
    server.tool("brief", {}, async () => {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      return "brief";
    });
    const peer = await openPeer(server, revision);
    const before = peer.messages.length;
    // Sent together with the request, and after any number of turns in which the answer may be under way.
    for (let turns = 0; turns < 30; turns++) {
      const id = peer.start("tools/call", { name: "brief" }, `race ${turns}`);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      peer.notify("notifications/cancelled", { requestId: id });
    }
    await peer.settle();
    const answers = peer.messages.slice(before).map(({ id }) => id);
    expect(new Set(answers).size).toBe(answers.length);
    // Sockets run their own race.
    if (isOneChannel) expect(answers.length).toBeLessThan(30);
    if (isOneChannel) expect(answers.length).toBeGreaterThan(0);
    expect(textOf(await peer.call("tools/call", { name: "quick" }))).toBe("quick");
  });

  test("twice is once", async () => {
    const { server, heard } = createHanging();
    const peer = await openPeer(server, revision);
    peer.start("tools/call", { name: "hang" }, "x");
    await peer.settle();
    peer.notify("notifications/cancelled", { requestId: "x", reason: "first" });
    peer.notify("notifications/cancelled", { requestId: "x", reason: "second" });
    await peer.settle();
    expect(heard.map(({ reason }) => (reason as Error).message)).toEqual([heardIn(revision, "first")]);
  });
});

describe.each(sessioned)("the server's own requests in %s", (revision) => {
  async function openAsking() {
    const { server } = createQuietServer();
    const caught: unknown[] = [];
    server.tool("roots", {}, async (_, ctx) => {
      const roots = await ctx.roots().catch((error: McpError) => caught.push(error.code));
      return JSON.stringify(roots);
    });
    const peer = await openPeer(server, revision, { capabilities: { roots: {} } });
    return { server, caught, peer };
  }

  test("are cancelled with the call that made them, by their own id, once; a late answer is dropped", async () => {
    covers(
      [
        "cancel-same-direction",
        "cancel-in-progress",
        "cancel-params",
        "cancel-either-side",
        "cancel-sender-ignores-late",
      ],
      revision,
    );
    const { peer, caught } = await openAsking();
    const requestId = peer.start("tools/call", { name: "roots" }, "outer");
    const ask = await peer.asked();
    const before = peer.messages.length;
    peer.notify("notifications/cancelled", { requestId, reason: "changed my mind" });
    await peer.settle();
    expect(peer.messages.slice(before)).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: ask.id, reason: "changed my mind" },
      },
    ]);
    expect(caught).toEqual(["aborted"]);
    peer.answer(ask, { roots: [{ uri: "file:///late" }] });
    peer.raw.send({ jsonrpc: "2.0", id: ask.id, error: { code: -1, message: "late" } });
    await peer.settle();
    expect(peer.messages).toHaveLength(before + 1);
    expect((await peer.call("tools/list")).tools).toHaveLength(1);
  });

  test("are not cancelled once they are answered", async () => {
    covers(["cancel-in-progress"], revision);
    const { peer } = await openAsking();
    const id = peer.start("tools/call", { name: "roots" }, "outer");
    peer.answer(await peer.asked(), { roots: [] });
    await peer.settle();
    peer.notify("notifications/cancelled", { requestId: id });
    await peer.settle();
    expect(peer.notifications("notifications/cancelled")).toEqual([]);
  });
});

describe(`the server's cancellations in ${modern}`, () => {
  test("are for subscriptions alone, whatever else ends", async () => {
    covers(["cancel-server-only-listen", "cancel-params"], modern);
    const { server } = createHanging();
    const asking = { capabilities: { roots: {}, sampling: {}, elicitation: {} } };
    server.tool("roots", {}, (_, ctx) => ctx.roots());
    const peer = await openPeer(server, modern, asking);
    await peer.request("tools/call", { name: "roots" });
    peer.start("tools/call", { name: "hang" }, "cancelled");
    peer.start("tools/call", { name: "hang" }, "open");
    peer.start("subscriptions/listen", { notifications: {} }, "listening");
    await peer.settle();
    peer.notify("notifications/cancelled", { requestId: "cancelled" });
    await peer.settle();
    expect(peer.notifications("notifications/cancelled")).toEqual([]);
    await server.close();
    await peer.ended();
    const [told, ...more] = peer.notifications("notifications/cancelled");
    expect(more).toEqual([]);
    // A stream that carries nothing but the subscription ends with its result.
    if (!isOneChannel) {
      expect(told).toBeUndefined();
      expect(peer.messages.find(({ id }) => id === "listening")?.result).toBeDefined();
      return;
    }
    expect(told?.params?.requestId).toBe("listening");
    expect(typeof told?.params?.reason).toBe("string");
  });
});
