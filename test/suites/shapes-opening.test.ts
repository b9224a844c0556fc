// What a server says of itself when it is met: its name, its capabilities in the words of the revision, and what it
// accepts of a client; and the titles and `_meta` that lists carry.
import { createServer, revisions, type Server, type ServerOptions } from "plenum";
import { createRawPeer } from "plenum/memory";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { knowsClient, type Message, modern, type Obj, openPeer, type Peer } from "./peer.ts";
import { createQuietServer } from "./tool-peer.ts";

const serverInfoKey = "io.modelcontextprotocol/serverInfo";

/** The server's own account of itself, wherever the revision puts it. */
async function accountOf(peer: Peer): Promise<{ info: Obj; capabilities: Obj; whole: Obj }> {
  const whole = peer.isModern ? await peer.call("server/discover") : peer.opening;
  const info = peer.isModern ? (whole._meta as Obj)[serverInfoKey] : whole.serverInfo;
  return { info: info as Obj, capabilities: whole.capabilities as Obj, whole };
}

function createFullServer(options: Partial<ServerOptions<undefined>> = {}): Server {
  const server = createServer({ name: "full", version: "1.2.3", ...options });
  server.tool("t", {}, () => "t");
  server.resource("r:{x}", { complete: { x: () => [] } }, () => "r");
  server.prompt("p", {}, () => "p");
  return server;
}

