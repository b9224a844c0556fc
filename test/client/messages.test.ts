// All that a client can do, in one go: which messages it sends in each revision, and which capabilities it declares.
// That each of them is valid is judged by the harness when the test ends.
import { type ClientOptions, type JsonObject, type Revision, revisions } from "plenum";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { accept, declared, onSample, withForms, withPages } from "./asking.ts";
import { createWorkshop } from "./fixtures/workshop.ts";
import { each, hasOwnStreams, modern, type Opened, open, openServer } from "./harness.ts";
import { createInbox } from "./inbox.ts";

const extensions = { "com.example/glue": { strong: true } };

/** Everything that can be given. */
function everything(): ClientOptions {
  return {
    info: { name: "bench", version: "1.0.0", title: "The bench" },
    onElicit: ({ message }) => accept(message.startsWith("Deploy") ? { confirm: true } : { name: "Ada" }),
    onElicitUrl: () => ({ action: "accept" }),
    onSample,
    sampleTools: true,
    sampleContext: true,
    roots: ["file:///srv"],
    extensions,
    onLog() {},
    logLevel: "debug",
    onListChanged() {},
    onResourceUpdated() {},
  };
}

/** Does everything that there is to do. */
async function doAll({ client }: Opened, revision: Revision): Promise<void> {
  const meta = { "com.example/trace": 1 };
  for (const list of [client.listTools, client.listResources, client.listResourceTemplates, client.listPrompts])
    expect((await list({ meta, fresh: true }).all()).length).toBeGreaterThan(0);
  await client.setLogLevel("info");
  await client.ping();
  await client.subscribe("note://one");
  await client.subscribe("note://two");
  await client.unsubscribe("note://one");
  await client.readResource("note://two", { meta });
  await client.getPrompt("greet", { name: "Ada" }, { meta });
  const greet = { type: "ref/prompt", name: "greet", title: "Greet" } as const;
  await client.complete(greet, { name: "tone", value: "" }, { arguments: { name: "Ada" }, meta });
  await client.callTool("add", { a: 1, b: 2 }, { meta, onProgress() {} });
  await client.callTool("gallery");
  await client.callTool("say", { level: "error", text: "hello" });
  await client.callTool("think", { about: "glue" });
  await client.callTool("roots");
  if (withForms.includes(revision)) {
    await client.callTool("deploy", { env: "staging" });
    await client.callTool("together");
  }
  if (withPages.includes(revision)) {
    await client.callTool("visit", { url: "https://example.com/" });
    await client.callTool("ponder", { about: "glue" });
  }
  client.setRoots([]);

  const stop = new AbortController();
  const progress = createInbox<unknown>();
  const options = { signal: stop.signal, onProgress: progress.put };
  const slow = client.callTool("slow", { steps: 1000, everyMs: 5 }, options).catch((error) => error.code);
  await progress.first(1);
  stop.abort("Changed my mind");
  expect(await slow).toBe("aborted");
  await client.ping();
}

