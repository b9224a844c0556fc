// How a client finds out what its server speaks, and opens the connection in it.
import { type Client, type ClientOptions, connect, McpError, type Revision, revisions } from "plenum";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, modern, sessioned } from "./harness.ts";
import {
  type Answer,
  createScript,
  discovered,
  listIn,
  loadClient,
  metaOf,
  notFound,
  type Obj,
  opening,
  openScript,
  type Sent,
  serverInfo,
  settle,
} from "./script.ts";

// What is loaded on demand is loaded ahead: a clock that stands still does not wait for files.
beforeAll(loadClient);

const newestSession: Revision = "2025-11-25";
const initialized = (protocolVersion: string, capabilities: Obj = {}): Answer => ({
  result: { protocolVersion, capabilities, serverInfo },
});
const versionError = (supported: readonly string[]): Answer => ({
  error: { code: -32022, message: "Unsupported protocol version", data: { supported, requested: modern } },
});

/** Its initialize takes each revision that it is offered. */
const anySession = (message: Sent): Answer =>
  message.method === "initialize" ? initialized(message.params?.protocolVersion as string) : undefined;

describe("the probe", () => {
  test("a server that answers it is spoken to in 2026-07-28", async () => {
    covers(
      ["era-stdio-probe-first", "era-stdio-probe-result-modern", "discover-client-picks-listed", "version-format"],
      modern,
    );
    const script = createScript(
      modern,
      opening(modern, { tools: {} }, () => listIn(modern, { tools: [] })),
    );
    const client = await openScript(script, { info: { name: "tester", version: "9" } });
    expect(client.revision).toBe(modern);
    expect(client.server).toEqual({ info: serverInfo, capabilities: { tools: {} }, instructions: undefined });
    expect(script.received[0]).toMatchObject({ method: "server/discover", params: { _meta: expect.anything() } });
    expect(metaOf(script.received[0])).toEqual({
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "tester", version: "9" },
    });
    await client.listTools().all();
    expect(script.order).toEqual(["server/discover", "tools/list"]);
    expect(metaOf(script.of("tools/list")[0])["io.modelcontextprotocol/protocolVersion"]).toBe(modern);
    expect(script.wires).toHaveLength(1);
  });

  test("who the server is may be left out", async () => {
    const { _meta, ...sparse } = discovered();
    const script = createScript(modern, () => ({ result: sparse }));
    const client = await openScript(script);
    expect(client.server.info).toBeUndefined();
  });

  test.each([-32601, -32602, -32600, -32603, -32700, -32000, -32001, -32002, -32042, 0, 1, 401, 12_345])(
    "error %d means a session, on the same connection",
    async (code) => {
      covers(["era-stdio-probe-fallback", "era-stdio-fallback-any-code", "rpc-error-legacy-range-no-meaning"], modern);
      covers(["version-client-offers-supported", "version-client-offers-latest"], newestSession);
      const script = createScript(newestSession, (message) =>
        message.method === "server/discover" ? { error: { code, message: "What?" } } : anySession(message),
      );
      const client = await openScript(script);
      expect(client.revision).toBe(newestSession);
      expect(script.order).toEqual(["server/discover", "initialize", "notifications/initialized"]);
      expect(script.of("initialize")[0]?.params?.protocolVersion).toBe(newestSession);
      expect(script.wires).toHaveLength(1);
    },
  );

  test.each<[string, unknown]>([
    ["nothing", {}],
    ["versions that are no list", { ...discovered(), supportedVersions: modern }],
    ["versions that are no text", { ...discovered(), supportedVersions: [20_260_728] }],
    ["no capabilities", { ...discovered(), capabilities: undefined }],
    ["an unknown resultType", { ...discovered(), resultType: "banana" }],
    ["a question", { ...discovered(), resultType: "input_required", requestState: "s" }],
    ["the result of initialize", { protocolVersion: newestSession, capabilities: {}, serverInfo }],
    ["what is no result", 5],
    ["null", null],
  ])("a result that holds %s means a session", async (_, result) => {
    const script = createScript(newestSession, (message) =>
      message.method === "server/discover" ? { result: result as Obj } : anySession(message),
    );
    const client = await openScript(script);
    expect(client.revision).toBe(newestSession);
    expect(script.order).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });

  test.each([-32020, -32021])("error %d is one of the stateless era: no session is tried", async (code) => {
    covers("era-modern-error-stays-modern", modern);
    const script = createScript(modern, () => ({ error: { code, message: "No" } }));
    const error = await errorOf(connect(script.target));
    expect([error.code, error.rpcCode]).toEqual(["peer_error", code]);
    expect(script.order).toEqual(["server/discover"]);
    await settle();
    expect(script.wire.isClosed).toBe(true);
  });

  test("-32022 without a list of versions means a session", async () => {
    const script = createScript(newestSession, (message) =>
      message.method === "server/discover" ? { error: { code: -32022, message: "?" } } : anySession(message),
    );
    expect((await openScript(script)).revision).toBe(newestSession);
  });

  test("-32022 that names only sessions opens the best of them", async () => {
    const script = createScript("2025-06-18", (message) =>
      message.method === "server/discover" ? versionError(["2024-11-05", "2025-06-18"]) : anySession(message),
    );
    const client = await openScript(script);
    expect(client.revision).toBe("2025-06-18");
    expect(script.of("initialize")[0]?.params?.protocolVersion).toBe("2025-06-18");
  });

  test("-32022 that names nothing we know is an error that names both sides", async () => {
    covers(["version-client-retries-supported", "era-modern-error-stays-modern"], modern);
    const script = createScript(modern, () => versionError(["2031-01-01", "2032-02-02"]));
    const error = await errorOf(connect(script.target));
    expect(error.code).toBe("unsupported_version");
    for (const one of ["2031-01-01", "2032-02-02", modern, "2024-11-05"]) expect(error.message).toContain(one);
    expect(error.data).toEqual({ supported: ["2031-01-01", "2032-02-02"] });
    expect(script.order).toEqual(["server/discover"]);
    await settle();
    expect(script.wire.isClosed).toBe(true);
  });

  test("a server that refuses the very version it names ends it, and is not asked for ever", async () => {
    covers("era-modern-error-stays-modern", modern);
    const script = createScript(modern, () => versionError([modern]));
    expect(await errorOf(connect(script.target))).toMatchObject({ code: "peer_error", rpcCode: -32022 });
    expect(script.order).toEqual(["server/discover", "server/discover"]);
  });

  test.each([undefined, modern])("a server that refuses it once is asked again (pinned: %s)", async (revision) => {
    covers("version-client-retries-supported", modern);
    let refusals = 0;
    const script = createScript(modern, (message, wire) =>
      refusals++ === 0 ? versionError([modern]) : opening(modern, {})(message, wire),
    );
    expect((await openScript(script, revision ? { revision } : {})).revision).toBe(modern);
    expect(script.order).toEqual(["server/discover", "server/discover"]);
  });

  test("versions of a stranger cannot forge lines of a log, and are not all repeated", async () => {
    const strange = [
      "2031-01-01\n[warn] forged",
      "x".repeat(10_000),
      ...Array.from({ length: 100 }, (_, i) => `v${i}`),
    ];
    const script = createScript(modern, () => versionError(strange));
    const { message } = await errorOf(connect(script.target));
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(2000);
  });

  test("a discover result that lists only sessions opens the best of them", async () => {
    const script = createScript("2025-03-26", (message) =>
      message.method === "server/discover"
        ? { result: discovered({}, ["2024-11-05", "2025-03-26", "1999-01-01"]) }
        : anySession(message),
    );
    const client = await openScript(script);
    expect(client.revision).toBe("2025-03-26");
    expect(script.order).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });

  test("a discover result that lists nothing we know is an error", async () => {
    covers("discover-client-picks-listed", modern);
    const script = createScript(modern, () => ({ result: discovered({}, ["2031-01-01"]) }));
    expect(await errorOf(connect(script.target))).toMatchObject({
      code: "unsupported_version",
      message: expect.stringContaining("2031-01-01"),
    });
    expect(script.order).toEqual(["server/discover"]);
  });

  test("of several versions the newest that we know is used", async () => {
    const script = createScript(modern, () => ({ result: discovered({}, ["2024-11-05", "2031-01-01", modern]) }));
    expect((await openScript(script)).revision).toBe(modern);
  });
});

