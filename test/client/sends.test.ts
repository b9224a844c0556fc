// Everything that a client can send, revision by revision. That each message is right in itself is judged by the script.
import { type Client, connect, type Revision, revisions } from "plenum";
import { describe, expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, modern, sessioned } from "./harness.ts";
import {
  type Answerer,
  createScript,
  listIn,
  metaOf,
  type Obj,
  opening,
  openScript,
  resultIn,
  type Script,
  settle,
} from "./script.ts";

const everything = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** Answers every request of a client's rightly. A call of "ask" asks first; one of "hang" is never answered. */
const willing =
  (revision: Revision): Answerer =>
  ({ id, method, params }, wire) => {
    if (id === undefined) return undefined;
    const list = (member: string) => listIn(revision, { [member]: [], ...(params?.cursor ? {} : { nextCursor: "2" }) });
    switch (method) {
      case "tools/list":
        return list("tools");
      case "resources/list":
        return list("resources");
      case "resources/templates/list":
        return list("resourceTemplates");
      case "prompts/list":
        return list("prompts");
      case "resources/read":
        return listIn(revision, { contents: [] });
      case "prompts/get":
        return resultIn(revision, { messages: [] });
      case "completion/complete":
        return resultIn(revision, { completion: { values: [] } });
      case "tools/call":
        if (params?.name === "hang") return undefined;
        if (params?.name === "ask" && !params.inputResponses)
          return { result: { resultType: "input_required", inputRequests: { r: { method: "roots/list" } } } };
        return resultIn(revision, { content: [] });
      case "subscriptions/listen": {
        const _meta = { "io.modelcontextprotocol/subscriptionId": id };
        wire.notify("notifications/subscriptions/acknowledged", { notifications: params?.notifications, _meta });
        return undefined;
      }
      default:
        return { result: {} };
    }
  };

