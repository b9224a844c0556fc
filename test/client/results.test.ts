// What a server sends, right or wrong: what becomes of it, and that nothing it sends does harm.
import { type Client, type ClientOptions, connect, type Revision, revisions } from "plenum";
import { beforeAll, describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, modern, sessioned } from "./harness.ts";
import {
  type Answer,
  type Answerer,
  createScript,
  listIn,
  loadClient,
  type Obj,
  opening,
  openScript,
  resultIn,
  settle,
} from "./script.ts";

// What is loaded on demand is here already: no test waits for it.
beforeAll(loadClient);

const everything = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** A client of a server of which everything but the opening is the test's; with what it is warned of. */
async function stage(
  revision: Revision,
  answer: Answer | Answerer = () => undefined,
  options: ClientOptions = {},
  capabilities: Obj = everything,
) {
  const answerer: Answerer = (message, wire) => {
    if (message.id === undefined) return undefined;
    return typeof answer === "function" ? answer(message, wire) : answer;
  };
  const script = createScript(revision, opening(revision, capabilities, answerer));
  const warnings: string[] = [];
  const client = await openScript(script, { ...options, revision, onWarning: (problem) => warnings.push(problem) });
  /** What the client sent behind the opening. */
  const opened = script.received.length;
  return { script, client, warnings, sent: () => script.received.slice(opened) };
}

const schema = { type: "object" };
const uri = "file:///x";
const ref = { type: "ref/prompt", name: "p" } as const;

const verbs = {
  "tools/list": (client: Client) => client.listTools().all(),
  "tools/call": (client: Client) => client.callTool("t"),
  "resources/list": (client: Client) => client.listResources().all(),
  "resources/templates/list": (client: Client) => client.listResourceTemplates().all(),
  "resources/read": (client: Client) => client.readResource(uri),
  "prompts/list": (client: Client) => client.listPrompts().all(),
  "prompts/get": (client: Client) => client.getPrompt("p"),
  "completion/complete": (client: Client) => client.complete(ref, { name: "a", value: "" }),
} as const;
type Verb = keyof typeof verbs;

const block = (content: Obj): [Verb, Obj][] => [
  ["tools/call", { content: [{ type: "text", text: "" }, content] }],
  ["prompts/get", { messages: [{ role: "user", content }] }],
];