describe.each(revisions)("opening in %s", (revision) => {
  test("a server has a name and a version, and more where the revision has words for it", async () => {
    covers(
      ["schema-implementation", "schema-result-meta", "schema-title-members", "schema-initialize-result"],
      revision,
    );
    const icons = [{ src: "https://example.com/i.png", mimeType: "image/png", sizes: ["any"] }];
    const more = { description: "Does it all", websiteUrl: "https://example.com", icons };
    const server = createFullServer({ title: "Full", ...more, instructions: "Look first." });
    const peer = await openPeer(server, revision);
    const { info, whole } = await accountOf(peer);
    expect(info).toEqual({
      name: "full",
      version: "1.2.3",
      ...(revision >= "2025-06-18" && { title: "Full" }),
      ...(revision >= "2025-11-25" && more),
    });
    expect(whole.instructions).toBe("Look first.");
    if (revision !== modern) {
      expect(Object.keys(whole).sort()).toEqual(["capabilities", "instructions", "protocolVersion", "serverInfo"]);
      expect(whole.protocolVersion).toBe(revision);
    }
  });

  test("what is not set is not sent", async () => {
    covers(["schema-initialize-result", "schema-implementation", "schema-result-meta"], revision);
    const peer = await openPeer(createServer({ name: "s", version: "1", logging: false }), revision);
    const { info, capabilities, whole } = await accountOf(peer);
    expect(info).toEqual({ name: "s", version: "1" });
    expect(capabilities).toEqual({});
    expect(whole).not.toHaveProperty("instructions");
  });

  test("only 2026-07-28 puts the server's name on every result", async () => {
    covers(["schema-result-meta", "schema-implementation"], revision);
    const peer = await openPeer(createFullServer({ title: "Full" }), revision);
    const calls: [string, Obj?][] = [
      ["tools/list"],
      ["tools/call", { name: "t" }],
      ["resources/read", { uri: "r:1" }],
      ["prompts/list"],
    ];
    for (const [method, params] of calls) {
      const { _meta } = await peer.call(method, params);
      expect(_meta).toEqual(
        revision === modern ? { [serverInfoKey]: { name: "full", version: "1.2.3", title: "Full" } } : undefined,
      );
    }
  });

  test("a server without name or version is none", async () => {
    covers("schema-implementation", revision);
    for (const options of [{}, { name: "s" }, { version: "1" }, { name: 1, version: "1" }, { name: "s", version: 1 }]) {
      expect(() => createServer(options as never)).toThrow(/^createServer: (name|version) must be a string$/);
    }
    const peer = await openPeer(createServer({ name: "", version: "" }), revision);
    expect((await accountOf(peer)).info).toEqual({ name: "", version: "" });
  });

  test("a client whose name or version is missing or no string is turned away", async () => {
    covers("schema-implementation", revision);
    const server = createFullServer();
    const peer = await openPeer(server, revision, { closed: true });
    for (const clientInfo of [
      { name: "c" },
      { version: "1" },
      { name: 1, version: "1" },
      { name: "c", version: null },
      "c",
    ]) {
      const error =
        revision === modern
          ? await peer.fail("tools/list", { _meta: { "io.modelcontextprotocol/clientInfo": clientInfo } })
          : await peer.fail("initialize", { protocolVersion: revision, capabilities: {}, clientInfo });
      expect(error.code).toBe(-32602);
    }
    await peer.open();
    expect((await peer.request("tools/list")).error).toBeUndefined();
  });

  test("a client's capabilities are objects, flags are booleans, experimental maps names to objects", async () => {
    covers("schema-capability-values", revision);
    const server = createFullServer();
    const peer = await openPeer(server, revision, { closed: true });
    const send = (capabilities: unknown): Promise<Message> =>
      revision === modern
        ? peer.request("tools/list", { _meta: { "io.modelcontextprotocol/clientCapabilities": capabilities } })
        : peer.request("initialize", { protocolVersion: revision, capabilities, clientInfo: peer.clientInfo });
    const wrong: unknown[] = [
      { roots: true },
      { sampling: [] },
      { roots: null },
      { experimental: { x: 1 } },
      { experimental: [] },
      [],
      "all",
    ];
    if (revision !== modern) wrong.push({ roots: { listChanged: "yes" } });
    if (revision >= "2025-06-18") wrong.push({ elicitation: true });
    for (const capabilities of wrong) {
      expect((await send(capabilities)).error?.code, JSON.stringify(capabilities)).toBe(-32602);
    }
    expect((await send({ roots: {}, sampling: {}, experimental: { x: {} } })).error).toBeUndefined();
  });

  test("capabilities of our own that the protocol does not allow are refused where they are given", () => {
    covers("schema-capability-values", revision);
    for (const capabilities of [
      { tools: true },
      { tools: { listChanged: "yes" } },
      { experimental: { x: 1 } },
      { logging: [] },
    ]) {
      expect(() => createQuietServer({ capabilities: capabilities as never })).toThrow(
        /^createServer: (tools|experimental|logging)\S* must be /,
      );
    }
  });

  test("a server with every feature declares exactly what its revision knows", async () => {
    covers(
      [
        ...["schema-server-capabilities", "schema-server-capabilities-2025-03", "schema-server-capabilities-2025-11"],
        ...["schema-server-capabilities-2026", "schema-capability-values", "schema-initialize-result"],
      ],
      revision,
    );
    const extensions = { "com.example/more": { deep: 1 } };
    const server = createFullServer({ extensions, capabilities: { experimental: { trial: { a: 1 } } } });
    const peer = await openPeer(server, revision);
    expect((await accountOf(peer)).capabilities).toEqual({
      experimental: { trial: { a: 1 } },
      logging: {},
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      tools: { listChanged: true },
      ...(revision >= "2025-03-26" && { completions: {} }),
      ...(revision === modern && { extensions }),
    });
  });

  test("an unknown capability is tolerated on both sides", async () => {
    covers("schema-capabilities-open", revision);
    const server = createServer({ name: "s", version: "1", capabilities: { "com.example/new": { a: [1] } } });
    let seen: unknown;
    server.tool("look", {}, (_, ctx) => {
      seen = ctx.client.capabilities;
    });
    // Not the peer of the other tests: it tolerates no such member in what a server sends.
    const raw = createRawPeer(server);
    const capabilities = { "com.example/other": { b: 2 }, future: {} };
    const meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const opened = (await (revision === modern
      ? raw.request("server/discover", { _meta: meta })
      : raw.request("initialize", {
          protocolVersion: revision,
          capabilities,
          clientInfo: { name: "c", version: "1" },
        }))) as Message;
    expect(opened.result?.capabilities).toMatchObject({ "com.example/new": { a: [1] } });
    const params = revision === modern ? { name: "look", _meta: meta } : { name: "look" };
    expect(((await raw.request("tools/call", params)) as Message).error).toBeUndefined();
    expect(seen).toEqual(capabilities);
    raw.close();
  });
});

