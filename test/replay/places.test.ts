// Where a handler of 2026-07-28 may ask: in tools, prompts and resources, through middleware and through resources that
// it reads itself; by hand too; and nowhere else.
import { type Context, createServer, McpError, type Server } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { watchStrays } from "../fuzz/strays.ts";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "../suites/peer.ts";
import { capabilities, drive, toLeg } from "./rounds.ts";
import { accept, createStage, leg, onward, textOf } from "./stage.ts";

watchStrays();

const form = z.object({ ok: z.boolean() });

function createEverywhere(options: Obj = {}): { server: Server; steps: string[]; errors: Error[] } {
  const steps: string[] = [];
  const errors: Error[] = [];
  const server = createServer({
    name: "everywhere",
    version: "1.0.0",
    onError: (error) => void errors.push(error as Error),
    ...options,
  });
  const ask = async (ctx: Context): Promise<string> => {
    await ctx.step("before", () => steps.push("before"));
    const answer = await ctx.elicit("Which?", form);
    await ctx.step("after", () => steps.push("after"));
    return `${answer.action} by ${ctx.client.info?.name}`;
  };
  server.tool("t", {}, (_, ctx) => ask(ctx));
  server.prompt("p", {}, (_, ctx) => ask(ctx));
  server.resource("a:x", { cache: { ttlMs: 60_000, scope: "public" } }, (_, ctx) => ask(ctx));
  server.tool("reader", {}, async (_, ctx) => {
    const { contents } = await ctx.readResource("a:x");
    const { contents: again } = await ctx.readResource("a:x");
    return [contents, again].map(([one]) => (one as { text: string }).text).join();
  });
  return { server, steps, errors };
}

const places: [method: string, params: Obj, member: string][] = [
  ["tools/call", { name: "t" }, "content"],
  ["prompts/get", { name: "p" }, "messages"],
  ["resources/read", { uri: "a:x" }, "contents"],
];

describe.each(places)("%s", (method, params, member) => {
  test("asks, and goes on with the answer", async () => {
    covers(["mrtr-supported-methods", "mrtr-result-type", "mrtr-only-channel"], modern);
    const { server, steps, errors } = createEverywhere();
    const peer = await openPeer(server, modern, { capabilities });
    const { last, rounds } = await drive(peer, method, params, accept);
    expect(rounds).toBe(1);
    expect(last.result?.resultType).toBe("complete");
    expect(JSON.stringify(last.result?.[member])).toContain("accept by test-client");
    expect(steps).toEqual(["before", "after"]);
    expect(errors).toEqual([]);
  });

  test("passes a middleware in every round", async () => {
    const { server } = createEverywhere();
    const seen: unknown[] = [];
    server.use((call, next) => {
      seen.push([call.method, Object.keys(call.params)]);
      return next({ ...call });
    });
    const peer = await openPeer(server, modern, { capabilities });
    await drive(peer, method, params, accept);
    expect(seen).toEqual(Array(2).fill([method, Object.keys(params)]));
  });
});

test("a resource that was asked about is kept by nobody, and what asks has no hints at all", async () => {
  const { server } = createEverywhere({ cache: { ttlMs: 5000, scope: "public" } });
  server.resource("a:plain", {}, () => "plain");
  const peer = await openPeer(server, modern, { capabilities });
  const first = toLeg(await peer.request("resources/read", { uri: "a:x" }));
  expect(Object.keys(first?.result ?? {}).sort()).toEqual(["_meta", "inputRequests", "requestState", "resultType"]);
  const last = await peer.call("resources/read", { uri: "a:x", ...onward(first as never) });
  expect(last).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  // Whatever a request brings that goes on with a call, even where nothing is asked.
  const stray = { inputResponses: { a: { action: "cancel" } } };
  expect(await peer.call("resources/read", { uri: "a:plain", ...stray })).toMatchObject({
    ttlMs: 0,
    cacheScope: "private",
  });
  expect(await peer.call("resources/read", { uri: "a:plain" })).toMatchObject({ ttlMs: 5000, cacheScope: "public" });
});

test("a tool that reads resources which ask goes on where it was", async () => {
  const { server, steps } = createEverywhere();
  const peer = await openPeer(server, modern, { capabilities });
  const { last, rounds } = await drive(peer, "tools/call", { name: "reader" }, accept);
  expect(textOf(last)).toBe("accept by test-client,accept by test-client");
  expect(rounds).toBe(2);
  expect(steps).toEqual(["before", "after", "before", "after"]);
});

