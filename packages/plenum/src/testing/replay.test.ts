// What was recorded is said again by a fake server and by a fake client, in every revision, without secrets.
import { type Client, connect, createServer, type JsonObject, type Revision, revisions, type Target } from "plenum";
import { createMemoryPair, memoryTarget } from "plenum/memory";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createDeferred } from "../../../../test/deferred.ts";
import { type Conversation, formatConversation, parseConversation, revisionOf } from "./conversation.ts";
import { recordTarget } from "./record.ts";
import { replayClient } from "./replay-client.ts";
import { replayTarget } from "./replay-target.ts";

function createSubject(greeting = "Hello") {
  const server = createServer({ name: "subject", version: "1.0.0", onError() {}, pageSize: 3 });
  server.tool("add", { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => `${a + b}`);
  let count = 0;
  server.tool("next", {}, () => `${++count}`);
  server.tool("login", { input: z.object({ password: z.string() }) }, ({ password }) => `token=${password}`);
  server.tool("greet", {}, async (_, ctx) => {
    const answer = await ctx.elicit("Who are you?", z.object({ name: z.string() }));
    return answer.action === "accept" ? `${greeting} ${answer.content.name}` : `You said ${answer.action}`;
  });
  server.tool("count", {}, (_, ctx) => {
    ctx.progress(1, 2);
    ctx.log.info("half way");
    ctx.progress(2, 2);
    return "2";
  });
  server.tool("grow", {}, () => {
    server.tool(`new-${++count}`, {}, () => "new");
    return "grown";
  });
  server.tool("broken", {}, () => {
    throw new Error("not for the peer");
  });
  return server;
}

const asks = (revision: Revision): boolean => revision >= "2025-06-18";

/** What a client of the subject does, and what it sees. */
async function talk(client: Client, revision: Revision): Promise<unknown[]> {
  const seen: unknown[] = [client.server.info];
  const call = async (name: string, args?: JsonObject): Promise<void> => {
    const updates: unknown[] = [];
    const { text } = await client.callTool(name, args, { onProgress: (update) => updates.push(update.progress) });
    seen.push([text.replace(/\(.*\)/, ""), ...updates]);
  };
  seen.push((await client.listTools().all()).map(({ name }) => name));
  await call("add", { a: 1, b: 2 });
  await call("next");
  await call("next");
  await Promise.all([call("count"), call("add", { a: 3, b: 4 })]);
  await call("broken");
  if (asks(revision)) await call("greet");
  await expect(client.callTool("add", { a: "x" } as never))
    .resolves.toBeDefined()
    .catch(() => {});
  await expect(client.getPrompt("none")).rejects.toMatchObject({ name: "McpError" });
  return seen;
}

const options = (revision: Revision) => ({
  revision,
  onElicit: () => ({ action: "accept" as const, content: { name: "Adele" } }),
  onWarning() {},
});

async function record(revision: Revision): Promise<{ conversation: Conversation; seen: unknown[]; text: string }> {
  const lines: string[] = [];
  const target = recordTarget(memoryTarget(createSubject()), (line) => lines.push(line));
  await using client = await connect(target, options(revision));
  const seen = await talk(client, revision);
  await client.close();
  const text = lines.map((line) => `${line}\n`).join("");
  return { conversation: parseConversation(text), seen, text };
}

describe.each(revisions)("%s", (revision) => {
  test("a fake server lets a client see what it saw", async () => {
    const { conversation, seen, text } = await record(revision);
    expect(formatConversation(conversation)).toBe(text);
    expect(revisionOf(conversation)).toBe(revision);
    await using client = await connect(replayTarget(conversation), options(revision));
    expect(await talk(client, revision)).toEqual(seen);
  });

  test("what the server says by itself is said again", async () => {
    const grow = async (target: Target): Promise<void> => {
      const changed = createDeferred<string>();
      await using client = await connect(target, { ...options(revision), onListChanged: changed.resolve });
      expect((await client.callTool("grow")).text).toBe("grown");
      expect(await changed.promise).toBe("tools");
    };
    const lines: string[] = [];
    await grow(recordTarget(memoryTarget(createSubject()), (line) => lines.push(line)));
    await grow(replayTarget(parseConversation(lines)));
  });

  test("a fake client finds nothing to say of the same server", async () => {
    const { conversation } = await record(revision);
    const report = await replayClient(conversation, memoryTarget(createSubject()));
    expect(report.format()).toBe("");
    expect(report.compared).toBeGreaterThan(7);
  });

  test("a fake client finds what is another now", async () => {
    const { conversation } = await record(revision);
    const changed = createSubject("Good morning,");
    changed.tool("zoo", { description: "new" }, () => "");
    const report = await replayClient(conversation, memoryTarget(changed), { ignore: ["/result/tools/**"] });
    if (!asks(revision)) return expect(report.differences).toEqual([]);
    expect(report.differences).toEqual([
      expect.objectContaining({
        about: expect.stringContaining('"greet"'),
        path: "/result/content/0/text",
        recorded: "Hello Adele",
        live: "Good morning, Adele",
      }),
    ]);
  });

  test("an unexpected request is answered with the nearest recorded one", async () => {
    const { conversation } = await record(revision);
    const problems: string[] = [];
    const target = replayTarget(conversation, { onUnexpected: (problem) => problems.push(problem) });
    await using client = await connect(target, options(revision));
    await expect(client.callTool("add", { a: 1, b: 3 })).rejects.toThrow(
      /has no tools\/call .*"b":3.* The nearest is tools\/call .*"b":2.*\/arguments\/b: recorded 2, now 3/,
    );
    await client.callTool("add", { a: 1, b: 2 });
    await expect(client.callTool("add", { a: 1, b: 2 })).rejects.toThrow(/once, and now it comes once more/);
    await expect(client.request("own/thing")).rejects.toThrow(/has no own\/thing\. It has .*tools\/list/);
    expect(problems).toHaveLength(3);
  });
});

const newest = "2026-07-28";
const header =
  '{"plenum":"conversation","version":1,"name":"x","startedAt":"2026-01-01T00:00:00.000Z","isRedacted":true}';

test("what is repeated, and what is not compared", async () => {
  const { conversation } = await record(newest);
  const target = replayTarget(conversation, { repeats: true, ignore: ["/arguments/b"] });
  await using client = await connect(target, options(newest));
  for (const b of [1, 2, 3]) expect((await client.callTool("add", { a: 1, b })).text).toBe("3");
});

test("a client that answers otherwise is told so", async () => {
  const { conversation } = await record(newest);
  await using other = await connect(replayTarget(conversation), {
    ...options("2026-07-28"),
    onElicit: () => ({ action: "decline" as const }),
  });
  await expect(other.callTool("greet")).rejects.toThrow(/The recording has no tools\/call/);
  const older = await record("2025-11-25");
  await using client = await connect(replayTarget(older.conversation), {
    ...options("2025-11-25"),
    onElicit: () => ({ action: "decline" as const }),
  });
  await expect(client.callTool("greet")).rejects.toThrow(
    /answers otherwise.*\/action: recorded "accept", now "decline"/,
  );
});

test("secrets are not in a recording, and a client with secrets is known all the same", async () => {
  const lines: string[] = [];
  const target = recordTarget(memoryTarget(createSubject()), (line) => lines.push(line), { secrets: ["Adele"] });
  const client = await connect(target, options("2025-06-18"));
  await client.callTool("login", { password: "hunter2" });
  await client.callTool("greet");
  await client.close();
  const text = lines.join("\n");
  expect(text).not.toMatch(/hunter2|Adele/);
  const conversation = parseConversation(text);
  expect(conversation.header.isRedacted).toBe(true);
  await using again = await connect(replayTarget(conversation, { secrets: ["Adele"] }), options("2025-06-18"));
  expect((await again.callTool("login", { password: "hunter2" })).text).toBe("token=[redacted]");
  const report = await replayClient(conversation, memoryTarget(createSubject()), {
    prepare: (message) =>
      JSON.parse(JSON.stringify(message).replace('"password":"[redacted]"', '"password":"hunter2"')),
    secrets: ["Adele", "[redacted]"],
  });
  expect(report.format()).toBe("");
});

test("secrets are kept where that is asked for by name", async () => {
  const lines: string[] = [];
  const target = recordTarget(memoryTarget(createSubject()), (line) => lines.push(line), {
    dangerouslyKeepSecrets: true,
  });
  const client = await connect(target, options(newest));
  await client.callTool("login", { password: "hunter2" });
  await client.listTools();
  await client.close();
  const conversation = parseConversation(lines);
  expect(lines.join()).toContain("hunter2");
  await using again = await connect(replayTarget(conversation), options(newest));
  expect((await again.callTool("login", { password: "hunter2" })).text).toBe("token=hunter2");
  await expect(again.callTool("login", { password: "other" })).rejects.toThrow(/has no tools\/call/);
});

test("a server that asks no more, or asks what it did not", async () => {
  const { conversation } = await record("2025-11-25");
  const plain = createServer({ name: "subject", version: "1.0.0" });
  plain.tool("greet", {}, () => "Hello Adele");
  const report = await replayClient(conversation, memoryTarget(plain));
  expect(report.differences.map(({ problem }) => problem)).toContain("It is not asked any more");
  const recorded: string[] = [];
  const client = await connect(
    recordTarget(memoryTarget(plain), (line) => recorded.push(line)),
    options("2025-11-25"),
  );
  await client.callTool("greet");
  await client.close();
  const asking = await replayClient(parseConversation(recorded), memoryTarget(createSubject()), { timeoutMs: 2000 });
  expect(asking.differences.map(({ problem }) => problem)).toContain("It is asked now, and was not in the recording");
});

test("a channel that was lost is lost again", async () => {
  const conversation = parseConversation([
    header,
    '{"at":0,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}}',
    '{"at":1,"from":"server","message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}}',
    '{"at":2,"from":"client","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}',
    '{"at":3,"from":"client","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"die"}}}',
    '{"at":4,"closed":true,"why":"exit code 3"}',
    '{"at":5,"from":"cli',
  ]);
  await using client = await connect(replayTarget(conversation), { ...options("2025-06-18"), restart: false });
  const failure = await client.callTool("die").catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "connection_lost" });
  expect(client.state).toBe("closed");
});

