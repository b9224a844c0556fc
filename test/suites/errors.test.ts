// The error table as peers of each revision see it, and the ranges of numbers that belong to the specification.
import { type ErrorCode, jsonSchema, McpError, type Revision, rateLimit, revisions, ToolError } from "plenum";
import { describe, expect, test } from "vitest";
import { errorCodes, rowOf } from "../../packages/plenum/src/protocol/errors.ts";
import { covers } from "../requirements/covers.ts";
import { type Message, modern, openPeer } from "./peer.ts";
import { createQuietServer } from "./tool-peer.ts";

/** The number of a code that a peer may be told; undefined for what is masked. */
const numbers: { readonly [C in ErrorCode]: number | ((revision: Revision) => number) | undefined } = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  incomplete_meta: -32602,
  invalid_arguments: -32602,
  resource_not_found: (revision) => (revision === modern ? -32602 : -32002),
  rate_limited: -32603,
  insufficient_scope: -32600,
  header_mismatch: -32020,
  missing_capability: (revision) => (revision === modern ? -32021 : -32600),
  unsupported_version: -32022,
  elicitation_required: (revision) => (revision === "2025-11-25" ? -32042 : -32603),
  input_required: -32603,
  application: 4711,
  timeout: undefined,
  aborted: undefined,
  connection_lost: undefined,
  peer_error: undefined,
  invalid_result: undefined,
};

const make = (code: ErrorCode): McpError =>
  new McpError(code, `this is ${code}`, { data: { of: code }, ...(code === "application" && { rpcCode: 4711 }) });

test("the table of this test is the table of the library", () => {
  expect(Object.keys(numbers).sort()).toEqual([...errorCodes].sort());
});

describe.each(revisions)("in %s", (revision) => {
  test.each(errorCodes)("%s, thrown anywhere, is what the table says", async (code) => {
    const row = numbers[code];
    const number = typeof row === "function" ? row(revision) : row;
    const { server, errors } = createQuietServer();
    const fail = (): never => {
      throw make(code);
    };
    server.handle("com.example/fail", fail);
    server.resource("x://a", {}, fail);
    server.prompt("p", {}, fail);
    const peer = await openPeer(server, revision);
    const got = [
      await peer.fail("com.example/fail"),
      await peer.fail("resources/read", { uri: "x://a" }),
      await peer.fail("prompts/get", { name: "p" }),
    ];
    if (number !== undefined) {
      const error = { code: number, message: `this is ${code}`, data: { of: code } };
      expect(got).toEqual([error, error, error]);
      expect(errors).toEqual([]);
    } else {
      expect(got.map((error) => error.code)).toEqual([-32603, -32603, -32603]);
      expect(got.map((error) => error.data)).toEqual(errors.map(({ errorId }) => ({ errorId })));
      expect(errors).toHaveLength(3);
      expect(JSON.stringify(got)).not.toContain(code);
    }
  });

  test.each(errorCodes)("%s, thrown by a tool, is that protocol error unless the model is to read it", async (code) => {
    const row = numbers[code];
    const number = typeof row === "function" ? row(revision) : row;
    const { server, errors } = createQuietServer();
    server.tool("t", {}, () => {
      throw make(code);
    });
    const peer = await openPeer(server, revision);
    const { result, error } = await peer.request("tools/call", { name: "t" });
    const isRead =
      (code === "missing_capability" && revision !== modern) ||
      (code === "elicitation_required" && revision !== "2025-11-25") ||
      (code === "invalid_arguments" && revision >= "2025-11-25");
    if (isRead) expect(result).toMatchObject({ content: [{ type: "text", text: `this is ${code}` }], isError: true });
    else if (number !== undefined)
      expect(error).toEqual({ code: number, message: `this is ${code}`, data: { of: code } });
    else {
      const text = `Internal error (${errors[0]?.errorId})`;
      expect(result).toMatchObject({ content: [{ type: "text", text }], isError: true });
    }
  });

  test("a ToolError is shown to the model as it stands", async () => {
    const { server, errors } = createQuietServer();
    server.tool("t", {}, () => {
      throw new ToolError("Two lines\nfor the model");
    });
    const peer = await openPeer(server, revision);
    expect(await peer.call("tools/call", { name: "t" })).toMatchObject({
      content: [{ type: "text", text: "Two lines\nfor the model" }],
      isError: true,
    });
    expect(errors).toEqual([]);
  });

  test.each([null, true, 0, "text", [1, { a: null }], { deep: { er: [] } }, undefined])(
    "the data %j of an error arrives unchanged",
    async (data) => {
      covers("rpc-error-data-optional", revision);
      const { server } = createQuietServer();
      server.handle("com.example/fail", () => {
        throw new McpError("application", "mine", { rpcCode: -1, data });
      });
      const peer = await openPeer(server, revision);
      const error = await peer.fail("com.example/fail");
      expect(error).toEqual(data === undefined ? { code: -1, message: "mine" } : { code: -1, message: "mine", data });
      expect("data" in error).toBe(data !== undefined);
    },
  );

  test("a number of one's own is for application errors alone: the table's codes keep theirs", async () => {
    covers(["rpc-error-legacy-range-unused", "rpc-error-reserved-range-undefined", "rpc-error-no-32042"], revision);
    const { server } = createQuietServer();
    let rpcCode = 0;
    server.handle("com.example/fail", () => {
      throw new McpError("invalid_params", "no", { rpcCode });
    });
    const peer = await openPeer(server, revision);
    for (rpcCode of [-32000, -32001, -32002, -32019, -32020, -32042, -32099, 7]) {
      expect((await peer.fail("com.example/fail")).code).toBe(-32602);
    }
  });
});

