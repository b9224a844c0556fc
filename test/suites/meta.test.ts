// `_meta`: what it carries in each direction, what a request of 2026-07-28 must have in it, and whose keys are whose.
import { createServer, jsonSchema, type Revision, revisions, toolResult } from "plenum";
import { describe, expect, test } from "vitest";
import { isMetaKey, isReservedMetaKey } from "../../packages/plenum/src/protocol/meta.ts";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "./peer.ts";
import { bare, createQuietServer, textOf } from "./tool-peer.ts";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const clientKey = "io.modelcontextprotocol/clientInfo";
const serverKey = "io.modelcontextprotocol/serverInfo";

function createMirror() {
  const { server } = createQuietServer();
  const closed = jsonSchema({ type: "object", properties: { a: { type: "number" } }, additionalProperties: false });
  server.tool("mirror", { input: closed }, (args, ctx) => JSON.stringify({ args, meta: ctx.meta }));
  server.tool("trace", {}, (_, ctx) => JSON.stringify(ctx.trace));
  server.resource("x://meta", {}, (_, ctx) => JSON.stringify(ctx.meta));
  server.prompt("meta", {}, (_, ctx) => JSON.stringify(ctx.meta));
  return server;
}

describe.each(revisions)("_meta in %s", (revision) => {
  const own = { "com.example/a": { deep: [1, null] }, plain: "text", progressToken: "t" };

  test("of a request reaches the handler unchanged, and is no argument", async () => {
    covers(["meta-reserved"], revision);
    const peer = await openPeer(createMirror(), revision);
    const sent = (peer.dress({ _meta: own }) as Obj)._meta;
    const result = await peer.call("tools/call", { name: "mirror", arguments: { a: 1 }, _meta: own });
    expect(JSON.parse(textOf(result))).toEqual({ args: { a: 1 }, meta: sent });
    const read = await peer.call("resources/read", { uri: "x://meta", _meta: own });
    expect(JSON.parse((read.contents as { text: string }[])[0]?.text ?? "")).toEqual(sent);
    const prompt = await peer.call("prompts/get", { name: "meta", _meta: own });
    expect(JSON.parse((prompt.messages as { content: { text: string } }[])[0]?.content.text ?? "")).toEqual(sent);
  });

  test("of a notification disturbs nothing", async () => {
    covers(["meta-reserved"], revision);
    const peer = await openPeer(createMirror(), revision);
    const before = peer.messages.length;
    peer.notify("notifications/cancelled", { requestId: "none", _meta: own });
    peer.notify("notifications/roots/list_changed", { _meta: own });
    await peer.settle();
    expect(peer.messages).toHaveLength(before);
  });

  test("of a result arrives as the handler gave it", async () => {
    covers(["meta-reserved"], revision);
    const { server } = createQuietServer();
    const meta = { "com.example/b": [true], plain: { x: 1 } };
    server.tool("t", {}, () => toolResult({ content: [], meta }));
    server.handle("com.example/own", () => ({ _meta: meta }));
    const peer = await openPeer(server, revision);
    expect(bare(await peer.call("tools/call", { name: "t" }))).toEqual({ content: [], _meta: meta });
    expect(bare(await peer.call("com.example/own"))).toEqual({ _meta: meta });
  });

  test("that is no object is -32602", async () => {
    covers(["meta-reserved"], revision);
    const peer = await openPeer(createMirror(), revision);
    for (const bad of ["text", 5, [], null, true]) {
      const { error } = (await peer.raw.request("tools/list", { _meta: bad })) as { error: { code: number } };
      expect(error.code).toBe(-32602);
    }
  });

  test("with keys that MCP reserves and we do not know is let be, whatever they hold", async () => {
    covers(["meta-no-assumptions"], revision);
    const peer = await openPeer(createMirror(), revision);
    for (const value of [1, "x", null, true, [], {}, { nested: [null] }]) {
      const _meta = { "modelcontextprotocol.io/x": value, "io.modelcontextprotocol/unheardOf": value, "mcp/x": value };
      const result = await peer.call("tools/call", { name: "mirror", _meta });
      expect(JSON.parse(textOf(result)).meta).toMatchObject(_meta);
    }
  });

  test("gives well-formed trace context to the handler and leaves out what is not", async () => {
    covers(["meta-trace-context"], revision);
    const peer = await openPeer(createMirror(), revision);
    const good = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "vendor=value,other@tenant=2",
      baggage: "userId=alice,isProduction=false",
    };
    const trace = async (_meta: Obj) => JSON.parse(textOf(await peer.call("tools/call", { name: "trace", _meta })));
    expect(await trace(good)).toEqual(good);
    expect(await trace({})).toEqual({});
    const bad = [
      "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
      "00-00000000000000000000000000000000-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
      "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
      " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "",
      7,
      null,
    ];
    for (const traceparent of bad) {
      const { traceparent: _, ...rest } = good;
      expect(await trace({ ...good, traceparent }), String(traceparent)).toEqual(rest);
    }
    expect(await trace({ ...good, tracestate: "a=b\r\nX: y", baggage: "é=1" })).toEqual({
      traceparent: good.traceparent,
    });
  });
});