function toConversation(...said: readonly [from: string, message: object][]): Conversation {
  return parseConversation([
    header,
    ...said.map(([from, message]) => JSON.stringify({ at: 0, from, message: { jsonrpc: "2.0", ...message } })),
  ]);
}

test("what a server says about a subscription has the id of the one of now", async () => {
  const _meta = { "io.modelcontextprotocol/subscriptionId": 4 };
  const conversation = toConversation(
    ["client", { id: 4, method: "subscriptions/listen", params: { notifications: { toolsListChanged: true } } }],
    ["server", { method: "notifications/subscriptions/acknowledged", params: { _meta } }],
    ["client", { id: 5, method: "tools/call", params: { name: "grow" } }],
    ["server", { method: "notifications/tools/list_changed", params: { _meta } }],
    ["server", { id: 5, result: { content: [] } }],
  );
  const channel = await replayTarget(conversation).open();
  const heard: { method?: string; id?: unknown; params?: JsonObject }[] = [];
  channel.open({ receive: (incoming) => heard.push((incoming as { message: object }).message), closed() {} });
  const params = { notifications: { toolsListChanged: true } };
  channel.send({ jsonrpc: "2.0", id: "mine", method: "subscriptions/listen", params });
  channel.send({ jsonrpc: "2.0", id: "other", method: "tools/call", params: { name: "grow", _meta: { x: 1 } } });
  await vi.waitUntil(() => heard.length === 3);
  const own = { _meta: { "io.modelcontextprotocol/subscriptionId": "mine" } };
  expect(heard.map(({ method, id, params }) => [method ?? id, params])).toEqual([
    ["notifications/subscriptions/acknowledged", own],
    ["notifications/tools/list_changed", own],
    ["other", undefined],
  ]);
});