test("log messages and progress of what is run again are sent again", async () => {
  const { open } = createStage(async (ctx) => {
    ctx.progress(1);
    ctx.log.info("began");
    await ctx.elicit("?", form);
    ctx.progress(2);
  });
  const peer = await open();
  const _meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "info" };
  const first = await leg(peer, { _meta });
  await peer.request("tools/call", { name: "run", _meta, ...onward(first) });
  const progress = peer.notifications("notifications/progress").map(({ params }) => params?.progress);
  expect(progress).toEqual([1, 1, 2]);
  expect(peer.notifications("notifications/message")).toHaveLength(2);
});

describe("elsewhere", () => {
  test("a completion cannot ask, and says so", async () => {
    covers("mrtr-no-other-methods", modern);
    let caught: unknown;
    const { server } = createStage(() => {});
    server.prompt(
      "p",
      {
        arguments: z.object({ a: z.string() }),
        complete: {
          a: async (_, ctx) => {
            await ctx.elicit("?", form).catch((error) => {
              caught = error;
              throw error;
            });
            return [];
          },
        },
      },
      () => "",
    );
    const peer = await openPeer(server, modern, { capabilities });
    const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } };
    const message =
      'elicitation/create cannot be asked by "completion/complete": in 2026-07-28 only tools/call, prompts/get and resources/read may ask';
    expect(await peer.fail("completion/complete", params)).toEqual({ code: -32603, message });
    expect(caught).toBeInstanceOf(McpError);
  });

  test("a list cannot ask", async () => {
    covers("mrtr-no-other-methods", modern);
    const { server } = createStage(() => {});
    server.resource(
      "a:{x}",
      {
        list: async (ctx) => {
          await ctx.roots();
          return [];
        },
      },
      () => "",
    );
    const peer = await openPeer(server, modern, { capabilities });
    expect((await peer.fail("resources/list")).message).toContain('cannot be asked by "resources/list"');
  });

  test("whoever answers another method by asking is told that it must not", async () => {
    covers("mrtr-no-other-methods", modern);
    const { server, errors, open } = createStage(() => {});
    const asking = { resultType: "input_required", inputRequests: { a: { method: "roots/list" } } };
    server.use((call, next) => (call.method === "tools/list" ? asking : next(call)));
    const peer = await open();
    expect(await peer.fail("tools/list")).toEqual({ code: -32603, message: "tools/list must not ask for input" });
    expect(errors.map(({ message }) => message)).toEqual(["tools/list must not ask for input"]);
    const byHand = createServer({ name: "by-hand", version: "1.0.0", onError: () => {} });
    byHand.handle("prompts/list", () => asking);
    expect((await (await openPeer(byHand, modern)).fail("prompts/list")).code).toBe(-32603);
  });
});

describe("what is handled by hand", () => {
  test("has its own states, which nobody looks at", async () => {
    const server = createServer({ name: "by-hand", version: "1.0.0" });
    const seen: Obj[] = [];
    server.handle("tools/call", (params) => {
      seen.push(params as Obj);
      if (params.requestState !== undefined) return { content: [] };
      return {
        resultType: "input_required",
        inputRequests: { mine: { method: "roots/list" } },
        requestState: "v1.mine.state",
      };
    });
    const peer = await openPeer(server, modern, { capabilities });
    const first = toLeg(await peer.request("tools/call", { name: "x" }));
    expect(first?.state).toBe("v1.mine.state");
    const more = onward(first as never);
    await peer.call("tools/call", { name: "x", ...more });
    expect(seen).toEqual([{ name: "x" }, { name: "x", ...more }]);
  });

  test("may ask as every handler does", async () => {
    const server = createServer({ name: "by-hand", version: "1.0.0" });
    const seen: Obj[] = [];
    server.handle("tools/call", async (params, ctx) => {
      seen.push(params as Obj);
      const { action } = await ctx.elicit("?", form);
      return { content: [{ type: "text", text: action }] };
    });
    const peer = await openPeer(server, modern, { capabilities });
    const { last } = await drive(peer, "tools/call", { name: "x" }, accept);
    expect(textOf(last)).toBe("accept");
    expect(seen).toEqual([{ name: "x" }, { name: "x" }]);
  });

  test("is kept by nobody either when it goes on", async () => {
    const server = createServer({ name: "by-hand", version: "1.0.0", cache: { ttlMs: 5000, scope: "public" } });
    server.handle("resources/read", () => ({ contents: [{ uri: "a:x", text: "" }] }));
    const peer = await openPeer(server, modern, { capabilities });
    expect(await peer.call("resources/read", { uri: "a:x", requestState: "mine" })).toMatchObject({
      ttlMs: 0,
      cacheScope: "private",
    });
    expect(await peer.call("resources/read", { uri: "a:x" })).toMatchObject({ ttlMs: 5000 });
  });
});
