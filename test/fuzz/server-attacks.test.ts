// Attacks on what is registered and returned: options that do not say what they seem to, definitions changed under
// everybody's hands, values that come too deep or too late.
import { createServer, image, McpError, rateLimit, revisions, ToolError, toolResult } from "plenum";
import { createServer as createToolsServer } from "plenum/tools";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { modern, type Obj, openPeer } from "../suites/peer.ts";
import { createQuietServer, textOf } from "../suites/tool-peer.ts";
import { watchStrays } from "./strays.ts";

watchStrays();

describe("options", () => {
  const cycle: Obj = {};
  cycle.self = cycle;

  test.each([
    [{ visible: false }, 'option "visible" is no function'],
    [{ visible: null }, 'option "visible" is no function'],
    [{ visible: "admin" }, 'option "visible" is no function'],
    [{ visable: () => false }, 'option "visable" is unknown'],
    [{ inputSchema: { type: "object" } }, 'option "inputSchema" is unknown'],
    [{ meta: { big: 1n } }, "must be a JSON value"],
    [{ meta: cycle }, "must be a JSON value"],
  ] as [Obj, string][])("%o are refused when they are given", (options, problem) => {
    const { server } = createQuietServer();
    expect(() => server.tool("t", options, () => "")).toThrow(TypeError);
    expect(() => server.tool("t", options, () => "")).toThrow(/^tool "t"/);
    expect(() => createToolsServer({ name: "s", version: "1" }).tool("t", options, () => "")).toThrow(problem);
    expect(() => server.resource("a:b", options as never, () => "")).toThrow(problem);
    expect(() => server.resource("a:{b}", options as never, () => "")).toThrow(problem);
    expect(() => server.prompt("p", options as never, () => "")).toThrow(problem);
    server.tool("t", { visible: undefined } as never, () => "");
  });

  test("of a tool alone are none of others, and are what they should be", () => {
    const { server } = createQuietServer();
    for (const [options, problem] of [
      [{ scopes: "admin" }, 'option "scopes" is no object'],
      [{ scopes: {} }, "not iterable"],
      [{ hidden: "yes" }, 'option "hidden" is no boolean'],
    ] as [Obj, string][]) {
      expect(() => server.tool("t", options, () => "")).toThrow(TypeError);
      expect(() => server.tool("t", options, () => "")).toThrow(problem);
    }
    // Where nobody would look at them they must not seem to protect anything.
    for (const options of [{ scopes: ["admin"] }, { hidden: true }] as never[]) {
      expect(() => server.prompt("p", options, () => "")).toThrow("is unknown");
      expect(() => server.resource("a:b", options, () => "")).toThrow("is unknown");
    }
  });

  test("that are unknown are refused with the names of those that there are", () => {
    const { server } = createQuietServer();
    const problemOf = (run: () => unknown): string => {
      try {
        return `none: ${run()}`;
      } catch (error) {
        return String(error);
      }
    };
    const add = {
      tool: (options: Obj) => server.tool("t", options, () => ""),
      prompt: (options: Obj) => server.prompt("t", options, () => ""),
      resource: (options: Obj) => server.resource("a:{t}", options, () => ""),
    };
    const names = Object.entries(add).map(([what, register]) => {
      const message = problemOf(() => register({ inptu: {} }));
      expect(message).toContain(': option "inptu" is unknown; there are ');
      const known = message.split("there are ")[1]?.split(", ") ?? [];
      // Whatever is wrong with the value, the name is none.
      for (const name of known) expect(problemOf(() => register({ [name]: 1n }))).not.toContain("is unknown");
      return [what, known.length];
    });
    expect(names).toEqual([
      ["tool", 10],
      ["prompt", 7],
      ["resource", 12],
    ]);
  });

  test.each([
    { logsPerSecond: 0 },
    { logsPerSecond: Number.NaN },
    { progressPerSecond: 0 },
    { progressPerSecond: -1 },
    { websiteUrl: "not a uri" },
    { icons: [{ src: 5 }] },
    { title: 5 },
    { capabilities: { tools: true } },
    { capabilities: { tools: { listChanged: "yes" } } },
    { capabilities: { experimental: { x: { big: 1n } } } },
    { extensions: { "com.example/x": 5 } },
  ])("%o of a server are refused when it is made", (options) => {
    const make = () => createServer({ name: "s", version: "1", ...(options as object) });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(/^createServer/);
  });

  test("a rate limit needs a key that is a text, and keeps subjects and clients of one name apart", async () => {
    const { server, errors } = createQuietServer();
    server.tool("t", {}, () => "");
    server.use(rateLimit({ perSecond: 0.001 }));
    const call = async (auth: Obj) =>
      (
        await (
          await openPeer(server, modern, { sender: { auth: { scopes: [], ...auth } } })
        ).request("tools/call", { name: "t" })
      ).error?.code;
    expect(await call({ subject: "ann" })).toBeUndefined();
    expect(await call({ clientId: "ann" })).toBeUndefined();
    expect(await call({})).toBeUndefined();
    expect(await call({ clientId: "" })).toBeUndefined();
    expect(await call({ subject: "ann", clientId: "x" })).toBe(-32603);
    expect(errors).toEqual([]);
    for (const id of [undefined, null, 5, {}]) {
      const keyless = createQuietServer();
      keyless.server.use(rateLimit({ perSecond: 1, methods: ["tools/list"], key: () => id as never }));
      keyless.server.tool("t", {}, () => "");
      const peer = await openPeer(keyless.server, modern);
      expect((await peer.fail("tools/list")).message).toMatch(/^Internal error/);
      expect(keyless.errors[0]?.error).toBeInstanceOf(TypeError);
    }
  });
});