describe("results that are not what the revision has", () => {
  /** With the requirements of the schema that are shown by it, and the revision that brought it. */
  const table: [name: string, what: [Verb, Obj][], place: string, ids?: string[], since?: Revision][] = [
    ["no list of tools", [["tools/list", {}]], "result.tools"],
    ["tools that are no list", [["tools/list", { tools: {} }]], "result.tools"],
    ["a tool without a name", [["tools/list", { tools: [{ inputSchema: schema }] }]], "result.tools[0].name"],
    ["a tool without a schema", [["tools/list", { tools: [{ name: "x" }] }]], "result.tools[0].inputSchema"],
    [
      "a schema that is no object's",
      [["tools/list", { tools: [{ name: "x", inputSchema: { type: "string" } }] }]],
      "result.tools[0].inputSchema.type",
    ],
    [
      "a cursor that is no text",
      [["tools/list", { tools: [], nextCursor: 5 }]],
      "result.nextCursor",
      ["page-cursor-string"],
    ],
    [
      "a cursor that is null",
      [["prompts/list", { prompts: [], nextCursor: null }]],
      "result.nextCursor",
      ["page-cursor-string"],
    ],
    ["no content", [["tools/call", {}]], "result.content", ["tool-client-validate-results"]],
    ["content that is text", [["tools/call", { content: "x" }]], "result.content"],
    ["isError that is no boolean", [["tools/call", { content: [], isError: "yes" }]], "result.isError"],
    ["text content without text", block({ type: "text" }), ".text", ["schema-text-content"]],
    ["an image without a type", block({ type: "image", data: "" }), ".mimeType", ["schema-image-content"]],
    [
      "an image that is not base64",
      block({ type: "image", data: "!", mimeType: "image/png" }),
      ".data",
      ["schema-blob-base64"],
    ],
    ["audio without a type", block({ type: "audio", data: "" }), ".mimeType", ["schema-audio-content"], "2025-03-26"],
    ["a link without a name", block({ type: "resource_link", uri }), ".name", ["schema-resource-link"], "2025-06-18"],
    [
      "an embedded resource without a URI",
      block({ type: "resource", resource: { text: "" } }),
      ".resource",
      ["schema-embedded-resource"],
    ],
    [
      "a priority above 1",
      block({ type: "text", text: "", annotations: { priority: 1.5 } }),
      ".annotations.priority",
      ["schema-annotations"],
    ],
    [
      "an audience of nobody",
      block({ type: "text", text: "", annotations: { audience: ["x"] } }),
      ".audience[0]",
      ["schema-annotations"],
    ],
    ["content of a kind that nobody knows", block({ type: "hologram", data: "" }), ".type"],
    ["a resource without a URI", [["resources/list", { resources: [{ name: "x" }] }]], "result.resources[0].uri"],
    [
      "a URI that is none",
      [["resources/list", { resources: [{ name: "x", uri: "no uri" }] }]],
      "result.resources[0].uri",
    ],
    [
      "a template that is none",
      [["resources/templates/list", { resourceTemplates: [{ name: "x", uriTemplate: "a{" }] }]],
      "result.resourceTemplates[0].uriTemplate",
    ],
    ["contents without text or blob", [["resources/read", { contents: [{ uri }] }]], "result.contents[0]"],
    [
      "a blob that is not base64",
      [["resources/read", { contents: [{ uri, blob: "?" }] }]],
      "blob",
      ["schema-blob-base64"],
    ],
    ["a prompt without a name", [["prompts/list", { prompts: [{}] }]], "result.prompts[0].name"],
    [
      "a role of nobody",
      [["prompts/get", { messages: [{ role: "system", content: { type: "text", text: "" } }] }]],
      "result.messages[0].role",
      ["schema-role"],
    ],
    [
      "values that are no texts",
      [["completion/complete", { completion: { values: [1] } }]],
      "result.completion.values[0]",
    ],
    ["no completion", [["completion/complete", {}]], "result.completion"],
  ];
  const cases = table.flatMap(([name, what, place, ids = [], since = "2024-11-05"]) =>
    revisions
      .filter((revision) => revision >= since)
      .flatMap((revision) => what.map(([verb, result]) => ({ name, revision, verb, result, place, ids }))),
  );

  test.each(cases)("$name: $verb in $revision", async ({ revision, verb, result, place, ids }) => {
    covers(ids, revision);
    const { client } = await stage(revision, listIn(revision, result));
    const error = await errorOf(verbs[verb](client));
    expect(error.code).toBe("invalid_result");
    expect(error.message).toContain(verb);
    expect(error.message).toContain(place);
    expect(client.state).toBe("open");
  });

  test("more completions than the revision allows", async () => {
    const completion = { values: Array.from({ length: 101 }, String) };
    const { client } = await stage(modern, resultIn(modern, { completion }));
    expect(await errorOf(verbs["completion/complete"](client))).toMatchObject({ code: "invalid_result" });
  });

  test.each(revisions)("what is no result at all, in %s", async (revision) => {
    covers(["schema-jsonrpc-response", "rpc-response-not-both", "rpc-error-code-integer"], revision);
    const wrong: unknown[] = [
      { result: 5 },
      { result: null },
      { result: [] },
      { result: {}, error: { code: 1, message: "" } },
      { error: "no" },
      { error: { message: "no code" } },
      { error: { code: 1.5, message: "half a code" } },
      { error: { code: 1 } },
    ];
    let next = 0;
    const { client, warnings, sent } = await stage(revision, (message, wire) => {
      wire.send({ jsonrpc: "2.0", id: message.id, ...(wrong[next++] as Obj) });
      return undefined;
    });
    for (const _ of wrong) expect((await errorOf(client.callTool("t"))).code).toBe("invalid_result");
    expect(warnings).toHaveLength(wrong.length);
    // No answer to an answer.
    expect(sent().every(({ method }) => method === "tools/call")).toBe(true);
  });

  test.each(revisions)("members that nobody knows do no harm, in %s", async (revision) => {
    covers(["schema-open-members", "schema-meta-members"], revision);
    const tool = { name: "x", inputSchema: schema, "x-own": [1], _meta: { "com.example/a": 1 } };
    const { client } = await stage(revision, listIn(revision, { tools: [tool], "x-more": { deep: true } }));
    expect(await client.listTools().all()).toEqual([tool]);
  });

  test.each(revisions)("all kinds of content come as they are, in %s", async (revision) => {
    covers(["schema-content-union-2025-06", "schema-content-union-2025-03", "schema-text-content"], revision);
    const content = [
      { type: "text", text: "" },
      { type: "image", data: "", mimeType: "image/png" },
      { type: "resource", resource: { uri, text: "t" } },
      { type: "resource", resource: { uri, blob: "AA==" } },
      // Of later revisions: many servers send them whatever was agreed.
      { type: "audio", data: "", mimeType: "audio/wav" },
      { type: "resource_link", uri, name: "n" },
    ];
    const { client } = await stage(revision, resultIn(revision, { content }));
    expect((await client.callTool("t")).content).toEqual(content);
    const { client: other } = await stage(revision, ({ params }) =>
      resultIn(revision, { messages: [{ role: "user", content: content[Number(params?.name)] }] }),
    );
    for (const [i, one] of content.entries())
      expect((await other.getPrompt(String(i))).messages).toEqual([{ role: "user", content: one }]);
  });
});

