// Progress: only for those who asked, under their token, always forward, thinned in a flood, silent after the end.
import { jsonSchema, revisions } from "plenum";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createDeferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { type Obj, openPeer, type Peer } from "./peer.ts";
import { createQuietServer } from "./tool-peer.ts";

type Report = [progress: number, total?: number, message?: string];

/** Reports in a row whatever the arguments say. */
function createReporting(progressPerSecond?: number) {
  const { server, errors } = createQuietServer(progressPerSecond === undefined ? {} : { progressPerSecond });
  server.tool("report", { input: jsonSchema({ type: "object" }) }, (args, ctx) => {
    for (const report of (args as { reports: Report[] }).reports) ctx.progress(...report);
  });
  return { server, errors };
}

const progressOf = (peer: Peer): Obj[] =>
  peer.notifications("notifications/progress").map(({ params }) => params ?? {});

afterEach(() => {
  vi.useRealTimers();
});

describe.each(revisions)("progress in %s", (revision) => {
  const report = (peer: Peer, reports: Report[], _meta?: Obj) =>
    peer.call("tools/call", { name: "report", arguments: { reports }, ...(_meta && { _meta }) });

  test("is sent under the token that _meta carries, in value and type, before the answer", async () => {
    covers(["progress-token-in-meta", "progress-same-token", "progress-send", "progress-send-2026"], revision);
    const peer = await openPeer(createReporting().server, revision);
    for (const progressToken of [5, "5", 0, "", -1, Number.MAX_SAFE_INTEGER, "a b"]) {
      const before = progressOf(peer).length;
      await report(peer, [[1, 4]], { progressToken });
      expect(progressOf(peer).slice(before)).toEqual([{ progressToken, progress: 1, total: 4 }]);
      expect(peer.messages.at(-2)?.method).toBe("notifications/progress");
    }
  });

  test("is not sent without a token, nor for one in another place", async () => {
    covers(["progress-active-token-only", "progress-token-in-meta", "progress-none-or-any-rate"], revision);
    const peer = await openPeer(createReporting().server, revision);
    await report(peer, [[1], [2]]);
    await peer.call("tools/call", { name: "report", arguments: { reports: [[1]], progressToken: 1 } });
    await peer.call("tools/call", { name: "report", arguments: { reports: [[1]] }, progressToken: 1 });
    await report(peer, [], { progressToken: "unused" });
    expect(progressOf(peer)).toEqual([]);
  });

  test.each([[1.5], [{}], [[]], [null], [true], [2 ** 53]])("a token that is %j is -32602", async (progressToken) => {
    covers(["progress-token-type"], revision);
    const peer = await openPeer(createReporting().server, revision);
    const error = await peer.fail("tools/call", { name: "report", _meta: { progressToken } });
    expect(error.code).toBe(-32602);
    expect(error.message).toContain("progressToken must be a string or an integer");
  });

  test("only ever goes up", async () => {
    covers(["progress-increases"], revision);
    const peer = await openPeer(createReporting().server, revision);
    await report(peer, [[1], [1], [0], [2], [1.5], [-3], [2], [2.5]], { progressToken: "t" });
    expect(progressOf(peer).map(({ progress }) => progress)).toEqual([1, 2, 2.5]);
  });

  test("may be fractions, and begin below zero", async () => {
    covers(["progress-float"], revision);
    const peer = await openPeer(createReporting().server, revision);
    await report(
      peer,
      [
        [-1, 1.5],
        [0.25, 1.5],
      ],
      { progressToken: "t" },
    );
    expect(progressOf(peer)).toEqual([
      { progressToken: "t", progress: -1, total: 1.5 },
      { progressToken: "t", progress: 0.25, total: 1.5 },
    ]);
  });

  test("carries a message where the revision has one", async () => {
    covers(["progress-message", "progress-no-message"], revision);
    const peer = await openPeer(createReporting().server, revision);
    await report(peer, [[1, 2, "half way"]], { progressToken: "t" });
    expect(progressOf(peer)).toEqual([
      { progressToken: "t", progress: 1, total: 2, ...(revision > "2024-11-05" && { message: "half way" }) },
    ]);
  });

  test.each([
    [[Number.NaN]],
    [[Number.POSITIVE_INFINITY]],
    [[1, Number.NaN]],
    [["1" as unknown as number]],
    [[1, 2, 3]],
  ] as unknown as [Report][])(
    "that is no number, or whose message is no text (%j), is an error where it is reported",
    async (wrong) => {
      const { server, errors } = createQuietServer();
      server.tool("wrong", {}, (_, ctx) => ctx.progress(...wrong));
      const peer = await openPeer(server, revision);
      expect((await peer.call("tools/call", { name: "wrong", _meta: { progressToken: 1 } })).isError).toBe(true);
      expect(errors[0]?.error).toBeInstanceOf(TypeError);
      expect(progressOf(peer)).toEqual([]);
    },
  );

  test("in a flood is thinned, and the last value arrives", async () => {
    covers(["progress-rate-limit"], revision);
    vi.useFakeTimers({ toFake: ["performance"] });
    const { server } = createQuietServer();
    server.tool("flood", {}, (_, ctx) => {
      for (let n = 1; n <= 10_000; n++) ctx.progress(n, 10_000);
    });
    const peer = await openPeer(server, revision);
    await peer.call("tools/call", { name: "flood", _meta: { progressToken: "t" } });
    const values = progressOf(peer).map(({ progress }) => progress);
    expect(values).toEqual([...Array.from({ length: 100 }, (_, index) => index + 1), 10_000]);
    expect(peer.messages.at(-1)?.result).toBeDefined();
  });

  test("flows again when time has passed", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { server } = createQuietServer({ progressPerSecond: 2 });
    server.tool("slow", {}, (_, ctx) => {
      for (let n = 1; n <= 4; n++) ctx.progress(n);
      vi.advanceTimersByTime(500);
      for (let n = 5; n <= 8; n++) ctx.progress(n);
    });
    const peer = await openPeer(server, revision);
    await peer.call("tools/call", { name: "slow", _meta: { progressToken: "t" } });
    expect(progressOf(peer).map(({ progress }) => progress)).toEqual([1, 2, 5, 8]);
  });

  test("of reads, prompts and methods of one's own is thinned and completed alike", async () => {
    covers(["progress-rate-limit"], revision);
    const { server } = createQuietServer({ progressPerSecond: 0.001 });
    const run = (_: unknown, ctx: { progress(value: number): void }) => {
      for (let n = 1; n <= 50; n++) ctx.progress(n);
      return "";
    };
    server.resource("x://a", {}, run);
    server.prompt("p", {}, run);
    server.handle("com.example/own", (params, ctx) => ({ own: run(params, ctx) }));
    const peer = await openPeer(server, revision);
    await peer.call("resources/read", { uri: "x://a", _meta: { progressToken: "r" } });
    await peer.call("prompts/get", { name: "p", _meta: { progressToken: "p" } });
    await peer.call("com.example/own", { _meta: { progressToken: "o" } });
    expect(progressOf(peer).map(({ progressToken, progress }) => [progressToken, progress])).toEqual([
      ["r", 1],
      ["r", 50],
      ["p", 1],
      ["p", 50],
      ["o", 1],
      ["o", 50],
    ]);
  });

  test("goes on in a resource that a tool reads: it does not begin anew", async () => {
    covers(["progress-increases"], revision);
    const { server } = createQuietServer();
    server.resource("x://a", {}, (_, ctx) => {
      ctx.progress(1);
      ctx.progress(6);
      return "";
    });
    server.tool("reads", {}, async (_, ctx) => {
      ctx.progress(5);
      await ctx.readResource("x://a");
      ctx.progress(7);
    });
    const peer = await openPeer(server, revision);
    await peer.call("tools/call", { name: "reads", _meta: { progressToken: "t" } });
    expect(progressOf(peer).map(({ progress }) => progress)).toEqual([5, 6, 7]);
  });

  test("ends with its request: what a handler reports after its answer or its error goes nowhere", async () => {
    covers(["progress-in-progress-only", "progress-stops", "progress-track-tokens"], revision);
    const { server } = createQuietServer();
    const later: (() => void)[] = [];
    const gate = createDeferred<void>();
    server.tool("ends", { input: jsonSchema({ type: "object" }) }, (args, ctx) => {
      ctx.progress(1);
      later.push(() => ctx.progress(2));
      if ((args as { fail?: boolean }).fail) throw new Error("x");
    });
    server.tool("runs", {}, async (_, ctx) => {
      await gate.promise;
      ctx.progress(3);
    });
    const peer = await openPeer(server, revision);
    await peer.call("tools/call", { name: "ends", _meta: { progressToken: "one" } });
    await peer.call("tools/call", { name: "ends", arguments: { fail: true }, _meta: { progressToken: "two" } });
    peer.start("tools/call", { name: "runs", _meta: { progressToken: "three" } });
    await peer.settle();
    for (const report of later) report();
    gate.resolve();
    await peer.settle();
    for (const report of later) report();
    await peer.settle();
    expect(progressOf(peer).map(({ progressToken, progress }) => [progressToken, progress])).toEqual([
      ["one", 1],
      ["two", 1],
      ["three", 3],
    ]);
  });

  test("that a client sends under a token nobody gave out is passed over", async () => {
    covers(["progress-active-token-only"], revision);
    const peer = await openPeer(createReporting().server, revision);
    const before = peer.messages.length;
    for (const params of [{ progressToken: "x", progress: 1, message: "?" }, { progressToken: {} }, {}, undefined]) {
      peer.notify("notifications/progress", params);
    }
    await peer.settle();
    expect(peer.messages).toHaveLength(before);
  });
});
