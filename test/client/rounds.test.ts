// Results of 2026-07-28 that ask for input: the client answers and sends the request again.
import { type AnswerContext, type Client, type ClientOptions, McpError } from "plenum";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createDeferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { errorOf, modern } from "./harness.ts";
import {
  type Answer,
  createScript,
  loadClient,
  metaOf,
  type Obj,
  opening,
  openScript,
  type Script,
  type Sent,
  settle,
} from "./script.ts";

// What is loaded on demand is loaded ahead: a clock that stands still does not wait for files.
beforeAll(loadClient);

afterEach(() => void vi.useRealTimers());

const form = (message = "?"): Obj => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties: { yes: { type: "boolean" } } } },
});
const sample: Obj = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "hm" } }], maxTokens: 5 },
};
const rootsAsk: Obj = { method: "roots/list" };

const asks = (members: Obj): Answer => ({ result: { resultType: "input_required", ...members } });
const done = (said = "done"): Answer => ({
  result: { resultType: "complete", content: [{ type: "text", text: said }] },
});

const able: ClientOptions = {
  onElicit: ({ message }) => ({ action: "accept", content: { yes: message !== "no" } }),
  onSample: () => ({ role: "assistant", content: { type: "text", text: "aha" }, model: "m" }),
  roots: ["file:///a"],
};

/** A client whose requests, but for the opening, are answered one after the other from a list; the last one stays. */
async function stage(answers: readonly Answer[], options: ClientOptions = able, capabilities: Obj = everything) {
  let next = 0;
  const script = createScript(
    modern,
    opening(modern, capabilities, () => answers[Math.min(next++, answers.length - 1)]),
  );
  const client = await openScript(script, options);
  /** Requests behind the opening. */
  const legs = (): Sent[] => script.received.slice(1);
  return { script, client, legs };
}

const everything = { tools: {}, resources: {}, prompts: {}, completions: {} };

const without = (params: Obj | undefined, ...names: string[]): Obj =>
  Object.fromEntries(Object.entries(params ?? {}).filter(([name]) => !names.includes(name)));

const content = { resultType: "complete" };
/** The requests that may ask, each with a final result. */
const verbs: [string, (client: Client) => Promise<unknown>, Answer][] = [
  ["tools/call", (client) => client.callTool("t", { a: [1, { b: null }] }, { meta: { "com.example/k": 1 } }), done()],
  [
    "resources/read",
    (client) => client.readResource("file:///x", { meta: { "com.example/k": 1 } }),
    {
      result: { ...content, contents: [{ uri: "file:///x", text: "t" }], ttlMs: 60_000, cacheScope: "public" },
    },
  ],
  [
    "prompts/get",
    (client) => client.getPrompt("p", { who: "me" }, { meta: { "com.example/k": 1 } }),
    { result: { ...content, messages: [] } },
  ],
];

