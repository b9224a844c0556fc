// Arguments that stand in headers too: which annotations a server takes, and how it holds headers against arguments.
import { createServer, type Sender, type Server } from "plenum";
import { toFetchHandler } from "plenum/http";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "../suites/peer.ts";
import { callTool, createQuietServer, textOf } from "../suites/tool-peer.ts";

const properties = {
  region: { type: ["string", "null"], "x-mcp-header": "Region" },
  order: {
    type: "object",
    properties: {
      qty: { type: "integer", "x-mcp-header": "Qty" },
      express: { type: "boolean", "x-mcp-header": "Express" },
    },
  },
  note: { type: "string" },
} as const;

function createOrders() {
  const { server } = createQuietServer();
  const seen: unknown[] = [];
  server.tool("order", { input: { type: "object", properties } }, (args) => {
    seen.push(args);
    return "done";
  });
  return { server, seen };
}

/** What an HTTP server tells of a request with these headers. */
function senderOf(headers: { readonly [name: string]: string }): Sender {
  const map = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { header: (name) => map.get(name), mirrorsParams: true };
}

const full: Obj = { region: "eu-north", order: { qty: 12, express: true } };
const mirrored = { "Mcp-Param-Region": "eu-north", "Mcp-Param-Qty": "12", "Mcp-Param-Express": "true" };

async function call(args: Obj, headers: { readonly [name: string]: string }) {
  const { server, seen } = createOrders();
  const peer = await openPeer(server, modern, { sender: senderOf(headers) });
  const answer = await peer.request("tools/call", { name: "order", arguments: args });
  return { ...answer, seen };
}

async function expectAccepted(args: Obj, headers: { readonly [name: string]: string }): Promise<void> {
  const { error, result, seen } = await call(args, headers);
  expect(error).toBeUndefined();
  expect(textOf(result as Obj)).toBe("done");
  expect(seen).toEqual([args]);
}

/** Refused before the tool ran; the message names the header and none of the values. */
async function expectRefused(name: string, args: Obj, headers: { readonly [name: string]: string }): Promise<void> {
  const { error, seen } = await call(args, headers);
  expect(error).toMatchObject({ code: -32020, message: expect.stringContaining(`Mcp-Param-${name} `) });
  expect(seen).toEqual([]);
}

describe("an annotation", () => {
  test("is offered as it was registered", async () => {
    covers("header-xmcp-offer");
    const { server } = createOrders();
    const peer = await openPeer(server, modern);
    const { tools } = await peer.call("tools/list");
    expect(tools).toEqual([{ name: "order", inputSchema: { type: "object", properties } }]);
  });

  const refusal = (input: Obj): string => {
    const server = createServer({ name: "s", version: "1" });
    try {
      server.tool("order", { input: { type: "object", ...input } as never }, () => "");
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      return (error as TypeError).message;
    }
    return "";
  };
  const named = (header: unknown) => refusal({ properties: { a: { type: "string", "x-mcp-header": header } } });

  test("has a name", () => {
    covers("header-xmcp-nonempty");
    expect(named("")).toBe('tool "order": x-mcp-header "" at "a" is no name that a header can have');
    expect(named(7)).toBe('tool "order": an x-mcp-header is no text');
    expect(named("a")).toBe("");
  });

  test("has a name that is a token", () => {
    covers("header-xmcp-token");
    for (const header of ["Bad Header", "a:b", "größe", '"a"', "a,b"]) expect(named(header)).toMatch(/^tool "order": /);
    for (const header of ["Region", "x-1", "!#$%&'*+-.^_`|~"]) expect(named(header)).toBe("");
  });

  test("has no control characters in its name", () => {
    covers("header-xmcp-no-control");
    for (const header of ["a\r\nb", "a\0", "\t", "a\x7f"]) expect(named(header)).toMatch(/^tool "order": /);
  });

  test("is used once, whatever the case", () => {
    covers("header-xmcp-unique");
    const other = { type: "object", properties: { b: { type: "string", "x-mcp-header": "region" } } };
    const both = { a: { type: "string", "x-mcp-header": "Region" }, other };
    expect(refusal({ properties: both })).toContain('"region" at "other.b" is used twice');
  });

  test("is on a string, an integer or a boolean", () => {
    covers("header-xmcp-primitive");
    for (const type of ["number", "object", "array", "null", undefined, ["string", "integer"]])
      expect(refusal({ properties: { a: { type, "x-mcp-header": "A" } } })).toContain("not string, integer, boolean");
    for (const type of ["string", "integer", "boolean", ["integer", "null"]])
      expect(refusal({ properties: { a: { type, "x-mcp-header": "A" } } })).toBe("");
  });

  test("is on what properties alone lead to", () => {
    covers("header-xmcp-reachable");
    const marked = { type: "string", "x-mcp-header": "A" };
    const inside = { properties: { a: marked } };
    for (const input of [
      { properties: { a: { type: "array", items: marked } } },
      { oneOf: [inside] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: {}, then: inside },
      { $defs: { a: marked }, properties: { a: { $ref: "#/$defs/a" } } },
      { additionalProperties: marked },
    ])
      expect(refusal(input)).toContain("is not on a property");
    expect(refusal({ properties: { a: { type: "object", ...inside } } })).toBe("");
    // What only reads like one is none.
    expect(refusal({ properties: { a: { default: { "x-mcp-header": "" } }, "x-mcp-header": {} } })).toBe("");
  });
});