describe(`_meta of a request in ${modern}`, () => {
  test.each(["server/discover", "tools/list", "tools/call", "resources/read", "subscriptions/listen", "no/such"])(
    "%s without a required key is -32602",
    async (method) => {
      covers("meta-missing-field-error");
      const peer = await openPeer(createMirror(), modern, { revisions: [modern] });
      const whole = { [versionKey]: modern, [capabilitiesKey]: {} };
      const params = { name: "mirror", uri: "x://meta", notifications: {} };
      const faults: [Obj | undefined, string][] = [
        [{ ...params, _meta: { ...whole, [versionKey]: undefined } }, versionKey],
        [{ ...params, _meta: { ...whole, [versionKey]: 20260728 } }, versionKey],
        [{ ...params, _meta: { ...whole, [capabilitiesKey]: undefined } }, capabilitiesKey],
        [{ ...params, _meta: { ...whole, [capabilitiesKey]: [] } }, capabilitiesKey],
        [{ ...params, _meta: { ...whole, [capabilitiesKey]: null } }, capabilitiesKey],
        [{ ...params, _meta: {} }, versionKey],
        [params, versionKey],
        [undefined, versionKey],
      ];
      for (const [sent, key] of faults) {
        const { error } = (await peer.raw.request(method, sent)) as { error: { code: number; message: string } };
        expect(error.code, JSON.stringify(sent)).toBe(-32602);
        expect(error.message).toContain(key);
      }
    },
  );

  test("may leave out who the client is; what is said of it must be whole", async () => {
    const peer = await openPeer(createMirror(), modern);
    expect((await peer.request("tools/list", { _meta: { [clientKey]: undefined } })).error).toBeUndefined();
    expect((await peer.fail("tools/list", { _meta: { [clientKey]: { name: "x" } } })).code).toBe(-32602);
    expect((await peer.fail("tools/list", { _meta: { [clientKey]: "x" } })).code).toBe(-32602);
  });

  test("who the client says it is changes nothing", async () => {
    covers("meta-info-no-behavior");
    const server = createMirror();
    const answers = async (info: Obj | undefined): Promise<unknown[]> => {
      const peer = await openPeer(server, modern);
      const _meta = { [clientKey]: info };
      return [
        await peer.request("server/discover", { _meta }),
        await peer.request("tools/list", { _meta }),
        await peer.request("tools/call", { name: "trace", _meta }),
        await peer.request("tools/call", { name: "none", _meta }),
        await peer.request("resources/read", { uri: "x://none", _meta }),
      ];
    };
    const [first, ...others] = [
      await answers({ name: "one", version: "1" }),
      await answers({ name: "admin", version: "99", title: "Root", websiteUrl: "https://example.com/" }),
      await answers(undefined),
    ];
    for (const other of others) expect(other).toEqual(first);
  });

  test("every result says who the server is", async () => {
    covers("meta-server-info");
    const server = createServer({ name: "me", version: "3", title: "Me" });
    server.tool("t", {}, () => "");
    server.tool("fails", {}, () => toolResult({ isError: true }));
    server.resource("x://{a}", { complete: { a: () => [] } }, () => "");
    server.prompt("p", {}, () => "");
    server.handle("com.example/own", () => ({}));
    const peer = await openPeer(server, modern);
    const calls: [string, Obj?][] = [
      ["server/discover"],
      ["tools/list"],
      ["tools/call", { name: "t" }],
      ["tools/call", { name: "fails" }],
      ["resources/list"],
      ["resources/templates/list"],
      ["resources/read", { uri: "x://1" }],
      ["prompts/list"],
      ["prompts/get", { name: "p" }],
      ["completion/complete", { ref: { type: "ref/resource", uri: "x://{a}" }, argument: { name: "a", value: "" } }],
      ["com.example/own"],
    ];
    for (const [method, params] of calls) {
      const { _meta } = await peer.call(method, params);
      expect((_meta as Obj)[serverKey], method).toEqual({ name: "me", version: "3", title: "Me" });
    }
    peer.start("subscriptions/listen", { notifications: {} });
    await peer.settle();
    await server.close();
    await peer.ended();
    const info = { name: "me", version: "3", title: "Me" };
    expect(peer.messages.at(-1)).toMatchObject({ result: { _meta: { [serverKey]: info } } });
  });
});

