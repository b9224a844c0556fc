// Faults of params, method by method, and names that are dangerous where objects serve as maps.
import type { Revision } from "plenum";
import type { Obj } from "../target.ts";
import { type Answer, answered, bad, type Case, call, invalidParams, since, until } from "./case.ts";

/** Arguments that break a tool's own schema: an error until 2025-06-18, then a result for the model. */
const badArguments = (revision: Revision): Answer => (revision >= "2025-11-25" ? { fault: "x" } : invalidParams);
const notFound = (revision: Revision): Answer => ({ code: revision === "2026-07-28" ? -32602 : -32002, id: "x" });

const notStrings: readonly unknown[] = [undefined, null, 0, 1, true, [], {}, ["echo"]];
const notObjects: readonly unknown[] = [null, 0, "", "x", true, [], ["a"]];
const hostile = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "10", "-1"];

const tools: readonly Case[] = [
  ...bad("tools/call", undefined, {}, ...notStrings.map((name) => ({ name, arguments: { message: "hi" } }))),
  ...bad("tools/call", ...notObjects.map((args) => ({ name: "echo", arguments: args }))),
  ...["", " ", "nope", "Echo", "ECHO", "echo ", " echo", "echo\0", "e".repeat(100_000), ...hostile].map((name) =>
    call("tools/call", { name, arguments: {} }, invalidParams),
  ),
  call("tools/call", { Name: "echo", arguments: { message: "hi" } }, invalidParams),
  call("tools/call", { name: "echo", Arguments: { message: "hi" } }, badArguments),
  call("tools/call", { name: "echo" }, badArguments),
  call("tools/call", { name: "echo", arguments: {} }, badArguments),
  ...[null, 0, true, [], {}].map((message) =>
    call("tools/call", { name: "echo", arguments: { message } }, badArguments),
  ),
  call("tools/call", { name: "echo", arguments: { Message: "hi" } }, badArguments),
  call("tools/call", { name: "echo", arguments: { message: "hi", MESSAGE: 1 } }, answered),
  call("tools/call", { name: "add", arguments: { a: "1", b: 2 } }, badArguments),
  call("tools/call", { name: "add", arguments: { a: 1 } }, badArguments),
  call("tools/call", { name: "add", arguments: { a: 1, b: null } }, badArguments),
  ...hostile.map((key) => call("tools/call", { name: "bag", arguments: own(key, { polluted: true }) }, answered)),
  ...[1, "x", [], null].map((task) =>
    call("tools/call", { name: "echo", arguments: { message: "hi" }, task }, (revision) =>
      revision === "2025-11-25" ? invalidParams : answered,
    ),
  ),
  ...[1, "x", [], null, { a: 1 }, { a: {} }, { a: { action: "perhaps" } }, own("__proto__", 1)].map((inputResponses) =>
    call("tools/call", { name: "echo", arguments: { message: "hi" }, inputResponses }, (revision) =>
      revision === "2026-07-28" ? invalidParams : answered,
    ),
  ),
  ...[1, null, [], {}].map((requestState) =>
    call("tools/call", { name: "echo", arguments: { message: "hi" }, requestState }, (revision) =>
      revision === "2026-07-28" ? invalidParams : answered,
    ),
  ),
];

const noUris = [...notStrings, "", " ", "note", "/note", "//note", "note one:", ":note", "1note:///one", "note:///a b"]
  .concat([" note:///one", "note:///one\n", "note:///one\0", "note:///\u0001", "note:///\u0085"])
  .map((uri) => ({ uri }));
const climbing = ["item:///..", "item:///../one", "item:///%2e%2e", "item:///%2E%2E%2Fone", "item:///a%2F..%2Fb"]
  .concat([
    "item:///..%5cone",
    "item:///a%00b",
    "item:///%zz",
    "item:///%",
    "item:///%c3%28",
    `item:///${"a".repeat(100_000)}`,
  ])
  .map((uri) => ({ uri }));
const absent = [
  "note:///three",
  "NOTE:///one",
  "note:///One",
  "note:///one/",
  "note:///one?",
  "note:///one#a",
  "item:///",
]
  .concat(["item:///a/b", "note:", "x:y", "__proto__:x", "constructor:x"])
  .filter((uri) => /^[a-z]/i.test(uri))
  .map((uri) => ({ uri }));

const resources: readonly Case[] = [
  ...bad("resources/read", undefined, {}, { URI: "note:///one" }, ...noUris, ...climbing),
  ...absent.map((params) => call("resources/read", params, notFound)),
  call("resources/read", { uri: "item:///none" }, notFound),
  ...hostile.map((id) => call("resources/read", { uri: `item:///${id}` }, answered)),
  ...bad("resources/subscribe", undefined, {}, ...noUris, ...climbing),
  ...absent.map((params) => call("resources/subscribe", params, { code: -32002, id: "x" })),
  ...bad("resources/unsubscribe", undefined, {}, ...noUris),
  call("resources/unsubscribe", { uri: "note:///never-watched" }, answered),
];

const prompts: readonly Case[] = [
  ...bad("prompts/get", undefined, {}, ...notStrings.map((name) => ({ name, arguments: { name: "Ada" } }))),
  ...bad("prompts/get", ...notObjects.map((args) => ({ name: "hello", arguments: args }))),
  ...bad(
    "prompts/get",
    { name: "hello" },
    { name: "hello", arguments: {} },
    { name: "hello", arguments: { Name: "A" } },
  ),
  ...bad("prompts/get", ...[null, 1, true, [], {}].map((name) => ({ name: "hello", arguments: { name } }))),
  ...bad("prompts/get", { name: "bye", arguments: { extra: 1 } }),
  ...["", "nope", "Hello", "hello ", ...hostile].map((name) => call("prompts/get", { name }, invalidParams)),
  ...hostile.map((key) =>
    call("prompts/get", { name: "hello", arguments: { name: "Ada", ...own(key, "x") } }, answered),
  ),
];