describe("headers and arguments", () => {
  test("that say the same are accepted", () => expectAccepted(full, mirrored));

  test("that were encoded are decoded first", async () => {
    covers("header-decode-before-compare");
    await expectAccepted(full, { ...mirrored, "Mcp-Param-Region": "=?base64?ZXUtbm9ydGg=?=" });
    await expectAccepted({ region: "größe " }, { "Mcp-Param-Region": "=?base64?Z3LDtsOfZSA=?=" });
    await expectAccepted({ order: { qty: 12 } }, { "Mcp-Param-Qty": "=?base64?MTI=?=" });
  });

  test("that cannot be decoded are refused", async () => {
    covers("header-invalid-characters");
    for (const value of ["=?base64?%%%?=", "=?base64?ZXUtbm9ydGg?=", "=?base64?/w==?=", "eu-n\u00f6rth"])
      await expectRefused("Region", full, { ...mirrored, "Mcp-Param-Region": value });
  });

  test("with marks in another case are taken literally", async () => {
    covers("header-param-sentinel-exact");
    const value = "=?BASE64?ZXUtbm9ydGg=?=";
    await expectRefused("Region", full, { ...mirrored, "Mcp-Param-Region": value });
    await expectAccepted({ region: value }, { "Mcp-Param-Region": value });
  });

  test("that are integers are compared as numbers", async () => {
    covers("header-integer-numeric");
    for (const [qty, values] of [
      [12, ["12", "12.0", "12.000", "012"]],
      [-3, ["-3", "-3.0"]],
      [0, ["0", "-0", "0.0"]],
      [Number.MAX_SAFE_INTEGER, ["9007199254740991", "9007199254740991.0"]],
    ] as const)
      for (const value of values) await expectAccepted({ order: { qty } }, { "Mcp-Param-Qty": value });
    for (const [qty, values] of [
      [12, ["13", "12.5", "1e1", "0x0c", "+12", "12abc", "12, 12", "twelve"]],
      [0, ["", " ", "-", ".0"]],
      [2 ** 53, ["9007199254740992", "9007199254740993"]],
    ] as const)
      for (const value of values) await expectRefused("Qty", { order: { qty } }, { "Mcp-Param-Qty": value });
  });

  test("that are booleans are true or false", async () => {
    await expectAccepted({ order: { express: false } }, { "Mcp-Param-Express": "false" });
    for (const value of ["true", "False", "0", ""])
      await expectRefused("Express", { order: { express: false } }, { "Mcp-Param-Express": value });
  });

  test("that differ in case differ", async () => {
    covers("header-values-case-sensitive");
    await expectRefused("Region", full, { ...mirrored, "Mcp-Param-Region": "EU-North" });
  });

  test("may both be absent", async () => {
    covers("header-param-not-expected");
    await expectAccepted({}, {});
    await expectAccepted({ region: null }, {});
    await expectAccepted({ note: "x", order: {} }, {});
  });

  test("that are there without the other are refused", async () => {
    await expectRefused("Region", { region: null }, { "Mcp-Param-Region": "eu-north" });
    await expectRefused("Qty", { region: "a" }, { "Mcp-Param-Region": "a", "Mcp-Param-Qty": "12" });
    await expectRefused("Region", {}, { "Mcp-Param-Region": "" });
    await expectRefused("Region", { region: "" }, {});
  });

  test("are compared where a host packs arguments into text, too", async () => {
    const packed = { order: '{"qty":12}' };
    await expectRefused("Qty", packed, {});
    const { error, seen } = await call(packed, { "Mcp-Param-Qty": "12" });
    expect(error).toBeUndefined();
    expect(seen).toEqual([{ order: { qty: 12 } }]);
  });

  test("are compared before the arguments are checked", async () => {
    await expectRefused("Region", { ...full, note: 7 }, { ...mirrored, "Mcp-Param-Region": "other" });
    const { result } = await call({ ...full, note: 7 }, mirrored);
    expect(result).toMatchObject({ isError: true });
  });

  test("do not tell of a tool that the caller does not see", async () => {
    const { server } = createQuietServer();
    const input = { type: "object", properties } as const;
    server.tool("hidden", { input, visible: () => false }, () => "");
    const peer = await openPeer(server, modern, { sender: senderOf({}) });
    const error = await peer.fail("tools/call", { name: "hidden", arguments: full });
    expect(error).toMatchObject({ code: -32602, message: 'Unknown tool: "hidden"' });
  });

  test("are not compared where arguments are not mirrored", async () => {
    const { server } = createOrders();
    for (const sender of [undefined, { header: () => "other" }, { mirrorsParams: false, header: () => "other" }]) {
      const peer = await openPeer(server, modern, sender && { sender });
      expect(textOf(await callTool(peer, "order", full))).toBe("done");
    }
  });
});

