// The opening of a session, and what a client says of itself in every revision.
import { type ClientOptions, connect, type Revision, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, modern, sessioned } from "./harness.ts";
import {
  type Answer,
  createScript,
  discovered,
  metaOf,
  notFound,
  type Obj,
  opening,
  openScript,
  serverInfo,
  settle,
} from "./script.ts";

const newestSession: Revision = "2025-11-25";
const initialized = (protocolVersion: string, capabilities: Obj = {}): Answer => ({
  result: { protocolVersion, capabilities, serverInfo },
});

describe("the handshake", () => {
  test.each(sessioned)("the server's choice of %s is used", async (revision) => {
    covers(
      ["version-single-per-session", "lifecycle-initialized-notification", "version-client-offers-supported"],
      revision,
    );
    covers(
      ["version-client-offers-latest", "lifecycle-operation-version", "lifecycle-operation-version-2025-06"],
      revision,
    );
    const script = createScript(
      revision,
      opening(revision, { tools: {} }, () => ({ result: { tools: [] } })),
    );
    const client = await openScript(script);
    expect(client.revision).toBe(revision);
    expect(script.of("initialize")[0]?.params?.protocolVersion).toBe(newestSession);
    expect(script.of("notifications/initialized")).toEqual([{ jsonrpc: "2.0", method: "notifications/initialized" }]);
    await client.listTools().all();
    // Judged in the revision by the script.
    expect(script.order).toEqual(["server/discover", "initialize", "notifications/initialized", "tools/list"]);
    expect(client.revision).toBe(revision);
  });

  test.each(["2099-01-01", modern, "1.0", "", 5, undefined])("an offer of %j ends it", async (offered) => {
    covers(["version-client-disconnects", "lifecycle-handle-version-mismatch"], newestSession);
    const script = createScript(undefined, (message) =>
      message.method === "initialize"
        ? { result: { protocolVersion: offered, capabilities: {}, serverInfo } }
        : notFound,
    );
    const error = await errorOf(connect(script.target));
    expect(error.code).toBe("unsupported_version");
    if (typeof offered === "string") expect(error.message).toContain(offered);
    expect(error.message).toContain(newestSession);
    await settle();
    expect(script.of("notifications/initialized")).toEqual([]);
    expect(script.wire.isClosed).toBe(true);
  });

  test.each(sessioned)("an offer that is unknown ends a handshake pinned to %s", async (revision) => {
    covers(["version-client-disconnects", "lifecycle-handle-version-mismatch"], revision);
    const script = createScript(undefined, () => initialized("2099-01-01"));
    const error = await errorOf(connect(script.target, { revision }));
    expect(error).toMatchObject({ code: "unsupported_version", data: { offered: "2099-01-01" } });
    expect(error.message).toContain(revision);
    await settle();
    expect(script.order).toEqual(["initialize"]);
    expect(script.wire.isClosed).toBe(true);
  });

  test("an answer without what it must hold is refused, and says what is missing", async () => {
    const script = createScript(undefined, (message) =>
      message.method === "initialize" ? { result: { protocolVersion: newestSession, serverInfo } } : notFound,
    );
    expect(await errorOf(connect(script.target))).toMatchObject({
      code: "invalid_result",
      message: expect.stringContaining("capabilities"),
    });
    await settle();
    expect(script.of("notifications/initialized")).toEqual([]);
    expect(script.wire.isClosed).toBe(true);
  });

  test("a server that refuses both is told apart from one that is gone", async () => {
    const script = createScript(undefined, ({ method }) => ({ error: { code: -32099, message: `no ${method}` } }));
    const error = await errorOf(connect(script.target));
    expect(error).toMatchObject({
      code: "peer_error",
      rpcCode: -32099,
      message: expect.stringContaining("initialize"),
    });
  });

  test.each(sessioned)("in %s initialize comes first, then initialized, and then requests", async (revision) => {
    covers(
      ["lifecycle-init-first", "lifecycle-client-sends-initialize", "lifecycle-initialized-notification"],
      revision,
    );
    covers(
      ["schema-initialize-request", "schema-implementation", "lifecycle-init-not-batched", "rpc-support-core"],
      revision,
    );
    const script = createScript(revision, opening(revision, {}));
    await openScript(script, { revision });
    expect(script.order).toEqual(["initialize", "notifications/initialized"]);
    expect(script.received[0]).toMatchObject({
      jsonrpc: "2.0",
      method: "initialize",
      params: {
        protocolVersion: revision,
        capabilities: {},
        clientInfo: { name: "plenum", version: expect.any(String) },
      },
    });
  });

  test.each(sessioned)("in %s nothing is asked before the answer, and pings are answered", async (revision) => {
    covers(
      ["lifecycle-client-no-early-requests", "ping-respond", "rpc-response-same-id", "schema-empty-result"],
      revision,
    );
    let finish: (answer: Answer) => void = () => {};
    const script = createScript(revision, (message) =>
      message.method === "initialize" ? new Promise<Answer>((resolve) => (finish = resolve)) : undefined,
    );
    const opened = openScript(script, {
      revision,
      logLevel: "info",
      roots: [],
      onListChanged: () => {},
      onElicit: () => ({ action: "decline" }),
    });
    await script.heard("initialize");
    const { wire } = script;
    wire.send({ jsonrpc: "2.0", id: 0, method: "ping" });
    wire.send({ jsonrpc: "2.0", id: "0", method: "roots/list" });
    wire.notify("notifications/tools/list_changed");
    await script.when(({ id }) => id === "0");
    expect(wire.received.slice(1)).toEqual([
      { jsonrpc: "2.0", id: 0, result: {} },
      { jsonrpc: "2.0", id: "0", error: expect.objectContaining({ code: -32601 }) },
    ]);
    finish(initialized(revision, { logging: {} }));
    await opened;
    await script.heard("logging/setLevel");
    expect(script.order).toEqual(["initialize", "result", "error", "notifications/initialized", "logging/setLevel"]);
  });

  const chunks = sessioned.flatMap((revision) => [true, false].map((isOneChunk) => ({ revision, isOneChunk })));

  test.each(chunks)(
    "in $revision what comes right behind the answer is heard (in one chunk: $isOneChunk)",
    async ({ revision, isOneChunk }) => {
      const changes: string[] = [];
      const script = createScript(revision, (message, wire) => {
        if (message.method !== "initialize") return undefined;
        const messages = [
          { jsonrpc: "2.0", id: message.id, ...initialized(revision, { tools: { listChanged: true } }) },
          { jsonrpc: "2.0", id: 0, method: "roots/list" },
          { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
        ];
        if (isOneChunk) wire.send(...messages);
        else for (const one of messages) wire.send(one);
        return undefined;
      });
      const client = await openScript(script, {
        revision,
        roots: ["file:///home"],
        onListChanged: (kind) => changes.push(kind),
      });
      await script.when(({ id, result }) => id === 0 && result !== undefined);
      expect(script.received.at(-1)).toEqual({ jsonrpc: "2.0", id: 0, result: { roots: [{ uri: "file:///home" }] } });
      expect(changes).toEqual(["tools"]);
      expect(client.state).toBe("open");
    },
  );
});

describe("what the client declares", () => {
  const elicit = () => ({ action: "decline" }) as const;
  const sample = () => ({ role: "assistant", content: { type: "text", text: "" }, model: "m" }) as const;

  async function declared(revision: Revision, options: ClientOptions): Promise<unknown> {
    const script = createScript(revision, opening(revision, {}));
    await openScript(script, { ...options, revision });
    const [first] = script.received;
    return revision === modern
      ? metaOf(first)["io.modelcontextprotocol/clientCapabilities"]
      : first?.params?.capabilities;
  }

  /** By revision: what is declared in 2024-11-05 and 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28. */
  const table: [string, ClientOptions, old: Obj, june: Obj, november: Obj, now: Obj][] = [
    ["nothing", {}, {}, {}, {}, {}],
    [
      "onElicit",
      { onElicit: elicit },
      {},
      { elicitation: {} },
      { elicitation: { form: {} } },
      { elicitation: { form: {} } },
    ],
    ["onElicitUrl", { onElicitUrl: elicit }, {}, {}, { elicitation: { url: {} } }, { elicitation: { url: {} } }],
    [
      "both",
      { onElicit: elicit, onElicitUrl: elicit },
      {},
      { elicitation: {} },
      { elicitation: { form: {}, url: {} } },
      { elicitation: { form: {}, url: {} } },
    ],
    ["onSample", { onSample: sample }, { sampling: {} }, { sampling: {} }, { sampling: {} }, { sampling: {} }],
    [
      "sampleTools and sampleContext",
      { onSample: sample, sampleTools: true, sampleContext: true },
      { sampling: {} },
      { sampling: {} },
      { sampling: { tools: {}, context: {} } },
      { sampling: { tools: {}, context: {} } },
    ],
    [
      "roots",
      { roots: [] },
      { roots: { listChanged: true } },
      { roots: { listChanged: true } },
      { roots: { listChanged: true } },
      { roots: {} },
    ],
    [
      "an extension",
      { extensions: { "com.example/x": { y: 1 } } },
      {},
      {},
      {},
      { extensions: { "com.example/x": { y: 1 } } },
    ],
  ];

  test.each(
    table.flatMap(([name, options, old, june, november, now]) =>
      revisions.map((revision) => {
        const expected = { "2025-06-18": june, "2025-11-25": november, "2026-07-28": now }[revision as string] ?? old;
        return { name, options, revision, expected };
      }),
    ),
  )("$name in $revision", async ({ options, revision, expected }) => {
    covers(
      [
        "schema-client-capabilities",
        "schema-client-capabilities-2025-06",
        "schema-client-capabilities-2025-11",
        "schema-client-capabilities-2026",
        "schema-capability-values",
      ],
      revision,
    );
    expect(await declared(revision, options)).toEqual(expected);
  });

  test("what the client is, as far as the revision can say it", async () => {
    const icons = [{ src: "https://example.com/icon.png" }];
    const info = {
      name: "tester",
      version: "1",
      title: "The Tester",
      description: "Tests",
      websiteUrl: "https://example.com",
      icons,
    };
    const told = async (revision: Revision): Promise<unknown> => {
      const script = createScript(revision, opening(revision, {}));
      await openScript(script, { info, revision });
      const [first] = script.received;
      return revision === modern ? metaOf(first)["io.modelcontextprotocol/clientInfo"] : first?.params?.clientInfo;
    };
    const plain = { name: "tester", version: "1" };
    expect(await told("2024-11-05")).toEqual(plain);
    expect(await told("2025-03-26")).toEqual(plain);
    expect(await told("2025-06-18")).toEqual({ ...plain, title: "The Tester" });
    expect(await told("2025-11-25")).toEqual(info);
    expect(await told(modern)).toEqual(info);
  });

  test.each(revisions)("capabilities of %s that nobody knows are tolerated and shown", async (revision) => {
    covers("schema-capabilities-open", revision);
    const capabilities = { "x-strange": { deep: [1] }, tools: { listChanged: true, also: 1 } };
    const script = createScript(revision, opening(revision, capabilities));
    const client = await openScript(script, { revision });
    expect(client.server.capabilities).toEqual(capabilities);
  });

  test.each(sessioned)("capabilities of %s that are none are refused", async (revision) => {
    covers("schema-capability-values", revision);
    for (const capabilities of [{ tools: true }, { tools: { listChanged: "yes" } }]) {
      const script = createScript(undefined, opening(revision, capabilities));
      expect(await errorOf(connect(script.target, { revision }))).toMatchObject({ code: "invalid_result" });
    }
  });

  test.each(revisions)("a server of %s without a version is refused", async (revision) => {
    covers("schema-implementation", revision);
    const nameless = { name: "x" };
    const script = createScript(undefined, ({ method }) =>
      method === "initialize"
        ? { result: { protocolVersion: revision, capabilities: {}, serverInfo: nameless } }
        : { result: { ...discovered(), _meta: { "io.modelcontextprotocol/serverInfo": nameless } } },
    );
    const error = await errorOf(connect(script.target, { revision }));
    expect(error.message).toContain("version");
  });

  test.each(revisions)("in %s what the server did not declare is not asked of it", async (revision) => {
    covers(
      [
        "lifecycle-operation-capabilities",
        "lifecycle-operation-capabilities-2025-06",
        "lifecycle-handle-capability-failure",
      ],
      revision,
    );
    const script = createScript(revision, opening(revision, { prompts: {} }));
    const client = await openScript(script, { revision });
    const before = script.received.length;
    for (const attempt of [
      () => client.listTools().all(),
      () => client.callTool("x"),
      () => client.readResource("x:y"),
      () => client.subscribe("x:y"),
      () => client.setLogLevel("info"),
    ]) {
      const error = await errorOf(attempt());
      expect(error.code).toBe("method_not_found");
      expect(error.message).toContain("prompts");
    }
    expect(script.received).toHaveLength(before);
  });
});