describe.each(revisions)("titles and _meta in the lists of %s", (revision) => {
  const known = revision >= "2025-06-18";
  const _meta = { "com.example/note": { n: 1 } };
  const extra = { title: "A title", meta: _meta };
  const carried = known ? { title: "A title", _meta } : {};

  test("tools, prompts, resources and templates carry them from 2025-06-18 on", async () => {
    covers(["schema-title-members", "schema-meta-members"], revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("t", extra, () => "t");
    server.resource("r:1", { name: "r", ...extra }, () => ({ contents: [{ uri: "r:1", text: "x", _meta }] }));
    server.resource("r:{x}", { name: "rt", ...extra }, () => ({ contents: [{ uri: "r:2", blob: "", _meta }] }));
    const properties = { a: { type: "string", title: "Argument" } } as const;
    server.prompt(
      "p",
      { ...extra, arguments: { type: "object", properties }, complete: { a: () => ["x"] } },
      () => "p",
    );
    const peer = await openPeer(server, revision);
    const first = async (method: string, member: string): Promise<Obj | undefined> =>
      ((await peer.call(method))[member] as Obj[])[0];
    expect(await first("tools/list", "tools")).toEqual({ name: "t", inputSchema: expect.anything(), ...carried });
    expect(await first("resources/list", "resources")).toEqual({ uri: "r:1", name: "r", ...carried });
    expect(await first("resources/templates/list", "resourceTemplates")).toEqual({
      uriTemplate: "r:{x}",
      name: "rt",
      ...carried,
    });
    const { arguments: args, ...prompt } = (await first("prompts/list", "prompts")) ?? {};
    expect(prompt).toEqual({ name: "p", ...carried });
    expect((args as Obj[])[0]?.title).toBe(known ? "Argument" : undefined);
    for (const [uri, key] of [
      ["r:1", "text"],
      ["r:2", "blob"],
    ] as const) {
      const [contents] = (await peer.call("resources/read", { uri })).contents as Obj[];
      expect(contents).toHaveProperty(key);
      expect(contents?._meta).toEqual(known ? _meta : undefined);
    }
    // A reference to a prompt may have a title too, and is understood with and without.
    for (const ref of [{ type: "ref/prompt", name: "p", ...(known && { title: "A title" }) }]) {
      const { completion } = await peer.call("completion/complete", { ref, argument: { name: "a", value: "" } });
      expect(completion).toMatchObject({ values: ["x"] });
    }
  });

  test.runIf(knowsClient(revision))("_meta of the roots that a client names reaches the handler", async () => {
    covers("schema-meta-members", revision);
    if (revision === modern) {
      // Roots come inside a retried request there; their shape is part of its params.
      const server = createServer({ name: "s", version: "1" });
      let seen: unknown;
      server.handle("tools/call", (params) => {
        seen = params.inputResponses;
        return { content: [] };
      });
      const peer = await openPeer(server, revision, { capabilities: { roots: {} } });
      const inputResponses = { dirs: { roots: [{ uri: "file:///a", _meta }] } };
      await peer.call("tools/call", { name: "t", inputResponses });
      expect(seen).toEqual(inputResponses);
      return;
    }
    const server = createServer({ name: "s", version: "1" });
    let seen: unknown;
    server.tool("roots", {}, async (_, ctx) => {
      seen = await ctx.roots();
    });
    const peer = await openPeer(server, revision, { capabilities: { roots: {} } });
    peer.start("tools/call", { name: "roots" });
    peer.answer(await peer.asked(), { roots: [{ uri: "file:///a", name: "a", _meta }] });
    await peer.settle();
    expect(seen).toEqual([{ uri: "file:///a", name: "a", _meta }]);
  });
});
