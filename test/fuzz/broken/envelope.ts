// Faults of the envelope: jsonrpc, id, method, params; responses, notifications, batches.
import { type Revision, revisions } from "plenum";
import { handshake, type Obj, request } from "../target.ts";
import { type Answer, answered, type Case, invalidParams, invalidRequest, noId, raw } from "./case.ts";

const list = (revision: Revision): Obj => request(revision, "tools/list");

/** The good request with members exchanged; `undefined` takes one away. */
const altered =
  (members: Obj) =>
  (revision: Revision): Obj => ({ ...list(revision), ...members });

const versions: readonly Case[] = [
  undefined,
  null,
  "",
  "1.0",
  "2",
  2,
  2.0,
  "2.0 ",
  " 2.0",
  "02.0",
  "2.00",
  true,
  ["2.0"],
  {},
].flatMap((jsonrpc) => [
  raw(`jsonrpc ${JSON.stringify(jsonrpc)}`, altered({ jsonrpc }), invalidRequest),
  raw(`jsonrpc ${JSON.stringify(jsonrpc)} without an id`, altered({ jsonrpc, id: undefined }), "silence"),
]);

const methods: readonly Case[] = [
  ...[undefined, null, 1, true, [], {}, ["tools/list"]].map((method) =>
    raw(`method ${JSON.stringify(method)}`, altered({ method }), invalidRequest),
  ),
  ...[null, 1, true, [], {}].map((method) =>
    raw(`method ${JSON.stringify(method)} without an id`, altered({ method, id: undefined }), "silence"),
  ),
  ...["", " ", "tools", "tools/", "/list", "tools/list ", " tools/list", "tools/list\n", "tools/list\0", "tools.list"]
    .concat(["Tools/list", "TOOLS/LIST", "tools/List", "tools\\list", "rpc.discover", "tools/list/list", "tооls/list"])
    .concat(["constructor", "__proto__", "toString", "hasOwnProperty", "prototype", "undefined", "null", "*"])
    .concat(["sampling/createMessage", "elicitation/create", "roots/list", "tasks/get", "m".repeat(1_000_000)])
    .concat(["notifications/initialized", "notifications/cancelled", "notifications/progress"])
    .concat(["notifications/roots/list_changed", "notifications/tools/list_changed", "notifications/message"])
    .map((method) =>
      raw(`method ${JSON.stringify(method.slice(0, 60))}`, altered({ method }), { code: -32601, id: "x" }),
    ),
];

const ids: readonly Case[] = [
  ...[null, true, false, 1.5, -0.5, 1e300, 2 ** 53, -(2 ** 53), [], {}, ["x"], { id: "x" }].flatMap((id) => [
    raw(`id ${JSON.stringify(id)}`, altered({ id }), noId),
    raw(`id ${JSON.stringify(id)} and no method`, altered({ id, method: undefined }), noId),
    raw(`id ${JSON.stringify(id)} and a bad jsonrpc`, altered({ id, jsonrpc: "1.0" }), noId),
  ]),
  ...["1e999", "-1e999", "9007199254740993", "1.0000000000000002", "123456789012345678901234567890"].map((id) =>
    raw(`the id ${id}`, (revision) => JSON.stringify(list(revision)).replace('"x"', id), noId),
  ),
  ...[
    "",
    "0",
    " ",
    "null",
    "true",
    "x".repeat(100_000),
    "__proto__",
    "constructor",
    "\0",
    "\ud800",
    "🎉",
    '"',
    "\\",
  ].map((id) => raw(`the good id ${JSON.stringify(id.slice(0, 20))}`, altered({ id }), { result: id })),
  ...[0, 1, -1, 2 ** 53 - 1, -(2 ** 53) + 1].map((id) => raw(`the good id ${id}`, altered({ id }), { result: id })),
  raw("the good id 1.0", (r) => JSON.stringify(list(r)).replace('"x"', "1.0"), { result: 1 }),
  raw("the good id 1e2", (r) => JSON.stringify(list(r)).replace('"x"', "1e2"), { result: 100 }),
  raw("the good id -0", (r) => JSON.stringify(list(r)).replace('"x"', "-0"), { result: 0 }),
];

