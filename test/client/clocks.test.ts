// How long a client waits, and the ways in which a request of its ends.
import { type CallOptions, type Client, type ClientOptions, McpError, type Revision, revisions } from "plenum";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, modern, sessioned } from "./harness.ts";
import {
  type Answerer,
  createScript,
  listIn,
  loadClient,
  type Obj,
  opening,
  openScript,
  resultIn,
  type Script,
  type ScriptOptions,
  settle,
} from "./script.ts";

// What is loaded on demand is loaded ahead: a clock that stands still does not wait for files.
beforeAll(loadClient);
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const everything = {
  tools: {},
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
};

interface Stage {
  readonly script: Script;
  readonly client: Client;
}

/** A client of a server that answers nothing but the opening, unless told. */
async function stage(
  revision: Revision,
  options: ClientOptions = {},
  answer: Answerer = () => undefined,
  scriptOptions: ScriptOptions = {},
): Promise<Stage> {
  const script = createScript(revision, opening(revision, everything, answer), scriptOptions);
  return { script, client: await openScript(script, { ...options, revision }) };
}

/** A promise, and how it stands. */
function follow<T>(promise: Promise<T>): { value?: T; error?: McpError; done: Promise<void> } {
  const state: { value?: T; error?: McpError; done: Promise<void> } = { done: Promise.resolve() };
  state.done = promise.then(
    (value) => {
      state.value = value;
    },
    (error) => {
      state.error = error as McpError;
    },
  );
  return state;
}

/** A call that is under way, with its id. */
async function begin({ client, script }: Stage, options: CallOptions = {}, name = "slow") {
  const call = follow(client.callTool(name, {}, options));
  const { id, params } = await script.heard("tools/call", script.of("tools/call").length + 1);
  return Object.assign(call, { id: id as number, token: (params?._meta as Obj | undefined)?.progressToken });
}

const text = (revision: Revision, said = "done") => resultIn(revision, { content: [{ type: "text", text: said }] });
const answerTo = (script: Script, id: unknown, given: Obj): void => script.wire.send({ jsonrpc: "2.0", id, ...given });
const progress = (script: Script, progressToken: unknown, params: Obj): void =>
  script.wire.notify("notifications/progress", { progressToken, ...params });