describe.each(revisions)("in %s", (revision) => {
  test("what is published cannot be changed, neither by a middleware nor by who registered it", async () => {
    const { server, errors } = createQuietServer({ extensions: { "com.example/x": { a: 1 } } });
    const input = { type: "object", properties: { a: { type: "string", description: "before" } } };
    const meta = { deep: { er: 1 } };
    const output = { type: "object" };
    server.tool("t", { input, output, meta, visible: () => true }, () => ({ a: 1 }));
    input.properties.a.description = "after";
    output.type = "array";
    meta.deep.er = 2;
    let isEditing = true;
    server.use(async (call, next) => {
      const result = (await next(call)) as { tools?: Obj[]; capabilities?: Obj };
      if (isEditing && result.tools) (result.tools[0] as Obj).description = "edited";
      if (isEditing && result.capabilities) (result.capabilities.tools as Obj).listChanged = "edited";
      return result;
    });
    const opening =
      revision === modern
        ? ["server/discover", {}]
        : [
            "initialize",
            {
              protocolVersion: revision,
              capabilities: {},
              clientInfo: { name: "c", version: "1" },
            },
          ];
    const closed = await openPeer(server, revision, { closed: true });
    expect((await closed.fail(...(opening as [string, Obj]))).code).toBe(-32603);
    isEditing = false;
    const peer = await openPeer(server, revision);
    isEditing = true;
    expect((await peer.fail("tools/list")).message).toMatch(/^Internal error/);
    expect(errors).toHaveLength(2);
    isEditing = false;
    const [tool] = (await peer.call("tools/list")).tools as Obj[];
    expect(tool?.description).toBeUndefined();
    expect(tool?.inputSchema).toEqual({ type: "object", properties: { a: { type: "string", description: "before" } } });
    if (revision > "2025-03-26") {
      expect(tool?._meta).toEqual({ deep: { er: 1 } });
      expect((await peer.call("tools/call", { name: "t" })).structuredContent).toEqual({ a: 1 });
    }
  });

  test("arguments that come as text are no deeper than those that do not", async () => {
    const { server } = createQuietServer();
    const seen: unknown[] = [];
    const input = { type: "object", properties: { xs: { type: "array" } } } as const;
    server.tool("t", { input }, ({ xs }) => void seen.push(xs));
    const peer = await openPeer(server, revision);
    const nest = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect((await peer.call("tools/call", { name: "t", arguments: { xs: nest(128) } })).isError).toBeUndefined();
    const { error, result } = await peer.request("tools/call", { name: "t", arguments: { xs: nest(129) } });
    expect(error?.message ?? textOf(result ?? {})).toMatch(/xs/);
    expect(seen.map((xs) => JSON.stringify(xs))).toEqual([nest(128)]);
  });

  test("the context can be taken apart", async () => {
    const { server } = createQuietServer();
    server.resource("a:b", {}, (_, { progress }) => {
      progress(2);
      return "b";
    });
    server.tool(
      "t",
      {},
      async (_, { progress, log, readResource, roots, sample, elicit, elicitUrl, signal, client }) => {
        progress(1);
        log.emergency("!");
        const asks = [
          roots(),
          sample({ messages: [], maxTokens: 1 }),
          elicit("?", z.object({})),
          elicitUrl("?", "https://example.com"),
        ];
        const failed = (await Promise.allSettled(asks)).map((ask) => ask.status === "rejected" && ask.reason.code);
        const { contents } = await readResource("a:b");
        return JSON.stringify([failed, contents.length, signal.aborted, client.revision]);
      },
    );
    const peer = await openPeer(server, revision);
    const result = await peer.call("tools/call", { name: "t", _meta: { progressToken: 1 } });
    const codes = Array.from({ length: 4 }, () => "missing_capability");
    expect(textOf(result)).toBe(JSON.stringify([codes, 1, false, revision]));
    expect(peer.notifications("notifications/progress").map(({ params }) => params?.progress)).toEqual([1, 2]);
  });

  test("promises in results and prompts are waited for, and those that fail are the handler's failure", async () => {
    const { server, errors } = createQuietServer();
    const good = async () => image({ data: "AAAA" });
    const bad = () => Promise.reject(new Error("no such file"));
    server.tool("whole", {}, () => ({ content: [good(), good()], _meta: { a: 1 } }));
    server.tool("result", { output: z.object({ a: z.number() }) }, () =>
      toolResult({ structured: { a: 1 }, content: [good()] }),
    );
    server.tool("value", {}, () => ({ content: [Promise.resolve(1)], toJSON: () => "itself" }));
    server.tool("bad", {}, () => ({ content: ["a", bad(), image({ path: "/none.png" })] }));
    server.prompt("list", {}, () => ["a", good(), { role: "assistant", content: good() }]);
    server.prompt("messages", {}, () => ({ messages: [{ role: "user", content: good() }] }) as never);
    server.prompt("bad", {}, () => [5 as never, bad(), { role: "user", content: bad() }]);
    const peer = await openPeer(server, revision);
    const png = { type: "image", data: "AAAA", mimeType: "image/png" };
    expect((await peer.call("tools/call", { name: "whole" })).content).toEqual([png, png]);
    expect((await peer.call("tools/call", { name: "result" })).content).toEqual([png]);
    expect(textOf(await peer.call("tools/call", { name: "value" }))).toBe('"itself"');
    const contents = async (name: string) =>
      ((await peer.call("prompts/get", { name })).messages as Obj[]).map(({ content }) => content);
    expect(await contents("list")).toEqual([{ type: "text", text: "a" }, png, png]);
    expect(await contents("messages")).toEqual([png]);
    expect(errors).toEqual([]);
    expect((await peer.fail("prompts/get", { name: "bad" })).message).toMatch(/^Internal error/);
    expect(textOf(await peer.call("tools/call", { name: "bad" }))).toMatch(/^Internal error/);
    expect(errors).toHaveLength(2);
  });

  test("what fails while arguments are checked is a failure of the tool", async () => {
    const { server, errors } = createQuietServer();
    const reasons = [new ToolError("Too late."), new Error("secret"), new McpError("invalid_params", "Not so.")];
    for (const [index, reason] of reasons.entries()) {
      const refuse = (): never => {
        throw reason;
      };
      server.tool(`t${index}`, { input: z.object({ a: z.string().transform(refuse) }) }, () => "never");
    }
    const peer = await openPeer(server, revision);
    const call = (name: string) => peer.request("tools/call", { name, arguments: { a: "x" } });
    expect((await call("t0")).result).toMatchObject({ isError: true, content: [{ text: "Too late." }] });
    expect((await call("t1")).result).toMatchObject({ isError: true, content: [{ text: /^Internal error/ }] });
    expect((await call("t2")).error).toMatchObject({ code: -32602, message: "Not so." });
    expect(errors).toHaveLength(1);
  });

  test("capabilities say what there is, and are not taken back", async () => {
    const declared = async (server: Parameters<typeof openPeer>[0]) => {
      const peer = await openPeer(server, revision);
      return (peer.isModern ? await peer.call("server/discover") : peer.opening).capabilities as Obj;
    };
    const { server: proxy } = createQuietServer();
    proxy.handle("resources/read", () => ({ contents: [] }));
    expect((await declared(proxy)).resources).toEqual({ listChanged: true });
    proxy.handle(revision === modern ? "subscriptions/listen" : "resources/subscribe", () => ({}));
    if (revision !== modern) expect((await declared(proxy)).resources).toEqual({ subscribe: true, listChanged: true });
    const { server } = createQuietServer();
    server.resource("a:b", {}, () => "");
    expect((await declared(server)).resources).toEqual({ subscribe: true, listChanged: true });
    const completing = server.prompt(
      "p",
      { arguments: z.object({ a: z.string() }), complete: { a: () => [] } },
      () => "",
    );
    const before = await declared(server);
    if (revision > "2024-11-05") expect(before).toHaveProperty("completions");
    completing.disable();
    expect(await declared(server)).toEqual(before);
    completing.remove();
    expect(await declared(server)).toEqual(before);
  });

  test("the lifespan of a call is that with which it began", async () => {
    const seen: unknown[] = [];
    let closing: Promise<void> | undefined;
    const { server } = createQuietServer({ lifespan: () => ({ name: "one" }) });
    server.tool("t", {}, async (_, ctx) => {
      closing = server.close();
      await closing;
      seen.push(ctx.lifespan);
    });
    const peer = await openPeer(server, revision);
    peer.start("tools/call", { name: "t" });
    await peer.settle();
    await closing;
    await new Promise((resolve) => setTimeout(resolve));
    expect(seen).toEqual([{ name: "one" }]);
  });
});