describe("over HTTP", () => {
  async function post(args: Obj, headers: { readonly [name: string]: string }, server: Server = createOrders().server) {
    const handle = toFetchHandler(server, { allowedHosts: ["example.com"] });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
    };
    const params = { name: "order", arguments: args, _meta };
    const response = await handle(
      new Request("http://example.com/mcp", {
        method: "POST",
        headers: {
          host: "example.com",
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": modern,
          "mcp-method": "tools/call",
          "mcp-name": "order",
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 61, method: "tools/call", params }),
      }),
    );
    const answer = { status: response.status, body: await response.json() };
    await handle.close();
    return answer;
  }

  test("what says the same is answered", async () => {
    covers("header-names-case-insensitive");
    const upper = Object.fromEntries(Object.entries(mirrored).map(([name, value]) => [name.toUpperCase(), value]));
    for (const headers of [mirrored, upper])
      expect(await post(full, headers)).toMatchObject({ status: 200, body: { id: 61, result: {} } });
  });

  test("a header that is missing is told with its status and number", async () => {
    covers("header-param-missing-rejected");
    for (const name of Object.keys(mirrored)) {
      const { [name]: _, ...rest } = mirrored as { [name: string]: string };
      expect(await post(full, rest)).toEqual({
        status: 400,
        body: {
          jsonrpc: "2.0",
          id: 61,
          error: {
            code: -32020,
            message: `Header mismatch: ${name} is missing, but the arguments have a value for it`,
          },
        },
      });
    }
  });

  test("a header that differs is told with its status and number", async () => {
    covers("header-param-mismatch-rejected");
    for (const [name, value] of Object.entries({ Region: "eu-south", Qty: "13", Express: "false" })) {
      expect(await post(full, { ...mirrored, [`Mcp-Param-${name}`]: value })).toMatchObject({
        status: 400,
        body: {
          id: 61,
          error: { code: -32020, message: `Header mismatch: Mcp-Param-${name} does not say what the arguments say` },
        },
      });
    }
  });

  test("what middleware makes of an argument is no mismatch, and what it hides is one", async () => {
    const { server, seen } = createOrders();
    server.use((one, next) => {
      const args = one.params.arguments as Obj | undefined;
      if (!args) return next(one);
      // In the call's own object, and in another.
      (args.order as Record<string, unknown>).qty = 1;
      return next({ ...one, params: { ...one.params, arguments: { ...args, region: "EU" } } });
    });
    const order = (): Obj => structuredClone(full);
    expect(await post(order(), mirrored, server)).toMatchObject({ status: 200, body: { result: {} } });
    expect(seen).toEqual([{ region: "EU", order: { qty: 1, express: true } }]);
    for (const changed of [{ "Mcp-Param-Region": "EU" }, { "Mcp-Param-Qty": "1" }])
      expect(await post(order(), { ...mirrored, ...changed }, server)).toMatchObject({ status: 400 });
    expect(seen).toHaveLength(1);
  });
});
