// Servers that let a client wait, or make it work behind its caller's back: every wait ends when its caller wants it to.
import { type ClientOptions, connect, type Revision } from "plenum";
import { describe, expect, test, vi } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { errorOf, modern } from "./harness.ts";
import { type Answerer, createScript, metaOf, type Obj, opening, openScript, resultIn, settle } from "./script.ts";

watchStrays();

const capabilities = { tools: {}, resources: { subscribe: true } };
const form = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } };
const asking = (inputRequests: Obj): { result: Obj } => ({ result: { resultType: "input_required", inputRequests } });
const never = () => new Promise<never>(() => {});

async function stage(rest: Answerer, options: ClientOptions = {}, revision: Revision = modern) {
  const script = createScript(revision, opening(revision, capabilities, rest));
  return { script, client: await openScript(script, { revision, ...options }) };
}

describe("a question that nobody has answered yet", () => {
  test.each(["the client closes", "the connection is lost"])("ends with its call when %s", async (how) => {
    let signal: AbortSignal | undefined;
    const { client, script } = await stage(() => asking({ a: { method: "elicitation/create", params: form } }), {
      onElicit(_, ctx) {
        signal = ctx.signal;
        return never();
      },
      restart: false,
    });
    const call = errorOf(client.callTool("t"));
    await vi.waitFor(() => expect(signal).toBeDefined());
    if (how === "the client closes") await client.close();
    else script.wire.close(new Error("gone"));
    expect((await call).code).toBe("connection_lost");
    expect(signal?.aborted).toBe(true);
  });

  test("does not stop the clock of what its answer waits for", async () => {
    const inner: string[] = [];
    const { client, script } = await stage(
      () => undefined,
      {
        async onElicit() {
          inner.push((await errorOf(client.ping({ timeoutMs: 30 }))).code);
          return { action: "decline" };
        },
      },
      "2025-11-25",
    );
    const call = errorOf(client.callTool("t", {}, { timeoutMs: 200 }));
    await settle();
    script.wire.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: form });
    expect((await call).code).toBe("timeout");
    expect(inner).toEqual(["timeout"]);
  });

  test("is put to nobody when another one beside it cannot be answered, or when there are too many", async () => {
    const asked: unknown[] = [];
    const one = { method: "elicitation/create", params: form };
    let requests: Obj = { a: one, b: { method: "roots/list" } };
    const { client } = await stage(() => asking(requests), {
      onElicit(ask) {
        asked.push(ask);
        return { action: "decline" };
      },
    });
    expect((await errorOf(client.callTool("t"))).message).toContain("roots/list");
    requests = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`q${i}`, one]));
    expect((await errorOf(client.callTool("t"))).code).toBe("invalid_result");
    expect(asked).toEqual([]);
  });
});

describe("what is looked up behind a call", () => {
  const structured: Answerer = ({ method }) =>
    method === "tools/call" ? resultIn(modern, { content: [], structuredContent: { a: 1 } }) : undefined;

  test("keeps to the call's time, and its result is given", async () => {
    const warnings: string[] = [];
    const { client } = await stage(structured, { onWarning: (problem) => void warnings.push(problem) });
    const { structured: value } = await client.callTool("t", {}, { timeoutMs: 50 });
    expect(value).toEqual({ a: 1 });
    expect(warnings.join()).toContain("not checked");
  });

  test("keeps to the call's signal", async () => {
    const stop = new AbortController();
    const { client, script } = await stage(structured);
    const call = errorOf(client.callTool("t", {}, { signal: stop.signal }));
    await vi.waitFor(() => expect(script.of("tools/list")).toHaveLength(1));
    stop.abort();
    expect((await call).code).toBe("aborted");
  });

  test("is looked up once for all who want it, and ends after so many pages", async () => {
    let pages = 0;
    const { client } = await stage((message, wire) => {
      if (message.method !== "tools/list") return structured(message, wire);
      const members = { tools: [], nextCursor: `page ${++pages}`, ttlMs: 0, cacheScope: "private" };
      return resultIn(modern, members);
    });
    await Promise.all([client.callTool("a"), client.callTool("b"), client.callTool("c")]);
    expect(pages).toBe(100);
  });
});