/** Uses every verb that there is. */
async function useAll(client: Client, revision: Revision): Promise<void> {
  const onProgress = (): void => {};
  await client.listTools({ meta: { "com.example/k": [1] } }).all();
  await client.listResources().all();
  await client.listResourceTemplates().all();
  await client.listPrompts().all();
  await client.callTool("t");
  await client.callTool(
    "t",
    { a: { b: [null, 1.5, "ü"] } },
    { onProgress, meta: { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` } },
  );
  if (revision === modern) await client.callTool("ask");
  await errorOf(client.callTool("hang", {}, { timeoutMs: 5 }));
  await client.readResource("file:///a");
  await client.subscribe("file:///a");
  await client.subscribe("file:///b");
  await client.unsubscribe("file:///a");
  await client.unsubscribe("file:///b");
  await client.getPrompt("p");
  await client.getPrompt("p", { who: "me" });
  await client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "x" }, { arguments: { b: "y" } });
  await client.complete({ type: "ref/resource", uri: "file:///{x}" }, { name: "x", value: "" });
  await client.setLogLevel("warning");
  await client.ping();
  client.setRoots(["file:///c"]);
  await settle();
}

async function stage(revision: Revision): Promise<{ client: Client; script: Script }> {
  const script = createScript(revision, opening(revision, everything, willing(revision)));
  const client = await openScript(script, {
    roots: ["file:///a"],
    onElicit: () => ({ action: "decline" }),
    onListChanged: () => {},
    onLog: () => {},
    logLevel: "info",
    revision,
  });
  return { client, script };
}

const inAll = [
  ...["completion/complete", "prompts/get", "prompts/list", "resources/list", "resources/read"],
  ...["resources/templates/list", "tools/call", "tools/list"],
];
const inSessions = [...inAll, "initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];
const inModern = [...inAll, "server/discover", "subscriptions/listen"];

describe("all verbs", () => {
  test.each(revisions)("send the methods of %s, and no others", async (revision) => {
    covers(["schema-client-requests", "schema-client-requests-2025-11", "schema-client-requests-2026"], revision);
    covers(["schema-client-notifications", "schema-client-notifications-2026", "rpc-removed-methods-2026"], revision);
    covers(["rpc-jsonrpc-2-0", "rpc-request-id-type", "rpc-request-id-not-null", "rpc-notification-no-id"], revision);
    covers(
      ["rpc-request-id-unique", "rpc-request-id-unique-2026", "rpc-schema-authoritative", "rpc-params-object"],
      revision,
    );
    covers(
      ["schema-jsonrpc-request", "schema-jsonrpc-notification", "schema-paginated-request", "schema-read-params"],
      revision,
    );
    covers(["schema-call-tool-request", "schema-get-prompt-request", "schema-set-level-request"], revision);
    covers(["schema-complete-request", "schema-completion-refs", "ping-no-params", "cancel-params"], revision);
    covers(
      ["lifecycle-operation-version", "lifecycle-operation-version-2025-06", "version-single-per-session"],
      revision,
    );
    const { client, script } = await stage(revision);
    await useAll(client, revision);
    const methods = (isRequest: boolean): string[] => [
      ...new Set(
        script.received.flatMap(({ id, method }) => (method && (id !== undefined) === isRequest ? [method] : [])),
      ),
    ];
    expect(methods(true).sort()).toEqual([...(revision === modern ? inModern : inSessions)].sort());
    expect(methods(false).sort()).toEqual(
      revision === modern
        ? ["notifications/cancelled"]
        : ["notifications/cancelled", "notifications/initialized", "notifications/roots/list_changed"],
    );
    // Each message is judged by the script: its shape in the revision, its id, its params.
    expect(script.problems).toEqual([]);
    expect(script.received.length).toBeGreaterThan(20);
    expect(client.revision).toBe(revision);
  });

  test("all of 2026-07-28 are complete in themselves", async () => {
    covers(["meta-required-fields", "meta-client-info", "schema-request-meta", "stateless-explicit-handle"], modern);
    covers(["meta-trace-context", "subscription-filter-required"], modern);
    const { client, script } = await stage(modern);
    await useAll(client, modern);
    const requests = script.received.filter(({ id, method }) => id !== undefined && method);
    for (const request of requests)
      expect(metaOf(request)).toMatchObject({
        "io.modelcontextprotocol/protocolVersion": modern,
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, roots: {} },
        "io.modelcontextprotocol/clientInfo": { name: "plenum", version: expect.any(String) },
      });
    expect(requests.some((request) => metaOf(request).traceparent)).toBe(true);
  });

  test.each(sessioned)("in %s nothing of a later era is in `_meta`", async (revision) => {
    const { client, script } = await stage(revision);
    await useAll(client, revision);
    const keys = new Set(script.received.flatMap((message) => Object.keys(metaOf(message))));
    expect([...keys].sort()).toEqual(["com.example/k", "progressToken", "traceparent"]);
  });

  test.each(revisions)("many side by side have ids of their own, in %s", async (revision) => {
    covers(["rpc-request-id-unique", "rpc-request-id-unique-2026"], revision);
    const { client, script } = await stage(revision);
    await Promise.all(Array.from({ length: 200 }, (_, i) => client.callTool(`t${i}`)));
    const ids = script.of("tools/call").map(({ id }) => id);
    expect(new Set(ids).size).toBe(200);
  });
});

describe("what is not sent", () => {
  test.each(revisions)("requests that another revision than %s has", async (revision) => {
    covers(
      ["rpc-removed-methods-2026", "lifecycle-operation-version", "lifecycle-operation-version-2025-06"],
      revision,
    );
    const { client, script } = await stage(revision);
    const before = script.received.length;
    const foreign = (revision === modern ? inSessions : inModern).filter((method) => !inAll.includes(method));
    for (const method of foreign) expect((await errorOf(client.request(method))).message).toContain(revision);
    const notifications =
      revision === modern
        ? ["notifications/initialized", "notifications/roots/list_changed", "notifications/progress"]
        : ["notifications/subscriptions/acknowledged"];
    for (const method of notifications) expect(() => client.notify(method)).toThrow(revision);
    await settle();
    expect(script.received).toHaveLength(before);
  });

  test.each(revisions)("params that are not right in %s", async (revision) => {
    covers(["schema-call-tool-request", "schema-read-params", "schema-get-prompt-request"], revision);
    covers(["schema-complete-request", "schema-completion-refs", "schema-set-level-request"], revision);
    const { client, script } = await stage(revision);
    const before = script.received.length;
    const wrong: Promise<unknown>[] = [
      client.callTool(5 as never),
      client.callTool("t", [] as never),
      client.readResource("no uri"),
      client.readResource(undefined as never),
      client.getPrompt("p", { n: 5 } as never),
      client.complete({ type: "ref/tool", name: "x" } as never, { name: "a", value: "" }),
      client.complete({ type: "ref/prompt", name: "x" }, { name: "a" } as never),
      client.request("tools/call", {}),
      ...(revision === modern ? [] : [client.setLogLevel("loud" as never)]),
    ];
    for (const one of wrong) expect((await errorOf(one)).code).toBe("invalid_params");
    await settle();
    expect(script.received).toHaveLength(before);
  });

  test.each(revisions)("`_meta` keys that are MCP's own, or none, in %s", async (revision) => {
    covers(["meta-key-prefix", "meta-key-label", "meta-key-name", "meta-key-reserved"], revision);
    covers(["meta-key-reserved-2025-11"], revision);
    const { client, script } = await stage(revision);
    const before = script.received.length;
    const keys = [
      ...["io.modelcontextprotocol/x", "dev.mcp/x", "com.mcp.tools/x", "modelcontextprotocol.io/x", "tools.mcp.com/x"],
      ...["io.modelcontextprotocol/protocolVersion", "com..example/x", "/x", "1com/x", "com-/x", "_a", "a-", "a b"],
    ];
    for (const key of keys)
      await expect(client.callTool("t", {}, { meta: { [key]: 1 } }), key).rejects.toThrow(TypeError);
    expect(script.received).toHaveLength(before);
    await client.callTool("t", {}, { meta: { "com.example.mcp/a_b.c-d9": 1, plain: 2 } });
    expect(metaOf(script.of("tools/call")[0])).toMatchObject({ "com.example.mcp/a_b.c-d9": 1, plain: 2 });
  });

  test.each(revisions)(
    "what the server of %s does not know of us: it cannot change what was declared",
    async (revision) => {
      covers("lifecycle-respect-declared-capabilities", revision);
      const script = createScript(revision, opening(revision, everything, willing(revision)));
      const client = await openScript(script, { revision });
      expect(() => client.setRoots(["file:///a"])).toThrow(TypeError);
      await settle();
      expect(script.of("notifications/roots/list_changed")).toEqual([]);
    },
  );

  test.each(revisions)("values of reserved `_meta` keys in results of %s are nobody's business", async (revision) => {
    covers("meta-no-assumptions", revision);
    const metas: Obj[] = [1, "x", null, [], { a: 1 }].map((value) => ({ "io.modelcontextprotocol/unheard-of": value }));
    let next = 0;
    const script = createScript(
      revision,
      opening(revision, everything, ({ id }) =>
        id === undefined ? undefined : resultIn(revision, { content: [], _meta: metas[next++] }),
      ),
    );
    const client = await openScript(script, { revision });
    for (const meta of metas) expect((await client.callTool("t")).meta).toEqual(meta);
  });

  test("who the server is changes nothing that is sent", async () => {
    covers("meta-info-no-behavior", modern);
    const traces: unknown[] = [];
    for (const name of ["a", "@modelcontextprotocol/server-everything"]) {
      const script = createScript(modern, (message, wire) => {
        if (message.method !== "server/discover") return willing(modern)(message, wire);
        const _meta = { "io.modelcontextprotocol/serverInfo": { name, version: "1" } };
        return listIn(modern, { supportedVersions: [modern], capabilities: everything, _meta });
      });
      const client = await connect(script.target);
      onTestFinished(() => client.close());
      await client.listTools().all();
      await client.callTool("t", { a: 1 });
      traces.push(script.received);
    }
    expect(traces[0]).toEqual(traces[1]);
  });
});