describe("a resource that is not there", () => {
  test.each(revisions.flatMap((revision) => [-32002, -32602].map((code) => ({ revision, code }))))(
    "$code in $revision",
    async ({ revision, code }) => {
      const { client } = await stage(revision, { error: { code, message: "Resource not found", data: { uri } } });
      const error = await errorOf(client.readResource(uri));
      expect(error).toMatchObject({ code: "resource_not_found", data: { uri } });
      expect(error.message).toContain(uri);
    },
  );

  test.each(revisions)("any other number of %s is the server's own affair", async (revision) => {
    covers("rpc-error-legacy-range-no-meaning", revision);
    for (const code of [-32601, -32603, -32000, -32003, 404]) {
      const { client } = await stage(revision, { error: { code, message: "Resource not found" } });
      expect(await errorOf(client.readResource(uri))).toMatchObject({ code: "peer_error", rpcCode: code });
    }
  });

  test("-32002 means nothing for other requests", async () => {
    covers("rpc-error-legacy-range-no-meaning", modern);
    const { client } = await stage(modern, { error: { code: -32002, message: "?" } });
    expect(await errorOf(client.callTool("t"))).toMatchObject({ code: "peer_error", rpcCode: -32002 });
  });
});

describe("hints that are missing or wrong", () => {
  test.each<[string, Obj]>([
    ["absent", {}],
    ["negative", { ttlMs: -5, cacheScope: "private" }],
    ["no number", { ttlMs: "60000", cacheScope: "private" }],
    ["broken", { ttlMs: 0.5, cacheScope: "private" }],
    ["null", { ttlMs: null, cacheScope: null }],
    ["of an unknown scope", { ttlMs: 0, cacheScope: "shared" }],
  ])("%s: the list is read, and not kept", async (name, hints) => {
    if (name === "absent") covers("cache-ttl-absent", modern);
    if (name === "negative") covers("cache-ttl-negative", modern);
    const { client, sent } = await stage(modern, { result: { resultType: "complete", tools: [], ...hints } });
    expect(await client.listTools().all()).toEqual([]);
    expect(await client.listTools().all()).toEqual([]);
    expect(sent()).toHaveLength(2);
  });

  test.each(Object.entries(verbs))("%s without resultType is complete", async (verb, call) => {
    covers("rpc-result-type-absent-complete", modern);
    const members: { [verb: string]: Obj } = {
      "tools/list": { tools: [] },
      "tools/call": { content: [] },
      "resources/list": { resources: [] },
      "resources/templates/list": { resourceTemplates: [] },
      "resources/read": { contents: [] },
      "prompts/list": { prompts: [] },
      "prompts/get": { messages: [] },
      "completion/complete": { completion: { values: [] } },
    };
    const { client } = await stage(modern, { result: members[verb] as Obj });
    expect(await call(client)).toBeDefined();
  });
});

