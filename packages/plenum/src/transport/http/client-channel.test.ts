// The client's channel by itself, with a fetch by hand: what becomes of each message, and what is left at the end.
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { ChannelFault, type Receiver } from "../../jsonrpc/channel.ts";
import type { Incoming, RequestId } from "../../jsonrpc/message.ts";
import { openHttpChannel } from "./client-channel.ts";
import { type HttpTargetOptions, toTargetSettings } from "./client-options.ts";

type Answerer = (init: RequestInit & { url: string; body?: string }) => Response | Promise<Response>;

interface Told {
  readonly received: Incoming[];
  readonly failed: [RequestId, unknown][];
  readonly noted: string[];
  readonly closed: unknown[];
  readonly sent: { url: string; method: string; headers: Headers; body: string | undefined; signal: AbortSignal }[];
}

function openChannel(answer: Answerer, options: Partial<HttpTargetOptions> = {}) {
  const told: Told = { received: [], failed: [], noted: [], closed: [], sent: [] };
  const settings = toTargetSettings({
    url: "https://example.com/mcp",
    async fetch(url, init) {
      const { method = "", headers, body, signal } = init;
      const text = body === undefined ? undefined : String(body);
      told.sent.push({ url, method, headers: headers as Headers, body: text, signal: signal as AbortSignal });
      return answer({ ...init, url, ...(text !== undefined && { body: text }) } as Parameters<Answerer>[0]);
    },
    ...options,
  });
  const channel = openHttpChannel({ settings, mirror: undefined, verdict: undefined, onVerdict() {} });
  const receiver: Receiver = {
    receive: (incoming) => void told.received.push(incoming),
    failed: (id, cause) => void told.failed.push([id, cause]),
    noted: (problem) => void told.noted.push(problem),
    closed: (cause) => void told.closed.push(cause),
  };
  channel.open(receiver);
  return { channel, ...told };
}

const toJson = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const ask = (id: RequestId, method = "tools/list") => ({ jsonrpc: "2.0" as const, id, method });
/** An answer that never comes, and heeds no signal. */
const never = (): Promise<Response> => new Promise(() => {});

// What the first refusal and the first stream load is here already: no test waits for it.
beforeAll(() => Promise.all([import("./client-detours.ts"), import("./client-trouble.ts")]));

test("a batch is one POST, and each of its requests is answered or fails", async () => {
  const on = openChannel(() => toJson([{ jsonrpc: "2.0", id: 1, result: {} }]));
  on.channel.send([ask(1), ask(2), { jsonrpc: "2.0", method: "notifications/x" }]);
  await turn();
  expect(on.sent).toHaveLength(1);
  expect(JSON.parse(on.sent[0]?.body ?? "")).toHaveLength(3);
  expect(on.received).toMatchObject([{ kind: "batch", members: [{ message: { id: 1 } }] }]);
  expect(on.failed.map(([id]) => id)).toEqual([2]);
});

test("what cannot be written as JSON is thrown, and leaves nothing behind", async () => {
  const on = openChannel(never);
  expect(() => on.channel.send({ ...ask(1), params: { big: 1n } })).toThrow(TypeError);
  expect(on.sent).toEqual([]);
});

test('ids are kept as they are: 1 and "1" are two requests', async () => {
  const on = openChannel(({ body }) => {
    const { id } = JSON.parse(body ?? "");
    return id === 1 ? never() : toJson({ jsonrpc: "2.0", id, result: {} });
  });
  on.channel.send(ask(1));
  on.channel.send(ask("1"));
  await turn();
  expect(on.received).toMatchObject([{ message: { id: "1" } }]);
  expect(on.failed).toEqual([]);
});

test("nobody waits for ever: a request whose answer is not in what came fails", async () => {
  const bodies = [{ jsonrpc: "2.0", id: 9, result: {} }, { jsonrpc: "2.0", method: "x" }, "text", []];
  const on = openChannel(() => toJson(bodies.shift()));
  for (const id of [1, 2, 3, 4]) {
    on.channel.send(ask(id));
    await turn();
  }
  expect(on.failed.map(([id]) => id)).toEqual([1, 2, 3, 4]);
});

test("an error of nobody's is the request's own", async () => {
  for (const status of [200, 400]) {
    for (const id of [null, undefined]) {
      const on = openChannel(() => toJson({ jsonrpc: "2.0", id, error: { code: -32600, message: "no" } }, status));
      on.channel.send(ask(7));
      await turn();
      expect(on.received).toMatchObject([{ kind: "response", message: { id: 7, error: { code: -32600 } } }]);
      expect(on.failed).toEqual([]);
    }
  }
});

test("an error for another request is not taken for ours", async () => {
  const on = openChannel(() => toJson({ jsonrpc: "2.0", id: 8, error: { code: -32600, message: "no" } }, 400));
  on.channel.send(ask(7));
  await turn();
  expect(on.failed).toMatchObject([[7, { code: "peer_error", data: { status: 400 } }]]);
});

