// Faults of what opens a conversation: the handshake, the `_meta` of the stateless era, versions and capabilities.
import { handshake, meta, modern, type Obj, prefix, request } from "../target.ts";
import { type Answer, answered, bad, type Case, call, invalidParams, isSessioned, raw, since } from "./case.ts";

const hello = handshake("2025-11-25").params as Obj;
/** A handshake with members exchanged; in 2026-07-28 the request is of no era and the answer says how to begin. */
const opening = (what: string, members: Obj, gets: Answer = invalidParams): Case =>
  raw(
    `initialize with ${what}`,
    (revision) => ({ ...handshake(revision, "x"), params: { ...hello, protocolVersion: revision, ...members } }),
    gets,
    { early: true, in: isSessioned },
  );

const handshakes: readonly Case[] = [
  raw("initialize without params", { jsonrpc: "2.0", id: "x", method: "initialize" }, invalidParams, { early: true }),
  raw("initialize as a notification", { ...handshake("2025-11-25"), id: undefined }, "silence", { early: true }),
  ...[undefined, null, 1, true, [], {}, ["2025-11-25"]].map((protocolVersion) =>
    opening(`protocolVersion ${JSON.stringify(protocolVersion)}`, { protocolVersion }),
  ),
  ...[undefined, null, 1, "x", true, []].flatMap((value) => [
    opening(`capabilities ${JSON.stringify(value)}`, { capabilities: value }),
    opening(`clientInfo ${JSON.stringify(value)}`, { clientInfo: value }),
  ]),
  ...[
    {},
    { name: "a" },
    { version: "1" },
    { name: 1, version: "1" },
    { name: "a", version: 1 },
    { Name: "a", version: "1" },
  ]
    .concat([
      { name: null, version: "1" },
      { name: ["a"], version: "1" },
    ] as never)
    .map((clientInfo) => opening(`clientInfo ${JSON.stringify(clientInfo)}`, { clientInfo })),
  ...[
    { roots: true },
    { roots: null },
    { roots: [] },
    { roots: { listChanged: "yes" } },
    { sampling: 1 },
    { sampling: [] },
  ]
    .concat([{ experimental: [] }, { experimental: { a: 1 } }, { experimental: { a: null } }] as never)
    .map((capabilities) => opening(`capabilities ${JSON.stringify(capabilities)}`, { capabilities })),
  ...[null, 1, "x", []].map((_meta) => opening(`_meta ${JSON.stringify(_meta)}`, { _meta })),
  ...["", "1999-01-01", "2099-01-01", "latest", "2025-11-25 ", "__proto__", "constructor", modern].map((version) =>
    opening(
      `the version ${JSON.stringify(version)}, which is answered with an offer`,
      { protocolVersion: version },
      answered,
    ),
  ),
  ...["__proto__", "constructor", "unknown"].map((name) =>
    opening(`the capability ${name}`, { capabilities: JSON.parse(`{"${name}":{"a":1}}`) }, answered),
  ),
  raw("initialize twice", (revision) => handshake(revision, "x"), { code: -32600, id: "x" }, { in: isSessioned }),
  raw(
    "initialize twice, in another version",
    handshake("2024-11-05", "x"),
    { code: -32600, id: "x" },
    { in: isSessioned },
  ),
  raw(
    "initialize twice, with nothing right",
    { jsonrpc: "2.0", id: "x", method: "initialize", params: {} },
    {
      code: -32600,
      id: "x",
    },
    { in: isSessioned },
  ),
  raw("initialize of the stateless era", request(modern, "initialize", hello), { code: -32601, id: "x" }),
];

const early: readonly Case[] = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  "subscriptions/listen",
  "server/discover",
  "no/such",
  "roots/list",
  "__proto__",
].map((method) =>
  raw(
    `${method} before anything is opened`,
    { jsonrpc: "2.0", id: "x", method, params: { _meta: {} } },
    invalidParams,
    {
      early: true,
    },
  ),
);

const bare: readonly Case[] = [
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
].flatMap((method) => [
  call(method, undefined, { code: -32601, id: "x" }, { bare: true }),
  call(method, { uri: "note:///one", name: "hello", level: "info" }, { code: -32601, id: "x" }, { bare: true }),
]);

const tokens: readonly Case[] = ["tools/list", "tools/call", "resources/read", "ping", "server/discover"].flatMap(
  (method) => {
    const params = method === "tools/call" ? { name: "echo", arguments: { message: "hi" } } : { uri: "note:///one" };
    return bad(
      method,
      ...[null, 1.5, true, [], {}, 2 ** 53].map((progressToken) => ({ ...params, _meta: { progressToken } })),
    );
  },
);

