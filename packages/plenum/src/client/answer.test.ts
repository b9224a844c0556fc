// What every ask has in common, roots, and what is heard. Forms, pages and sampling have files of their own.
import { afterEach, describe, expect, test, vi } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import { McpError } from "../protocol/errors.ts";
import { type Revision, revisions } from "../protocol/revisions.ts";
import { wireOf } from "../protocol/wire/wire.ts";
import { createListener } from "./answer.ts";
import { assertOptions } from "./option-check.ts";
import type { ClientOptions, RootsOption } from "./options.ts";
import { toRoots } from "./roots.ts";
import { userRejected } from "./sampling.ts";

const noHooks = { heard: () => {}, toRoots };
const never = new AbortController().signal;
const modern = "2026-07-28";
const listRoots = { method: "roots/list", params: {} } as const;
const elicit = {
  method: "elicitation/create",
  params: { message: "?", requestedSchema: { type: "object", properties: {} } },
} as const;
const sample = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } } as const;
const sampled = { role: "assistant", content: { type: "text", text: "x" }, model: "m" } as const;

/** A listener that keeps its warnings. */
function listen(options: ClientOptions = {}) {
  const warnings: string[] = [];
  const listener = createListener({ onWarning: (problem) => warnings.push(problem), ...options }, noHooks);
  return { listener, warnings };
}

async function refusal(promise: Promise<unknown>): Promise<McpError> {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  );
  expect(error).toBeInstanceOf(McpError);
  return error as McpError;
}

afterEach(() => {
  vi.useRealTimers();
});

describe("capabilities", () => {
  const no = () => undefined as never;

  test.each<[string, ClientOptions, object]>([
    ["nothing", {}, {}],
    ["forms", { onElicit: no }, { elicitation: { form: {} } }],
    ["pages", { onElicitUrl: no }, { elicitation: { url: {} } }],
    ["forms and pages", { onElicit: no, onElicitUrl: no }, { elicitation: { form: {}, url: {} } }],
    ["sampling", { onSample: no }, { sampling: {} }],
    ["sampling without more", { onSample: no, sampleTools: false, sampleContext: false }, { sampling: {} }],
    ["sampling with tools", { onSample: no, sampleTools: true }, { sampling: { tools: {} } }],
    ["sampling with context", { onSample: no, sampleContext: true }, { sampling: { context: {} } }],
    [
      "sampling with both",
      { onSample: no, sampleTools: true, sampleContext: true },
      { sampling: { tools: {}, context: {} } },
    ],
    ["roots", { roots: ["file:///a"] }, { roots: { listChanged: true } }],
    ["no roots yet", { roots: [] }, { roots: { listChanged: true } }],
    ["a function of roots", { roots: () => [] }, { roots: { listChanged: true } }],
    ["extensions", { extensions: { "com.example/x": { a: 1 } } }, { extensions: { "com.example/x": { a: 1 } } }],
    ["what asks nothing", { onLog: no, onListChanged: no, onResourceUpdated: no, onWarning: no, asksPerMinute: 1 }, {}],
  ])("%s", (_, options, capabilities) => {
    if ("elicitation" in capabilities) covers("elicitation-one-mode");
    if (options.sampleTools) covers("sampling-tools-capability");
    expect(createListener(options, noHooks).capabilities).toStrictEqual(capabilities);
  });

  test.each(revisions)("they are of the shape that %s has", (revision) => {
    const options = { onElicit: no, onElicitUrl: no, onSample: no, sampleTools: true, sampleContext: true };
    const { capabilities } = createListener({ ...options, roots: [] }, noHooks);
    const wire = wireOf(revision);
    expect(wire.check("ClientCapabilities", wire.fit("ClientCapabilities", capabilities))).toBeUndefined();
  });
});