describe("noise", () => {
  const lines = [
    "Server listening on stdio",
    "",
    "{",
    '{"jsonrpc":"2.0","id":1,"result":',
    "[]",
    "5",
    "null",
    '"text"',
    "{}",
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"1.0","id":7,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":true,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    '{"jsonrpc":"2.0","id":8,"method":5}',
    '{"jsonrpc":"2.0","id":8,"method":"ping","params":[]}',
    `${"[".repeat(200)}${"]".repeat(200)}`,
  ];

  test.each(revisions)("in %s it is told as a warning, not answered, and the connection lives", async (revision) => {
    covers(["rpc-code-parse-error", "rpc-request-id-not-null"], revision);
    const { client, script, warnings, sent } = await stage(revision, () => listIn(revision, { tools: [] }));
    for (const line of lines) script.wire.text(line);
    await settle();
    expect(warnings).toHaveLength(lines.length);
    expect(warnings[0]).toContain('"Server listening on stdio"');
    expect(warnings.every((warning) => !/\p{Cc}/u.test(warning) && warning.length < 300)).toBe(true);
    expect(sent()).toEqual([]);
    expect(await client.listTools().all()).toEqual([]);
  });

  test("long noise is cut, and control characters in it do nothing", async () => {
    const { script, warnings } = await stage(modern);
    script.wire.text(`\u001b[2J\u0007${"x".repeat(100_000)}`);
    await settle();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.length).toBeLessThan(300);
    expect(warnings[0]).not.toMatch(/\p{Cc}/u);
  });

  test.each(revisions)("before the connection is open, in %s", async (revision) => {
    const answer = opening(revision, {});
    const warnings: string[] = [];
    const script = createScript(revision, (message, wire) => {
      wire.text("Starting...");
      return answer(message, wire);
    });
    const client = await connect(script.target, { revision, onWarning: (problem) => warnings.push(problem) });
    expect(client.state).toBe("open");
    expect(warnings[0]).toContain("Starting...");
    await client.close();
  });

  test.each(revisions)("errors of %s about nothing in particular are dropped", async (revision) => {
    const { client, script, sent } = await stage(revision, () => listIn(revision, { tools: [] }));
    script.wire.send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
    script.wire.send({ jsonrpc: "2.0", error: { code: -32700, message: "Parse error" } });
    await settle();
    expect(sent()).toEqual([]);
    expect(await client.listTools().all()).toEqual([]);
  });
});

