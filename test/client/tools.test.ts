// Calls of tools: what goes out with them, and what comes back.
import { createServer, type JsonObject, type Revision, revisions, type Server } from "plenum";
import { expect, test } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { eachWay, errorOf, modern, open, openServer, sessioned } from "./harness.ts";

const hasStructured = (revision: Revision): boolean => revision >= "2025-06-18";

test.each(eachWay())("results in $revision over $transport", async ({ revision, transport }) => {
  covers(["tool-call", "tool-is-error-default", "tool-errors-to-model", "tool-structured-content-text"], revision);
  const { client, traffic } = await open(revision, transport);

  const echo = await client.callTool("echo", { text: "hello\nworld" });
  expect(echo.content).toEqual([{ type: "text", text: "hello\nworld" }]);
  expect(echo.text).toBe("hello\nworld");
  expect(echo.structured).toBeUndefined();
  expect(echo.isError).toBe(false);
  const [call] = traffic.sent("tools/call");
  expect(call?.params).toMatchObject({ name: "echo", arguments: { text: "hello\nworld" } });
  expect(traffic.answerTo(call)?.result).not.toHaveProperty("isError");

  const add = await client.callTool("add", { a: 1, b: 2 });
  expect(add.structured).toEqual(hasStructured(revision) ? { sum: 3 } : undefined);
  expect(JSON.parse(add.text)).toEqual({ sum: 3 });

  const fail = await client.callTool("fail");
  expect(fail).toMatchObject({ isError: true, text: "The saw is blunt" });
  expect(traffic.sent("tools/call").at(-1)?.params).not.toHaveProperty("arguments");
});

test.each(eachWay())("structured content that is no object in $revision over $transport", async (where) => {
  covers(["tool-structured-content", "tool-structured-content-2026"], where.revision);
  const { client } = await open(where.revision, where.transport);
  const { structured, text } = await client.callTool("measure", { lengths: [1, 10] });
  const wrapped = hasStructured(where.revision) ? { result: [2.54, 25.4] } : undefined;
  expect(structured).toEqual(where.revision === modern ? [2.54, 25.4] : wrapped);
  expect(JSON.parse(text)).toEqual([2.54, 25.4]);
});

test.each(eachWay())("every kind of content that $revision has, over $transport", async ({ revision, transport }) => {
  covers(
    ["schema-content-union", "schema-content-union-2025-03", "schema-content-union-2025-06", "schema-title-members"],
    revision,
  );
  const { client } = await open(revision, transport);
  const { content, text } = await client.callTool("gallery");
  const kinds = content.map(({ type }) => type);
  if (revision === "2024-11-05") expect(kinds).toEqual(["text", "image", "text", "text", "resource"]);
  else if (revision === "2025-03-26") expect(kinds).toEqual(["text", "image", "audio", "text", "resource"]);
  else expect(kinds).toEqual(["text", "image", "audio", "resource_link", "resource"]);
  expect(content[0]).toEqual({
    type: "text",
    text: "A saw",
    annotations: { audience: ["user"], priority: 0.5 },
  });
  expect(content[1]).toMatchObject({ type: "image", mimeType: "image/png" });
  // A link is told in words where there are no links.
  if (hasStructured(revision)) expect(content[3]).toMatchObject({ uri: "manual://saw", title: "How to saw" });
  else expect(content[3]).toMatchObject({ text: "How to saw - manual://saw" });
  expect(content[4]).toEqual({
    type: "resource",
    resource: { uri: "manual://saw", mimeType: "text/plain", text: "Push and pull." },
  });
  expect(text.startsWith("A saw")).toBe(true);
});

test.each(eachWay())("a tool that there is not in $revision over $transport", async ({ revision, transport }) => {
  covers(["tool-unknown-tool-error"], revision);
  const { client, traffic } = await open(revision, transport);
  const error = await errorOf(client.callTool("hammer", {}));
  expect(error).toMatchObject({ code: "peer_error", rpcCode: -32602 });
  expect(error.message).toContain('tools/call "hammer"');
  expect(traffic.answerTo(traffic.sent("tools/call")[0])?.error?.code).toBe(-32602);
  expect((await client.callTool("echo", { text: "still there" })).text).toBe("still there");
});