describe("options that make no sense are refused by name", () => {
  const check = (options: object): void => {
    assertOptions(options);
    createListener(options, noHooks);
  };
  const callbacks = ["onElicit", "onElicitUrl", "onSample", "onLog", "onListChanged", "onResourceUpdated", "onWarning"];
  test.each(callbacks)("%s is no function", (name) => {
    for (const value of [null, true, {}, "x"]) {
      expect(() => check({ [name]: value })).toThrow(new TypeError(`connect: ${name} must be a function`));
    }
    expect(() => check({ [name]: undefined })).not.toThrow();
  });

  test.each<[string, object]>([
    ["sampleTools is about onSample", { sampleTools: true }],
    ["sampleContext is about onSample", { sampleContext: true }],
    ["sampleTools must be true or false", { onSample: () => {}, sampleTools: {} }],
    ["sampleContext must be true or false", { onSample: () => {}, sampleContext: "yes" }],
    ["roots must be a list or a function", { roots: "file:///a" }],
    ["roots must be a list or a function", { roots: null }],
    ["roots must be a list or a function", { roots: { uri: "file:///a" } }],
    ['roots[1] "/home/me" is no file:// URI', { roots: ["file:///a", "/home/me"] }],
    ["extensions must be an object", { extensions: ["com.example/x"] }],
    ["extensions must be an object", { extensions: null }],
    ['"com.example/x" must be an object', { extensions: { "com.example/x": true } }],
    ['extension "x" is not of the form', { extensions: { x: {} } }],
    ["asksPerMinute must be a number above 0", { asksPerMinute: 0 }],
    ["asksPerMinute must be a number above 0", { asksPerMinute: -1 }],
    ["asksPerMinute must be a number above 0", { asksPerMinute: Number.NaN }],
    ["asksPerMinute must be a number above 0", { asksPerMinute: "60" }],
    ['connect: there is no option "revison": did you mean "revision"?', { revison: "2025-11-25" }],
    ['connect: there is no option "headers": it stands beside the url: connect({ url, headers })', { headers: {} }],
    ['connect: there is no option "quux"; there are info, revision, ', { quux: 1 }],
  ])("%s", (problem, options) => {
    expect(() => check(options)).toThrow(TypeError);
    expect(() => check(options)).toThrow(problem);
  });
});

describe.each(revisions)("what nobody answers in %s", (revision) => {
  test("a method without its handler is not found", async () => {
    covers("root-code-unsupported", revision);
    const { listener, warnings } = listen();
    for (const ask of [listRoots, elicit, sample]) {
      const error = await refusal(listener.answer(ask, revision, never));
      expect(error).toMatchObject({ code: "method_not_found", rpcCode: -32601 });
      expect(error.message).toContain(ask.method);
    }
    expect(warnings).toEqual([]);
  });

  test("a handler for something else does not help", async () => {
    const answers: ClientOptions = { roots: [], onElicit: () => ({ action: "cancel" }), onSample: () => sampled };
    for (const [without, ask] of [
      ["roots", listRoots],
      ["onElicit", elicit],
      ["onSample", sample],
    ] as const) {
      const { [without]: _, ...rest } = answers;
      const { listener } = listen(rest);
      expect((await refusal(listener.answer(ask, revision, never))).rpcCode).toBe(-32601);
    }
  });

  test("names like those of objects are no methods", async () => {
    const { listener } = listen({ roots: [] });
    for (const method of ["constructor", "__proto__", "ping", "tools/call", ""]) {
      const error = await refusal(listener.answer({ method: method as never, params: {} }, revision, never));
      expect(error.code).toBe("method_not_found");
    }
  });
});

test.each(["2024-11-05", "2025-03-26"] as const)("%s has no elicitation, whoever could answer it", async (revision) => {
  const onElicit = vi.fn();
  const { listener } = listen({ onElicit });
  expect((await refusal(listener.answer(elicit, revision, never))).rpcCode).toBe(-32601);
  expect(onElicit).not.toHaveBeenCalled();
});