describe("a round", () => {
  test.each(verbs)(
    "%s: all keys are answered in one retry, which is the same request with a new id",
    async (method, call, final) => {
      covers(["mrtr-client-fulfils", "mrtr-client-keys", "mrtr-client-new-id", "mrtr-client-same-params"], modern);
      covers(
        ["meta-required-fields", "meta-client-info", "schema-elicit-result", "schema-create-message-result"],
        modern,
      );
      covers(["schema-list-roots-result", "rpc-support-core-2026"], modern);
      const { client, legs } = await stage([
        asks({ inputRequests: { who: form(), what: sample, where: rootsAsk }, requestState: "s1" }),
        final as Answer,
      ]);
      await call(client);
      const [first, retry] = legs();
      expect(legs()).toHaveLength(2);
      expect([first?.method, retry?.method]).toEqual([method, method]);
      expect(retry?.id).not.toBe(first?.id);
      expect(first?.params).not.toHaveProperty("inputResponses");
      expect(first?.params).not.toHaveProperty("requestState");
      expect(retry?.params).toEqual({
        ...first?.params,
        requestState: "s1",
        // Bare: no jsonrpc, no id, no resultType.
        inputResponses: {
          who: { action: "accept", content: { yes: true } },
          what: { role: "assistant", content: { type: "text", text: "aha" }, model: "m" },
          where: { roots: [{ uri: "file:///a" }] },
        },
      });
      expect(retry?.params?._meta).toMatchObject({
        "com.example/k": 1,
        "io.modelcontextprotocol/protocolVersion": modern,
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, sampling: {}, roots: {} },
        "io.modelcontextprotocol/clientInfo": { name: "plenum", version: expect.any(String) },
      });
    },
  );

  test.each([
    "state",
    "",
    " ",
    '{"a": 1 ,"b":[]}',
    'ünï\u0000\ud83d\ude00"\\\n\u2028',
    "x".repeat(100_000),
    "__proto__",
  ])("the state %j comes back exactly as it was", async (requestState) => {
    covers(["mrtr-client-echo-state", "mrtr-client-state-opaque"], modern);
    const { client, legs } = await stage([asks({ inputRequests: { a: form() }, requestState }), done()]);
    await client.callTool("t");
    expect(legs()[1]?.params?.requestState).toBe(requestState);
  });

  test("a result without a state gets none back, even if one before had one", async () => {
    covers(["mrtr-client-no-state", "mrtr-client-echo-state"], modern);
    const { client, legs } = await stage([
      asks({ inputRequests: { a: form() }, requestState: "s1" }),
      asks({ inputRequests: { b: form("no") } }),
      asks({ inputRequests: { c: rootsAsk }, requestState: "s3" }),
      done(),
    ]);
    await client.callTool("t");
    expect(
      legs().map(({ params }) => [params?.requestState, Object.keys((params?.inputResponses ?? {}) as Obj)]),
    ).toEqual([
      [undefined, []],
      ["s1", ["a"]],
      [undefined, ["b"]],
      ["s3", ["c"]],
    ]);
    expect(legs()[2]?.params).not.toHaveProperty("requestState");
    expect(new Set(legs().map(({ id }) => id)).size).toBe(4);
    // What was answered in one round is not sent in the next.
    expect(legs()[2]?.params?.inputResponses).toEqual({ b: { action: "accept", content: { yes: false } } });
  });

  test("a state alone is sent back at once without answers, and after that not too often", async () => {
    covers("mrtr-client-echo-state", modern);
    vi.useFakeTimers();
    const { client, script, legs } = await stage([
      asks({ requestState: "busy" }),
      asks({ requestState: "still" }),
      done(),
    ]);
    const call = client.callTool("t", { a: 1 });
    await script.heard("tools/call", 2);
    expect(without(legs()[1]?.params, "_meta")).toEqual({ name: "t", arguments: { a: 1 }, requestState: "busy" });
    await settle();
    expect(legs()).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1000);
    expect((await call).text).toBe("done");
    expect(without(legs()[2]?.params, "_meta")).toEqual({ name: "t", arguments: { a: 1 }, requestState: "still" });
  });

  test("no question at all is answered as such", async () => {
    const { client, legs } = await stage([asks({ inputRequests: {}, requestState: "s" }), done()]);
    await client.callTool("t");
    expect(legs()[1]?.params).toMatchObject({ inputResponses: {}, requestState: "s" });
  });

  test.each(["decline", "cancel"] as const)("%s is passed on, and the call goes on", async (action) => {
    const { client, legs } = await stage([asks({ inputRequests: { a: form() } }), done("as you like")], {
      onElicit: () => ({ action }),
    });
    expect((await client.callTool("t")).text).toBe("as you like");
    expect(legs()[1]?.params?.inputResponses).toEqual({ a: { action } });
  });

  test("keys that mean something to JavaScript are keys", async () => {
    covers("mrtr-client-keys", modern);
    const keys = ["__proto__", "constructor", "toString", "", "hasOwnProperty", "ü \n", "0"];
    const inputRequests = Object.fromEntries(keys.map((key) => [key, form()]));
    const { client, script } = await stage([asks({ inputRequests }), done()]);
    await client.callTool("t");
    const responses = script.of("tools/call")[1]?.params?.inputResponses as Obj;
    expect(Object.keys(responses).sort()).toEqual([...keys].sort());
    for (const key of keys)
      expect(Object.getOwnPropertyDescriptor(responses, key)?.value).toMatchObject({ action: "accept" });
    expect(({} as Obj).action).toBeUndefined();
  });

  test("each leg has a progress token of its own, and all are heard", async () => {
    covers("progress-token-unique", modern);
    const seen: number[] = [];
    const script = createScript(
      modern,
      opening(modern, everything, (message, wire) => {
        const { params } = message;
        const { progressToken } = metaOf(message);
        wire.notify("notifications/progress", { progressToken, progress: params?.inputResponses ? 2 : 1 });
        return params?.inputResponses ? done() : asks({ inputRequests: { a: form() } });
      }),
    );
    const client = await openScript(script, able);
    await client.callTool("t", {}, { onProgress: ({ progress }) => seen.push(progress) });
    expect(seen).toEqual([1, 2]);
    const tokens = script.of("tools/call").map((leg) => metaOf(leg).progressToken);
    expect(new Set(tokens).size).toBe(2);
  });

  test("the server's error in a later round is the call's", async () => {
    const { client } = await stage([
      asks({ inputRequests: { a: form() } }),
      { error: { code: -32602, message: "The state has expired" } },
    ]);
    expect(await errorOf(client.callTool("t"))).toMatchObject({ code: "peer_error", rpcCode: -32602 });
  });

  test("an error that asks for capabilities is an error, with what it asks for", async () => {
    const data = { requiredCapabilities: { sampling: {} } };
    const { client, legs } = await stage([{ error: { code: -32021, message: "sampling is needed", data } }]);
    expect(await errorOf(client.callTool("t"))).toMatchObject({ code: "peer_error", rpcCode: -32021, data });
    expect(legs()).toHaveLength(1);
  });
});