test.each(eachWay())("arguments that do not fit in $revision over $transport", async ({ revision, transport }) => {
  covers(["tool-invalid-arguments", "tool-invalid-arguments-2025-11", "tool-errors-to-model"], revision);
  const { client } = await open(revision, transport);
  const call = client.callTool("add", { a: "one", b: 2 });
  if (revision >= "2025-11-25") {
    const result = await call;
    expect(result.isError).toBe(true);
    expect(result.text).toContain("Invalid arguments");
  } else {
    const error = await errorOf(call);
    expect(error).toMatchObject({ code: "peer_error", rpcCode: -32602 });
    expect(error.message).toContain("Invalid arguments");
  }
});

test.each(eachWay())("_meta of one's own in $revision over $transport", async ({ revision, transport }) => {
  covers(
    ["meta-reserved", "schema-request-meta-open", "meta-trace-context", "meta-required-fields", "meta-client-info"],
    revision,
  );
  const { client, traffic } = await open(revision, transport);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const meta = { "com.example/order": { n: [1, null] }, plain: "yes", traceparent };
  const seen = JSON.parse((await client.callTool("meta", {}, { meta })).text) as JsonObject;
  expect(seen).toMatchObject(meta);
  if (revision !== modern) expect(seen).toEqual(meta);
  else {
    for (const { params } of traffic.sent().filter(({ id }) => id !== undefined)) {
      expect(params?._meta).toMatchObject({
        "io.modelcontextprotocol/protocolVersion": modern,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "plenum", version: expect.any(String) },
      });
    }
  }
  const without = JSON.parse((await client.callTool("meta")).text) as JsonObject;
  expect(without).not.toHaveProperty("plain");
});

test.each(eachWay())(
  "_meta keys that are not one's own in $revision over $transport",
  async ({ revision, transport }) => {
    covers(
      ["meta-key-reserved", "meta-key-reserved-2025-11", "meta-key-prefix", "meta-key-label", "meta-key-name"],
      revision,
    );
    const { client, traffic } = await open(revision, transport);
    const before = traffic.sent().length;
    const reserved = ["io.modelcontextprotocol/logLevel", "dev.mcp/x", "com.mcp.tools/x", "modelcontextprotocol.io/x"];
    const broken = ["com..example/x", "/x", "1com/x", "com-/x", "c_m/x", "_a", "a-", "a b"];
    for (const key of [...reserved, ...broken, "progressToken"]) {
      await expect(client.callTool("meta", {}, { meta: { [key]: "debug" } }), key).rejects.toThrow(TypeError);
    }
    await expect(client.listTools({ meta: { "dev.mcp/x": 1 } }).all()).rejects.toThrow(TypeError);
    expect(traffic.sent()).toHaveLength(before);
    const fine = { "com.example/": 2, "a_b.c-d9": 3 };
    expect(JSON.parse((await client.callTool("meta", {}, { meta: fine })).text)).toMatchObject(fine);
  },
);

test.each(eachWay())("tools with names that objects have already in $revision over $transport", async (where) => {
  const { client } = await open(where.revision, where.transport);
  const names = ["__proto__", "constructor", "toString", "10", "a.b-c_D"];
  for (const name of names) {
    expect((await errorOf(client.callTool(name))).code).toBe("peer_error");
    await client.callTool("grow", { name });
    expect((await client.callTool(name)).text).toBe(`I am ${name}`);
  }
  const listed = (await client.listTools({ fresh: true }).all()).map(({ name }) => name);
  expect(listed.slice(-names.length)).toEqual(names);
  for (const name of names) expect((await client.callTool(name)).text).toBe(`I am ${name}`);
});

test.each(eachWay())("many calls at once in $revision over $transport", async ({ revision, transport }) => {
  covers(["rpc-request-id-unique", "rpc-request-id-unique-2026", "rpc-request-id-type", "rpc-jsonrpc-2-0"], revision);
  const { client, traffic } = await open(revision, transport);
  const words = Array.from({ length: 100 }, (_, n) => `word ${n}`);
  const results = await Promise.all(words.map((text) => client.callTool("echo", { text })));
  expect(results.map(({ text }) => text)).toEqual(words);
  const ids = traffic.sent().flatMap(({ id, method }) => (id !== undefined && method ? [id] : []));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => typeof id === "string" || Number.isInteger(id))).toBe(true);
});

// Structured content against output schemas: a server whose calls do not keep what its list promises.