describe.each(revisions)("roots in %s", (revision) => {
  const rootsOf = async (roots: RootsOption) =>
    (await listen({ roots }).listener.answer(listRoots, revision, never)).roots;

  test("a list", async () => {
    covers("root-list", revision);
    const roots = await rootsOf(["file:///a", { uri: "file:///b", name: "B" }]);
    expect(roots).toEqual([{ uri: "file:///a" }, { uri: "file:///b", name: "B" }]);
    expect(await rootsOf([])).toEqual([]);
  });

  test("the answer is of the revision's shape", async () => {
    const roots = (await rootsOf([{ uri: "file:///a", _meta: { x: 1 } }])) as object[];
    expect("_meta" in (roots[0] as object)).toBe(revision >= "2025-06-18");
    expect(wireOf(revision).check("ListRootsResult", { roots })).toBeUndefined();
  });

  test("a function is asked each time, and may decide what this server sees", async () => {
    covers("root-permissions", revision);
    let count = 0;
    const { listener } = listen({ roots: () => ["file:///a", "file:///b"].slice(0, ++count) });
    expect(await listener.answer(listRoots, revision, never)).toEqual({ roots: [{ uri: "file:///a" }] });
    expect(await listener.answer(listRoots, revision, never)).toEqual({
      roots: [{ uri: "file:///a" }, { uri: "file:///b" }],
    });
    expect(await rootsOf(async () => ["file:///late"])).toEqual([{ uri: "file:///late" }]);
  });

  test.each<[string, () => unknown]>([
    [
      "it throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["it rejects", () => Promise.reject(new Error("secret"))],
    ["it gives no list", () => "secret"],
    ["it gives nothing", () => undefined],
  ])("a function that fails: %s", async (_, roots) => {
    covers("root-code-internal", revision);
    const { listener, warnings } = listen({ roots: roots as never });
    const error = await refusal(listener.answer(listRoots, revision, never));
    expect(error).toMatchObject({ code: "internal_error", rpcCode: -32603 });
    expect(error.message).not.toContain("secret");
    expect(error.data).toBeUndefined();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^roots failed to answer roots\/list: (secret|roots must be a list)/);
  });

  test.each(["http://x", "file:///a/../../etc", "file:///a/%2e%2e/%2e%2e/etc"])(
    "a function's bad root %s is not shown",
    async (uri) => {
      covers(["root-file-uri", "root-validate-uris"], revision);
      const { listener, warnings } = listen({ roots: () => ["file:///ok", uri] });
      const error = await refusal(listener.answer(listRoots, revision, never));
      expect(error.rpcCode).toBe(-32603);
      expect(error.message).not.toContain(uri);
      expect(warnings.join()).toContain(`roots[1] ${JSON.stringify(uri)}`);
    },
  );

  test("they can be others from now on", async () => {
    // Before that the server is also to be notified, which is the client's business.
    if (revision === modern) covers("root-monitor-changes", revision);
    const { listener } = listen({ roots: ["file:///a"] });
    listener.setRoots([{ uri: "file:///b", name: "B" }]);
    expect(await listener.answer(listRoots, revision, never)).toEqual({ roots: [{ uri: "file:///b", name: "B" }] });
    listener.setRoots(() => ["file:///c"]);
    expect(await listener.answer(listRoots, revision, never)).toEqual({ roots: [{ uri: "file:///c" }] });
  });
});

test("other roots are checked like the first, which stay when they are bad", async () => {
  const { listener } = listen({ roots: ["file:///a"] });
  for (const bad of [["/b"], ["file:///a/.."], "file:///b", undefined, null]) {
    expect(() => listener.setRoots(bad as never)).toThrow(TypeError);
  }
  expect(await listener.answer(listRoots, modern, never)).toEqual({ roots: [{ uri: "file:///a" }] });
});

test("roots that the server was not told of cannot be set", () => {
  expect(() => listen().listener.setRoots(["file:///a"])).toThrow("Give `roots: []`");
  expect(listen().listener.capabilities).toEqual({});
});

test("a list is taken as it was when it was given", async () => {
  const roots = ["file:///a"];
  const { listener } = listen({ roots });
  roots.push("/etc");
  expect(await listener.answer(listRoots, modern, never)).toEqual({ roots: [{ uri: "file:///a" }] });
});