describe("silence", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A client on its way, and whether it has arrived. */
  function open(script: ReturnType<typeof createScript>, options: ClientOptions = {}) {
    const state: { client?: Client; error?: McpError } = {};
    const done = openScript(script, options).then(
      (client) => {
        state.client = client;
      },
      (error) => {
        state.error = error;
      },
    );
    return Object.assign(state, { done });
  }

  test("after probeTimeoutMs a session is opened, and a late answer to the probe is nobody's", async () => {
    covers("era-stdio-probe-fallback", modern);
    const script = createScript(newestSession, anySession);
    const opened = open(script, { probeTimeoutMs: 300 });
    const probe = await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(299);
    expect(script.order).toEqual(["server/discover"]);
    await vi.advanceTimersByTimeAsync(1);
    await opened.done;
    expect(opened.client?.revision).toBe(newestSession);
    script.wire.send({ jsonrpc: "2.0", id: probe.id, result: discovered() });
    await settle();
    expect(opened.client?.revision).toBe(newestSession);
    expect(opened.client?.state).toBe("open");
    expect(script.order).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });

  test("the default is 5 seconds", async () => {
    const script = createScript(newestSession, anySession);
    const opened = open(script);
    await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(4999);
    expect(script.of("initialize")).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await opened.done;
    expect(opened.client?.revision).toBe(newestSession);
  });

  test("Infinity is as long as it takes", async () => {
    const script = createScript(modern, () => undefined);
    const opened = open(script, { probeTimeoutMs: Number.POSITIVE_INFINITY, connectTimeoutMs: 0 });
    const probe = await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(script.order).toEqual(["server/discover"]);
    script.wire.send({ jsonrpc: "2.0", id: probe.id, result: discovered() });
    await opened.done;
    expect(opened.client?.revision).toBe(modern);
  });

  test("a slow server of the stateless era is spoken to in it, though initialize was sent too", async () => {
    const script = createScript(undefined, () => undefined);
    const opened = open(script, { probeTimeoutMs: 100 });
    const probe = await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(100);
    await script.heard("initialize");
    script.wire.send({ jsonrpc: "2.0", id: probe.id, result: discovered() });
    await opened.done;
    expect(opened.client?.revision).toBe(modern);
  });

  test.each<[string, (probe: Sent, handshake: Sent) => unknown[]]>([
    [
      "first the probe",
      (probe, handshake) => [
        { id: probe.id, result: discovered() },
        { id: handshake.id, ...initialized(newestSession) },
      ],
    ],
    [
      "the handshake refused",
      (probe, handshake) => [
        { id: probe.id, result: discovered() },
        { id: handshake.id, ...versionError([modern]) },
      ],
    ],
    [
      "first the handshake, refused",
      (probe, handshake) => [
        { id: handshake.id, ...notFound },
        { id: probe.id, result: discovered() },
      ],
    ],
  ])("a slow server that answers both at once, %s: no session is begun", async (_, answers) => {
    const script = createScript(undefined, () => undefined);
    const opened = open(script, { probeTimeoutMs: 100 });
    const probe = await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(100);
    const handshake = await script.heard("initialize");
    for (const one of answers(probe, handshake)) script.wire.send({ jsonrpc: "2.0", ...(one as Obj) });
    await opened.done;
    await settle();
    expect(opened.client?.revision).toBe(modern);
    expect(script.order).toEqual(["server/discover", "initialize"]);
    expect(script.problems).toEqual([]);
  });

  test("a slow server that answers the handshake first has a session, and the probe's answer changes nothing", async () => {
    const script = createScript(undefined, () => undefined);
    const opened = open(script, { probeTimeoutMs: 100, roots: ["file:///a"] });
    const probe = await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(100);
    const handshake = await script.heard("initialize");
    script.wire.send({ jsonrpc: "2.0", id: handshake.id, ...initialized(newestSession) });
    script.wire.send({ jsonrpc: "2.0", id: probe.id, result: discovered() });
    script.wire.send({ jsonrpc: "2.0", id: 7, method: "roots/list" });
    await opened.done;
    await script.when(({ id, result }) => id === 7 && result !== undefined);
    expect(opened.client?.revision).toBe(newestSession);
    expect(script.order).toEqual(["server/discover", "initialize", "notifications/initialized", "result"]);
  });

  test("a slow server of sessions, which answers in order, gets one session", async () => {
    const script = createScript(undefined, () => undefined);
    const opened = open(script, { probeTimeoutMs: 100 });
    const probe = await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(100);
    const handshake = await script.heard("initialize");
    script.wire.send({ jsonrpc: "2.0", id: probe.id, ...notFound });
    script.wire.send({ jsonrpc: "2.0", id: handshake.id, ...initialized("2025-06-18") });
    await opened.done;
    expect(opened.client?.revision).toBe("2025-06-18");
    expect(script.order).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });

  test("when neither is answered, connecting takes connectTimeoutMs in all and nothing is cancelled", async () => {
    covers(["lifecycle-handle-initialize-timeout", "cancel-not-initialize", "timeout-every-request"], newestSession);
    const script = createScript(undefined, () => undefined);
    const opened = open(script, { probeTimeoutMs: 100, connectTimeoutMs: 1000 });
    await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(999);
    expect(opened.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await opened.done;
    expect(opened.error?.code).toBe("timeout");
    await settle();
    expect(script.order).toEqual(["server/discover", "initialize"]);
    expect(script.wire.isClosed).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each(sessioned)("a session of %s that never opens: timeout, closed, not cancelled", async (revision) => {
    covers(["lifecycle-handle-initialize-timeout", "cancel-not-initialize", "timeout-every-request"], revision);
    const script = createScript(revision, () => undefined);
    const opened = open(script, { revision });
    await script.heard("initialize");
    await vi.advanceTimersByTimeAsync(59_999);
    expect(opened.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await opened.done;
    expect(opened.error).toMatchObject({ code: "timeout", message: expect.stringContaining("60000 ms") });
    await settle();
    expect(script.order).toEqual(["initialize"]);
    expect(script.wire.isClosed).toBe(true);
  });

  test.each([undefined, ...revisions])("an abort while it connects (pinned: %s)", async (revision) => {
    if (revision) covers("cancel-not-initialize", revision);
    const script = createScript(undefined, () => undefined);
    const controller = new AbortController();
    const opened = open(script, { ...(revision && { revision }), signal: controller.signal });
    await script.when(() => true);
    controller.abort(new Error("changed my mind"));
    await opened.done;
    expect(opened.error).toMatchObject({ code: "aborted", cause: { message: "changed my mind" } });
    await settle();
    expect(script.received).toHaveLength(1);
    expect(script.wire.isClosed).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("an abort while both are awaited", async () => {
    covers("cancel-not-initialize", newestSession);
    const script = createScript(undefined, () => undefined);
    const controller = new AbortController();
    const opened = open(script, { signal: controller.signal, probeTimeoutMs: 10 });
    await script.heard("server/discover");
    await vi.advanceTimersByTimeAsync(10);
    await script.heard("initialize");
    controller.abort("enough");
    await opened.done;
    expect(opened.error).toMatchObject({ code: "aborted", cause: "enough" });
    await settle();
    expect(script.order).toEqual(["server/discover", "initialize"]);
  });

  test("an abort beforehand sends nothing", async () => {
    const script = createScript(undefined, () => undefined);
    const opened = open(script, { signal: AbortSignal.abort("no") });
    await opened.done;
    expect(opened.error?.code).toBe("aborted");
    expect(script.received).toEqual([]);
  });
});

describe("a pinned revision", () => {
  test.each(revisions)("%s is opened at once", async (revision) => {
    const script = createScript(revision, opening(revision, {}));
    const client = await openScript(script, { revision });
    expect(client.revision).toBe(revision);
    expect(script.order).toEqual(
      revision === modern ? ["server/discover"] : ["initialize", "notifications/initialized"],
    );
  });

  test.each(sessioned)("a server that offers another than %s is refused", async (revision) => {
    const other = revision === "2024-11-05" ? "2025-06-18" : "2024-11-05";
    const script = createScript(undefined, () => initialized(other));
    const error = await errorOf(connect(script.target, { revision }));
    expect(error.code).toBe("unsupported_version");
    expect(error.message).toContain(other);
    expect(error.message).toContain(revision);
    await settle();
    expect(script.wire.isClosed).toBe(true);
    expect(script.order).toEqual(["initialize"]);
  });

  test.each<[string, Answer, string]>([
    ["says -32601", notFound, "2026-07-28"],
    ["says -32000", { error: { code: -32000, message: "Server not initialized" } }, "Server not initialized"],
    ["lists others", { result: discovered({}, ["2025-11-25"]) }, "2025-11-25"],
    ["says -32022", versionError(["2025-11-25"]), "2025-11-25"],
  ])("2026-07-28: a server that %s is refused, and no session opened", async (_, answer, named) => {
    covers("era-stdio-modern-only-probe", modern);
    const script = createScript(modern, () => answer);
    const error = await errorOf(connect(script.target, { revision: modern }));
    expect(error.code).toBe("unsupported_version");
    expect(error.message).toContain(named);
    expect(error.message).toContain(modern);
    expect(script.order).toEqual(["server/discover"]);
    await settle();
    expect(script.wire.isClosed).toBe(true);
  });
});

describe("what is remembered under the target's key", () => {
  let keys = 0;
  const newKey = (): string => `negotiation-test-${keys++}`;

  test("a server of sessions is not probed a second time", async () => {
    covers("era-cache", modern);
    covers(["lifecycle-init-first", "lifecycle-client-sends-initialize"], "2025-06-18");
    const script = createScript("2025-06-18", opening("2025-06-18", {}), { key: newKey() });
    await openScript(script);
    expect(script.order).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    const second = await openScript(script);
    expect(second.revision).toBe("2025-06-18");
    expect(script.wires[1]?.received.map(({ method }) => method)).toEqual(["initialize", "notifications/initialized"]);
    // Offered the newest again: it may have learnt more since.
    expect(script.wires[1]?.received[0]?.params?.protocolVersion).toBe(newestSession);
  });

  test("without a key nothing is remembered", async () => {
    const script = createScript("2025-06-18", opening("2025-06-18", {}));
    await openScript(script);
    await openScript(script);
    expect(script.wires.map(({ received }) => received[0]?.method)).toEqual(["server/discover", "server/discover"]);
  });

  test.each<[string, Answer]>([
    ["an error", notFound],
    ["-32022", versionError([modern])],
    ["an offer that is unknown", initialized("2099-01-01")],
    ["no handshake's answer", { result: {} }],
  ])("when it has become wrong, told by %s, the server is probed again", async (_, refusal) => {
    let isNew = false;
    const old = opening("2025-06-18", {});
    const script = createScript(
      undefined,
      (message, wire) => {
        if (!isNew) return old(message, wire);
        return message.method === "initialize" ? refusal : opening(modern, {})(message, wire);
      },
      { key: newKey() },
    );
    await openScript(script);
    isNew = true;
    expect((await openScript(script)).revision).toBe(modern);
    expect(script.wires[1]?.received.map(({ method }) => method)).toEqual(["initialize", "server/discover"]);
    // And is remembered as what it is now.
    await openScript(script);
    expect(script.wires[2]?.received.map(({ method }) => method)).toEqual(["server/discover"]);
    expect(script.wires).toHaveLength(3);
  });

  test("a server that is just gone is not started twice because of it", async () => {
    let isGone = false;
    const old = opening("2025-06-18", {});
    const script = createScript(
      undefined,
      (message, wire) => {
        if (!isGone) return old(message, wire);
        wire.close(new Error("exited with code 1"));
        return undefined;
      },
      { key: newKey() },
    );
    await openScript(script);
    isGone = true;
    const error = await errorOf(connect(script.target));
    expect(error).toMatchObject({ code: "connection_lost", message: expect.stringContaining("exited with code 1") });
    expect(script.wires).toHaveLength(2);
  });

  test("a revision that is pinned is opened whatever is remembered", async () => {
    const key = newKey();
    const script = createScript("2025-06-18", opening("2025-06-18", {}), { key });
    await openScript(script);
    const pinned = createScript(modern, opening(modern, {}), { key });
    expect((await openScript(pinned, { revision: modern })).revision).toBe(modern);
  });
});

describe("a server that does not survive the probe", () => {
  const fragile = (message: Sent, wire: { close(cause?: unknown): void }): Answer => {
    if (message.method === "server/discover") wire.close(new Error("exited with code 3"));
    return anySession(message);
  };

  test("is opened once more, and asked nothing before initialize", async () => {
    covers(["lifecycle-init-first", "lifecycle-client-sends-initialize"], newestSession);
    const states: unknown[] = [];
    const script = createScript(newestSession, fragile, { key: "negotiation-test-fragile" });
    const client = await openScript(script, { onStateChange: (state) => states.push(state) });
    expect(client.revision).toBe(newestSession);
    expect(script.wires.map(({ received }) => received.map(({ method }) => method))).toEqual([
      ["server/discover"],
      ["initialize", "notifications/initialized"],
    ]);
    expect(states).toEqual(["connecting", "open"]);
    // The next time it is known.
    await openScript(script);
    expect(script.wires).toHaveLength(3);
  });

  test("one that dies of anything is opened twice, not more, and its reason told", async () => {
    const script = createScript(undefined, (_, wire) => {
      wire.close(new Error("exited with code 3"));
      return undefined;
    });
    const error = await errorOf(connect(script.target));
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("exited with code 3");
    expect(script.wires).toHaveLength(2);
  });

  test("one that dies of initialize is not opened again", async () => {
    const script = createScript(undefined, (message, wire) => {
      if (message.method === "server/discover") return notFound;
      wire.close();
      return undefined;
    });
    expect((await errorOf(connect(script.target))).code).toBe("connection_lost");
    expect(script.wires).toHaveLength(1);
  });

  test.each(revisions)("nor is any when %s is pinned", async (revision) => {
    const script = createScript(undefined, (_, wire) => {
      wire.close();
      return undefined;
    });
    expect((await errorOf(connect(script.target, { revision }))).code).toBe("connection_lost");
    expect(script.wires).toHaveLength(1);
  });

  test.each(revisions)(
    "one of %s that ends right behind its answer is lost, and the client not open",
    async (revision) => {
      for (let turns = 0; turns < 12; turns++) {
        const states: string[] = [];
        const answer = opening(revision, {});
        const script = createScript(undefined, async (message, wire) => {
          const given = (await answer(message, wire)) as Obj | undefined;
          if (!given) return undefined;
          wire.send({ jsonrpc: "2.0", id: message.id, ...given });
          // So many steps behind: wherever the client is by then, it must notice.
          settle(turns).then(() => wire.close(new Error("gone")));
          return undefined;
        });
        const told = connect(script.target, { revision, onStateChange: (state) => states.push(state) });
        const client = await told.catch(() => undefined);
        await settle();
        expect(states.at(-1)).toBe("closed");
        expect(states.filter((state) => state === "open").length).toBeLessThanOrEqual(1);
        if (!client) continue;
        expect(client.state).toBe("closed");
        expect(await errorOf(client.ping())).toMatchObject({ code: "connection_lost" });
        await client.close();
      }
    },
  );
});

describe("a target that cannot be opened", () => {
  test("its reason is passed on", async () => {
    const target = { name: "none", open: () => Promise.reject(new McpError("connection_lost", "no such command")) };
    expect(await errorOf(connect(target))).toMatchObject({ message: "no such command" });
  });
});
