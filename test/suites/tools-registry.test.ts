// The list of tools: names, order, what a definition carries in each revision, and changes while peers are connected.
import { createServer, jsonSchema, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { hasSession, modern, openPeer } from "./peer.ts";
import { bare, callTool, contentOf, createQuietServer, listTools, namesOf } from "./tool-peer.ts";

const strange = ["constructor", "__proto__", "10", "toString", "hasOwnProperty", "9", "a.b-c_D", "then"];

describe.each(revisions)("the list of tools in %s", (revision) => {
  test("registering a tool declares the capability; without one both methods are unknown", async () => {
    covers(["tool-capability", "tool-not-supported-error"], revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("one", {}, () => "1");
    const peer = await openPeer(server, revision);
    const shown = revision === modern ? await peer.call("server/discover") : peer.opening;
    expect((shown.capabilities as { tools?: unknown }).tools).toEqual({ listChanged: true });

    const bareServer = createServer({ name: "s", version: "1" });
    const other = await openPeer(bareServer, revision);
    const nothing = revision === modern ? await other.call("server/discover") : other.opening;
    expect(nothing.capabilities).not.toHaveProperty("tools");
    expect((await other.fail("tools/list")).code).toBe(-32601);
    expect((await other.fail("tools/call", { name: "one" })).code).toBe(-32601);
  });

  test("a server that handles tools but has none left lists an empty array", async () => {
    covers(["tool-list", "tool-list-empty", "schema-list-results"], revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("one", {}, () => "1").remove();
    const peer = await openPeer(server, revision);
    expect(bare(await peer.call("tools/list"))).toEqual({ tools: [] });
  });

  test("any legal name works, and the order is that of registration", async () => {
    covers(["tool-list", "tool-call", "tool-list-deterministic"], revision);
    const server = createServer({ name: "s", version: "1" });
    for (const name of strange) server.tool(name, {}, () => `this is ${name}`);
    const peer = await openPeer(server, revision);
    expect(await namesOf(peer)).toEqual(strange);
    expect(await namesOf(peer)).toEqual(strange);
    for (const name of strange) {
      expect(await contentOf(peer, name)).toEqual([{ type: "text", text: `this is ${name}` }]);
    }
  });

  test("names that objects inherit are not tools", async () => {
    covers("tool-unknown-tool-error", revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("one", {}, () => "1");
    const peer = await openPeer(server, revision);
    for (const name of ["constructor", "__proto__", "toString", "One", "one ", ""]) {
      expect(await peer.fail("tools/call", { name })).toMatchObject({ code: -32602 });
    }
  });

  test("names differ by case", async () => {
    covers("tool-name-case-sensitive", revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("a", {}, () => "small");
    server.tool("A", {}, () => "large");
    const peer = await openPeer(server, revision);
    expect(await contentOf(peer, "a")).toEqual([{ type: "text", text: "small" }]);
    expect(await contentOf(peer, "A")).toEqual([{ type: "text", text: "large" }]);
  });

  test("a second tool of a name is refused and the first stays", async () => {
    covers(["tool-name-unique", "tool-name-unique-2025-11"], revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("one", {}, () => "first");
    expect(() => server.tool("one", {}, () => "second")).toThrow('tool "one" is registered already');
    const peer = await openPeer(server, revision);
    expect(await namesOf(peer)).toEqual(["one"]);
    expect(await contentOf(peer, "one")).toEqual([{ type: "text", text: "first" }]);
  });

  test("names that are not legal are refused, and legal ones are not", async () => {
    covers(["tool-name-length", "tool-name-characters", "schema-tool"], revision);
    const server = createServer({ name: "s", version: "1" });
    const longest = "n".repeat(128);
    for (const name of ["", "n".repeat(129), "a b", "a,b", "é", "a/b", "a\n", "\u0000", undefined, 10, null]) {
      expect(() => server.tool(name as string, {}, () => 1)).toThrow(/1 to 128 of A-Z a-z 0-9 _ - \./);
    }
    server.tool(longest, {}, () => "ok");
    server.tool("getUser.v2_x-Y", {}, () => "ok");
    const peer = await openPeer(server, revision);
    expect(await namesOf(peer)).toEqual([longest, "getUser.v2_x-Y"]);
  });

  test("what is no handler or no object schema is refused by name", async () => {
    covers(["schema-tool", "schema-tool-input-root"], revision);
    const server = createServer({ name: "s", version: "1" });
    expect(() => server.tool("one", {}, undefined as never)).toThrow('tool "one" needs a handler');
    for (const input of [
      { type: "string" },
      { type: "array" },
      {},
      { anyOf: [{ type: "object" }, { type: "null" }] },
    ]) {
      expect(() => server.tool("one", { input: jsonSchema(input) }, () => 1)).toThrow(
        'tool "one": input must describe an object',
      );
    }
    expect(() => server.tool("one", { input: "object" as never }, () => 1)).toThrow('tool "one": input is no schema');
    server.tool("one", {}, () => 1);
    const peer = await openPeer(server, revision);
    expect(await namesOf(peer)).toEqual(["one"]);
  });

  test("a definition that would break the whole list is refused by name", async () => {
    covers(["schema-tool", "tool-annotations"], revision);
    const server = createServer({ name: "s", version: "1" });
    const broken = [
      { title: 1 },
      { description: ["no"] },
      { annotations: { readOnlyHint: "yes" } },
      { annotations: { title: 7 } },
      { icons: [{ src: "no uri" }] },
      { icons: [{ src: "https://example.com/i", theme: "blue" }] },
      { meta: "none" },
    ];
    for (const options of broken) {
      expect(() => server.tool("bad", options as object, () => 1), JSON.stringify(options)).toThrow(/^tool "bad"/);
    }
    server.tool("good", {}, () => 1);
    const peer = await openPeer(server, revision);
    expect(await namesOf(peer)).toEqual(["good"]);
  });

  test("a tool without parameters has a closed object schema", async () => {
    covers(["tool-input-schema", "tool-no-params-schema", "schema-tool-input-root", "schema-tool"], revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("none", {}, () => "1");
    const peer = await openPeer(server, revision);
    expect(await listTools(peer)).toEqual([
      { name: "none", inputSchema: { type: "object", properties: {}, additionalProperties: false } },
    ]);
  });

  test("a definition carries what its revision knows and nothing else", async () => {
    covers(["schema-tool", "tool-annotations", "schema-title-members", "schema-meta-members"], revision);
    const server = createServer({ name: "s", version: "1" });
    const annotations = {
      title: "Hinted",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    };
    const icons = [
      { src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" as const },
    ];
    const input = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;
    const output = { type: "object", properties: { b: { type: "number" } }, required: ["b"] } as const;
    const meta = { "com.example/kind": { deep: [1, null] } };
    server.tool("full", { title: "Full", description: "All of it", input, output, annotations, icons, meta }, () => ({
      b: 1,
    }));
    const peer = await openPeer(server, revision);
    expect(await listTools(peer)).toEqual([
      {
        name: "full",
        description: "All of it",
        inputSchema: input,
        ...(revision >= "2025-03-26" && { annotations }),
        ...(revision >= "2025-06-18" && { title: "Full", outputSchema: output, _meta: meta }),
        ...(revision >= "2025-11-25" && { icons }),
      },
    ]);
  });

  test("only 2025-11-25 is told how a tool runs as a task", async () => {
    covers("tool-no-execution-2026", revision);
    const server = createServer({ name: "s", version: "1" });
    const execution = { taskSupport: "optional" };
    server.tool("long", {}, () => "1");
    server.use(async (call, next) => {
      const result = await next(call);
      if (call.method !== "tools/list") return result;
      return { ...result, tools: (result.tools as object[]).map((tool) => ({ ...tool, execution })) };
    });
    const peer = await openPeer(server, revision);
    const [tool] = await listTools(peer);
    expect(tool?.execution).toEqual(revision === "2025-11-25" ? execution : undefined);
  });

  test("tools come, go, rest and return while a peer is connected", async () => {
    covers(["tool-list", "tool-list-changed"], revision);
    const server = createServer({ name: "s", version: "1" });
    const first = server.tool("first", {}, () => "1");
    const second = server.tool("second", {}, () => "2");
    const peer = await openPeer(server, revision);
    const heard = (): number => peer.notifications("notifications/tools/list_changed").length;
    const told = async (count: number): Promise<void> => {
      await peer.settle();
      // Without a session a peer that does not listen hears nothing.
      expect(heard()).toBe(hasSession(revision) ? count : 0);
    };

    first.disable();
    expect(first.enabled).toBe(false);
    expect(await namesOf(peer)).toEqual(["second"]);
    expect((await peer.fail("tools/call", { name: "first" })).code).toBe(-32602);
    expect(() => server.tool("first", {}, () => "taken")).toThrow("registered already");
    await told(1);

    first.enable();
    expect(await namesOf(peer)).toEqual(["first", "second"]);
    await told(2);

    first.remove();
    expect(first.enabled).toBe(false);
    expect(await namesOf(peer)).toEqual(["second"]);
    await told(3);

    server.tool("first", {}, () => "again");
    first.enable();
    first.remove();
    expect(await namesOf(peer)).toEqual(["second", "first"]);
    expect(await contentOf(peer, "first")).toEqual([{ type: "text", text: "again" }]);
    await told(4);

    second.enable();
    await told(4);
  });

  test("a burst of changes is told once", async () => {
    covers("tool-list-changed", revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("first", {}, () => "1");
    const peer = await openPeer(server, revision);
    await peer.settle();
    for (let i = 0; i < 50; i++) server.tool(`more-${i}`, {}, () => "1");
    await peer.settle();
    expect(peer.notifications().length).toBe(hasSession(revision) ? 1 : 0);
  });

  test("without listChanged nothing is told", async () => {
    covers("tool-list-changed", revision);
    const server = createServer({ name: "s", version: "1", capabilities: { tools: {} } });
    const peer = await openPeer(server, revision);
    server.tool("late", {}, () => "1");
    await peer.settle();
    expect(peer.notifications()).toEqual([]);
    expect(await namesOf(peer)).toEqual(["late"]);
  });

  test("a tool added later is called by those who are connected already", async () => {
    covers("tool-call", revision);
    const { server } = createQuietServer();
    server.tool("first", {}, () => "1");
    const peer = await openPeer(server, revision);
    server.tool("late", {}, () => "here");
    expect(bare(await callTool(peer, "late"))).toEqual({ content: [{ type: "text", text: "here" }] });
  });
});

describe("listening to the list of tools in 2026-07-28", () => {
  test("a listener is told of each change, tagged with its subscription", async () => {
    covers("tool-list-changed-2026");
    const server = createServer({ name: "s", version: "1" });
    const first = server.tool("first", {}, () => "1");
    const peer = await openPeer(server, modern);
    peer.start("subscriptions/listen", { notifications: { toolsListChanged: true } }, "L");
    await peer.settle();
    const changes = [
      () => server.tool("late", {}, () => "1"),
      () => first.disable(),
      () => first.enable(),
      () => first.remove(),
    ];
    for (const [index, change] of changes.entries()) {
      change();
      await peer.settle();
      expect(peer.notifications("notifications/tools/list_changed")).toHaveLength(index + 1);
    }
    expect(peer.notifications("notifications/tools/list_changed").at(-1)?.params).toEqual({
      _meta: { "io.modelcontextprotocol/subscriptionId": "L" },
    });
  });

  test("the list depends neither on the connection nor on earlier requests", async () => {
    covers("tool-list-not-per-connection");
    const server = createServer({ name: "s", version: "1" });
    for (const name of ["c", "a", "b"]) server.tool(name, {}, () => name);
    const [one, two] = [await openPeer(server, modern), await openPeer(server, modern)];
    const before = await one.call("tools/list");
    await callTool(one, "a");
    await one.fail("tools/call", { name: "x" });
    expect(await one.call("tools/list")).toEqual(before);
    expect(await two.call("tools/list")).toEqual(before);
    expect((before.tools as { name: string }[]).map(({ name }) => name)).toEqual(["c", "a", "b"]);
  });
});