describe("a flood of asks", () => {
  const able: readonly Revision[] = ["2025-06-18", "2025-11-25", "2026-07-28"];

  test.each(able)("the excess over all asks together is refused in %s", async (revision) => {
    covers("elicitation-rate-limit", revision);
    vi.useFakeTimers({ toFake: ["performance"] });
    const onElicit = vi.fn(() => ({ action: "cancel" }) as const);
    const onSample = vi.fn(() => sampled);
    const { listener, warnings } = listen({ asksPerMinute: 3, onElicit, onSample, roots: [] });
    await listener.answer(elicit, revision, never);
    await listener.answer(sample, revision, never);
    await listener.answer(listRoots, revision, never);
    expect(warnings).toEqual([]);
    for (const ask of [elicit, sample, listRoots]) {
      const error = await refusal(listener.answer(ask, revision, never));
      expect(error).toMatchObject({ code: "rate_limited", rpcCode: -32603 });
    }
    expect(onElicit).toHaveBeenCalledTimes(1);
    expect(onSample).toHaveBeenCalledTimes(1);
    // Told once: warnings must not be a flood of their own.
    expect(warnings).toEqual(["The server asks more than 3 times a minute; the excess is refused"]);

    vi.advanceTimersByTime(20_000);
    await listener.answer(elicit, revision, never);
    await refusal(listener.answer(elicit, revision, never));
    expect(onElicit).toHaveBeenCalledTimes(2);
    expect(warnings).toHaveLength(2);
  });

  test.each(revisions)("sampling is limited in %s", async (revision) => {
    covers("sampling-rate-limit", revision);
    vi.useFakeTimers({ toFake: ["performance"] });
    const onSample = vi.fn(() => sampled);
    const { listener } = listen({ asksPerMinute: 2, onSample });
    for (let count = 0; count < 2; count++) await listener.answer(sample, revision, never);
    expect((await refusal(listener.answer(sample, revision, never))).rpcCode).toBe(-32603);
    expect(onSample).toHaveBeenCalledTimes(2);
  });

  test("60 a minute unless told otherwise", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { listener } = listen({ roots: [] });
    for (let count = 0; count < 60; count++) await listener.answer(listRoots, modern, never);
    expect((await refusal(listener.answer(listRoots, modern, never))).code).toBe("rate_limited");
    vi.advanceTimersByTime(1000);
    await listener.answer(listRoots, modern, never);
  });

  test("less than one a minute, and as many as you like", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const slow = listen({ roots: [], asksPerMinute: 0.5 }).listener;
    await slow.answer(listRoots, modern, never);
    await refusal(slow.answer(listRoots, modern, never));
    vi.advanceTimersByTime(120_000);
    await slow.answer(listRoots, modern, never);
    const open = listen({ roots: [], asksPerMinute: Number.POSITIVE_INFINITY }).listener;
    for (let count = 0; count < 1000; count++) await open.answer(listRoots, modern, never);
  });

  test("what is not found costs nothing of it", async () => {
    const { listener } = listen({ roots: [], asksPerMinute: 1 });
    for (let count = 0; count < 5; count++)
      expect((await refusal(listener.answer(sample, modern, never))).code).toBe("method_not_found");
    await listener.answer(listRoots, modern, never);
  });
});

describe("abort", () => {
  const able: readonly Revision[] = ["2025-06-18", "2025-11-25", "2026-07-28"];

  test.each(able)("reaches the handler, and ends the wait, in %s", async (revision) => {
    covers("elicitation-decline-any-time", revision);
    const controller = new AbortController();
    let seen: AbortSignal | undefined;
    const { listener, warnings } = listen({
      onElicit: (_, ctx) => {
        seen = ctx.signal;
        return new Promise(() => {});
      },
    });
    const answer = listener.answer(elicit, revision, controller.signal);
    await vi.waitFor(() => expect(seen?.aborted).toBe(false));
    controller.abort("enough");
    expect(seen?.aborted).toBe(true);
    const error = await refusal(answer);
    expect(error).toMatchObject({ code: "aborted", cause: "enough" });
    expect(error.message).toContain("elicitation/create");
    expect(warnings).toEqual([]);
  });

  test("a handler that answers or fails after it is not heard", async () => {
    const controller = new AbortController();
    const strays: unknown[] = [];
    const catchStray = (reason: unknown): void => {
      strays.push(reason);
    };
    process.on("unhandledRejection", catchStray);
    try {
      const { listener, warnings } = listen({
        onSample: (_, { signal }) =>
          new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("late")))),
        onElicit: (_, { signal }) =>
          new Promise((resolve) => signal.addEventListener("abort", () => resolve({ action: "decline" }))),
      });
      const answers = [elicit, sample].map((ask) => refusal(listener.answer(ask, modern, controller.signal)));
      controller.abort();
      expect((await Promise.all(answers)).map(({ code }) => code)).toEqual(["aborted", "aborted"]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(strays).toEqual([]);
      expect(warnings).toEqual([]);
    } finally {
      process.off("unhandledRejection", catchStray);
    }
  });

  test("before anything: nobody is asked", async () => {
    const onElicit = vi.fn();
    const { listener } = listen({ onElicit });
    const error = await refusal(listener.answer(elicit, modern, AbortSignal.abort("gone")));
    expect(error).toMatchObject({ code: "aborted", cause: "gone" });
    expect(onElicit).not.toHaveBeenCalled();
  });

  test("nothing is left on the signal", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const { listener } = listen({
      roots: () => {
        throw new Error("no");
      },
      onSample: () => sampled,
    });
    await listener.answer(sample, modern, signal);
    await refusal(listener.answer(listRoots, modern, signal));
    // One listener for all who ever wait; what they wait with is taken back.
    expect(added).toHaveBeenCalledTimes(1);
  });
});

