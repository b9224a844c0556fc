// Calling tools: how arguments arrive, what is refused, and how what goes wrong is told.
import { createServer, McpError, revisions, ToolError, text, toolResult } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { openPeer } from "./peer.ts";
import { bare, callTool, contentOf, createQuietServer, textOf } from "./tool-peer.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const masked = new RegExp(`^Internal error \\((${uuid})\\)$`);

describe.each(revisions)("calling a tool in %s", (revision) => {
  test("arguments reach the handler unchanged; absent ones count as none", async () => {
    covers(["tool-call", "schema-call-tool-result"], revision);
    const server = createServer({ name: "s", version: "1" });
    const seen: unknown[] = [];
    server.tool("keep", { input: { type: "object" } }, (args) => {
      seen.push(args);
    });
    const peer = await openPeer(server, revision);
    const args = { text: "ü\u0000\u2028", big: 2 ** 53, list: [1, [null]], deep: { a: { b: false } }, __proto_: 0 };
    await callTool(peer, "keep", args);
    await callTool(peer, "keep", {});
    expect(bare(await callTool(peer, "keep"))).toEqual({ content: [] });
    expect(seen).toEqual([args, {}, {}]);
  });

  test("argument names that objects inherit arrive like any other", async () => {
    covers("tool-call", revision);
    const server = createServer({ name: "s", version: "1" });
    let seen = "";
    server.tool("keep", { input: { type: "object" } }, (args) => {
      seen = JSON.stringify(args);
    });
    const peer = await openPeer(server, revision);
    const params = peer.dress({ name: "keep" });
    const body = '"arguments":{"__proto__":{"admin":true},"constructor":1}';
    peer.raw.send(
      `{"jsonrpc":"2.0","id":"p","method":"tools/call","params":${JSON.stringify(params).replace(/\}$/, `,${body}}`)}}`,
    );
    await peer.settle();
    expect(seen).toBe('{"__proto__":{"admin":true},"constructor":1}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test("params without a name, or with arguments that are no object, are a protocol error", async () => {
    covers("schema-call-tool-request", revision);
    const server = createServer({ name: "s", version: "1" });
    let ran = 0;
    server.tool("one", { input: { type: "object" } }, () => ++ran);
    const peer = await openPeer(server, revision);
    for (const params of [{}, { arguments: {} }, { name: 1 }, { name: null }]) {
      expect((await peer.fail("tools/call", params)).code).toBe(-32602);
    }
    for (const args of [[], "{}", 1, null, true]) {
      expect((await peer.fail("tools/call", { name: "one", arguments: args })).code).toBe(-32602);
    }
    expect(ran).toBe(0);
  });

  test("an unknown tool is a protocol error that names it", async () => {
    covers("tool-unknown-tool-error", revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("one", {}, () => 1);
    const peer = await openPeer(server, revision);
    expect(await peer.fail("tools/call", { name: "two" })).toEqual({ code: -32602, message: 'Unknown tool: "two"' });
  });

  test("arguments that break the schema never reach the handler, and the caller is told why", async () => {
    covers(["tool-validate-inputs", "tool-invalid-arguments", "tool-invalid-arguments-2025-11"], revision);
    const { server, errors } = createQuietServer();
    let ran = 0;
    const input = {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", maximum: 7 } },
      required: ["city"],
      additionalProperties: false,
    } as const;
    server.tool("plain", { input }, () => ++ran);
    server.tool("zod", { input: z.strictObject({ city: z.string(), days: z.int().max(7).optional() }) }, () => ++ran);
    server.tool("none", {}, () => ++ran);
    const peer = await openPeer(server, revision);
    const bad = [{}, { city: 1 }, { city: "Oslo", days: 8 }, { city: "Oslo", days: "2" }, { city: "Oslo", more: 1 }];
    const calls = [
      ...["plain", "zod"].flatMap((name) => bad.map((args) => ({ name, args }))),
      { name: "none", args: { a: 1 } },
    ];
    for (const { name, args } of calls) {
      const { result, error } = await peer.request("tools/call", { name, arguments: args });
      if (revision >= "2025-11-25") {
        expect(bare(result ?? {})).toEqual({ content: [{ type: "text", text: expect.any(String) }], isError: true });
        expect(textOf(result ?? {})).toMatch(`Invalid arguments for tool "${name}": `);
      } else {
        expect(result).toBeUndefined();
        expect(error).toEqual({
          code: -32602,
          message: expect.stringMatching(`Invalid arguments for tool "${name}": `),
        });
      }
    }
    expect(ran).toBe(0);
    expect(errors).toEqual([]);
    expect(textOf(await callTool(peer, "plain", { city: "Oslo", days: 7 }))).toBe("1");
  });

  test("the complaint names the argument", async () => {
    covers(["tool-invalid-arguments", "tool-invalid-arguments-2025-11"], revision);
    const server = createServer({ name: "s", version: "1" });
    const input = z.object({ place: z.object({ names: z.array(z.string()) }) });
    server.tool("deep", { input }, () => 1);
    const peer = await openPeer(server, revision);
    const answer = await peer.request("tools/call", { name: "deep", arguments: { place: { names: ["a", 2] } } });
    const said = answer.error?.message ?? textOf(answer.result ?? {});
    expect(said).toBe(
      'Invalid arguments for tool "deep": place.names.1: Invalid input: expected string, received number',
    );
  });

  test("what a ToolError says is for the model to read", async () => {
    covers(["tool-execution-error-in-result", "tool-is-error-default"], revision);
    const { server, errors } = createQuietServer();
    server.tool("fail", {}, () => {
      throw new ToolError("No city called Osl.\nTry Oslo.");
    });
    server.tool("reject", {}, async () => {
      throw new ToolError("later");
    });
    server.tool("fine", {}, () => "fine");
    const peer = await openPeer(server, revision);
    expect(bare(await callTool(peer, "fail"))).toEqual({
      content: [{ type: "text", text: "No city called Osl.\nTry Oslo." }],
      isError: true,
    });
    expect(bare(await callTool(peer, "reject"))).toEqual({ content: [{ type: "text", text: "later" }], isError: true });
    expect(await callTool(peer, "fine")).not.toHaveProperty("isError");
    expect(errors).toEqual([]);
  });

  const thrown = [
    new Error("password is hunter2"),
    new TypeError("secret stack"),
    "a string",
    undefined,
    null,
    { toString: () => "hunter2" },
    new McpError("timeout", "a request of ours to secret.example timed out"),
    new McpError("invalid_result", "secret"),
  ];
  test("whatever else is thrown is masked, and reported under the id that the caller has", async () => {
    covers(["tool-execution-error-in-result", "tool-sanitize-outputs"], revision);
    const { server, errors } = createQuietServer();
    server.tool("throw", { input: z.object({ which: z.int() }) }, ({ which }) => {
      throw thrown[which];
    });
    server.tool("reject", { input: z.object({ which: z.int() }) }, async ({ which }) => Promise.reject(thrown[which]));
    const peer = await openPeer(server, revision);
    for (const name of ["throw", "reject"]) {
      for (const which of thrown.keys()) {
        const result = await callTool(peer, name, { which });
        expect(bare(result)).toEqual({
          content: [{ type: "text", text: expect.stringMatching(masked) }],
          isError: true,
        });
        const { error, method, errorId } = errors.pop() ?? {};
        expect(error).toBe(thrown[which]);
        expect(method).toBe(`tools/call ${name}`);
        expect(errorId).toBe(masked.exec(textOf(result))?.[1]);
      }
    }
    expect(errors).toEqual([]);
  });

  test("an onError that fails does not take the answer with it", async () => {
    covers("tool-execution-error-in-result", revision);
    const server = createServer({
      name: "s",
      version: "1",
      onError: () => {
        throw new Error("the reporter is broken");
      },
    });
    server.tool("fail", {}, () => {
      throw new Error("hidden");
    });
    const peer = await openPeer(server, revision);
    expect(textOf(await callTool(peer, "fail"))).toMatch(masked);
  });

  test("a McpError that a handler throws is that protocol error", async () => {
    const { server, errors } = createQuietServer();
    server.tool("params", {}, () => {
      throw new McpError("invalid_params", "that will not do", { data: { why: "no" } });
    });
    server.tool("own", {}, () => {
      throw new McpError("application", "ours", { rpcCode: -7 });
    });
    const peer = await openPeer(server, revision);
    expect(await peer.fail("tools/call", { name: "params" })).toEqual({
      code: -32602,
      message: "that will not do",
      data: { why: "no" },
    });
    expect(await peer.fail("tools/call", { name: "own" })).toEqual({ code: -7, message: "ours" });
    expect(errors).toEqual([]);
  });

  test("a failure outside the tool is a protocol error without details", async () => {
    covers("tool-server-error", revision);
    const { server, errors } = createQuietServer();
    server.tool("one", {}, () => 1);
    const cause = new Error("database password is hunter2");
    server.use((call, next) => {
      if (call.method === "tools/call") throw cause;
      return next(call);
    });
    const peer = await openPeer(server, revision);
    const error = await peer.fail("tools/call", { name: "one" });
    expect(error).toEqual({
      code: -32603,
      message: expect.stringMatching(masked),
      data: { errorId: masked.exec(error.message)?.[1] },
    });
    expect(errors).toEqual([{ error: cause, method: "tools/call", errorId: masked.exec(error.message)?.[1] }]);
  });

  test("a middleware takes secrets out of what tools return", async () => {
    covers("tool-sanitize-outputs", revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("leak", {}, () => ["the key is sk-12345", text("and sk-777 too")]);
    server.use(async (call, next) => {
      const result = await next(call);
      return call.method === "tools/call" ? JSON.parse(JSON.stringify(result).replaceAll(/sk-\d+/g, "[key]")) : result;
    });
    const peer = await openPeer(server, revision);
    expect(await contentOf(peer, "leak")).toEqual([
      { type: "text", text: "the key is [key]" },
      { type: "text", text: "and [key] too" },
    ]);
  });

  test("a failure need not fit the output schema", async () => {
    covers("tool-output-error-exempt", revision);
    const { server, errors } = createQuietServer();
    const output = z.object({ sum: z.number() });
    server.tool("composed", { output }, () => toolResult({ isError: true, content: [text("no numbers")] }));
    server.tool("thrown", { output }, () => {
      throw new ToolError("no numbers");
    });
    const peer = await openPeer(server, revision);
    for (const name of ["composed", "thrown"]) {
      expect(bare(await callTool(peer, name))).toEqual({
        content: [{ type: "text", text: "no numbers" }],
        isError: true,
      });
    }
    expect(errors).toEqual([]);
  });

  test("every call gets its own answer, in the order in which the handlers end", async () => {
    covers("tool-call", revision);
    const server = createServer({ name: "s", version: "1" });
    const waiting = new Map<string, () => void>();
    server.tool("wait", { input: z.object({ key: z.string() }) }, ({ key }) => {
      return new Promise<string>((resolve) => waiting.set(key, () => resolve(`done ${key}`)));
    });
    const peer = await openPeer(server, revision);
    const ids = ["a", "b", "c"].map((key) =>
      peer.start("tools/call", { name: "wait", arguments: { key } }, `id-${key}`),
    );
    await peer.settle();
    const before = peer.messages.length;
    for (const key of ["c", "a", "b"]) {
      waiting.get(key)?.();
      await peer.settle();
    }
    const answers = peer.messages.slice(before);
    expect(answers.map(({ id }) => id)).toEqual(["id-c", "id-a", "id-b"]);
    expect(answers.map(({ result }) => textOf(result ?? {}))).toEqual(["done c", "done a", "done b"]);
    expect(ids).toHaveLength(3);
  });
});