describe("bounds", () => {
  test.each([
    ["maxRounds", { ...able, maxRounds: 2 }, 2],
    ["the default", able, 16],
  ])("%s", async (_, options, rounds) => {
    const { client, legs } = await stage(
      [asks({ inputRequests: { a: rootsAsk }, requestState: "on and on" })],
      options,
    );
    const error = await errorOf(client.callTool("endless"));
    expect(error.code).toBe("invalid_result");
    expect(error.message).toContain(`tools/call "endless" still asks for input after ${rounds} rounds`);
    await settle();
    expect(legs()).toHaveLength(rounds + 1);
  });

  test("more questions than asksPerMinute allows end the call", async () => {
    const inputRequests = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`k${i}`, form()]));
    const { client, legs } = await stage([asks({ inputRequests })], { ...able, asksPerMinute: 5 });
    expect((await errorOf(client.callTool("t"))).message).toContain("5 times a minute");
    await settle();
    expect(legs()).toHaveLength(1);
  });
});

describe("a question that is not answered", () => {
  const cases: [string, Obj, ClientOptions, string][] = [
    ["elicitation that was not declared", form(), { roots: [] }, "elicitation/create"],
    ["sampling that was not declared", sample, { roots: [] }, "sampling/createMessage"],
    ["roots that were not declared", rootsAsk, { onElicit: () => ({ action: "decline" }) }, "roots/list"],
    [
      "a page where only forms were declared",
      { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://example.com" } },
      { onElicit: () => ({ action: "decline" }), roots: [] },
      "url",
    ],
    [
      "a form where only pages were declared",
      form(),
      { onElicitUrl: () => ({ action: "decline" }), roots: [] },
      "form",
    ],
    [
      "tools for a model that may not use any",
      { method: "sampling/createMessage", params: { ...(sample.params as Obj), tools: [] } },
      able,
      "sampling.tools",
    ],
    ["an unknown method", { method: "com.example/ask", params: {} }, able, "inputRequests"],
    ["a request of the client's own", { method: "tools/list", params: {} }, able, "inputRequests"],
    ["no method", { params: {} }, able, "inputRequests"],
    ["no object", 5 as unknown as Obj, able, "inputRequests"],
    ["null", null as unknown as Obj, able, "inputRequests"],
    ["a form without params", { method: "elicitation/create" }, able, "params"],
    [
      "a form without a message",
      { method: "elicitation/create", params: { mode: "form", requestedSchema: {} } },
      able,
      "message",
    ],
    ["sampling without messages", { method: "sampling/createMessage", params: { maxTokens: 1 } }, able, "messages"],
  ];

  test.each(cases)("%s: the call fails here, and the server hears nothing more", async (_, ask, options, named) => {
    covers("mrtr-client-unsupported-input", modern);
    const { client, script, legs } = await stage(
      [asks({ inputRequests: { fine: rootsAsk, a: ask }, requestState: "s" }), done()],
      options,
    );
    const error = await errorOf(client.callTool("t"));
    expect(error.code).not.toBe("peer_error");
    expect(error.message).toContain("tools/call");
    expect(error.message).toContain(named);
    await settle();
    expect(legs()).toHaveLength(1);
    expect(script.order).toEqual(["server/discover", "tools/call"]);
    expect(client.state).toBe("open");
  });

  test("the message says who asks for what, and why there is no answer", async () => {
    const { client } = await stage([asks({ inputRequests: { a: sample } })], {});
    expect((await errorOf(client.callTool("think"))).message).toBe(
      'tools/call "think" cannot go on: the server asks for sampling/createMessage, which this client does not offer',
    );
  });

  test.each<[string, () => never, string]>([
    [
      "throws",
      () => {
        throw new Error("the secret is 42");
      },
      "internal_error",
    ],
    [
      "refuses",
      () => {
        throw new McpError("application", "User rejected sampling request", { rpcCode: -1 });
      },
      "application",
    ],
  ])("a handler that %s ends the call", async (_, onSample, code) => {
    covers("mrtr-client-unsupported-input", modern);
    const warnings: string[] = [];
    const { client, legs } = await stage([asks({ inputRequests: { a: sample } })], {
      onSample,
      onWarning: (problem) => warnings.push(problem),
    });
    const error = await errorOf(client.callTool("t"));
    expect(error.code).toBe(code);
    expect(error.message).toContain("sampling/createMessage");
    expect(error.cause).toBeDefined();
    await settle();
    expect(legs()).toHaveLength(1);
    if (code === "internal_error") expect(warnings.join()).toContain("the secret is 42");
  });

  test("an answer that is none ends the call", async () => {
    const { client, legs } = await stage([asks({ inputRequests: { a: form() } })], {
      onElicit: () => ({ action: "accept", content: { yes: "perhaps" } }),
    });
    expect((await errorOf(client.callTool("t"))).code).toBe("internal_error");
    await settle();
    expect(legs()).toHaveLength(1);
  });

  test("one that fails aborts those that are being asked beside it", async () => {
    const contexts: AnswerContext[] = [];
    const { client, legs } = await stage([asks({ inputRequests: { slow: form(), bad: sample } })], {
      onElicit: (_, ctx) => {
        contexts.push(ctx);
        return new Promise(() => {});
      },
      onSample: async () => {
        await settle();
        throw new Error("no model");
      },
    });
    await errorOf(client.callTool("t"));
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([true]);
    await settle();
    expect(legs()).toHaveLength(1);
  });
});

describe("an abort while a question is asked", () => {
  test("ends the call and the question; no retry, and nothing to cancel", async () => {
    const asked = createDeferred<AnswerContext>();
    const { client, script } = await stage([asks({ inputRequests: { a: form() }, requestState: "s" })], {
      onElicit: (_, ctx) => {
        asked.resolve(ctx);
        return new Promise(() => {});
      },
    });
    const controller = new AbortController();
    const call = errorOf(client.callTool("t", {}, { signal: controller.signal }));
    const { signal } = await asked.promise;
    controller.abort("never mind");
    const error = await call;
    expect(error).toMatchObject({ code: "aborted", cause: "never mind" });
    expect(error.message).toContain('tools/call "t"');
    expect(signal.aborted).toBe(true);
    await settle();
    expect(script.order).toEqual(["server/discover", "tools/call"]);
  });

  test("between states that say nothing but wait", async () => {
    vi.useFakeTimers();
    const { client, script } = await stage([asks({ requestState: "s" })]);
    const controller = new AbortController();
    const call = errorOf(client.callTool("t", {}, { signal: controller.signal }));
    await script.heard("tools/call", 2);
    await settle();
    controller.abort();
    expect((await call).code).toBe("aborted");
    expect(vi.getTimerCount()).toBe(0);
    expect(script.order).toEqual(["server/discover", "tools/call", "tools/call"]);
  });

  test("a connection that is lost meanwhile ends the call", async () => {
    const asked = createDeferred();
    const answer = createDeferred<{ action: "decline" }>();
    const { client, script } = await stage([asks({ inputRequests: { a: form() } })], {
      onElicit: () => {
        asked.resolve();
        return answer.promise;
      },
    });
    const call = errorOf(client.callTool("t"));
    await asked.promise;
    script.wire.close(new Error("gone"));
    await settle();
    answer.resolve({ action: "decline" });
    expect((await call).code).toBe("connection_lost");
  });
});

describe("what is no answer", () => {
  test.each(["banana", "task", "", "Complete", "COMPLETE", 5, null, {}, true])(
    "resultType %j is refused",
    async (resultType) => {
      covers(["rpc-result-type-unknown-invalid", "rpc-result-type-allowed-set"], modern);
      const { client, legs } = await stage([{ result: { resultType, content: [] } }]);
      const error = await errorOf(client.callTool("t"));
      expect(error.code).toBe("invalid_result");
      expect(error.message).toContain("resultType");
      expect(legs()).toHaveLength(1);
    },
  );

  test("an unknown resultType cannot forge lines, nor be endless", async () => {
    const { client } = await stage([{ result: { resultType: `x\n${"y".repeat(10_000)}`, content: [] } }]);
    const { message } = await errorOf(client.callTool("t"));
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(300);
  });

  test("absent, it is read as complete", async () => {
    covers("rpc-result-type-absent-complete", modern);
    const { client } = await stage([{ result: { content: [{ type: "text", text: "old style" }] } }]);
    expect((await client.callTool("t")).text).toBe("old style");
  });

  test.each<[string, (client: Client) => Promise<unknown>]>([
    ["tools/list", (client) => client.listTools().all()],
    ["resources/list", (client) => client.listResources().all()],
    ["resources/templates/list", (client) => client.listResourceTemplates().all()],
    ["prompts/list", (client) => client.listPrompts().all()],
    ["completion/complete", (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })],
  ])("%s may not ask", async (_, call) => {
    const { client, legs } = await stage([asks({ inputRequests: { a: form() }, requestState: "s" }), done()]);
    expect(await errorOf(call(client))).toMatchObject({
      code: "invalid_result",
      message: expect.stringContaining("input_required"),
    });
    await settle();
    expect(legs()).toHaveLength(1);
  });

  test.each<[string, Obj]>([
    ["neither questions nor a state", {}],
    ["questions that are no object", { inputRequests: [form()] }],
    ["questions that are null", { inputRequests: null, requestState: "s" }],
    ["a state that is no text", { requestState: 5 }],
    ["a state that is null", { inputRequests: { a: form() }, requestState: null }],
    ["a state that is an object", { inputRequests: { a: form() }, requestState: { a: 1 } }],
  ])("%s: refused", async (_, members) => {
    const { client, legs } = await stage([asks(members), done()]);
    expect((await errorOf(client.callTool("t"))).code).toBe("invalid_result");
    await settle();
    expect(legs()).toHaveLength(1);
  });
});