describe("notifications", () => {
  test.each(revisions)("in %s what is unknown or malformed reaches nobody and is not answered", async (revision) => {
    covers("rpc-notification-no-response", revision);
    const heard: unknown[] = [];
    const { client, script, warnings, sent } = await stage(revision, () => listIn(revision, { tools: [] }), {
      onLog: (entry) => heard.push(entry),
      onResourceUpdated: (one) => heard.push(one),
      cache: false,
    });
    const { wire } = script;
    wire.notify("notifications/no-such-thing", { a: 1 });
    wire.notify("notifications/initialized");
    wire.notify("__proto__");
    wire.notify("tools/list");
    wire.notify("notifications/message", { level: "loud", data: 1 });
    wire.notify("notifications/message", { level: "info" });
    wire.notify("notifications/resources/updated", {});
    wire.notify("notifications/resources/updated", { uri: 5 });
    wire.text('{"jsonrpc":"2.0","method":"notifications/message","params":[1]}');
    wire.text('{"jsonrpc":"2.0","method":5}');
    await settle();
    expect(heard).toEqual([]);
    // In 2026-07-28 updates belong to a subscription, and none is open.
    expect(warnings.filter((one) => one.includes("is not valid"))).toHaveLength(revision === modern ? 2 : 4);
    expect(sent()).toEqual([]);
    wire.notify("notifications/message", { level: "info", data: "fine" });
    await settle();
    expect(heard).toEqual([{ level: "info", data: "fine" }]);
    expect(await client.listTools().all()).toEqual([]);
  });
});

describe("requests of the server", () => {
  const handlers: ClientOptions = { roots: ["file:///a"] };

  test.each(sessioned)("in %s what is unknown, or the client's own, is -32601", async (revision) => {
    covers(
      ["rpc-code-method-not-found", "rpc-response-same-id", "rpc-error-same-id", "rpc-error-code-and-message"],
      revision,
    );
    covers(["schema-client-requests", "schema-client-requests-2025-11", "rpc-error-message-concise"], revision);
    const { script, sent } = await stage(revision, () => undefined, handlers);
    const methods = [
      ...[
        "no/such",
        "",
        "__proto__",
        "constructor",
        "a\nb".repeat(1000),
        "notifications/initialized",
        "sampling/createMessage",
      ],
      ...["initialize", "tools/list", "tools/call", "resources/list", "resources/read", "prompts/list", "prompts/get"],
      ...["completion/complete", "logging/setLevel", "resources/subscribe", "server/discover", "subscriptions/listen"],
    ];
    const ids = methods.map((_, i) => (i % 2 ? i : i === 0 ? "" : `x${i}`));
    for (const [i, method] of methods.entries()) script.wire.send({ jsonrpc: "2.0", id: ids[i], method });
    await settle();
    expect(sent().map(({ id }) => id)).toEqual(ids);
    for (const { error } of sent()) {
      expect(error?.code).toBe(-32601);
      expect(error?.message.length).toBeLessThan(200);
    }
  });

  test.each(sessioned)("in %s ping and roots are answered, with the id as it came", async (revision) => {
    covers(["rpc-response-same-id", "rpc-response-result-or-error", "ping-respond", "rpc-support-core"], revision);
    const { script, sent } = await stage(revision, () => undefined, handlers);
    for (const id of [0, "0", 7, "7", "", -1]) script.wire.send({ jsonrpc: "2.0", id, method: "ping" });
    script.wire.send({ jsonrpc: "2.0", id: 8, method: "roots/list" });
    script.wire.send({ jsonrpc: "2.0", id: 9, method: "ping", params: { _meta: { progressToken: 1, "x/y": [] } } });
    await settle();
    expect(sent()).toEqual(
      [
        ...[0, "0", 7, "7", "", -1].map((id) => ({ jsonrpc: "2.0", id, result: {} })),
        ...[{ jsonrpc: "2.0", id: 9, result: {} }],
        ...[{ jsonrpc: "2.0", id: 8, result: { roots: [{ uri: "file:///a" }] } }],
      ].sort((a, b) => sent().findIndex(({ id }) => id === a.id) - sent().findIndex(({ id }) => id === b.id)),
    );
    expect(sent()).toHaveLength(8);
  });

  test.each(sessioned)("in %s wrong params are -32602, and a handler's failure -32603", async (revision) => {
    covers(["rpc-code-invalid-params", "rpc-code-internal-error", "rpc-response-not-both"], revision);
    const { script, sent } = await stage(revision, () => undefined, {
      onSample: () => {
        throw new Error("the key is 12345");
      },
    });
    const params = { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 5 };
    script.wire.send({ jsonrpc: "2.0", id: 1, method: "sampling/createMessage", params: { messages: "x" } });
    script.wire.send({ jsonrpc: "2.0", id: 2, method: "sampling/createMessage", params });
    await settle();
    expect(sent().map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32602],
      [2, -32603],
    ]);
    expect(JSON.stringify(sent())).not.toContain("12345");
  });

  test.each(sessioned)("in %s an id that is still open is refused, and harms nobody", async (revision) => {
    const { script, sent } = await stage(revision, () => undefined, { roots: () => new Promise(() => {}) });
    script.wire.send({ jsonrpc: "2.0", id: 1, method: "roots/list" });
    script.wire.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    await settle();
    expect(sent()).toMatchObject([{ id: 1, error: { code: -32600 } }]);
  });

  test("in 2026-07-28 there are none: no answer of any kind, and a warning", async () => {
    covers("rpc-client-no-responses", modern);
    const { client, script, warnings, sent } = await stage(modern, () => listIn(modern, { tools: [] }), {
      ...handlers,
      onElicit: () => expect.fail("nobody is to be asked"),
    });
    const methods = ["ping", "roots/list", "elicitation/create", "sampling/createMessage", "no/such", "tools/list"];
    for (const [id, method] of methods.entries()) script.wire.send({ jsonrpc: "2.0", id, method, params: {} });
    await settle();
    expect(sent()).toEqual([]);
    expect(warnings).toHaveLength(methods.length);
    expect(warnings[1]).toContain('"roots/list"');
    expect(await client.listTools().all()).toEqual([]);
  });
});