test("a redirect that the runtime hides is told as one", async () => {
  const hidden = Object.defineProperties(Response.error(), { type: { value: "opaqueredirect" }, status: { value: 0 } });
  const on = openChannel(() => hidden);
  on.channel.send(ask(1));
  await turn();
  expect(String(on.failed[0]?.[1])).toContain("give the URL behind it");
});

describe("the end", () => {
  test("aborts everything, even what heeds no signal, and tells once", async () => {
    const on = openChannel(never);
    on.channel.send(ask(1));
    await turn();
    on.channel.close();
    on.channel.close();
    await on.channel.ended;
    await turn();
    expect(on.closed).toEqual([undefined]);
    expect(on.sent[0]?.signal.aborted).toBe(true);
    on.channel.send(ask(2));
    await turn();
    expect(on.sent).toHaveLength(1);
    expect(on.received).toEqual([]);
    expect(on.failed).toEqual([]);
  });

  test("what comes afterwards is nobody's", async () => {
    let settle = (_: Response): void => {};
    const on = openChannel(() => new Promise((resolve) => (settle = resolve)));
    on.channel.send(ask(1));
    await turn();
    on.channel.close();
    settle(toJson({ jsonrpc: "2.0", id: 1, result: {} }));
    await turn();
    expect(on.received).toEqual([]);
  });

  test("a request of the stateless era that is given up is aborted alone", async () => {
    const on = openChannel(never);
    const modern = (id: number) => {
      const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
      return { jsonrpc: "2.0", id, method: "tools/list", params: { _meta } } as const;
    };
    on.channel.send(modern(1));
    on.channel.send(modern(2));
    await turn();
    on.channel.abandon?.(1);
    on.channel.abandon?.("unknown");
    await turn();
    expect(on.sent.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(on.failed).toEqual([]);
  });

  test("in a session the server ends the stream of one that is given up, and is given a while", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const on = openChannel(never);
    on.channel.send(ask(1));
    await vi.advanceTimersByTimeAsync(1);
    on.channel.abandon?.(1);
    await vi.advanceTimersByTimeAsync(4000);
    expect(on.sent.map(({ signal }) => signal.aborted)).toEqual([false]);
    await vi.advanceTimersByTimeAsync(2000);
    expect(on.sent.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

test("a session that is gone: what was refused for it never ran, what is under way may have", async () => {
  const on = openChannel(({ body, method }) => {
    if (method !== "POST") return new Response(null, { status: 405 });
    const message = JSON.parse(body ?? "");
    if (message.method === "initialize")
      return new Response(JSON.stringify({ jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-11-25" } }), {
        headers: { "content-type": "application/json", "mcp-session-id": "s" },
      });
    if (message.id === undefined) return new Response(null, { status: 202 });
    if (message.id === "open")
      return new Response(new ReadableStream({}), { headers: { "content-type": "text/event-stream" } });
    if (message.id === "slow") return turn().then(() => new Response(null, { status: 404 }));
    return new Response(null, { status: 404 });
  });
  on.channel.send(ask(0, "initialize"));
  await turn();
  on.channel.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await turn();
  for (const id of ["open", "slow", "a", "b"]) on.channel.send(ask(id));
  await turn();
  await turn();
  expect(on.failed.map(([id, cause]) => [id, (cause as ChannelFault).isUnrun]).sort()).toEqual([
    ["a", true],
    ["b", true],
    ["slow", true],
  ]);
  expect(on.closed).toEqual([expect.any(ChannelFault)]);
  expect(on.closed[0]).toMatchObject({ isRenewable: true, hasServed: false });
  // There is no session left to end.
  await on.channel.ended;
  expect(on.sent.map(({ method }) => method)).not.toContain("DELETE");
});

/** A fetch that opens a session, and leaves the rest to another. */
const inSession =
  (rest: Answerer): Answerer =>
  (asked) => {
    const message = asked.body === undefined ? undefined : JSON.parse(asked.body);
    if (message?.method !== "initialize") return rest(asked);
    return new Response(JSON.stringify({ jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-11-25" } }), {
      headers: { "content-type": "application/json", "mcp-session-id": "s" },
    });
  };

test("the end comes even if neither fetch nor headers heed a signal", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  for (const stuck of ["fetch", "headers"]) {
    let isStuck = false;
    const on = openChannel(
      inSession(() => never()),
      { headers: () => (isStuck && stuck === "headers" ? new Promise(() => {}) : {}) },
    );
    on.channel.send(ask(0, "initialize"));
    await vi.advanceTimersByTimeAsync(1);
    isStuck = true;
    on.channel.close();
    let isEnded = false;
    on.channel.ended?.then(() => {
      isEnded = true;
    });
    await vi.advanceTimersByTimeAsync(2900);
    expect(isEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(isEnded).toBe(true);
  }
});

test("a request that is given up before it is sent is not sent", async () => {
  let accept = (_: Response): void => {};
  const on = openChannel(inSession(() => new Promise((resolve) => (accept = resolve))));
  on.channel.send(ask(0, "initialize"));
  await turn();
  on.channel.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  on.channel.send(ask(1, "tools/call"));
  await turn();
  on.channel.abandon?.(1);
  accept(new Response(null, { status: 202 }));
  await turn();
  expect(on.sent.map(({ body }) => JSON.parse(body ?? "{}").method)).not.toContain("tools/call");
  on.channel.close();
});

test("answers to the server are bounded, and told of when it does not take them", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const on = openChannel(never);
  for (let id = 0; id < 1000; id++) on.channel.send({ jsonrpc: "2.0", id: `p${id}`, result: {} });
  await vi.advanceTimersByTimeAsync(1);
  expect(on.sent).toHaveLength(256);
  expect(on.noted).toEqual([expect.stringContaining("does not take the answers")]);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(on.sent.every(({ signal }) => signal.aborted)).toBe(true);
  expect(on.noted).toHaveLength(257);
  // What was in the way is gone.
  on.channel.send({ jsonrpc: "2.0", id: "next", result: {} });
  await vi.advanceTimersByTimeAsync(1);
  expect(on.sent).toHaveLength(257);
});

test("every request has a signal of its own, those of one stream too", async () => {
  const headers = { "content-type": "text/event-stream" };
  const on = openChannel(
    inSession(({ method }) =>
      method === "GET" ? new Response(": hello\n\n", { headers }) : new Response(null, { status: 202 }),
    ),
    { reconnect: { delayMs: 1, maxDelayMs: 1 } },
  );
  on.channel.send(ask(0, "initialize"));
  await turn();
  on.channel.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const gets = () => on.sent.filter(({ method }) => method === "GET");
  await expect.poll(() => gets().length).toBeGreaterThan(2);
  on.channel.close();
  await on.channel.ended;
  expect(new Set(on.sent.map(({ signal }) => signal)).size).toBe(on.sent.length);
});

test("what comes too late from a fetch that heeds no signal is let go of", async () => {
  let settle = (_: Response): void => {};
  const on = openChannel(() => new Promise((resolve) => (settle = resolve)));
  on.channel.send(ask(1));
  await turn();
  on.channel.close();
  let isCancelled = false;
  settle(
    new Response(
      new ReadableStream({
        cancel() {
          isCancelled = true;
        },
      }),
    ),
  );
  await turn();
  expect(isCancelled).toBe(true);
});

test("a POST whose answer came elsewhere is ended after a while", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const encoder = new TextEncoder();
  const ended: number[] = [];
  const on = openChannel(({ body }) => {
    const { id } = JSON.parse(body ?? "");
    const stream = new ReadableStream({
      start(controller) {
        // Both are answered on the second one's stream.
        for (const answered of id === 2 ? [1, 2] : [])
          controller.enqueue(encoder.encode(`data: {"jsonrpc":"2.0","id":${answered},"result":{}}\n\n`));
      },
      cancel: () => void ended.push(id),
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  });
  on.channel.send(ask(1));
  on.channel.send(ask(2));
  await vi.advanceTimersByTimeAsync(10);
  expect(on.received).toHaveLength(2);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(ended.sort()).toEqual([1, 2]);
  expect(on.failed).toEqual([]);
});

describe("a fetch that gives", () => {
  const odd: [string, () => unknown, string][] = [
    ["nothing", () => undefined, "something else than a Response"],
    ["a network error", () => Response.error(), "network error"],
  ];
  test.each(odd)("%s is told of as what it is", async (_, give, words) => {
    const on = openChannel(give as Answerer);
    on.channel.send(ask(1));
    await turn();
    expect(String(on.failed[0]?.[1])).toContain(words);
  });

  test("a Response without a stream has its text read", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} });
    const give = (text: string): Response =>
      Object.assign(new Response(null, { headers: { "content-type": "application/json" } }), {
        text: async () => text,
      });
    const texts = [body, "x".repeat(2000)];
    const on = openChannel(() => give(texts.shift() ?? ""), { maxResponseBytes: 1000 });
    on.channel.send(ask(1));
    await turn();
    on.channel.send(ask(2));
    await turn();
    expect(on.received).toMatchObject([{ message: { id: 1, result: {} } }]);
    expect(String(on.failed[0]?.[1])).toContain("maxResponseBytes");
  });

  test("headers that cannot be had are told of as such", async () => {
    const on = openChannel(never, {
      headers() {
        throw new Error("log in first");
      },
    });
    on.channel.send(ask(1));
    await turn();
    expect(String(on.failed[0]?.[1])).toContain("the headers to send could not be had: log in first");
  });
});