interface Lie {
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

function createLiar(lie: () => Lie): Server {
  const server = createServer({ name: "liar", version: "1.0.0", pageSize: 1, onError() {} });
  for (const name of ["first", "second", "add"])
    server.tool(name, { output: z.object({ sum: z.number() }) }, () => ({ sum: 1 }));
  server.tool("plain", {}, () => "plain");
  server.handle("tools/call", () => ({ content: [{ type: "text", text: "a lie" }], ...lie() }));
  return server;
}

const structured = revisions.filter(hasStructured);

test.each(structured)("structured content is checked in %s", async (revision) => {
  covers(["tool-output-schema-client", "tool-output-error-exempt", "tool-client-validate-results"], revision);
  let lie: Lie = {};
  const { client, traffic } = await openServer(
    createLiar(() => lie),
    revision,
  );
  lie = { structuredContent: { sum: "three" } };
  const wrong = await errorOf(client.callTool("add"));
  expect(wrong.code).toBe("invalid_result");
  expect(wrong.message).toContain('"add"');
  expect(wrong.message).toContain("sum");
  // The list was asked for, all pages of it, because there was something to check.
  expect(traffic.sent("tools/list")).toHaveLength(4);

  lie = {};
  const none = await errorOf(client.callTool("add"));
  expect(none.code).toBe("invalid_result");
  expect(none.message).toContain("no structured content");
  // The tool might have become another one: asked for once more before it is blamed.
  expect(traffic.sent("tools/list")).toHaveLength(8);

  lie = { structuredContent: { sum: "three" }, isError: true };
  expect(await client.callTool("add")).toMatchObject({ isError: true, text: "a lie" });
  lie = { isError: true };
  expect(await client.callTool("add")).toMatchObject({ isError: true, structured: undefined });

  lie = { structuredContent: { sum: 3, more: "than promised" } };
  // Whoever promised nothing breaks no promise; who is in no list promised nothing.
  expect((await client.callTool("plain")).structured).toEqual({ sum: 3, more: "than promised" });
  expect((await client.callTool("unlisted")).structured).toEqual({ sum: 3, more: "than promised" });
  lie = { structuredContent: { sum: 3 } };
  expect((await client.callTool("add")).structured).toEqual({ sum: 3 });
  expect(traffic.sent("tools/list")).toHaveLength(8);
});

test.each(structured)("schemas that were listed before are not asked for again in %s", async (revision) => {
  covers(["tool-output-schema-client"], revision);
  let lie: Lie = { structuredContent: { sum: 3 } };
  const { client, traffic } = await openServer(
    createLiar(() => lie),
    revision,
  );
  await client.listTools().all();
  await client.callTool("add");
  expect(traffic.sent("tools/list")).toHaveLength(4);
  lie = { structuredContent: {} };
  expect((await errorOf(client.callTool("add"))).code).toBe("invalid_result");
});

test.each(structured)("nothing is checked where that is not wanted in %s", async (revision) => {
  const { client, traffic } = await openServer(
    createLiar(() => ({ structuredContent: { sum: "three" } })),
    revision,
    { validateOutput: false },
  );
  await client.listTools().all();
  expect((await client.callTool("add")).structured).toEqual({ sum: "three" });
  expect(traffic.sent("tools/list")).toHaveLength(4);
});

test.each(structured)("a tool that has become another one is checked by its new schema in %s", async (revision) => {
  const server = createServer({ name: "changing", version: "1.0.0", cache: { ttlMs: 60_000 }, onError() {} });
  const registration = server.tool("size", { output: z.object({ cm: z.number() }) }, () => ({ cm: 3 }));
  // Nothing is heard of changes in 2026-07-28, since nobody wants to know.
  const { client } = await openServer(server, revision);
  expect((await client.callTool("size")).structured).toEqual({ cm: 3 });
  registration.remove();
  server.tool("size", { output: z.object({ inch: z.number() }) }, () => ({ inch: 1 }));
  expect((await client.callTool("size")).structured).toEqual({ inch: 1 });
});

test.each(sessioned.filter((revision) => !hasStructured(revision)))("%s has nothing to check", async (revision) => {
  const { client, traffic } = await openServer(
    createLiar(() => ({ structuredContent: { sum: "three" } })),
    revision,
  );
  expect((await client.callTool("add")).structured).toBeUndefined();
  expect(traffic.sent("tools/list")).toEqual([]);
});