const ref = { type: "ref/prompt", name: "hello" };
const template = { type: "ref/resource", uri: "item:///{id}" };
const argument = { name: "name", value: "A" };
const completion: readonly Case[] = [
  ...bad("completion/complete", undefined, {}, { ref }, { argument }),
  ...bad("completion/complete", ...notObjects.map((value) => ({ ref: value, argument }))),
  ...bad("completion/complete", ...notObjects.map((value) => ({ ref, argument: value }))),
  ...bad(
    "completion/complete",
    { ref: {}, argument },
    { ref: { type: "ref/prompt" }, argument },
    { ref: { type: "ref/prompt", name: 1 }, argument },
    { ref: { type: "ref/prompt", uri: "item:///{id}" }, argument },
    { ref: { type: "ref/resource" }, argument },
    { ref: { type: "ref/resource", uri: null }, argument },
    { ref: { type: "ref/resource", name: "hello" }, argument },
    { ref: { type: "ref/tool", name: "echo" }, argument },
    { ref: { type: "REF/PROMPT", name: "hello" }, argument },
    { ref: { type: null, name: "hello" }, argument },
    { ref: { name: "hello" }, argument },
    { ref, argument: {} },
    { ref, argument: { name: "name" } },
    { ref, argument: { value: "A" } },
    { ref, argument: { name: 1, value: "A" } },
    { ref, argument: { name: "name", value: 1 } },
    { ref, argument: { name: "name", value: null } },
    { ref: { type: "ref/prompt", name: "nope" }, argument },
    { ref: { type: "ref/resource", uri: "item:///a" }, argument: { name: "id", value: "" } },
    { ref: { type: "ref/resource", uri: "nope:///{id}" }, argument: { name: "id", value: "" } },
    { ref: { type: "ref/resource", uri: "note:///one" }, argument: { name: "id", value: "" } },
    { ref, argument: { name: "Name", value: "" } },
    { ref, argument: { name: "", value: "" } },
  ),
  ...hostile.map((name) => call("completion/complete", { ref, argument: { name, value: "" } }, invalidParams)),
  ...hostile.map((name) =>
    call("completion/complete", { ref: template, argument: { name, value: "" } }, invalidParams),
  ),
  ...hostile.map((name) => call("completion/complete", { ref: { type: "ref/prompt", name }, argument }, invalidParams)),
  ...[
    1,
    "x",
    [],
    null,
    { arguments: [] },
    { arguments: 1 },
    { arguments: { a: 1 } },
    { arguments: { a: null } },
  ].flatMap((context) => [
    call("completion/complete", { ref, argument, context }, invalidParams, { in: since("2025-06-18") }),
    call("completion/complete", { ref, argument, context }, answered, { in: until("2025-03-26") }),
  ]),
  call("completion/complete", { ref, argument, context: { arguments: own("__proto__", "x") } }, answered),
];

const logging: readonly Case[] = [
  ...bad("logging/setLevel", undefined, {}, ...notStrings.map((level) => ({ level }))),
  ...bad(
    "logging/setLevel",
    ...["", "loud", "INFO", "Info", "info ", "warn", "trace", "7"].map((level) => ({ level })),
  ),
  ...bad("logging/setLevel", ...hostile.map((level) => ({ level })), { Level: "info" }),
];

const lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
const cursors: readonly Case[] = lists.flatMap((method) => [
  ...bad(method, ...[null, 0, 1, true, [], {}].map((cursor) => ({ cursor }))),
  ...bad(method, ...["", "0", "1", "next", ".", "a.b", "=", "\0", "__proto__", "🎉"].map((cursor) => ({ cursor }))),
  ...bad(method, { cursor: "MS4w" }, { cursor: `MS4w.${"A".repeat(43)}` }, { cursor: "c".repeat(1_000_000) }),
  call(method, { Cursor: 1, extra: [] }, answered),
]);

const filters: readonly Case[] = [
  ...bad("subscriptions/listen", undefined, {}, ...notObjects.map((notifications) => ({ notifications }))),
  ...["toolsListChanged", "promptsListChanged", "resourcesListChanged"].flatMap((flag) =>
    bad("subscriptions/listen", ...[null, 0, 1, "true", [], {}].map((value) => ({ notifications: { [flag]: value } }))),
  ),
  ...bad(
    "subscriptions/listen",
    ...[null, 1, "note:///one", true, {}, [1], [null], [["a"]], ["a", {}]].map((resourceSubscriptions) => ({
      notifications: { resourceSubscriptions },
    })),
    { notifications: { resourceSubscriptions: Array.from({ length: 1001 }, (_, i) => `item:///${i}`) } },
    { Notifications: {} },
  ),
];

/** An object with an own member of that name, even `__proto__`; `{ __proto__: … }` would set the prototype. */
function own(key: string, value: unknown): Obj {
  return JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`) as Obj;
}

export const paramsCases: readonly Case[] = [
  ...tools,
  ...resources,
  ...prompts,
  ...completion,
  ...logging,
  ...cursors,
  ...filters,
];
