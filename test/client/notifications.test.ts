// What a server tells without being asked: log messages, changes, progress. And what a client tells it: other roots.
import { type LogLevel, type ProgressUpdate, revisions } from "plenum";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { each, errorOf, modern, open, openScript } from "./harness.ts";
import { createInbox } from "./inbox.ts";
import { createScript, type Obj, opening, type Sent } from "./script.ts";

const levels: readonly LogLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

test.each(each())("log messages in $revision over $transport", async ({ revision, transport }) => {
  covers(["logging-levels", "logging-set-level", "logging-threshold", "logging-per-request-threshold"], revision);
  const entries: unknown[] = [];
  const { client, traffic } = await open(revision, transport, { onLog: (entry) => entries.push(entry) });
  /** The levels that are heard. Messages come before the result of the call that sends them. */
  const hear = async (): Promise<LogLevel[]> => {
    entries.length = 0;
    for (const level of levels) await client.callTool("say", { level, text: `it is ${level}` });
    expect(entries).toEqual(
      (entries as { level: LogLevel }[]).map(({ level }) => ({ level, logger: "workbench", data: `it is ${level}` })),
    );
    return (entries as { level: LogLevel }[]).map(({ level }) => level);
  };
  // The server's choice, or ours in its place, is info.
  expect(await hear()).toEqual(levels.slice(1));
  for (const level of ["debug", "error", "emergency", "notice"] as const) {
    await client.setLogLevel(level);
    expect(await hear()).toEqual(levels.slice(levels.indexOf(level)));
  }
  const before = traffic.sent().length;
  expect((await errorOf(client.setLogLevel("loud" as LogLevel))).code).toBe("invalid_params");
  expect(traffic.sent()).toHaveLength(before);
  expect(await hear()).toEqual(levels.slice(2));
  const asked = traffic.sent("logging/setLevel").map(({ params }) => params?.level);
  expect(asked).toEqual(revision === modern ? [] : ["debug", "error", "emergency", "notice"]);
});

test.each(each())("the log level as an option in $revision over $transport", async ({ revision, transport }) => {
  covers(["logging-set-level", "logging-per-request-opt-in"], revision);
  const entries: unknown[] = [];
  const { client } = await open(revision, transport, {
    logLevel: "error",
    onLog: ({ level }) => entries.push(level),
  });
  for (const level of levels) await client.callTool("say", { level, text: "hello" });
  expect(entries).toEqual(levels.slice(4));
});

test.each(each())("nobody listens in $revision over $transport", async ({ revision, transport }) => {
  covers(["logging-per-request-opt-in"], revision);
  const { client, traffic } = await open(revision, transport);
  expect((await client.callTool("say", { level: "error", text: "hello" })).text).toBe("said");
  // In sessions a server logs until it is told otherwise; without them only to who asks for it.
  expect(traffic.heard("notifications/message")).toHaveLength(revision === modern ? 0 : 1);
});

test.each(each())("a log callback that fails in $revision over $transport", async ({ revision, transport }) => {
  const warnings: string[] = [];
  const { client } = await open(revision, transport, {
    onLog() {
      throw new Error("no ears");
    },
    onWarning: (problem) => warnings.push(problem),
  });
  expect((await client.callTool("say", { level: "error", text: "hello" })).text).toBe("said");
  expect(warnings).toEqual(["onLog failed: no ears"]);
});