describe("batches", () => {
  const march: Revision = "2025-03-26";

  test("in 2025-03-26 answers may come in one, in any order", async () => {
    covers(["rpc-batch-receive", "rpc-batch-response-members"], march);
    const { client, script } = await stage(march);
    const calls = [client.callTool("a"), client.callTool("b")];
    await script.heard("tools/call", 2);
    const answers = script.of("tools/call").map(({ id, params }) => ({
      jsonrpc: "2.0",
      id,
      result: { content: [{ type: "text", text: `I am ${params?.name}` }] },
    }));
    script.wire.send(answers.reverse());
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(["I am a", "I am b"]);
    expect(script.wire.batches).toEqual([]);
  });

  test("in 2025-03-26 questions may come in one, and are answered in one", async () => {
    covers(["rpc-batch-receive", "rpc-batch-response-members", "rpc-batch-response-per-request"], march);
    covers(["rpc-batch-no-empty-response", "rpc-batch-invalid-member"], march);
    const changes: string[] = [];
    const { script, sent } = await stage(march, () => undefined, {
      roots: async () => [],
      onListChanged: (kind) => changes.push(kind),
    });
    const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    script.wire.send([
      { jsonrpc: "2.0", id: 1, method: "ping" },
      changed,
      { jsonrpc: "2.0", id: "r", method: "roots/list" },
      5,
    ]);
    await settle();
    expect(changes).toEqual(["tools"]);
    expect(script.wire.batches).toEqual([3]);
    const byId = new Map(sent().map((one) => [one.id, one]));
    expect(byId.get(1)).toMatchObject({ result: {} });
    expect(byId.get("r")).toMatchObject({ result: { roots: [] } });
    expect(byId.get(undefined)).toMatchObject({ error: { code: -32600 } });
    script.wire.send([changed, changed]);
    await settle();
    expect(changes).toEqual(["tools", "tools", "tools"]);
    expect(sent()).toHaveLength(3);
  });

  test("in 2025-03-26 questions and answers do not mix", async () => {
    covers("rpc-batch-request-members", march);
    const { client, warnings, sent } = await stage(march, ({ id }, wire) => {
      wire.send([
        { jsonrpc: "2.0", id: 1, method: "ping" },
        { jsonrpc: "2.0", id, result: { content: [] } },
      ]);
      return undefined;
    });
    expect((await errorOf(client.callTool("t"))).code).toBe("invalid_result");
    expect(warnings[0]).toContain("batch");
    expect(sent().map(({ method }) => method)).toEqual(["tools/call"]);
  });

  test.each(revisions.filter((revision) => revision !== march))("in %s they are no messages", async (revision) => {
    covers("rpc-batch-not-a-message", revision);
    const { client, script, warnings, sent } = await stage(revision, () => listIn(revision, { tools: [] }));
    script.wire.send([{ jsonrpc: "2.0", id: 1, method: "ping" }]);
    script.wire.send([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
    await settle();
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain("batch");
    expect(sent()).toEqual([]);
    expect(await client.listTools().all()).toEqual([]);
  });
});

describe("answers to nothing", () => {
  test.each(revisions)("in %s the first answer counts, and those nobody waits for are dropped", async (revision) => {
    const { client, script, sent } = await stage(revision, (message, wire) => {
      const { id } = message;
      const answer = (other: unknown, said: string): void =>
        wire.send({ jsonrpc: "2.0", id: other, ...resultIn(revision, { content: [{ type: "text", text: said }] }) });
      // Other ids, some of which are nearly the same.
      for (const other of [String(id), Number(id) + 1000, "", "__proto__", -Number(id)]) answer(other, "wrong");
      wire.send({ jsonrpc: "2.0", id: String(id), error: { code: 1, message: "wrong" } });
      answer(id, "right");
      answer(id, "twice");
      wire.send({ jsonrpc: "2.0", id, error: { code: 1, message: "twice" } });
      return undefined;
    });
    expect((await client.callTool("t")).text).toBe("right");
    expect((await client.callTool("t")).text).toBe("right");
    await settle();
    expect(sent()).toHaveLength(2);
    expect(script.wire.isClosed).toBe(false);
  });
});

describe("a hostile server", () => {
  test("error messages of any length are cut in ours, and cleaned; the data is whole", async () => {
    const message = `first\r\n\u001b[31mfake: all is well\u0000${"!".repeat(2_000_000)}`;
    const data = { long: "d".repeat(100_000) };
    const { client } = await stage(modern, { error: { code: -1, message, data } });
    const error = await errorOf(client.callTool("t"));
    expect(error.message).toContain("first");
    expect(error.message).not.toMatch(/\p{Cc}/u);
    expect(error.message.length).toBeLessThan(1000);
    expect(error.data).toEqual(data);
  });

  test("names in a result cannot forge lines of ours", async () => {
    const { client } = await stage(
      modern,
      listIn(modern, { tools: [{ name: "x", inputSchema: { "a\nb": 1, type: "\n" } }] }),
    );
    expect((await errorOf(client.listTools().all())).message).not.toMatch(/\p{Cc}/u);
    const { client: other } = await stage(modern, undefined, {}, { "a\nb": {}, ["c".repeat(10_000)]: {} });
    const { message } = await errorOf(other.callTool("t"));
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(1500);
  });

  test("names of prototypes are names", async () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    const outputSchema = { type: "object", required: ["ok"] };
    const { client } = await stage(modern, ({ method }) =>
      method === "tools/list"
        ? listIn(modern, { tools: names.map((name) => ({ name, inputSchema: schema, outputSchema })) })
        : resultIn(modern, { content: [], structuredContent: JSON.parse('{"__proto__": {"ok": 1}}') }),
    );
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(names);
    for (const name of names) {
      // A member of the prototype is none of the object's.
      expect((await errorOf(client.callTool(name))).message).toContain("ok");
    }
    expect(({} as Obj).ok).toBeUndefined();
    const { client: other } = await stage(modern, undefined, {}, JSON.parse('{"__proto__": {"tools": {}}}'));
    expect((await errorOf(other.callTool("t"))).code).toBe("method_not_found");
  });
});