describe("handlers that throw", () => {
  test.each<[string, unknown]>([
    ["an error", new Error("password is hunter2")],
    ["a text", "hunter2"],
    ["nothing", undefined],
    ["an object without a prototype", Object.create(null)],
    ["an abort that is not ours", new DOMException("hunter2", "AbortError")],
    ["a request of the application's own", new McpError("timeout", "hunter2")],
    ["a peer's error", new McpError("peer_error", "hunter2", { rpcCode: -1, data: "hunter2" })],
    ["an abort of its own", new McpError("aborted", "hunter2")],
  ])("%s: the server learns that it failed and nothing else", async (_, thrown) => {
    const { listener, warnings } = listen({
      onElicit: () => {
        throw thrown;
      },
      onSample: () => Promise.reject(thrown),
    });
    for (const ask of [elicit, sample]) {
      const error = await refusal(listener.answer(ask, "2025-11-25", never));
      expect(error).toMatchObject({ code: "internal_error", rpcCode: -32603, data: undefined });
      expect(error.message).toBe(`The client failed to answer ${ask.method}`);
      expect(error.cause).toBe(thrown);
    }
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^onElicit failed to answer elicitation\/create: /);
    expect(warnings[1]).toMatch(/^onSample failed to answer sampling\/createMessage: /);
  });

  test("what is thrown to be told is told", async () => {
    const { listener, warnings } = listen({
      onElicit: () => {
        throw new McpError("application", "Not now", { rpcCode: 7, data: { until: "noon" } });
      },
      onSample: async () => {
        throw new McpError("invalid_params", "No images");
      },
    });
    const told = await refusal(listener.answer(elicit, modern, never));
    expect(told).toMatchObject({ code: "application", rpcCode: 7, message: "Not now", data: { until: "noon" } });
    expect(await refusal(listener.answer(sample, modern, never))).toMatchObject({
      code: "invalid_params",
      rpcCode: -32602,
    });
    expect(warnings).toEqual([]);
  });

  test("a warning is one line, however long what was thrown", async () => {
    const { listener, warnings } = listen({ onSample: () => Promise.reject(new Error(`a\nb${"x".repeat(9999)}`)) });
    await refusal(listener.answer(sample, modern, never));
    expect(warnings[0]).toContain("a b");
    expect(warnings[0]?.length).toBeLessThan(600);
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const)(
    "the user's refusal to sample has the code -1 in %s",
    async (revision) => {
      covers("sampling-rejected", revision);
      const { listener, warnings } = listen({ onSample: () => Promise.reject(userRejected()) });
      const error = await refusal(listener.answer(sample, revision, never));
      expect(error).toMatchObject({ code: "application", rpcCode: -1, message: "User rejected sampling request" });
      expect(warnings).toEqual([]);
      expect(userRejected("Busy").message).toBe("Busy");
    },
  );
});

