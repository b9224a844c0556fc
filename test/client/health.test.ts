// Whether the server is still there, and what happens when it is not: pings, restarts, and what is done again.
import { type Client, type ClientOptions, connect, McpError, type Revision, revisions, type Target } from "plenum";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { bundleProgram, errorOf, modern, sessioned } from "./harness.ts";
import { createInbox } from "./inbox.ts";
import {
  type Answer,
  type Answerer,
  createScript,
  listIn,
  loadClient,
  metaOf,
  type Obj,
  opening,
  resultIn,
  type Script,
  type ScriptOptions,
  type Sent,
  settle,
  type Wire,
} from "./script.ts";

// What is loaded on demand is loaded ahead: a clock that stands still does not wait for files.
beforeAll(loadClient);

const everything = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
};

interface Stage {
  readonly script: Script;
  readonly client: Client;
  /** Every change of state, with what was given as its cause. */
  readonly states: [string, unknown][];
  readonly warnings: string[];
}

/** A client, and what it tells of its connection. `open` stands between it and its server. */
async function stage(
  revision: Revision,
  options: ClientOptions = {},
  answer: Answerer = () => undefined,
  scriptOptions: ScriptOptions = {},
  open?: (open: Target["open"]) => Target["open"],
): Promise<Stage> {
  const script = createScript(revision, opening(revision, everything, answer), scriptOptions);
  const { target } = script;
  const states: [string, unknown][] = [];
  const warnings: string[] = [];
  const client = await connect(open ? { ...target, open: open(target.open) } : target, {
    revision,
    onStateChange: (state, cause) => states.push([state, cause]),
    onWarning: (problem) => warnings.push(problem),
    ...options,
  });
  onTestFinished(() => client.close());
  return { script, client, states, warnings };
}

const stateOf = ({ states }: Stage): string[] => states.map(([state]) => state);
const gone = new Error("exited with code 1");

/** A tool that takes no time, and any list. */
const willing =
  (revision: Revision): Answerer =>
  ({ id, method }) => {
    if (id === undefined) return undefined;
    if (method === "tools/call") return resultIn(revision, { content: [{ type: "text", text: "done" }] });
    if (method === "tools/list") return listIn(revision, { tools: [] });
    return { result: {} };
  };

/** Takes every subscription of 2026-07-28. */
function acknowledge({ id, params }: Sent, wire: Wire): undefined {
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  wire.notify("notifications/subscriptions/acknowledged", { notifications: params?.notifications, _meta });
}

function falseClocks(): void {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
}

