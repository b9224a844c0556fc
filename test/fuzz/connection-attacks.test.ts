// Attacks on a connection: answers too large to send, limits gone around, handlers that outlive their callers, logs
// that a peer fills, channels that behave oddly.
import { createServer, type JsonObject, type Revision, revisions } from "plenum";
import { createMemoryPair } from "plenum/memory";
import { serve } from "plenum/protocol";
import { describe, expect, test } from "vitest";
import { modern, openPeer } from "../suites/peer.ts";
import { watchStrays } from "./strays.ts";

const create = (errors: unknown[] = []) =>
  createServer({ name: "target", version: "1.0.0", onError: (error) => errors.push(error) });
const call = (id: unknown, name: string) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name } });
const turn = () => new Promise((resolve) => setTimeout(resolve));

watchStrays();

describe("a batch", () => {
  const march: Revision = "2025-03-26";

  test("whose answers together are too long for one text is answered with errors", async () => {
    const errors: unknown[] = [];
    const server = create(errors);
    server.resource("big://file", {}, () => "x".repeat(600_000));
    const peer = await openPeer(server, march);
    const members = Array.from({ length: 1000 }, (_, id) => ({
      jsonrpc: "2.0",
      id,
      method: "resources/read",
      params: { uri: "big://file" },
    }));
    peer.raw.send(members);
    const answers = (await peer.raw.next(20_000)) as { id: number; error: { code: number } }[];
    expect(answers).toHaveLength(1000);
    expect(new Set(answers.map(({ error }) => error.code))).toEqual(new Set([-32603]));
    expect(errors).toHaveLength(1);
    expect(await peer.call("ping")).toEqual({});
  });

  test("that is open when the server closes gets one array with all its answers", async () => {
    const server = create();
    server.tool("fast", {}, () => "done");
    server.tool("slow", {}, () => new Promise<string>(() => {}));
    const peer = await openPeer(server, march);
    peer.raw.send([call("a", "fast"), call("b", "slow")]);
    await peer.settle();
    await server.close();
    await peer.settle();
    const [answers] = peer.messages.filter((message) => Array.isArray(message)) as unknown as { id: string }[][];
    expect(answers?.map(({ id }) => id).sort()).toEqual(["a", "b"]);
  });

  test("has no members of 2026-07-28", async () => {
    const peer = await openPeer(create(), march);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    peer.raw.send([{ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta } }]);
    await peer.settle();
    expect(peer.messages.at(-1)).toMatchObject({
      error: { code: -32600, message: "Invalid request: batches exist only in sessions of 2025-03-26" },
    });
  });
});