test.each(each())("lists that change in $revision over $transport", async ({ revision, transport }) => {
  covers(
    ["tool-list-changed", "prompt-list-changed", "resource-list-changed", "subscription-filter-required"],
    revision,
  );
  const changes = createInbox<string>();
  const { client, traffic } = await open(revision, transport, { onListChanged: changes.put }, { cacheTtlMs: 60_000 });
  const tools = (await client.listTools().all()).length;
  const resources = (await client.listResources().all()).length;
  const prompts = (await client.listPrompts().all()).length;

  await client.callTool("grow", { name: "plane" });
  expect(await changes.first(1)).toEqual(["tools"]);
  expect(await client.listTools().all()).toHaveLength(tools + 1);
  await client.callTool("write", { id: "four", text: "fourth" });
  expect((await changes.first(2)).at(-1)).toBe("resources");
  expect(await client.listResources().all()).toHaveLength(resources + 1);
  await client.callTool("learn", { name: "tenons" });
  expect((await changes.first(3)).at(-1)).toBe("prompts");
  expect(await client.listPrompts().all()).toHaveLength(prompts + 1);
  // A note that was there before is no change of the list.
  await client.callTool("write", { id: "one", text: "again" });
  await client.callTool("grow", { name: "chisel" });
  expect((await changes.first(4)).at(-1)).toBe("tools");

  const filters = traffic.sent("subscriptions/listen").map(({ params }) => params?.notifications);
  const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  expect(filters).toEqual(revision === modern ? [all] : []);
});

test.each(each())("changes that nobody wants to know of in $revision over $transport", async (where) => {
  const { client, traffic } = await open(where.revision, where.transport);
  await client.callTool("grow", { name: "plane" });
  expect((await client.callTool("plane")).text).toBe("I am plane");
  expect(traffic.sent("subscriptions/listen")).toEqual([]);
});

test.each(each())("lists and resources are watched beside each other in $revision over $transport", async (where) => {
  const heard = createInbox<string>();
  const { client } = await open(where.revision, where.transport, {
    onListChanged: heard.put,
    onResourceUpdated: heard.put,
  });
  await client.subscribe("note://one");
  await client.callTool("grow", { name: "plane" });
  await heard.first(1);
  await client.callTool("write", { id: "one", text: "new" });
  await heard.first(2);
  await client.unsubscribe("note://one");
  await client.callTool("write", { id: "one", text: "newer" });
  await client.callTool("learn", { name: "tenons" });
  expect(await heard.first(3)).toEqual(["tools", "note://one", "prompts"]);
});

test.each(each())("other roots in $revision over $transport", async ({ revision, transport }) => {
  covers(["root-list-changed", "root-no-list-changed", "root-monitor-changes", "root-list"], revision);
  const { client, traffic } = await open(revision, transport, { roots: ["file:///a"] });
  const roots = async (): Promise<unknown> => JSON.parse((await client.callTool("roots")).text);
  expect(await roots()).toEqual([{ uri: "file:///a" }]);
  client.setRoots([{ uri: "file:///b", name: "B" }, "file:///c"]);
  expect(await roots()).toEqual([{ uri: "file:///b", name: "B" }, { uri: "file:///c" }]);
  client.setRoots(async () => ["file:///d"]);
  expect(await roots()).toEqual([{ uri: "file:///d" }]);
  client.setRoots([]);
  expect(await roots()).toEqual([]);
  const told = traffic.sent("notifications/roots/list_changed");
  expect(told).toHaveLength(revision === modern ? 0 : 3);
});

test.each(each())("no roots from the beginning, none later, in $revision over $transport", async (where) => {
  covers(["root-list-changed"], where.revision);
  const { client, traffic } = await open(where.revision, where.transport);
  expect(() => client.setRoots(["file:///a"])).toThrow(TypeError);
  await client.ping();
  expect(traffic.sent("notifications/roots/list_changed")).toEqual([]);
});

test.each(each())("progress in $revision over $transport", async ({ revision, transport }) => {
  covers(
    [
      "progress-token-in-meta",
      "progress-token-type",
      "progress-token-unique",
      "progress-same-token",
      "progress-message",
      "progress-no-message",
    ],
    revision,
  );
  const { client, traffic } = await open(revision, transport);
  const calls = [2, 3, 4].map(async (steps) => {
    const updates: ProgressUpdate[] = [];
    const onProgress = (update: ProgressUpdate): unknown => updates.push(update);
    const { text } = await client.callTool("slow", { steps, everyMs: 12 }, { onProgress });
    expect(text).toBe("done");
    // All of it comes before the result, and belongs to this call.
    return updates;
  });
  const hasMessage = revision > "2024-11-05";
  expect(await Promise.all(calls)).toEqual(
    [2, 3, 4].map((total) =>
      Array.from({ length: total }, (_, n) => ({
        progress: n + 1,
        total,
        message: hasMessage ? `step ${n + 1}` : undefined,
      })),
    ),
  );
  const tokens = traffic.sent("tools/call").map(({ params }) => Object(params?._meta).progressToken);
  expect(new Set(tokens).size).toBe(3);
  for (const token of tokens) expect(typeof token === "string" || Number.isInteger(token)).toBe(true);
  for (const { params } of traffic.heard("notifications/progress")) expect(tokens).toContain(params?.progressToken);

  await client.callTool("slow", { steps: 1, everyMs: 1 });
  expect(Object(traffic.sent("tools/call").at(-1)?.params?._meta)).not.toHaveProperty("progressToken");
});