const params: readonly Case[] = [null, [], [1], ["a"], "", "x", 0, 1, true, false].flatMap((value) => [
  raw(`params ${JSON.stringify(value)}`, altered({ params: value }), invalidRequest),
  raw(`params ${JSON.stringify(value)} without an id`, altered({ params: value, id: undefined }), "silence"),
]);

const names: readonly Case[] = [
  ...["Jsonrpc", "JSONRPC", "jsonRpc", "jsonrpc "].map((name) =>
    raw(`the member ${name}`, altered({ jsonrpc: undefined, [name]: "2.0" }), invalidRequest),
  ),
  ...["Id", "ID", "iD", "id "].map((name) =>
    raw(`the member ${name}: a notification`, altered({ id: undefined, [name]: "x" }), "silence"),
  ),
  ...["Method", "METHOD", "method ", "\u017fmethod"].map((name) =>
    raw(`the member ${name}`, altered({ method: undefined, [name]: "tools/list" }), invalidRequest),
  ),
  ...["Params", "PARAMS", "params "].map((name) =>
    raw(
      `the member ${name}`,
      (revision: Revision) => {
        const { params, ...rest } = request(revision, "tools/call", { name: "echo", arguments: { message: "hi" } });
        return { ...rest, [name]: params };
      },
      invalidParams,
    ),
  ),
  ...["Result", "RESULT", "Error"].map((name) =>
    raw(`only the member ${name}`, { jsonrpc: "2.0", id: "x", [name]: {} }, invalidRequest),
  ),
  raw("both method and Method", altered({ Method: "no/such" }), answered),
  raw("both id and ID", altered({ ID: "y" }), answered),
  raw("members that nobody knows", altered({ extra: 1, constructor: 2, toString: 3, trace: { a: [] } }), answered),
  raw("a method behind __proto__", '{"jsonrpc":"2.0","id":"x","__proto__":{"method":"ping"}}', invalidRequest),
  raw("everything behind __proto__", '{"__proto__":{"jsonrpc":"2.0","id":"x","method":"ping"}}', noId),
  raw("a jsonrpc behind __proto__", '{"__proto__":{"jsonrpc":"2.0"},"id":"x","method":"ping"}', invalidRequest),
  raw(
    "params behind __proto__",
    (revision) => {
      const inner = JSON.stringify(
        request(revision, "tools/call", { name: "echo", arguments: { message: "hi" } }).params,
      );
      return `{"jsonrpc":"2.0","id":"x","method":"tools/call","__proto__":{"params":${inner}}}`;
    },
    invalidParams,
  ),
  raw("a harmless __proto__", (r) => JSON.stringify(list(r)).replace("{", '{"__proto__":{"id":"y"},'), answered),
  raw("an empty object", {}, noId),
  raw("an id and nothing else", { jsonrpc: "2.0", id: "x" }, invalidRequest),
  raw("a jsonrpc and nothing else", { jsonrpc: "2.0" }, noId),
  raw("a method and nothing else", { method: "ping" }, "silence"),
];

const error = { code: -32000, message: "no" };
const responses: readonly Case[] = [
  raw("a request with a result", altered({ result: {} }), invalidRequest),
  raw("a request with an error", altered({ error }), invalidRequest),
  raw("a notification with a result", altered({ result: {}, id: undefined }), "silence"),
  ...[
    { id: 1, result: {} },
    { id: "x", result: {} },
    { id: 1, error },
    { id: 1, result: {}, error },
    { id: 1, result: null },
    { id: 1, result: [] },
    { id: 1, result: "ok" },
    { id: 1, error: null },
    { id: 1, error: "no" },
    { id: 1, error: [] },
    { id: 1, error: {} },
    { id: 1, error: { code: "1", message: "no" } },
    { id: 1, error: { code: 1.5, message: "no" } },
    { id: 1, error: { code: 1 } },
    { id: 1, error: { code: 1, message: null } },
    { id: null, result: {} },
    { id: null, error },
    { id: {}, result: {} },
    { id: 1.5, error },
    { result: {} },
    { error },
    { jsonrpc: "1.0", id: 1, result: {} },
    { jsonrpc: undefined, id: 1, error },
    { id: "__proto__", result: {} },
    { id: "constructor", error },
  ].map((message) => raw(`the response ${JSON.stringify(message)}`, { jsonrpc: "2.0", ...message }, "silence")),
];