test.each([-32768, -32700, -32603, -32099, -32042, -32020, -32002, -32001, -32000, 1.5, Number.NaN, undefined])(
  "an application error cannot have the number %s",
  (rpcCode) => {
    expect(() => new McpError("application", "x", rpcCode === undefined ? {} : { rpcCode })).toThrow(
      /^rpcCode must be an integer outside -32768 to -32000/,
    );
  },
);

test.each([-32769, -31999, -1, 0, 1, 2 ** 31])("an application error can have the number %s", (rpcCode) => {
  expect(new McpError("application", "x", { rpcCode }).rpcCode).toBe(rpcCode);
});

test("no code of the library lies in the range that nobody is to use, but the one that was there before", () => {
  covers("rpc-error-legacy-range-no-new");
  const inRange = errorCodes.filter((code) => {
    const { rpc } = rowOf(code);
    return rpc !== undefined && rpc >= -32019 && rpc <= -32000;
  });
  expect(inRange).toEqual(["resource_not_found"]);
  expect(rowOf("resource_not_found").rpc).toBe(-32002);
});

test(`every error path of ${modern} uses only numbers that it defines, and those of its own with their meaning`, async () => {
  covers([
    "rpc-error-legacy-range-unused",
    "rpc-error-reserved-range-undefined",
    "rpc-error-reserved-range-meaning",
    "rpc-error-no-32002",
    "rpc-error-no-32042",
  ]);
  const { server } = createQuietServer();
  server.use(rateLimit({ methods: ["com.example/often"], perSecond: 0.001, burst: 1 }));
  server.handle("com.example/often", () => ({}));
  server.handle("com.example/bad", () => 5 as never);
  const input = jsonSchema({ type: "object", properties: { n: { type: "number" } }, required: ["n"] });
  server.tool("n", { input }, () => "");
  server.tool("form", {}, (_, ctx) => ctx.elicit("?", jsonSchema({ type: "object", properties: {} })));
  server.tool("url", {}, (_, ctx) => ctx.elicitUrl("?", "https://example.com/"));
  server.tool("sample", {}, (_, ctx) => ctx.sample({ messages: [], maxTokens: 1 }));
  server.tool("roots", {}, (_, ctx) => ctx.roots());
  server.resource("x://crash", {}, () => {
    throw new Error("x");
  });
  server.prompt("p", { arguments: input, complete: { n: () => [] } }, () => "");
  const peer = await openPeer(server, modern, { maxSubscriptions: 1 });
  const codes: { [what: string]: number | undefined } = {};
  const fault = async (what: string, method: string, params = {}): Promise<void> => {
    codes[what] = (await peer.request(method, params)).error?.code;
  };
  await fault("unknown method", "no/such");
  await fault("no name", "tools/call");
  await fault("no version", "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": undefined } });
  await fault("old version", "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2025-11-25" } });
  await fault("strange level", "tools/list", { _meta: { "io.modelcontextprotocol/logLevel": "loud" } });
  await fault("unknown tool", "tools/call", { name: "nobody" });
  for (const name of ["form", "url", "sample", "roots"]) await fault(name, "tools/call", { name });
  await fault("unknown resource", "resources/read", { uri: "x://none" });
  await fault("crash", "resources/read", { uri: "x://crash" });
  await fault("cursor", "tools/list", { cursor: "forged" });
  await fault("unknown prompt", "prompts/get", { name: "none" });
  await fault("no argument", "prompts/get", { name: "p" });
  await fault("unknown ref", "completion/complete", {
    ref: { type: "ref/prompt", name: "none" },
    argument: { name: "n", value: "" },
  });
  await fault("too many", "subscriptions/listen", { notifications: { resourceSubscriptions: ["x://a", "x://b"] } });
  await fault("first", "com.example/often");
  await fault("rate", "com.example/often");
  await fault("result", "com.example/bad");
  expect(codes).toEqual({
    "unknown method": -32601,
    "no name": -32602,
    "no version": -32602,
    "old version": -32022,
    "strange level": -32602,
    "unknown tool": -32602,
    form: -32021,
    url: -32021,
    sample: -32021,
    roots: -32021,
    "unknown resource": -32602,
    crash: -32603,
    cursor: -32602,
    "unknown prompt": -32602,
    "no argument": -32602,
    "unknown ref": -32602,
    "too many": -32602,
    first: undefined,
    rate: -32603,
    result: -32603,
  });
  const before = peer.messages.length;
  peer.raw.send("{");
  peer.raw.send([]);
  peer.raw.send({});
  await peer.settle();
  const rest = (peer.messages.slice(before) as Message[]).map(({ error }) => error?.code);
  expect(rest).toEqual([-32700, -32600, -32600]);
});