test.each(each())("a progress callback that fails in $revision over $transport", async ({ revision, transport }) => {
  const warnings: string[] = [];
  const { client } = await open(revision, transport, { onWarning: (problem) => warnings.push(problem) });
  let calls = 0;
  const result = await client.callTool(
    "slow",
    { steps: 3, everyMs: 12 },
    {
      onProgress() {
        calls++;
        throw new Error("no eyes");
      },
    },
  );
  expect(result.text).toBe("done");
  expect(calls).toBe(3);
  expect(warnings).toHaveLength(3);
  expect(warnings[0]).toContain("no eyes");
});

// Servers by hand from here on.

test.each(revisions)("progress that is wrong, late or of nobody's in %s", async (revision) => {
  covers(
    ["schema-progress-notification", "schema-progress-message", "progress-track-tokens", "progress-active-token-only"],
    revision,
  );
  const warnings: string[] = [];
  let last: Sent | undefined;
  const script = createScript(
    revision,
    opening(revision, { tools: {} }, (message, wire) => {
      if (message.method === "ping") return { result: {} };
      if (message.method !== "tools/call") return undefined;
      last = message;
      const { progressToken } = Object(message.params?._meta);
      const tell = (params: Obj): void => wire.notify("notifications/progress", params);
      tell({ progressToken, progress: 1 });
      tell({ progressToken });
      tell({ progressToken, progress: "2" });
      tell({ progressToken, progress: 3, total: "4" });
      if (revision > "2024-11-05") tell({ progressToken, progress: 4, message: 5 });
      tell({ progressToken: String(progressToken), progress: 5 });
      tell({ progressToken: "never", progress: 6 });
      tell({ progress: 7 });
      tell({ progressToken, progress: 8, total: 9 });
      return { result: { resultType: "complete", content: [] } };
    }),
  );
  const client = await openScript(script.target, { revision, onWarning: (problem) => warnings.push(problem) });
  const updates: ProgressUpdate[] = [];
  await client.callTool("slow", {}, { onProgress: (update) => updates.push(update) });
  expect(updates).toEqual([{ progress: 1 }, { progress: 8, total: 9 }]);
  expect(warnings).toHaveLength(revision > "2024-11-05" ? 4 : 3);
  const { progressToken } = Object(last?.params?._meta);
  script.wire.notify("notifications/progress", { progressToken, progress: 9 });
  await client.ping();
  expect(updates).toHaveLength(2);
});

test.each(revisions)("a log message that is none is not heard in %s", async (revision) => {
  covers(["logging-validate-data"], revision);
  const entries: unknown[] = [];
  const warnings: string[] = [];
  const script = createScript(
    revision,
    opening(revision, { logging: {} }, ({ method }) => (method === "ping" ? { result: {} } : undefined)),
  );
  const client = await openScript(script.target, {
    revision,
    onLog: (entry) => entries.push(entry),
    onWarning: (problem) => warnings.push(problem),
  });
  for (const params of [{}, { level: "loud", data: 1 }, { level: "info" }, { level: "info", data: 1, logger: 2 }])
    script.wire.notify("notifications/message", params);
  script.wire.notify("notifications/message", { level: "info", data: { any: [null, "thing"] } });
  await client.ping();
  expect(entries).toEqual([{ level: "info", data: { any: [null, "thing"] } }]);
  expect(warnings).toHaveLength(4);
});