test.each(revisions.filter((revision) => revision !== modern))(
  "no result of %s says who the server is",
  async (revision) => {
    const peer = await openPeer(createMirror(), revision);
    expect((await peer.call("tools/list"))._meta).toBeUndefined();
  },
);

describe("the grammar of keys", () => {
  test.each(["a", "a_b.c-d9", "9", "com.example/x", "com.example/", "a-1.b2/x", "C.D/X.y", "x/1", ""])(
    "%j is a key",
    (key) => {
      covers(["meta-key-prefix", "meta-key-label", "meta-key-name"]);
      expect(isMetaKey(key)).toBe(true);
    },
  );

  test.each([
    ["com..example/x", "prefix"],
    ["/x", "prefix"],
    [".com/x", "prefix"],
    ["com./x", "prefix"],
    ["1com/x", "prefix"],
    ["com-/x", "prefix"],
    ["-com/x", "prefix"],
    ["c_m/x", "prefix"],
    ["com.2x/y", "prefix"],
    ["cöm/x", "prefix"],
    ["_a", "name"],
    ["a-", "name"],
    [".a", "name"],
    ["a b", "name"],
    ["com.example/a/b", "name"],
    ["com.example/ä", "name"],
    ["a\n", "name"],
  ])("%j is none: its %s is wrong", (key) => {
    covers(["meta-key-prefix", "meta-key-label", "meta-key-name"]);
    expect(isMetaKey(key)).toBe(false);
  });

  const june: Revision = "2025-06-18";
  test.each<[string, readonly Revision[]]>([
    ["modelcontextprotocol.io/x", [june]],
    ["mcp.dev/x", [june]],
    ["tools.mcp.com/x", [june, "2025-11-25", modern]],
    ["api.modelcontextprotocol.org/", [june, "2025-11-25", modern]],
    ["io.modelcontextprotocol/x", ["2025-11-25", modern]],
    ["dev.mcp/x", ["2025-11-25", modern]],
    ["com.mcp.tools/x", [june, "2025-11-25", modern]],
    ["com.example.mcp/x", []],
    ["com.example.mcp.tools/x", [june]],
    ["mcp/x", []],
    ["com.example/mcp", []],
    ["mcp", []],
    ["com.mcpx/x", []],
  ])("%s is MCP's own in %j", (key, reserving) => {
    covers(["meta-key-reserved"], june);
    covers(["meta-key-reserved-2025-11"], "2025-11-25");
    covers(["meta-key-reserved-2025-11"], modern);
    for (const revision of [june, "2025-11-25", modern] as const) {
      expect(isReservedMetaKey(key, revision), revision).toBe(reserving.includes(revision));
    }
    const register = () => createServer({ name: "s", version: "1" }).tool("t", { meta: { [key]: 1 } }, () => "");
    if (reserving.length > 0) expect(register).toThrow("reserved");
    else expect(register).not.toThrow();
  });

  test("keys of one's own that break it, or are MCP's, are refused where they are written", () => {
    covers(["meta-key-reserved", "meta-key-reserved-2025-11", "meta-key-prefix", "meta-key-label", "meta-key-name"]);
    const { server } = createQuietServer();
    const uses: [string, (meta: Obj) => unknown][] = [
      ['tool "t"', (meta) => server.tool("t", { meta }, () => "")],
      ['resource "x://a"', (meta) => server.resource("x://a", { meta }, () => "")],
      ['prompt "p"', (meta) => server.prompt("p", { meta }, () => "")],
      ["toolResult", (meta) => toolResult({ meta })],
    ];
    const bad = [
      "modelcontextprotocol.io/x",
      "mcp.dev/x",
      "tools.mcp.com/x",
      "io.modelcontextprotocol/x",
      "1com/x",
      "_a",
    ];
    for (const [what, use] of uses) {
      for (const key of bad) expect(() => use({ [key]: 1 }), key).toThrow(`${what}: _meta key "${key}"`);
      expect(() => use({ "com.example/x": 1, plain: 2 })).not.toThrow();
    }
  });
});