describe("opening", () => {
  test("waits for the acknowledgement of a subscription no longer than for a connection", async () => {
    const warnings: string[] = [];
    const { client } = await stage(() => undefined, {
      onListChanged() {},
      connectTimeoutMs: 100,
      onWarning: (problem) => void warnings.push(problem),
    }).catch((error) => expect.fail(String(error)));
    expect(client.state).toBe("open");
  });

  test("aborted while it does so, leaves nothing behind", async () => {
    const stop = new AbortController();
    const script = createScript(
      modern,
      opening(modern, { tools: { listChanged: true } }, () => undefined),
    );
    const opened = errorOf(connect(script.target, { revision: modern, onListChanged() {}, signal: stop.signal }));
    await vi.waitFor(() => expect(script.of("subscriptions/listen")).toHaveLength(1));
    stop.abort();
    expect((await opened).code).toBe("aborted");
    expect(script.wire.isClosed).toBe(true);
  });

  test("of a target that never opens is given up in time, and what opens late is closed", async () => {
    const script = createScript(undefined, () => undefined);
    let open = (): void => {};
    const late = new Promise<void>((resolve) => {
      open = resolve;
    });
    const target = { name: "slow", open: () => late.then(() => script.target.open()) };
    expect((await errorOf(connect(target, { connectTimeoutMs: 30 }))).code).toBe("timeout");
    const aborted = errorOf(connect(target, { signal: AbortSignal.timeout(30) }));
    expect((await aborted).code).toBe("aborted");
    open();
    await vi.waitFor(() => expect(script.wires.filter(({ isClosed }) => isClosed)).toHaveLength(2));
  });

  test("aborted before it begins, opens nothing", async () => {
    const script = createScript(undefined, () => undefined);
    expect((await errorOf(connect(script.target, { signal: AbortSignal.abort() }))).code).toBe("aborted");
    expect(script.wires).toEqual([]);
  });
});

test("a call that waits for a restart waits as long as for an answer", async () => {
  const script = createScript(
    modern,
    opening(modern, capabilities, () => undefined),
    { restarts: true },
  );
  const client = await openScript(script, { restart: { delayMs: 60_000 } });
  script.wire.close(new Error("gone"));
  await vi.waitFor(() => expect(client.state).toBe("restarting"));
  expect((await errorOf(client.callTool("t", {}, { timeoutMs: 30 }))).code).toBe("timeout");
  expect((await errorOf(client.callTool("t", {}, { maxTimeoutMs: 30 }))).code).toBe("timeout");
});

test("callbacks that reject are told as warnings", async () => {
  const warnings: string[] = [];
  const { client } = await stage(
    (message, wire) => {
      if (message.method !== "tools/call") return undefined;
      const { progressToken } = metaOf(message);
      wire.notify("notifications/progress", { progressToken, progress: 1 });
      return resultIn(modern, { content: [] });
    },
    {
      onStateChange: (async () => Promise.reject(Symbol("no"))) as never,
      onWarning: (problem) => void warnings.push(problem),
    },
  );
  const onProgress = (async () => Promise.reject(new Error("no"))) as never;
  await client.callTool("t", {}, { onProgress });
  await settle();
  expect(warnings.some((one) => one.startsWith("onProgress failed"))).toBe(true);
  expect(warnings.some((one) => one.startsWith("onStateChange failed"))).toBe(true);
});

test("many calls may share a signal", async () => {
  const told: string[] = [];
  const hear = (warning: Error): void => void told.push(warning.name);
  process.on("warning", hear);
  const stop = new AbortController();
  const { client, script } = await stage(() => undefined);
  const calls = Array.from({ length: 30 }, () => errorOf(client.callTool("t", {}, { signal: stop.signal })));
  await vi.waitFor(() => expect(script.of("tools/call")).toHaveLength(30));
  stop.abort();
  for (const { code } of await Promise.all(calls)) expect(code).toBe("aborted");
  await new Promise((resolve) => setTimeout(resolve));
  process.off("warning", hear);
  expect(told).toEqual([]);
});

test("a subscription that is aborted does not wait for the one before it", async () => {
  const { client } = await stage(() => undefined);
  void client.subscribe("a://b", { timeoutMs: 300 }).catch(() => {});
  const aborted = client.subscribe("c://d", { signal: AbortSignal.abort() });
  expect((await errorOf(aborted)).code).toBe("aborted");
});

test("a resultType that is no text is no result", async () => {
  const { client } = await stage(() => ({ result: { resultType: { toString: 1, valueOf: 1 } } }));
  expect((await errorOf(client.callTool("t"))).code).toBe("invalid_result");
});

test.each<[string, object]>([
  ["revision", { revision: "bogus" }],
  ["maxRounds", { maxRounds: Number.NaN }],
  ["maxPages", { maxPages: "many" }],
  ["timeoutMs", { timeoutMs: -1 }],
  ["onStateChange", { onStateChange: true }],
  ["onElicitation", { onElicitation() {} }],
])("a mistaken option is refused before anything is opened: %s", async (name, options) => {
  const script = createScript(undefined, () => undefined);
  await expect(connect(script.target, options as ClientOptions)).rejects.toThrow(name);
  expect(script.wires).toEqual([]);
});