describe.each(revisions)("in %s", (revision) => {
  test("to call and cancel is no way around the limit of open requests", async () => {
    const server = create();
    let running = 0;
    let finish = (): void => {};
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    server.tool("deaf", {}, async () => {
      running++;
      await gate;
    });
    const peer = await openPeer(server, revision, { maxInFlight: 2 });
    for (let id = 1; id <= 10; id++) {
      peer.start("tools/call", { name: "deaf" }, `c${id}`);
      await turn();
      peer.notify("notifications/cancelled", { requestId: `c${id}` });
      await turn();
    }
    expect(running).toBe(2);
    finish();
    await peer.settle();
    expect(await peer.call("tools/call", { name: "deaf" })).toMatchObject({ content: [] });
  });

  test("cancelled listening, and cancelled calls, give their place back", async () => {
    const server = create();
    server.tool(
      "work",
      {},
      (_, ctx) => new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve())),
    );
    const peer = await openPeer(server, revision, { maxInFlight: 2 });
    for (let id = 1; id <= 10; id++) {
      if (peer.isModern) peer.start("subscriptions/listen", { notifications: { toolsListChanged: true } }, `l${id}`);
      else peer.start("tools/call", { name: "work" }, `l${id}`);
      await peer.settle();
      peer.notify("notifications/cancelled", { requestId: `l${id}` });
      await peer.settle();
    }
    expect((await peer.call("tools/list")).tools).toHaveLength(1);
  });

  test("a call that was cancelled before its handler began does not run it", async () => {
    let open = (): void => {};
    const opening = new Promise<void>((resolve) => (open = resolve));
    const server = createServer({ name: "slow", version: "1", lifespan: () => opening });
    let ran = 0;
    const count = () => void ran++;
    server.tool("pay", {}, count);
    server.resource("a:x", {}, count);
    server.prompt("p", {}, () => String(ran++));
    const peer = await openPeer(server, revision, { closed: true });
    // The handshake itself waits for the lifespan.
    if (!peer.isModern) {
      open();
      await peer.open();
    }
    let decide = (_: boolean): void => {};
    server.tool("guarded", { visible: () => new Promise<boolean>((resolve) => (decide = resolve)) }, count);
    peer.start("tools/call", { name: "guarded" }, "g");
    if (peer.isModern) for (const id of ["t", "r", "p"]) peer.start(...methods[id as "t"], id);
    await peer.settle();
    for (const requestId of ["g", "t", "r", "p"]) peer.notify("notifications/cancelled", { requestId });
    await peer.settle();
    open();
    await peer.settle();
    decide(true);
    await peer.settle();
    expect(ran).toBe(0);
  });

  test("what a handler throws because it was cancelled fills no log, and other errors are still told", async () => {
    const errors: unknown[] = [];
    const server = create(errors);
    server.tool("polite", {}, async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      ctx.signal.throwIfAborted();
    });
    server.tool("broken", {}, async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      throw new Error("while cleaning up");
    });
    const peer = await openPeer(server, revision);
    peer.start("tools/call", { name: "polite" }, 1001);
    peer.start("tools/call", { name: "broken" }, 1002);
    await peer.settle();
    peer.notify("notifications/cancelled", { requestId: 1001, reason: "x\n2026-01-01 INFO forged\u001b[2J" });
    peer.notify("notifications/cancelled", { requestId: 1002 });
    await peer.settle();
    expect(errors.map((error) => (error as Error).message)).toEqual(["while cleaning up"]);
  });

  test("a reason with line breaks reaches the handler as one line", async () => {
    const server = create();
    let message = "";
    server.tool(
      "hang",
      {},
      (_, ctx) =>
        new Promise<void>((resolve) => {
          ctx.signal.addEventListener("abort", () => {
            message = (ctx.signal.reason as Error).message;
            resolve();
          });
        }),
    );
    const peer = await openPeer(server, revision);
    peer.start("tools/call", { name: "hang" }, "h");
    await peer.settle();
    peer.notify("notifications/cancelled", { requestId: "h", reason: "a\r\nb\u001b[2Jc" });
    await peer.settle();
    expect(message).toBe("a b [2Jc");
  });

  test("a reporter that fails later takes nothing with it", async () => {
    const onError = async () => {
      await turn();
      throw new Error("the log is down");
    };
    const server = createServer({ name: "s", version: "1", onError });
    server.tool("fail", {}, () => {
      throw new Error("x");
    });
    const peer = await openPeer(server, revision);
    expect(await peer.call("tools/call", { name: "fail" })).toMatchObject({ isError: true });
    await peer.settle();
    await turn();
  });

  test("a result that cannot be written is reported, and one that writes itself only sometimes is answered", async () => {
    const errors: unknown[] = [];
    const server = create(errors);
    server.handle("x/bigint", () => ({ n: 1n }));
    let reads = 0;
    server.handle("x/moody", () => ({
      get v() {
        if (++reads !== 2) throw new Error("not now");
        return 1;
      },
    }));
    const peer = await openPeer(server, revision);
    expect((await peer.fail("x/bigint")).code).toBe(-32603);
    expect(errors).toHaveLength(1);
    expect((await peer.fail("x/moody")).code).toBe(-32603);
  });
});

const methods = {
  t: ["tools/call", { name: "pay" }],
  r: ["resources/read", { uri: "a:x" }],
  p: ["prompts/get", { name: "p" }],
} as unknown as { t: [string, JsonObject] };

test.each([
  ["clientInfo", 5],
  ["logLevel", "bogus"],
  ["clientCapabilities", { extensions: "text" }],
])("in 2026-07-28 %s is checked for methods of one's own too", async (key, value) => {
  const server = create();
  let ran = 0;
  server.handle("x/own", () => {
    ran++;
    return {};
  });
  const peer = await openPeer(server, modern);
  expect((await peer.fail("x/own", { _meta: { [`io.modelcontextprotocol/${key}`]: value } })).code).toBe(-32602);
  expect(ran).toBe(0);
});

test("a subscription is ended once, however often the server closes", async () => {
  const server = create();
  server.tool("t", {}, () => "");
  const peer = await openPeer(server, modern);
  peer.start("subscriptions/listen", { notifications: { toolsListChanged: true } }, "l");
  await peer.settle();
  await Promise.all([server.close(), server.close()]);
  await peer.settle();
  expect(peer.notifications("notifications/cancelled")).toHaveLength(1);
});

test("a channel may deliver while it is being opened", async () => {
  const [near, far] = createMemoryPair();
  const sent: unknown[] = [];
  near.open({ receive: (incoming) => sent.push(incoming), closed: () => {} });
  const eager: typeof far = {
    oneStream: true,
    open(receiver) {
      far.open(receiver);
      receiver.receive({ kind: "request", message: { jsonrpc: "2.0", id: 1, method: "ping" } });
    },
    send: (message, about) => far.send(message, about),
    close: () => far.close(),
  };
  serve(create(), eager);
  await turn();
  expect(sent).toMatchObject([{ kind: "response", message: { id: 1, result: {} } }]);
});