const notMeta: readonly Case[] = [null, 1, "x", true, []].map((_meta) =>
  raw(
    `tools/list with _meta ${JSON.stringify(_meta)}`,
    { jsonrpc: "2.0", id: "x", method: "tools/list", params: { _meta } },
    invalidParams,
  ),
);

/** A stateless request with `_meta` keys exchanged. It is answered alike whatever the session beside it. */
const stated = (key: string, value: unknown, gets: Answer = invalidParams): Case =>
  raw(
    `${key} ${JSON.stringify(value)} in _meta`,
    { jsonrpc: "2.0", id: "x", method: "tools/list", params: { _meta: { ...meta(), [prefix + key]: value } } },
    gets,
  );

const unsupported: Answer = { code: -32022, id: "x" };
const metas: readonly Case[] = [
  ...[undefined, null, 1, 20260728, true, [], {}, [modern]].map((value) => stated("protocolVersion", value)),
  ...[
    "",
    " ",
    "latest",
    "2026-07-27",
    "2026-07-28 ",
    "2025-11-25",
    "2024-11-05",
    "DRAFT",
    "__proto__",
    "constructor",
  ].map((value) => stated("protocolVersion", value, unsupported)),
  ...[undefined, null, 1, "x", true, []].map((value) => stated("clientCapabilities", value)),
  ...[{ elicitation: true }, { elicitation: [] }, { elicitation: { form: 1 } }, { elicitation: { url: true } }]
    .concat([{ sampling: 1 }, { sampling: { tools: true } }, { roots: "x" }, { roots: null }] as never)
    .concat([
      { extensions: [] },
      { extensions: { "a/b": 1 } },
      { experimental: { a: 1 } },
      { experimental: 1 },
    ] as never)
    .map((value) => stated("clientCapabilities", value)),
  ...[{ unknown: 1 }, JSON.parse('{"__proto__":{"roots":{}}}'), { constructor: {} }].map((value) =>
    stated("clientCapabilities", value, answered),
  ),
  ...[null, 1, "x", [], {}, { name: "a" }, { version: "1" }, { name: 1, version: "1" }].map((value) =>
    stated("clientInfo", value),
  ),
  stated("clientInfo", undefined, answered),
  ...[null, 1, "", "LOUD", "INFO", [], {}, "constructor"].map((value) => stated("logLevel", value)),
  stated("logLevel", "info", answered),
  ...["ProtocolVersion", "protocolversion", "protocolVersion "].map((key) =>
    raw(
      `the key ${key} in _meta`,
      {
        jsonrpc: "2.0",
        id: "x",
        method: "tools/list",
        params: { _meta: { [prefix + key]: modern, [`${prefix}clientCapabilities`]: {} } },
      },
      invalidParams,
    ),
  ),
  raw(
    "both faults at once: the version is told first",
    { jsonrpc: "2.0", id: "x", method: "no/such", params: { _meta: { [`${prefix}protocolVersion`]: "1" } } },
    unsupported,
  ),
  raw(
    "an incomplete _meta and an unknown method: _meta is told first",
    { jsonrpc: "2.0", id: "x", method: "no/such", params: { _meta: { [`${prefix}protocolVersion`]: modern } } },
    invalidParams,
  ),
  raw(
    "_Meta in place of _meta",
    { jsonrpc: "2.0", id: "x", method: "tools/list", params: { _Meta: meta() } },
    (revision) => (revision === modern ? invalidParams : answered),
  ),
  raw(
    "_meta behind __proto__",
    '{"jsonrpc":"2.0","id":"x","method":"server/discover","params":{"__proto__":{"_meta":{}}}}',
    invalidParams,
  ),
  ...["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/get", "tasks/list"].map(
    (method) =>
      raw(`${method} of the stateless era`, request(modern, method, { uri: "note:///one", level: "info" }), {
        code: -32601,
        id: "x",
      }),
  ),
  raw("server/discover without _meta", { jsonrpc: "2.0", id: "x", method: "server/discover" }, invalidParams),
  raw("subscriptions/listen without _meta", { jsonrpc: "2.0", id: "x", method: "subscriptions/listen" }, invalidParams),
];

const elicitation: readonly Case[] = [true, 1, [], null].map((value) =>
  raw(
    `initialize with the capability elicitation ${JSON.stringify(value)}`,
    (revision) => ({ ...handshake(revision, "x", { elicitation: value }) }),
    (revision) => (since("2025-06-18")(revision) ? invalidParams : answered),
    { early: true, in: isSessioned },
  ),
);

export const openingCases: readonly Case[] = [
  ...handshakes,
  ...elicitation,
  ...early,
  ...bare,
  ...tokens,
  ...notMeta,
  ...metas,
];