test("a fake client sends back what the live server gave it: its state, its names", async () => {
  const ask = (name: string) => ({ [name]: { method: "elicitation/create", params: { message: "?" } } });
  const conversation = toConversation(
    ["client", { id: 1, method: "tools/call", params: { name: "greet" } }],
    ["server", { id: 1, result: { inputRequests: ask("a"), requestState: "[redacted requestState 1]" } }],
    [
      "client",
      {
        id: 2,
        method: "tools/call",
        params: {
          name: "greet",
          requestState: "[redacted requestState 1]",
          inputResponses: { a: { action: "decline" } },
        },
      },
    ],
    ["server", { id: 2, result: { content: [] } }],
  );
  const [near, far] = createMemoryPair();
  const received: unknown[] = [];
  far.open({
    receive(incoming) {
      const { message } = incoming as { message: { id: number; params: JsonObject } };
      received.push(message.params);
      const isFirst = message.id === 1;
      const result = isFirst ? { inputRequests: ask("k9"), requestState: "sealed" } : { content: [] };
      far.send({ jsonrpc: "2.0", id: message.id, result });
    },
    closed() {},
  });
  const report = await replayClient(conversation, near, { ignore: ["/result/inputRequests/**"] });
  expect(report.format()).toBe("");
  expect(received[1]).toEqual({ name: "greet", requestState: "sealed", inputResponses: { k9: { action: "decline" } } });
});

test.each([
  ["", /this is no conversation/],
  ["{}", /this is no conversation/],
  ["nonsense", /line 1 of the conversation is no JSON/],
  ['{"plenum":"conversation","version":2}', /version 2, and this library reads version 1/],
  ['{"plenum":"conversation","version":1}\n{"at":1}\n', /line 2 of the conversation says nothing/],
  ['{"plenum":"conversation","version":1}\n{\n{"at":1,"closed":true}', /line 2 of the conversation is no JSON/],
])("%j is refused", (text, message) => {
  expect(() => parseConversation(text)).toThrow(message);
});