describe("one call's answers are no other's", () => {
  /** Asks for the caller's own name, and says what it heard; every state belongs to one call. */
  const echoing = (message: Sent): Answer => {
    const { name, inputResponses, requestState } = message.params ?? {};
    if (!inputResponses)
      return asks({ inputRequests: { [`key of ${name}`]: form(`I am ${name}`) }, requestState: `state of ${name}` });
    return done(JSON.stringify([name, requestState, Object.keys(inputResponses as Obj)]));
  };

  test("calls side by side do not mix, and others carry nothing of them", async () => {
    covers("mrtr-client-scope", modern);
    const waiting = new Map<string, (answer: { action: "accept"; content: Obj }) => void>();
    const script: Script = createScript(
      modern,
      opening(modern, everything, (message) =>
        message.method === "tools/call" ? echoing(message) : { result: { resultType: "complete", messages: [] } },
      ),
    );
    const client = await openScript(script, {
      onElicit: ({ message }) => new Promise((resolve) => waiting.set(message, resolve as never)),
    });
    const names = ["a", "b", "c"];
    const calls = names.map((name) => client.callTool(name));
    await script.heard("tools/call", 3);
    await settle();
    await client.getPrompt("p");
    // In another order than they came.
    for (const name of [...names].reverse())
      waiting.get(`I am ${name}`)?.({ action: "accept", content: { yes: true } });
    const texts = (await Promise.all(calls)).map(({ text }) => JSON.parse(text));
    expect(texts).toEqual(names.map((name) => [name, `state of ${name}`, [`key of ${name}`]]));
    expect(Object.keys(script.of("prompts/get")[0]?.params ?? {}).sort()).toEqual(["_meta", "name"]);
  });

  test("the same call again starts from the beginning", async () => {
    covers("mrtr-client-scope", modern);
    const { client, legs } = await stage([
      asks({ inputRequests: { a: form() }, requestState: "s1" }),
      done(),
      done("again"),
    ]);
    await client.callTool("t");
    await client.callTool("t");
    expect(Object.keys(legs()[2]?.params ?? {}).sort()).toEqual(["_meta", "name"]);
  });

  test("the result of a read that was asked about is not kept, whatever it allows", async () => {
    covers("cache-no-mrtr", modern);
    const read = (text: string): Answer => ({
      result: {
        resultType: "complete",
        contents: [{ uri: "file:///x", text }],
        ttlMs: 1_000_000,
        cacheScope: "public",
      },
    });
    const { client, legs } = await stage([
      asks({ inputRequests: { a: form() }, requestState: "s" }),
      read("with an answer"),
      read("without"),
    ]);
    expect((await client.readResource("file:///x")).contents).toMatchObject([{ text: "with an answer" }]);
    expect((await client.readResource("file:///x")).contents).toMatchObject([{ text: "without" }]);
    expect(legs()).toHaveLength(3);
    // The last one was not asked about.
    expect((await client.readResource("file:///x")).contents).toMatchObject([{ text: "without" }]);
    expect(legs()).toHaveLength(3);
  });
});