describe("what is heard", () => {
  function hear(options: ClientOptions = {}) {
    const events: unknown[] = [];
    const hooks = { heard: (method: string, params: object) => events.push(["hook", method, params]) };
    const listener = createListener(
      {
        onLog: (entry) => events.push(["log", entry]),
        onListChanged: (kind) => events.push(["list", kind]),
        onResourceUpdated: (uri) => events.push(["resource", uri]),
        onWarning: (problem) => events.push(["warning", problem]),
        ...options,
      },
      hooks,
    );
    return { listener, events };
  }

  test("log messages", () => {
    const { listener, events } = hear();
    listener.heard("notifications/message", { level: "info", data: { a: 1 }, _meta: {} });
    listener.heard("notifications/message", { level: "error", logger: "db", data: null });
    expect(events).toStrictEqual([
      ["log", { level: "info", data: { a: 1 } }],
      ["log", { level: "error", logger: "db", data: null }],
    ]);
  });

  test.each(["tools", "resources", "prompts"] as const)("changes of %s: the hook first", (kind) => {
    const { listener, events } = hear();
    listener.heard(`notifications/${kind}/list_changed`, { a: 1 });
    expect(events).toEqual([
      ["hook", `notifications/${kind}/list_changed`, { a: 1 }],
      ["list", kind],
    ]);
  });

  test("changes of a resource: the hook first", () => {
    const { listener, events } = hear();
    listener.heard("notifications/resources/updated", { uri: "a://b" });
    expect(events).toEqual([
      ["hook", "notifications/resources/updated", { uri: "a://b" }],
      ["resource", "a://b"],
    ]);
  });

  test("the hook is told without any callback", () => {
    const events: string[] = [];
    const listener = createListener({}, { heard: (method) => events.push(method) });
    listener.heard("notifications/tools/list_changed", {});
    listener.heard("notifications/resources/updated", { uri: "a://b" });
    listener.heard("notifications/message", { level: "info", data: 1 });
    expect(events).toEqual(["notifications/tools/list_changed", "notifications/resources/updated"]);
  });

  test("the rest is passed over", () => {
    covers("elicitation-complete-unknown");
    const { listener, events } = hear();
    for (const id of ["unknown", "done", "done"])
      listener.heard("notifications/elicitation/complete", { elicitationId: id });
    for (const name of ["notifications/roots/list_changed", "notifications/x", "constructor", "__proto__", ""])
      listener.heard(name, {});
    expect(events).toEqual([]);
  });

  const failing: readonly (readonly [string, () => never | Promise<never>])[] = [
    [
      "throws",
      () => {
        throw new Error("ouch");
      },
    ],
    ["rejects", () => Promise.reject(new Error("ouch"))],
  ];

  test.each(failing)("a callback that %s does no harm", async (_, fail) => {
    const { listener, events } = hear({ onLog: fail, onListChanged: fail, onResourceUpdated: fail });
    listener.heard("notifications/message", { level: "info", data: 1 });
    listener.heard("notifications/tools/list_changed", {});
    listener.heard("notifications/resources/updated", { uri: "a://b" });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(events.filter((event) => (event as string[])[0] === "warning")).toEqual([
      ["warning", "onLog failed: ouch"],
      ["warning", "onListChanged failed: ouch"],
      ["warning", "onResourceUpdated failed: ouch"],
    ]);
  });

  test.each(failing)("a hook that %s does not keep the news from the application", async (_, fail) => {
    const events: unknown[] = [];
    const options = {
      onListChanged: (kind: string) => events.push(kind),
      onWarning: (one: string) => events.push(one),
    };
    createListener(options, { heard: fail }).heard("notifications/tools/list_changed", {});
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(events).toEqual(["tools", "notifications/tools/list_changed failed: ouch"]);
  });

  test.each(failing)("onWarning that %s does no harm either", async (_, fail) => {
    const strays: unknown[] = [];
    const catchStray = (reason: unknown): void => {
      strays.push(reason);
    };
    process.on("unhandledRejection", catchStray);
    try {
      const { listener } = hear({ onWarning: fail, onLog: fail });
      listener.warn("x");
      listener.heard("notifications/message", { level: "info", data: 1 });
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(strays).toEqual([]);
    } finally {
      process.off("unhandledRejection", catchStray);
    }
  });

  test("warnings reach the application as they are, and may have no listener", () => {
    const { listener, warnings } = listen();
    listener.warn("odd");
    expect(warnings).toEqual(["odd"]);
    expect(() => createListener({}, noHooks).warn("odd")).not.toThrow();
  });
});