const common = [
  "completion/complete",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "tools/call",
  "tools/list",
];
const ofSessions = ["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];

test.each(each())("every message of a client of $revision over $transport", async ({ revision, transport }) => {
  covers(
    [
      "schema-client-requests",
      "schema-client-requests-2025-11",
      "schema-client-requests-2026",
      "schema-client-notifications",
      "schema-client-notifications-2026",
      "rpc-jsonrpc-2-0",
      "rpc-schema-authoritative",
      "rpc-request-id-type",
      "rpc-request-id-not-null",
      "rpc-request-id-unique",
      "rpc-request-id-unique-2026",
      "rpc-notification-no-id",
      "rpc-response-result-or-error",
      "rpc-response-not-both",
      "rpc-removed-methods-2026",
      "schema-jsonrpc-request",
      "schema-jsonrpc-notification",
      "schema-jsonrpc-response",
      "schema-request-meta",
      "schema-paginated-request",
      "schema-read-params",
      "schema-call-tool-request",
      "schema-set-level-request",
      "meta-required-fields",
      "lifecycle-operation-version",
      "lifecycle-operation-version-2025-06",
      "transport-custom-preserves",
      "transport-custom-preserves-2026",
      "transport-directions",
      "version-single-per-session",
    ],
    revision,
  );
  const opened = await open(revision, transport, everything());
  await doAll(opened, revision);
  const { traffic, client } = opened;
  const sent = traffic.sent();
  for (const message of sent) expect(message.jsonrpc).toBe("2.0");
  const requests = sent.filter(({ id, method }) => id !== undefined && method !== undefined);
  const ofEra = revision === modern ? ["server/discover", "subscriptions/listen"] : ofSessions;
  expect([...new Set(requests.map(({ method }) => method))].sort()).toEqual([...common, ...ofEra].sort());
  const notifications = sent.filter(({ id }) => id === undefined);
  const told = ["notifications/initialized", "notifications/roots/list_changed"];
  expect([...new Set(notifications.map(({ method }) => method))].sort()).toEqual(
    revision !== modern
      ? ["notifications/cancelled", ...told]
      : hasOwnStreams(transport)
        ? []
        : ["notifications/cancelled"],
  );
  expect(client.revision).toBe(revision);
  if (revision === modern) {
    for (const { params } of requests)
      expect(params?._meta).toMatchObject({
        "io.modelcontextprotocol/protocolVersion": modern,
        "io.modelcontextprotocol/clientCapabilities": expect.any(Object),
      });
  }
  // The harness would say so, too; but this is what it is for.
  expect(traffic.problems(revision)).toEqual([]);
});

const capabilities: { readonly [R in Revision]: JsonObject } = {
  "2024-11-05": { sampling: {}, roots: { listChanged: true } },
  "2025-03-26": { sampling: {}, roots: { listChanged: true } },
  "2025-06-18": { sampling: {}, roots: { listChanged: true }, elicitation: {} },
  "2025-11-25": {
    sampling: { tools: {}, context: {} },
    roots: { listChanged: true },
    elicitation: { form: {}, url: {} },
  },
  "2026-07-28": {
    sampling: { tools: {}, context: {} },
    roots: {},
    elicitation: { form: {}, url: {} },
    extensions,
  },
};

test.each(revisions)("what a client that can do everything declares in %s", async (revision) => {
  covers(
    [
      "schema-client-capabilities",
      "schema-client-capabilities-2025-06",
      "schema-client-capabilities-2025-11",
      "schema-client-capabilities-2026",
      "schema-capability-values",
      "schema-implementation",
      "extension-id",
    ],
    revision,
  );
  const { client, traffic } = await openServer(createWorkshop(), revision, everything());
  await client.ping();
  await client.callTool("echo", { text: "hello" });
  for (const one of declared(traffic)) expect(one).toEqual(capabilities[revision]);
});

const parts: readonly [keyof ClientOptions, Partial<ClientOptions>, (revision: Revision) => JsonObject][] = [
  [
    "onElicit",
    { onElicit: () => ({ action: "cancel" }) },
    (revision) => {
      if (!withForms.includes(revision)) return {};
      return { elicitation: withPages.includes(revision) ? { form: {} } : {} };
    },
  ],
  [
    "onElicitUrl",
    { onElicitUrl: () => ({ action: "cancel" }) },
    // Where there are only forms, a client without them has nothing to offer.
    (revision) => (withPages.includes(revision) ? { elicitation: { url: {} } } : {}),
  ],
  ["onSample", { onSample }, () => ({ sampling: {} })],
  ["roots", { roots: [] }, (revision) => ({ roots: revision === modern ? {} : { listChanged: true } })],
  ["extensions", { extensions }, (revision): JsonObject => (revision === modern ? { extensions } : {})],
  ["onLog", { onLog() {}, onListChanged() {}, onResourceUpdated() {} }, () => ({})],
];

test.each(revisions)("a client declares what it was given and nothing else in %s", async (revision) => {
  covers(
    [
      "elicitation-capability",
      "elicitation-capability-2026",
      "elicitation-one-mode",
      "sampling-capability",
      "sampling-capability-2026",
      "root-capability",
      "root-capability-2026",
      "extension-off-by-default",
    ],
    revision,
  );
  for (const [name, options, expected] of parts) {
    const { client, traffic } = await openServer(createWorkshop(), revision, options);
    await client.callTool("echo", { text: "hello" });
    for (const one of declared(traffic)) expect(one, name).toEqual(expected(revision));
  }
});