const told = (method: string, params?: unknown): Case =>
  raw(`the notification ${method} ${JSON.stringify(params)}`, { jsonrpc: "2.0", method, params }, "silence");

const notifications: readonly Case[] = [
  ...[undefined, {}, { requestId: null }, { requestId: 1.5 }, { requestId: {} }, { requestId: "nobody" }]
    .concat([
      { requestId: true },
      { requestId: "__proto__" },
      { requestId: "x", reason: 1 },
      { RequestId: "x" },
    ] as never)
    .map((params) => told("notifications/cancelled", params)),
  ...[
    undefined,
    {},
    { progressToken: "p" },
    { progressToken: null, progress: 1 },
    { progressToken: 1, progress: "1" },
  ].map((params) => told("notifications/progress", params)),
  told("notifications/initialized"),
  told("notifications/initialized", { _meta: 1 }),
  told("notifications/roots/list_changed"),
  told("notifications/roots/list_changed", { _meta: [] }),
  told("notifications/message", { level: "info", data: 1 }),
  told("notifications/tools/list_changed"),
  told("notifications/no_such"),
  told("notifications/__proto__"),
  told("constructor"),
  told(""),
  told("initialize", handshake("2025-11-25").params),
  told("tools/list"),
  told("ping"),
  told("server/discover"),
];

const refused: Answer = { code: -32600 };
const batches = (revision: Revision): boolean => revision === "2025-03-26";
const one = (answer: Answer) => (revision: Revision) => (batches(revision) ? answer : refused);
const ping = (id: unknown): Obj => ({ jsonrpc: "2.0", id, method: "ping" });
const response = { jsonrpc: "2.0", id: 1, result: {} };
const batch: readonly Case[] = [
  raw("an empty batch", [], refused),
  raw("a batch of a number", [1], one([{ code: -32600 }])),
  raw("a batch of null", [null], one([{ code: -32600 }])),
  raw("a batch of an empty batch", [[]], one([{ code: -32600 }])),
  raw("a batch in a batch", [[ping("x")]], one([{ code: -32600 }])),
  raw("a batch of an empty object", [{}], one([{ code: -32600 }])),
  raw("a batch of three numbers", [1, 2, 3], one([{ code: -32600 }, { code: -32600 }, { code: -32600 }])),
  raw("a batch of one request", [ping("x")], one([answered])),
  raw("a batch with a bad id", [ping(null), ping("x")], one([{ code: -32600 }, answered])),
  raw("a batch with one id twice", [ping("x"), ping("x")], one([{ code: -32600, id: "x" }, answered])),
  raw("a batch with an unknown method", [{ ...ping("x"), method: "no/such" }], one([{ code: -32601, id: "x" }])),
  raw("a batch of notifications", [{ jsonrpc: "2.0", method: "notifications/a" }], one("silence")),
  raw("a batch of bad notifications", [{ jsonrpc: "1.0", method: "a" }], one("silence")),
  raw("a batch of responses", [response, { ...response, id: 2 }], one("silence")),
  raw("a batch of broken responses", [{ ...response, result: 1 }], one("silence")),
  raw("a batch of both", [ping("x"), response], refused),
  raw("a batch with a notification and a response", [{ jsonrpc: "2.0", method: "a" }, response], refused),
  raw(
    "a batch of 1001",
    Array.from({ length: 1001 }, (_, id) => ping(id)),
    refused,
  ),
  raw("a batch with initialize", [handshake("2025-03-26")], refused),
  raw("an array-like object", { 0: ping("x"), length: 1 }, noId),
  ...revisions.flatMap((revision) => [
    raw(`a batch with the handshake of ${revision}, before one`, [handshake(revision)], refused, { early: true }),
  ]),
  raw("a batch before the handshake", [ping("x")], refused, { early: true }),
];

export const envelopeCases: readonly Case[] = [
  ...versions,
  ...methods,
  ...ids,
  ...params,
  ...names,
  ...responses,
  ...notifications,
  ...batch,
];