describe("timeoutMs", () => {
  test.each(revisions)("in %s the call is given up, the server told, and what comes late ignored", async (revision) => {
    covers(["timeout-cancels", "timeout-per-request", "cancel-sender-ignores-late", "cancel-params"], revision);
    covers("tool-client-timeouts", revision);
    covers(
      ["cancel-same-direction", "cancel-client-sends", "cancel-race", "rpc-error-local-distinguishable"],
      revision,
    );
    const on = await stage(revision);
    const short = await begin(on, { timeoutMs: 500 });
    const long = await begin(on, { timeoutMs: 800 });
    await vi.advanceTimersByTimeAsync(499);
    expect(short.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(short.error).toMatchObject({ code: "timeout", rpcCode: undefined });
    await settle();
    expect(on.script.of("notifications/cancelled")).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: short.id, reason: "No answer in 500 ms" },
      },
    ]);
    answerTo(on.script, short.id, text(revision));
    answerTo(on.script, short.id, { error: { code: 1, message: "too late" } });
    await vi.advanceTimersByTimeAsync(300);
    expect(long.error).toMatchObject({ code: "timeout" });
    // The connection is as good as before.
    const next = await begin(on);
    answerTo(on.script, next.id, text(revision, "still here"));
    await next.done;
    expect(next.value?.text).toBe("still here");
    expect(on.script.of("notifications/cancelled")).toHaveLength(2);
  });

  test.each(revisions)("in %s nothing is cancelled that was answered in time", async (revision) => {
    covers(["cancel-in-progress", "cancel-own-request-2026"], revision);
    const on = await stage(revision);
    const controller = new AbortController();
    const call = await begin(on, { timeoutMs: 500, maxTimeoutMs: 900, signal: controller.signal });
    answerTo(on.script, call.id, text(revision));
    await call.done;
    await vi.advanceTimersByTimeAsync(5000);
    controller.abort();
    await settle();
    expect(call.value?.text).toBe("done");
    expect(on.script.of("notifications/cancelled")).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([0, Number.POSITIVE_INFINITY])("%d means none, for a call and for the client", async (timeoutMs) => {
    const on = await stage(modern, { timeoutMs });
    const calls = [await begin(on), await begin(on, { timeoutMs, maxTimeoutMs: timeoutMs })];
    await vi.advanceTimersByTimeAsync(2 ** 31 + 1000);
    expect(vi.getTimerCount()).toBe(0);
    for (const call of calls) {
      answerTo(on.script, call.id, text(modern));
      await call.done;
      expect(call.value?.text).toBe("done");
    }
  });

  test("a very long time is not taken for a short one", async () => {
    const on = await stage(modern);
    const call = await begin(on, { timeoutMs: 2 ** 31 + 5000 });
    await vi.advanceTimersByTimeAsync(2 ** 31 + 4999);
    expect(call.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(call.error?.code).toBe("timeout");
  });

  test("a call's own goes over the client's, and both over the default", async () => {
    covers("timeout-per-request");
    const on = await stage(modern, { timeoutMs: 300 });
    const [own, clients] = [await begin(on, { timeoutMs: 200 }), await begin(on)];
    await vi.advanceTimersByTimeAsync(200);
    expect([own.error?.code, clients.error?.code]).toEqual(["timeout", undefined]);
    await vi.advanceTimersByTimeAsync(100);
    expect(clients.error?.code).toBe("timeout");
  });

  test.each(revisions)("in %s no request waits for ever", async (revision) => {
    covers(["timeout-every-request", "tool-client-timeouts"], revision);
    const { client } = await stage(revision);
    const requests: { readonly [what: string]: Promise<unknown> } = {
      listTools: client.listTools().all(),
      callTool: client.callTool("x"),
      listResources: client.listResources().all(),
      listResourceTemplates: client.listResourceTemplates().all(),
      readResource: client.readResource("x:y"),
      subscribe: client.subscribe("x:y"),
      listPrompts: client.listPrompts().all(),
      getPrompt: client.getPrompt("x"),
      complete: client.complete({ type: "ref/prompt", name: "x" }, { name: "a", value: "" }),
      own: client.request("com.example/own"),
      ...(revision !== modern && { setLogLevel: client.setLogLevel("info"), ping: client.ping() }),
    };
    const followed = Object.entries(requests).map(([what, request]) => [what, follow(request)] as const);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(followed.filter(([, { error }]) => error).map(([what]) => what)).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(followed.map(([what, { error }]) => [what, error?.code])).toEqual(
      followed.map(([what]) => [what, "timeout"]),
    );
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("progress", () => {
  test.each(revisions)("in %s it starts the clock anew, up to maxTimeoutMs", async (revision) => {
    covers(["timeout-maximum", "progress-token-in-meta", "progress-token-type"], revision);
    const on = await stage(revision);
    const seen: number[] = [];
    const call = await begin(on, {
      timeoutMs: 500,
      maxTimeoutMs: 2000,
      onProgress: (update) => seen.push(update.progress),
    });
    expect(Number.isInteger(call.token)).toBe(true);
    for (let i = 1; i <= 4; i++) {
      await vi.advanceTimersByTimeAsync(450);
      expect(call.error).toBeUndefined();
      progress(on.script, call.token, { progress: i, total: 100 });
      await settle();
    }
    await vi.advanceTimersByTimeAsync(199);
    expect(call.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(call.error).toMatchObject({ code: "timeout", message: expect.stringContaining("2000 ms") });
    expect(seen).toEqual([1, 2, 3, 4]);
    await settle();
    expect(on.script.of("notifications/cancelled").map(({ params }) => params?.requestId)).toEqual([call.id]);
  });

  test("without it the clock runs out as ever, and the message tells what was heard last", async () => {
    const on = await stage("2025-11-25");
    const call = await begin(on, { timeoutMs: 500, onProgress: () => {} }, "dig");
    progress(on.script, call.token, { progress: 3, message: "Halfway\ndown" });
    await vi.advanceTimersByTimeAsync(500);
    expect(call.error?.message).toBe(
      'tools/call "dig" gave no answer in 500 ms (last progress 0.5 s ago: "Halfway\\ndown"). The peer was told to stop.',
    );
    const plain = await begin(on, { timeoutMs: 500, onProgress: () => {} }, "dig");
    progress(on.script, plain.token, { progress: 3 });
    await vi.advanceTimersByTimeAsync(500);
    expect(plain.error?.message).toContain("(last progress 0.5 s ago: 3)");
  });

  test.each(revisions)("in %s only calls that want it ask for it, each with a token of its own", async (revision) => {
    covers(["progress-token-unique", "progress-token-in-meta", "progress-active-token-only"], revision);
    const on = await stage(revision);
    const seen: unknown[] = [];
    const calls = [];
    for (let i = 0; i < 20; i++) calls.push(await begin(on, { onProgress: ({ progress: at }) => seen.push([i, at]) }));
    expect(new Set(calls.map(({ token }) => token)).size).toBe(20);
    expect((await begin(on)).token).toBeUndefined();
    for (const [i, { token }] of calls.entries()) progress(on.script, token, { progress: i + 0.5 });
    // Nobody's, or of another JSON type.
    for (const token of [999, String(calls[0]?.token), "", "__proto__", null, {}])
      progress(on.script, token, { progress: 1 });
    on.script.wire.notify("notifications/progress");
    await settle();
    expect(seen).toEqual(calls.map((_, i) => [i, i + 0.5]));
  });

  test.each(revisions)("in %s what comes after the end is nobody's", async (revision) => {
    covers(["progress-track-tokens", "progress-active-token-only"], revision);
    const on = await stage(revision);
    const seen: number[] = [];
    const onProgress = ({ progress: at }: { progress: number }): void => void seen.push(at);
    const answered = await begin(on, { onProgress });
    progress(on.script, answered.token, { progress: 1 });
    answerTo(on.script, answered.id, text(revision));
    progress(on.script, answered.token, { progress: 2 });
    await answered.done;
    const given = await begin(on, { onProgress, timeoutMs: 100 });
    await vi.advanceTimersByTimeAsync(100);
    progress(on.script, given.token, { progress: 3 });
    progress(on.script, answered.token, { progress: 4 });
    await settle();
    // That which came right before the answer is heard before it.
    expect(seen).toEqual([1]);
    expect((await begin(on, { onProgress })).token).not.toBe(answered.token);
  });

  test.each(revisions)("in %s what is malformed is not passed on and keeps nobody waiting", async (revision) => {
    covers(["schema-progress-notification", "progress-no-message"], revision);
    if (revision >= "2025-03-26") covers("schema-progress-message", revision);
    const warnings: string[] = [];
    const seen: unknown[] = [];
    const on = await stage(revision, { onWarning: (problem) => warnings.push(problem) });
    const call = await begin(on, { timeoutMs: 500, onProgress: (update) => seen.push(update) });
    await vi.advanceTimersByTimeAsync(400);
    for (const params of [{}, { progress: "1" }, { progress: null }, { progress: 1, total: "2" }])
      progress(on.script, call.token, params);
    await settle();
    expect(seen).toEqual([]);
    expect(warnings).toHaveLength(4);
    expect(warnings[0]).toContain("progress");
    if (revision === "2024-11-05") {
      progress(on.script, call.token, { progress: 1, message: { a: 1 } });
      await settle();
      expect(seen).toEqual([{ progress: 1 }]);
    } else {
      progress(on.script, call.token, { progress: 1, message: 5 });
      await settle();
      expect(warnings).toHaveLength(5);
      await vi.advanceTimersByTimeAsync(100);
      expect(call.error?.code).toBe("timeout");
    }
  });

  test("a callback that throws is told as a warning, and the call goes on", async () => {
    const warnings: string[] = [];
    const on = await stage(modern, { onWarning: (problem) => warnings.push(problem) });
    const call = await begin(on, {
      onProgress: () => {
        throw new Error("oh");
      },
    });
    progress(on.script, call.token, { progress: 1 });
    answerTo(on.script, call.id, text(modern));
    await call.done;
    expect(call.value?.text).toBe("done");
    expect(warnings).toEqual(["onProgress failed: oh"]);
  });
});

describe("an abort", () => {
  test.each(revisions)("in %s ends the call, tells the server, and what comes late is ignored", async (revision) => {
    covers(["cancel-sender-ignores-late", "cancel-same-direction", "cancel-client-sends", "cancel-params"], revision);
    covers(["cancel-race", "cancel-log-reason"], revision);
    const on = await stage(revision);
    const controller = new AbortController();
    const call = await begin(on, { signal: controller.signal });
    controller.abort(new Error("Nobody wants it"));
    await call.done;
    expect(call.error).toMatchObject({ code: "aborted", cause: { message: "Nobody wants it" } });
    expect(call.error?.message).toContain('tools/call "slow"');
    await settle();
    expect(on.script.of("notifications/cancelled").map(({ params }) => params)).toEqual([
      { requestId: call.id, reason: "The caller gave up" },
    ]);
    answerTo(on.script, call.id, text(revision));
    await settle();
    expect(call.value).toBeUndefined();
    expect(on.client.state).toBe("open");
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each(revisions)("before the call nothing is sent in %s", async (revision) => {
    const { client, script } = await stage(revision);
    const before = script.received.length;
    const error = await errorOf(client.callTool("x", {}, { signal: AbortSignal.abort("no") }));
    expect(error).toMatchObject({ code: "aborted", cause: "no" });
    expect(await errorOf(client.listTools({ signal: AbortSignal.abort("no") }).all())).toMatchObject({
      code: "aborted",
    });
    expect(await errorOf(client.subscribe("x:y", { signal: AbortSignal.abort("no") }))).toMatchObject({
      code: "aborted",
    });
    await settle();
    expect(script.received).toHaveLength(before);
  });

  test("of one call leaves the others alone", async () => {
    const on = await stage(modern);
    const controller = new AbortController();
    const [one, other] = [await begin(on, { signal: controller.signal }), await begin(on)];
    controller.abort();
    await one.done;
    answerTo(on.script, other.id, text(modern));
    await other.done;
    expect(other.value?.text).toBe("done");
  });

  test.each(revisions)(
    "reaches the server of %s also where every request has a stream of its own",
    async (revision) => {
      const on = await stage(revision, {}, undefined, { oneStream: false });
      const controller = new AbortController();
      const call = await begin(on, { signal: controller.signal });
      controller.abort();
      await call.done;
      await settle();
      // In the stateless era the transport ends the stream: a message would be one too many.
      expect(on.script.of("notifications/cancelled")).toHaveLength(revision === modern ? 0 : 1);
    },
  );
});

describe("four ways to fail", () => {
  test.each(revisions)("in %s they are four codes", async (revision) => {
    covers("rpc-error-local-distinguishable", revision);
    const on = await stage(revision);
    const controller = new AbortController();
    const timeout = await begin(on, { timeoutMs: 100 });
    const aborted = await begin(on, { signal: controller.signal });
    const refused = await begin(on);
    const lost = await begin(on);
    await vi.advanceTimersByTimeAsync(100);
    controller.abort();
    answerTo(on.script, refused.id, { error: { code: 4711, message: "Out of wood", data: { left: 0 } } });
    await refused.done;
    const cause = new Error("exited with code 9");
    on.script.wire.close(cause);
    await Promise.all([timeout, aborted, refused, lost].map(({ done }) => done));
    for (const { error } of [timeout, aborted, refused, lost]) expect(error).toBeInstanceOf(McpError);
    expect([timeout, aborted, refused, lost].map(({ error }) => error?.code)).toEqual([
      "timeout",
      "aborted",
      "peer_error",
      "connection_lost",
    ]);
    expect(refused.error).toMatchObject({
      rpcCode: 4711,
      data: { left: 0 },
      message: 'tools/call "slow" was answered with error 4711: Out of wood',
    });
    expect(lost.error).toMatchObject({ cause, rpcCode: undefined });
    expect(lost.error?.message).toBe(
      'The connection was lost before tools/call "slow" was answered: exited with code 9',
    );
  });

  test.each([-32000, -32001, -32003, -32004, -32019, -32800, -1, 0])(
    "the number %d of a server is an error of the server, whatever it is elsewhere",
    async (code) => {
      covers(["rpc-error-legacy-range-no-meaning", "rpc-error-local-distinguishable"], modern);
      const on = await stage(modern);
      const call = await begin(on);
      answerTo(on.script, call.id, { error: { code, message: "Request timed out" } });
      await call.done;
      expect(call.error).toMatchObject({ code: "peer_error", rpcCode: code });
    },
  );

  test.each(revisions)(
    "in %s close() ends what is open, and says that it is closed to what comes after",
    async (revision) => {
      covers("lifecycle-shutdown-by-transport", revision);
      const on = await stage(revision);
      const call = await begin(on);
      const before = on.script.received.length;
      await on.client.close();
      await call.done;
      expect(call.error?.code).toBe("connection_lost");
      expect(await errorOf(on.client.callTool("x"))).toMatchObject({
        code: "connection_lost",
        message: "This client is closed",
      });
      await settle();
      expect(on.script.wire.isClosed).toBe(true);
      expect(on.script.received).toHaveLength(before);
      expect(vi.getTimerCount()).toBe(0);
      await on.client.close();
    },
  );
});

describe("the messages", () => {
  test("name what was asked for, on one line and bounded", async () => {
    const { client } = await stage(modern, { timeoutMs: 100 });
    const requests = [
      client.callTool("a\nb"),
      client.readResource("file:///x"),
      client.getPrompt("p".repeat(1000)),
      client.listTools().all(),
    ].map((request: Promise<unknown>) => follow(request));
    await vi.advanceTimersByTimeAsync(100);
    const messages = requests.map(({ error }) => error?.message ?? "");
    expect(messages[0]).toBe('tools/call "a\\nb" gave no answer in 100 ms. The peer was told to stop.');
    expect(messages[1]).toContain('resources/read "file:///x" gave no answer in 100 ms');
    expect(messages[2]?.length).toBeLessThan(300);
    expect(messages[3]).toBe("tools/list gave no answer in 100 ms. The peer was told to stop.");
  });
});

describe("while a question of the server's is answered", () => {
  /** Roots exist in all sessions: the answer is the test's to give. */
  function asker() {
    let give: (roots: string[]) => void = () => {};
    const signals: AbortSignal[] = [];
    const roots = () =>
      new Promise<string[]>((resolve) => {
        give = resolve;
      });
    return { roots, signals, give: (list: string[]) => give(list) };
  }

  test.each(sessioned)("in %s the clock of the call stands still, and has its whole time after", async (revision) => {
    const { roots, give } = asker();
    const on = await stage(revision, { roots });
    const call = await begin(on, { timeoutMs: 500 });
    await vi.advanceTimersByTimeAsync(400);
    on.script.wire.send({ jsonrpc: "2.0", id: 0, method: "roots/list" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.error).toBeUndefined();
    give(["file:///a"]);
    await on.script.when(({ result }) => result !== undefined);
    await vi.advanceTimersByTimeAsync(499);
    expect(call.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(call.error?.code).toBe("timeout");
  });

  test.each(sessioned)("in %s maxTimeoutMs runs on", async (revision) => {
    covers("timeout-maximum", revision);
    const { roots } = asker();
    const on = await stage(revision, { roots });
    const call = await begin(on, { timeoutMs: 500, maxTimeoutMs: 3000 });
    on.script.wire.send({ jsonrpc: "2.0", id: 0, method: "roots/list" });
    await vi.advanceTimersByTimeAsync(2999);
    expect(call.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(call.error).toMatchObject({ code: "timeout", message: expect.stringContaining("3000 ms") });
    await settle();
    expect(on.script.of("notifications/cancelled").map(({ params }) => params?.requestId)).toEqual([call.id]);
  });

  test.each(sessioned)("in %s one that is refused, or fails, lets the clock run again", async (revision) => {
    const on = await stage(revision, { roots: () => Promise.reject(new Error("oh")) });
    const call = await begin(on, { timeoutMs: 500 });
    on.script.wire.send({ jsonrpc: "2.0", id: 0, method: "roots/list" });
    on.script.wire.send({ jsonrpc: "2.0", id: 1, method: "no/such" });
    await on.script.when(({ error }) => error !== undefined, 2);
    await vi.advanceTimersByTimeAsync(500);
    expect(call.error?.code).toBe("timeout");
  });

  const question = {
    result: {
      resultType: "input_required",
      inputRequests: { where: { method: "roots/list" } },
      requestState: "s",
    },
  };

  test("in 2026-07-28 no clock runs, and the retry has its whole time", async () => {
    const { roots, give } = asker();
    const on = await stage(modern, { roots }, ({ method, params }) =>
      method === "tools/call" && !params?.inputResponses ? question : undefined,
    );
    const call = follow(on.client.callTool("slow", {}, { timeoutMs: 500 }));
    await on.script.heard("tools/call");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.error).toBeUndefined();
    give([]);
    await on.script.heard("tools/call", 2);
    await vi.advanceTimersByTimeAsync(499);
    expect(call.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(call.error?.code).toBe("timeout");
    await settle();
    const [, retry] = on.script.of("tools/call");
    expect(on.script.of("notifications/cancelled").map(({ params }) => params?.requestId)).toEqual([retry?.id]);
  });

  test("in 2026-07-28 maxTimeoutMs holds for all rounds and the questions between", async () => {
    covers("timeout-maximum", modern);
    const seen: AbortSignal[] = [];
    const on = await stage(
      modern,
      {
        onElicit: (_, { signal }) => {
          seen.push(signal);
          return new Promise(() => {});
        },
      },
      () => ({
        result: {
          resultType: "input_required",
          inputRequests: {
            a: {
              method: "elicitation/create",
              params: { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } },
            },
          },
        },
      }),
    );
    const call = follow(on.client.callTool("slow", {}, { maxTimeoutMs: 3000 }));
    await vi.advanceTimersByTimeAsync(2999);
    expect(call.error).toBeUndefined();
    expect(seen[0]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await call.done;
    expect(call.error).toMatchObject({ code: "timeout", message: expect.stringContaining("3000 ms") });
    expect(seen[0]?.aborted).toBe(true);
    await settle();
    expect(on.script.order).toEqual(["server/discover", "tools/call"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("in 2026-07-28 rounds that go on and on end with maxTimeoutMs", async () => {
    covers("timeout-maximum", modern);
    const on = await stage(modern, { roots: [], maxRounds: 1000, asksPerMinute: 10_000 }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return question;
    });
    const call = follow(on.client.callTool("slow", {}, { timeoutMs: 500, maxTimeoutMs: 1500 }));
    await vi.advanceTimersByTimeAsync(1499);
    expect(call.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await call.done;
    expect(call.error).toMatchObject({ code: "timeout", message: expect.stringContaining("1500 ms") });
    await settle();
    const last = on.script.of("tools/call").at(-1);
    expect(on.script.of("notifications/cancelled").map(({ params }) => params?.requestId)).toEqual([last?.id]);
    expect(on.script.of("tools/call")).toHaveLength(4);
  });
});

describe("a question that the server takes back", () => {
  test.each(sessioned)("in %s its handler is aborted and nothing answered", async (revision) => {
    covers(["cancel-stop-processing", "cancel-no-response", "cancel-free-resources", "cancel-race"], revision);
    const seen: AbortSignal[] = [];
    const on = await stage(revision, {
      onSample: (_, { signal }) => {
        seen.push(signal);
        return new Promise(() => {});
      },
    });
    const params = { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 5 };
    on.script.wire.send({ jsonrpc: "2.0", id: "q", method: "sampling/createMessage", params });
    await settle();
    expect(seen[0]?.aborted).toBe(false);
    on.script.wire.notify("notifications/cancelled", { requestId: "q", reason: "never mind" });
    on.script.wire.notify("notifications/cancelled", { requestId: "q" });
    await settle();
    expect(seen[0]?.aborted).toBe(true);
    expect(on.script.received.filter(({ method }) => method === undefined)).toEqual([]);
    // The id may be used again, and the clocks run.
    on.script.wire.send({ jsonrpc: "2.0", id: "q", method: "ping" });
    await on.script.when(({ id, result }) => id === "q" && result !== undefined);
    const call = await begin(on, { timeoutMs: 500 });
    await vi.advanceTimersByTimeAsync(500);
    expect(call.error?.code).toBe("timeout");
  });

  test.each(revisions)("in %s cancellations of what is unknown, or malformed, are ignored", async (revision) => {
    covers(["cancel-invalid-ids-ignored", "cancel-malformed-ignored", "rpc-notification-no-response"], revision);
    const on = await stage(revision, {}, () => listIn(revision, { tools: [] }));
    const before = on.script.received.length;
    for (const params of [{ requestId: 999 }, { requestId: 1 }, {}, { requestId: {} }, { requestId: null }])
      on.script.wire.notify("notifications/cancelled", params);
    on.script.wire.notify("notifications/cancelled");
    on.script.wire.text('{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}');
    await settle();
    expect(on.script.received).toHaveLength(before);
    expect(await on.client.listTools().all()).toEqual([]);
  });
});

test("no request has the id 0, which some servers cannot cancel", async () => {
  for (const revision of revisions) {
    const { client, script } = await stage(revision, {}, () => listIn(revision, { tools: [] }));
    await client.listTools().all();
    expect(script.received.filter(({ id }) => id !== undefined && !id)).toEqual([]);
  }
});