describe("pings", () => {
  falseClocks();

  test.each(sessioned)("in %s one goes out every interval, and only one at a time", async (revision) => {
    covers(["ping-periodic", "ping-frequency-configurable", "ping-no-params", "ping-not-excessive"], revision);
    const answers: ((answer: Answer) => void)[] = [];
    const { script } = await stage(revision, { pingIntervalMs: 1000, pingTimeoutMs: 60_000 }, ({ method }) =>
      method === "ping" ? new Promise<Answer>((resolve) => answers.push(resolve)) : undefined,
    );
    await vi.advanceTimersByTimeAsync(999);
    expect(script.of("ping")).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(script.of("ping")).toEqual([{ jsonrpc: "2.0", id: expect.anything(), method: "ping" }]);
    // No other one while this is open.
    await vi.advanceTimersByTimeAsync(5000);
    expect(script.of("ping")).toHaveLength(1);
    answers[0]?.({ result: {} });
    await vi.advanceTimersByTimeAsync(999);
    expect(script.of("ping")).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(script.of("ping")).toHaveLength(2);
  });

  test("another interval makes another rhythm", async () => {
    covers("ping-frequency-configurable", "2025-11-25");
    const { script } = await stage("2025-11-25", { pingIntervalMs: 250 }, willing("2025-11-25"));
    await vi.advanceTimersByTimeAsync(2500);
    expect(script.of("ping")).toHaveLength(10);
  });

  test.each(sessioned)("in %s silence is told each time, and is a lost connection in the end", async (revision) => {
    covers(["ping-timeout-is-failure", "ping-log-failures", "ping-timeout-appropriate"], revision);
    const on = await stage(revision, {
      pingIntervalMs: 1000,
      pingTimeoutMs: 300,
      maxPingFailures: 2,
      timeoutMs: 50_000,
    });
    const call = errorOf(on.client.callTool("t"));
    await vi.advanceTimersByTimeAsync(1299);
    expect(on.warnings).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(on.warnings).toHaveLength(1);
    expect(on.warnings[0]).toContain("ping 1 of 2 was not answered");
    expect(on.client.state).toBe("open");
    await vi.advanceTimersByTimeAsync(1300);
    expect(on.warnings).toHaveLength(2);
    expect(on.client.state).toBe("closed");
    expect(on.states.at(-1)).toEqual([
      "closed",
      expect.objectContaining({ code: "timeout", message: "2 pings in a row were not answered" }),
    ]);
    expect((await call).code).toBe("connection_lost");
    expect(on.script.wire.isClosed).toBe(true);
    expect((await errorOf(on.client.ping())).message).toContain("2 pings in a row were not answered");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("three failures are too many by default, ten seconds too long", async () => {
    const on = await stage("2025-11-25", { pingIntervalMs: 1000 });
    await vi.advanceTimersByTimeAsync(3 * 11_000 - 1);
    expect(on.warnings).toHaveLength(2);
    expect(on.client.state).toBe("open");
    await vi.advanceTimersByTimeAsync(1);
    expect(on.warnings).toHaveLength(3);
    expect(on.client.state).toBe("closed");
  });

  test("one answer in between begins the count anew", async () => {
    let pings = 0;
    const on = await stage(
      "2025-11-25",
      { pingIntervalMs: 1000, pingTimeoutMs: 100, maxPingFailures: 2 },
      ({ method }) => (method === "ping" && ++pings % 2 === 0 ? { result: {} } : undefined),
    );
    await vi.advanceTimersByTimeAsync(20_000);
    expect(on.client.state).toBe("open");
    expect(on.warnings.length).toBeGreaterThan(5);
    expect(on.warnings.every((one) => one.includes("ping 1 of 2"))).toBe(true);
  });

  test("a server that answers with an error is there", async () => {
    const on = await stage("2025-11-25", { pingIntervalMs: 1000, maxPingFailures: 1 }, ({ method }) =>
      method === "ping" ? { error: { code: -32601, message: "What?" } } : undefined,
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect(on.client.state).toBe("open");
    expect(on.script.of("ping")).toHaveLength(10);
  });

  test("2026-07-28 has none", async () => {
    covers("rpc-removed-methods-2026", modern);
    const { client, script } = await stage(modern, { pingIntervalMs: 1000 });
    await vi.advanceTimersByTimeAsync(100_000);
    expect(script.order).toEqual(["server/discover"]);
    // Whether it is there is asked in another way.
    await client.ping();
    expect(script.order).toEqual(["server/discover", "server/discover"]);
  });

  test.each(revisions)("in %s there are none unless they are wanted", async (revision) => {
    const { script } = await stage(revision);
    const before = script.received.length;
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(script.received).toHaveLength(before);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([0, 99, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    "an interval of %j is refused",
    async (pingIntervalMs) => {
      covers("ping-not-excessive", "2025-11-25");
      const script = createScript(undefined, () => undefined);
      await expect(connect(script.target, { pingIntervalMs })).rejects.toThrow(TypeError);
      await expect(connect(script.target, { pingIntervalMs })).rejects.toThrow("pingIntervalMs");
      expect(script.wires).toEqual([]);
    },
  );

  test("a client that is closed pings no more", async () => {
    const { client, script } = await stage("2025-11-25", { pingIntervalMs: 1000 }, willing("2025-11-25"));
    await vi.advanceTimersByTimeAsync(1000);
    await client.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(script.of("ping")).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("silence restarts where that is wanted, and the pings go on", async () => {
    const on = await stage(
      "2025-11-25",
      { pingIntervalMs: 1000, pingTimeoutMs: 100, maxPingFailures: 1, restart: { delayMs: 10 } },
      ({ method }, wire) => (method === "ping" && wire !== on.script.wires[0] ? { result: {} } : undefined),
    );
    await vi.advanceTimersByTimeAsync(1200);
    expect(stateOf(on)).toEqual(["connecting", "open", "restarting", "open"]);
    expect(on.states[2]?.[1]).toMatchObject({ code: "timeout" });
    expect(on.script.wires.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(on.script.wire.received.filter(({ method }) => method === "ping").length).toBeGreaterThan(3);
    expect(on.script.wires).toHaveLength(2);
  });
});

describe("a connection that is lost", () => {
  falseClocks();

  const table: [string, Revision, ClientOptions, boolean, isRestarted: boolean][] = [
    ["can be started again", modern, {}, true, true],
    ["cannot be started again", modern, {}, false, false],
    ["is not to be", modern, { restart: false }, true, false],
    ["is to be", modern, { restart: true }, false, true],
    ...sessioned.map((revision): (typeof table)[number] => ["has a session", revision, {}, true, false]),
    ...sessioned.map((revision): (typeof table)[number] => [
      "has a session, and is to be",
      revision,
      { restart: true },
      false,
      true,
    ]),
  ];

  test.each(table)("of a server that %s, in %s", async (_, revision, options, restarts, isRestarted) => {
    const on = await stage(revision, options, willing(revision), { restarts });
    on.script.wire.close(gone);
    await settle();
    expect(on.states.at(-1)).toEqual([isRestarted ? "restarting" : "closed", gone]);
    expect(on.client.state).toBe(isRestarted ? "restarting" : "closed");
    await vi.advanceTimersByTimeAsync(250);
    expect(on.script.wires).toHaveLength(isRestarted ? 2 : 1);
    expect(stateOf(on)).toEqual(["connecting", "open", ...(isRestarted ? ["restarting", "open"] : ["closed"])]);
    if (isRestarted) expect((await on.client.callTool("t")).text).toBe("done");
    else {
      const error = await errorOf(on.client.callTool("t"));
      expect(error).toMatchObject({ code: "connection_lost", cause: gone });
      expect(error.message).toContain("exited with code 1");
    }
    expect(on.script.of("tools/call")).toHaveLength(isRestarted ? 1 : 0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a callback that throws stops nothing", async () => {
    const warnings: string[] = [];
    const on = await stage(
      modern,
      {
        onStateChange: () => {
          throw new Error("oh");
        },
        onWarning: (problem) => warnings.push(problem),
      },
      willing(modern),
      { restarts: true },
    );
    on.script.wire.close(gone);
    await vi.advanceTimersByTimeAsync(250);
    expect((await on.client.callTool("t")).text).toBe("done");
    expect(warnings).toEqual(Array.from({ length: 4 }, () => "onStateChange failed: oh"));
  });
});

describe("restarting", () => {
  falseClocks();

  /** Opens that fail until told otherwise, and when they were tried. */
  function barrier() {
    const tries: number[] = [];
    const state = { isShut: false, lostAt: 0 };
    const open =
      (inner: Target["open"]): Target["open"] =>
      () => {
        if (!state.isShut) return inner();
        tries.push(Date.now() - state.lostAt);
        return Promise.reject(new McpError("connection_lost", `try ${tries.length} failed`));
      };
    return { tries, state, open };
  }

  async function lose(on: Stage, { state }: ReturnType<typeof barrier>): Promise<void> {
    state.isShut = true;
    state.lostAt = Date.now();
    on.script.wire.close(gone);
    await settle();
  }

  test.each<[string, number, number[]]>([
    ["at most", 1, [250, 750, 1750, 3750, 7750]],
    ["at least", 0, [125, 375, 875, 1875, 3875]],
  ])("the delays grow, and each is %s this long", async (_, random, expected) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    const gate = barrier();
    const on = await stage(modern, {}, willing(modern), { restarts: true }, gate.open);
    await lose(on, gate);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(gate.tries).toEqual(expected);
  });

  test("up to maxDelayMs, maxAttempts times; then the last cause is told", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    const gate = barrier();
    const restart = { maxAttempts: 6, delayMs: 100, maxDelayMs: 400 };
    const on = await stage(modern, { restart }, willing(modern), {}, gate.open);
    await lose(on, gate);
    const waiting = errorOf(on.client.callTool("t"));
    await vi.advanceTimersByTimeAsync(100 + 200 + 4 * 400 - 1);
    expect(on.client.state).toBe("restarting");
    await vi.advanceTimersByTimeAsync(1);
    expect(gate.tries).toEqual([100, 300, 700, 1100, 1500, 1900]);
    expect(stateOf(on)).toEqual(["connecting", "open", "restarting", "closed"]);
    expect(on.states.at(-1)?.[1]).toMatchObject({ message: "try 6 failed" });
    for (const error of [await waiting, await errorOf(on.client.ping())]) {
      expect(error.code).toBe("connection_lost");
      expect(error.message).toContain("try 6 failed");
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  test("one that holds for a while begins the count anew for the next loss", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    const gate = barrier();
    const on = await stage(modern, { restart: { maxAttempts: 3, delayMs: 100 } }, willing(modern), {}, gate.open);
    for (let i = 0; i < 3; i++) {
      await vi.advanceTimersByTimeAsync(10_001);
      await lose(on, gate);
      await vi.advanceTimersByTimeAsync(300);
      gate.state.isShut = false;
      await vi.advanceTimersByTimeAsync(400);
      expect(on.client.state).toBe("open");
    }
    expect(gate.tries).toEqual([100, 300, 100, 300, 100, 300]);
  });

  test("a server that dies as soon as it is open is given up", async () => {
    const gate = barrier();
    const on = await stage(modern, { restart: { maxAttempts: 3, delayMs: 100 } }, willing(modern), {}, gate.open);
    for (let i = 0; i < 3; i++) {
      on.script.wire.close();
      await vi.advanceTimersByTimeAsync(1000);
      expect(on.client.state).toBe("open");
    }
    on.script.wire.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(on.client.state).toBe("closed");
    expect(on.script.wires).toHaveLength(4);
  });

  test("requests wait for it", async () => {
    const gate = barrier();
    const on = await stage(modern, {}, willing(modern), { restarts: true }, gate.open);
    await lose(on, gate);
    const call = on.client.callTool("t");
    const list = on.client.listTools().all();
    await vi.advanceTimersByTimeAsync(200);
    gate.state.isShut = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect((await call).text).toBe("done");
    expect(await list).toEqual([]);
    expect(on.script.wires[0]?.received).toHaveLength(1);
  });

  test("but not longer than their signal lets them", async () => {
    const gate = barrier();
    const on = await stage(modern, {}, willing(modern), { restarts: true }, gate.open);
    await lose(on, gate);
    const controller = new AbortController();
    const call = errorOf(on.client.callTool("t", {}, { signal: controller.signal }));
    await settle();
    controller.abort("enough");
    expect(await call).toMatchObject({ code: "aborted", cause: "enough" });
    gate.state.isShut = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect(on.script.of("tools/call")).toEqual([]);
  });

  test("close() ends it at once, and whoever waits", async () => {
    const gate = barrier();
    const on = await stage(modern, {}, willing(modern), { restarts: true }, gate.open);
    await lose(on, gate);
    const call = errorOf(on.client.callTool("t"));
    await settle();
    await on.client.close();
    expect(await call).toMatchObject({ code: "connection_lost", message: "This client is closed" });
    expect(stateOf(on)).toEqual(["connecting", "open", "restarting", "closed"]);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(gate.tries).toEqual([]);
    expect(on.script.wires).toHaveLength(1);
  });

  test.each(revisions)("close() while the connection of %s is being opened closes that too", async (revision) => {
    const answer = willing(revision);
    let isSilent = false;
    const script = createScript(revision, (message, wire) =>
      isSilent ? undefined : opening(revision, everything, answer)(message, wire),
    );
    const client = await connect(script.target, { revision, restart: { delayMs: 1 } });
    isSilent = true;
    script.wire.close();
    await vi.advanceTimersByTimeAsync(10);
    expect(script.wires).toHaveLength(2);
    await client.close();
    await settle();
    expect(client.state).toBe("closed");
    expect(script.wires.map(({ isClosed }) => isClosed)).toEqual([true, true]);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(script.wires).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a server that is lost again and again as soon as it is open is given up", async () => {
    const on = await stage(
      modern,
      { restart: { maxAttempts: 3, delayMs: 10 } },
      (message, wire) => {
        // Taken, and gone.
        if (message.method === "subscriptions/listen") {
          acknowledge(message, wire);
          if (wire !== on.script.wires[0]) wire.close(new Error("gone again"));
        }
        return undefined;
      },
      {},
    );
    await on.client.subscribe("x:y");
    on.script.wire.close(gone);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(on.client.state).toBe("closed");
    // No more connections than tries, however each of them ended, and none left open.
    expect(on.script.wires).toHaveLength(4);
    expect(on.script.wires.every(({ isClosed }) => isClosed)).toBe(true);
    expect(stateOf(on)).toEqual(["connecting", "open", "restarting", "closed"]);
  });
});

describe("what holds on every connection", () => {
  falseClocks();

  async function restart(on: Stage): Promise<void> {
    on.script.wire.close(gone);
    await vi.advanceTimersByTimeAsync(1000);
    expect(on.client.state).toBe("open");
  }

  test("subscriptions of 2026-07-28", async () => {
    covers("subscription-relisten", modern);
    const heard: string[] = [];
    const on = await stage(
      modern,
      { onListChanged: (kind) => heard.push(kind), onResourceUpdated: (uri) => heard.push(uri) },
      (message, wire) => (message.method === "subscriptions/listen" ? acknowledge(message, wire) : undefined),
      { restarts: true },
    );
    for (const uri of ["x:a", "x:b", "x:c"]) await on.client.subscribe(uri);
    await on.client.unsubscribe("x:b");
    const last = on.script.of("subscriptions/listen").at(-1);
    await restart(on);
    const again = on.script.wire.received.filter(({ method }) => method === "subscriptions/listen");
    expect(again.map(({ params }) => params?.notifications)).toEqual([last?.params?.notifications]);
    expect(last?.params?.notifications).toEqual({ toolsListChanged: true, resourceSubscriptions: ["x:a", "x:c"] });
    const _meta = { "io.modelcontextprotocol/subscriptionId": again[0]?.id };
    on.script.wire.notify("notifications/resources/updated", { uri: "x:c", _meta });
    on.script.wire.notify("notifications/tools/list_changed", { _meta });
    await settle();
    expect(heard).toEqual(["x:c", "tools"]);
    // From then on changes build upon it.
    await on.client.unsubscribe("x:c");
    expect(on.script.of("subscriptions/listen").at(-1)?.params?.notifications).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["x:a"],
    });
    expect(on.warnings).toEqual([]);
  });

  test.each(sessioned)("subscriptions of %s", async (revision) => {
    const on = await stage(revision, { restart: true }, willing(revision));
    for (const uri of ["x:a", "x:b", "x:c"]) await on.client.subscribe(uri);
    await on.client.unsubscribe("x:b");
    await restart(on);
    expect(on.script.wire.received.map(({ method, params }) => [method, params?.uri])).toEqual([
      ["initialize", undefined],
      ["notifications/initialized", undefined],
      ["resources/subscribe", "x:a"],
      ["resources/subscribe", "x:c"],
    ]);
  });

  test.each(revisions)("a subscription of %s that is refused now is a warning", async (revision) => {
    let isOver = false;
    const refusal = { error: { code: -32602, message: "no such resource" } };
    const on = await stage(revision, { restart: true }, (message, wire) => {
      if (isOver) return refusal;
      return message.method === "subscriptions/listen" ? acknowledge(message, wire) : willing(revision)(message, wire);
    });
    await on.client.subscribe("x:a");
    isOver = true;
    await restart(on);
    expect(on.warnings).toHaveLength(1);
    expect(on.warnings[0]).toContain("no such resource");
    expect(on.script.wires).toHaveLength(2);
  });

  test.each(sessioned)("the log level of %s, as it was set last", async (revision) => {
    const on = await stage(revision, { restart: true, logLevel: "info" }, willing(revision));
    await on.client.setLogLevel("error");
    await restart(on);
    expect(on.script.of("logging/setLevel").map(({ params }) => params?.level)).toEqual(["info", "error", "error"]);
  });

  test("the log level of 2026-07-28, on each request", async () => {
    const on = await stage(modern, { logLevel: "info" }, willing(modern), { restarts: true });
    const levels = (): unknown[] =>
      on.script.of("tools/call").map((call) => metaOf(call)["io.modelcontextprotocol/logLevel"]);
    await on.client.callTool("t");
    await on.client.setLogLevel("error");
    await on.client.callTool("t");
    await restart(on);
    await on.client.callTool("t");
    expect(levels()).toEqual(["info", "error", "error"]);
    expect(on.script.of("logging/setLevel")).toEqual([]);
  });

  test("what the server speaks may be another revision", async () => {
    let revision: Revision = modern;
    const script = createScript(undefined, (message, wire) =>
      opening(revision, everything, willing(revision))(message, wire),
    );
    const client = await connect(script.target, { restart: true });
    onTestFinished(() => client.close());
    expect(client.revision).toBe(modern);
    revision = "2025-06-18";
    script.wire.close();
    await vi.advanceTimersByTimeAsync(1000);
    expect(client.revision).toBe("2025-06-18");
    expect((await client.callTool("t")).text).toBe("done");
  });
});

describe("what is done again", () => {
  falseClocks();

  const tools = [
    { name: "reads", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
    { name: "sets", inputSchema: { type: "object" }, annotations: { idempotentHint: true } },
    { name: "adds", inputSchema: { type: "object" }, annotations: { readOnlyHint: false, destructiveHint: false } },
    { name: "plain", inputSchema: { type: "object" } },
  ];
  const results: { readonly [method: string]: Obj } = {
    "tools/list": { tools },
    "resources/list": { resources: [] },
    "resources/templates/list": { resourceTemplates: [] },
    "prompts/list": { prompts: [] },
    "prompts/get": { messages: [] },
    "resources/read": { contents: [] },
    "completion/complete": { completion: { values: [] } },
    "tools/call": { content: [] },
  };

  type Verb = (client: Client) => Promise<unknown>;
  const repeated: [string, Verb, ClientOptions?][] = [
    ["listTools", (client) => client.listTools().all()],
    ["listResources", (client) => client.listResources().all()],
    ["listResourceTemplates", (client) => client.listResourceTemplates().all()],
    ["listPrompts", (client) => client.listPrompts().all()],
    ["complete", (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })],
    ["callTool with retry", (client) => client.callTool("plain", {}, { retry: true })],
    ["getPrompt with retry", (client) => client.getPrompt("p", {}, { retry: true })],
    ["readResource with retry", (client) => client.readResource("x:y", { retry: true })],
    ["a tool that only reads, of a trusted server", (client) => client.callTool("reads"), { trusted: true }],
    ["a tool that may be repeated, of a trusted server", (client) => client.callTool("sets"), { trusted: true }],
  ];
  const notRepeated: [string, Verb, ClientOptions?][] = [
    ["callTool", (client) => client.callTool("plain")],
    ["a tool that only reads, of any server", (client) => client.callTool("reads")],
    ["a tool that may be repeated, of any server", (client) => client.callTool("sets")],
    ["a tool that says nothing, of a trusted server", (client) => client.callTool("plain"), { trusted: true }],
    ["a tool that writes, of a trusted server", (client) => client.callTool("adds"), { trusted: true }],
    ["a tool that nobody listed, of a trusted server", (client) => client.callTool("unknown"), { trusted: true }],
    [
      "a tool that only reads, without retry",
      (client) => client.callTool("reads", {}, { retry: false }),
      { trusted: true },
    ],
    ["getPrompt", (client) => client.getPrompt("p")],
    ["readResource", (client) => client.readResource("x:y")],
    ["listTools without retry", (client) => client.listTools({ retry: false }).all()],
    ["a request of one's own", (client) => client.request("com.example/own")],
  ];

  /** Loses each of the first connections in the middle of a request. */
  async function lossy(revision: Revision, losses: number, options: ClientOptions = {}) {
    const state = { isTrap: false };
    const on = await stage(revision, { restart: { delayMs: 10 }, ...options }, ({ id, method }, wire) => {
      if (id === undefined) return undefined;
      if (state.isTrap && on.script.wires.indexOf(wire) < losses) {
        wire.close(gone);
        return undefined;
      }
      return listIn(revision, results[method as string] ?? {});
    });
    await on.client.listTools().all();
    state.isTrap = true;
    const before = on.script.received.length;
    /** Requests behind the opening. */
    const sent = (): string[] =>
      on.script.received
        .slice(before)
        .flatMap(({ id, method = "" }) =>
          id === undefined || /^(initialize|server\/discover)$/.test(method) ? [] : [method],
        );
    return { on, sent };
  }

  const both: Revision[] = ["2025-11-25", modern];

  test.each(both.flatMap((revision) => repeated.map(([name, run, options]) => ({ revision, name, run, options }))))(
    "$name in $revision, once",
    async ({ revision, run, options }) => {
      const { on, sent } = await lossy(revision, 1, options);
      const done = run(on.client);
      await vi.advanceTimersByTimeAsync(100);
      expect(await done).toBeDefined();
      expect(sent()).toHaveLength(2);
      expect(new Set(sent()).size).toBe(1);
    },
  );

  test.each(both.flatMap((revision) => notRepeated.map(([name, run, options]) => ({ revision, name, run, options }))))(
    "not $name in $revision",
    async ({ revision, run, options }) => {
      covers("tool-annotations-untrusted", revision);
      const { on, sent } = await lossy(revision, 1, options);
      const error = errorOf(run(on.client));
      await vi.advanceTimersByTimeAsync(100);
      expect(await error).toMatchObject({ code: "connection_lost", cause: gone });
      expect(sent()).toHaveLength(1);
      // And the client is there for what comes next.
      expect(on.client.state).toBe("open");
      await on.client.listTools({ fresh: true }).all();
    },
  );

  const annotated = revisions.filter((revision) => revision >= "2025-03-26");

  test.each(annotated)(
    "in %s what a tool says of itself counts for a server that is trusted, and for no other",
    async (revision) => {
      covers("tool-annotations-untrusted", revision);
      for (const trusted of [false, true]) {
        for (const name of ["reads", "sets"]) {
          const { on, sent } = await lossy(revision, 1, { trusted });
          const done = on.client.callTool(name).then(
            () => "repeated",
            (error: McpError) => error.code,
          );
          await vi.advanceTimersByTimeAsync(100);
          expect(await done).toBe(trusted ? "repeated" : "connection_lost");
          expect(sent()).toHaveLength(trusted ? 2 : 1);
        }
      }
    },
  );

  test("ping, in sessions", async () => {
    const { on, sent } = await lossy("2025-11-25", 1);
    const done = on.client.ping();
    await vi.advanceTimersByTimeAsync(100);
    await done;
    expect(sent()).toEqual(["ping", "ping"]);
  });

  test.each(both)("in %s nothing is repeated a second time", async (revision) => {
    const { on, sent } = await lossy(revision, 2);
    const error = errorOf(on.client.listPrompts().all());
    await vi.advanceTimersByTimeAsync(100);
    expect((await error).code).toBe("connection_lost");
    expect(sent()).toEqual(["prompts/list", "prompts/list"]);
  });

  test.each(both)("in %s nothing is repeated where nothing is restarted", async (revision) => {
    const { on, sent } = await lossy(revision, 1, { restart: false });
    expect((await errorOf(on.client.listPrompts().all())).code).toBe("connection_lost");
    expect(sent()).toEqual(["prompts/list"]);
  });

  test("nor what was aborted meanwhile", async () => {
    const { on, sent } = await lossy(modern, 1);
    const controller = new AbortController();
    const error = errorOf(on.client.listPrompts({ signal: controller.signal }).all());
    await settle();
    expect(on.client.state).toBe("restarting");
    controller.abort("no");
    expect((await error).code).toBe("aborted");
    await vi.advanceTimersByTimeAsync(100);
    expect(sent()).toEqual(["prompts/list"]);
  });
});

describe("a child process that is killed", () => {
  const states = () => createInbox<[string, unknown]>();

  async function start(options: ClientOptions) {
    const program = await bundleProgram("test/client/fixtures/mortal.ts");
    const inbox = states();
    const updates = createInbox<string>();
    const client = await connect(
      { command: process.execPath, args: [program] },
      { onStateChange: (...change) => inbox.put(change), onResourceUpdated: updates.put, ...options },
    );
    onTestFinished(() => client.close());
    return { client, inbox, updates, pidOf: async () => Number((await client.callTool("pid")).text) };
  }

  test("is started again in 2026-07-28, and watched as before; a call that hung is not made again", async () => {
    covers("stdio-restart", modern);
    covers(["subscription-relisten", "stdio-restart"], modern);
    const { client, inbox, updates, pidOf } = await start({ restart: { delayMs: 10 } });
    expect(client.revision).toBe(modern);
    await client.subscribe("clock://now");
    const first = await pidOf();
    const hanging = errorOf(client.callTool("hang"));
    expect(Number((await client.callTool("calls")).text)).toBe(1);
    process.kill(first, "SIGKILL");
    const error = await hanging;
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("SIGKILL");
    const second = await pidOf();
    expect(second).not.toBe(first);
    expect(Number((await client.callTool("calls")).text)).toBe(0);
    await client.callTool("touch");
    expect(await updates.first(1)).toEqual(["clock://now"]);
    expect((await inbox.first(4)).map(([state]) => state)).toEqual(["connecting", "open", "restarting", "open"]);
    expect(inbox.all[2]?.[1]).toBeInstanceOf(Error);
    await client.close();
    expect(() => process.kill(second, 0)).toThrow();
  });

  test("is not started again in a session, unless that is wanted", async () => {
    const without = await start({ revision: "2025-11-25" });
    process.kill(await without.pidOf(), "SIGKILL");
    expect((await without.inbox.first(3)).map(([state]) => state)).toEqual(["connecting", "open", "closed"]);
    expect((await errorOf(without.client.callTool("pid"))).message).toContain("SIGKILL");
    const wanted = await start({ revision: "2025-11-25", restart: { delayMs: 10 } });
    const first = await wanted.pidOf();
    await wanted.client.subscribe("clock://now");
    process.kill(first, "SIGKILL");
    await wanted.inbox.first(4);
    expect(await wanted.pidOf()).not.toBe(first);
    await wanted.client.callTool("touch");
    expect(await wanted.updates.first(1)).toEqual(["clock://now"]);
  });
});
