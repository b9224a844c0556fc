// What lives as long as the server: made once before the first call, shared by all peers, disposed of when it closes.
import { createServer, revisions, type Server } from "plenum";
import { describe, expect, test } from "vitest";
import { createDeferred } from "../deferred.ts";
import { modern, openPeer, type Peer } from "./peer.ts";
import { callTool, createQuietServer, textOf } from "./tool-peer.ts";

interface Db {
  readonly id: number;
}

function createDbServer(options: { lifespan: () => Db | Promise<Db> }): {
  server: Server<Db>;
  errors: { error: unknown }[];
} {
  const made = createQuietServer<Db>(options);
  made.server.tool("id", {}, (_, ctx) => `db ${ctx.lifespan.id}`);
  return made;
}

describe.each(revisions)("the lifespan in %s", (revision) => {
  test("is made before the first call, once, for all peers", async () => {
    let made = 0;
    const { server } = createDbServer({ lifespan: () => ({ id: ++made }) });
    expect(made).toBe(0);
    const one = await openPeer(server, revision);
    const two = await openPeer(server, revision);
    expect(textOf(await callTool(one, "id"))).toBe("db 1");
    expect(textOf(await callTool(two, "id"))).toBe("db 1");
    expect(made).toBe(1);
  });

  test("is shared by first calls that come together", async () => {
    let made = 0;
    const gate = createDeferred<void>();
    const { server } = createDbServer({
      lifespan: async () => {
        made++;
        await gate.promise;
        return { id: made };
      },
    });
    const peers = await Promise.all([1, 2, 3].map(() => openPeer(server, revision, { closed: true })));
    const opening = Promise.all(peers.map((peer) => peer.open()));
    const early = revision === modern ? peers.map((peer) => callTool(peer, "id")) : [];
    await peers[0]?.settle();
    expect(made).toBe(1);
    expect(peers.flatMap((peer) => peer.messages)).toEqual([]);
    gate.resolve();
    await opening;
    const results = await Promise.all(revision === modern ? early : peers.map((peer) => callTool(peer, "id")));
    expect(results.map(textOf)).toEqual(["db 1", "db 1", "db 1"]);
    expect(made).toBe(1);
  });

  test("a failure is masked, and the next call tries again", async () => {
    const failure = new Error("cannot open /secret/app.db");
    let tries = 0;
    const { server, errors } = createDbServer({
      lifespan: () => {
        if (++tries === 1) throw failure;
        return { id: tries };
      },
    });
    const peer = await openPeer(server, revision, { closed: true });
    const first = revision === modern ? await peer.request("tools/call", { name: "id" }) : await initialize(peer);
    expect(first.error).toEqual({
      code: -32603,
      message: expect.stringMatching(/^Internal error \([0-9a-f-]{36}\)$/),
      data: { errorId: expect.any(String) },
    });
    expect(errors.map(({ error }) => error)).toEqual([failure]);
    await peer.open();
    expect(textOf(await callTool(peer, "id"))).toBe("db 2");
    expect(tries).toBe(2);
  });

  test("first calls that fail together fail alike, and one attempt follows", async () => {
    let tries = 0;
    const gate = createDeferred<void>();
    const { server } = createDbServer({
      lifespan: async () => {
        const id = ++tries;
        await gate.promise;
        if (id === 1) throw new Error("not yet");
        return { id };
      },
    });
    const peers = await Promise.all([1, 2].map(() => openPeer(server, revision, { closed: true })));
    const answers = peers.map((peer) =>
      revision === modern ? peer.request("tools/call", { name: "id" }) : initialize(peer),
    );
    for (const peer of peers) await peer.settle();
    gate.resolve();
    expect((await Promise.all(answers)).map(({ error }) => error?.code)).toEqual([-32603, -32603]);
    expect(tries).toBe(1);
    await Promise.all(peers.map((peer) => peer.open()));
    const texts = (await Promise.all(peers.map((peer) => callTool(peer, "id")))).map(textOf);
    expect(texts).toEqual(["db 2", "db 2"]);
  });

  test("is there for every kind of handler", async () => {
    const seen: unknown[] = [];
    const server = createServer<Db>({ name: "s", version: "1", lifespan: () => ({ id: 5 }) });
    function keep<T>(what: string, ctx: { lifespan: Db }, value: T): T {
      seen.push([what, ctx.lifespan.id]);
      return value;
    }
    server.tool("t", { visible: (ctx) => keep("visible", ctx, true) }, (_, ctx) => keep("tool", ctx, "t"));
    server.prompt(
      "p",
      {
        arguments: { type: "object", properties: { a: { type: "string" } } },
        complete: { a: (_, ctx) => keep("complete", ctx, []) },
      },
      (_, ctx) => keep("prompt", ctx, "p"),
    );
    server.resource("r:{x}", { list: (ctx) => keep("list", ctx, []) }, (_, ctx) => keep("resource", ctx, "r"));
    server.handle("com.example/own", (_, ctx) => keep("handle", ctx, {}));
    const peer = await openPeer(server, revision);
    await callTool(peer, "t");
    await peer.call("prompts/get", { name: "p" });
    await peer.call("resources/list");
    await peer.call("resources/read", { uri: "r:1" });
    await peer.call("com.example/own");
    await peer.call("completion/complete", {
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "a", value: "" },
    });
    const kinds = ["visible", "tool", "prompt", "list", "resource", "handle", "complete"];
    expect(seen).toEqual(kinds.map((kind) => [kind, 5]));
  });

  test.each(["asyncDispose", "dispose"] as const)(
    "is disposed of by Symbol.%s when the server closes, once",
    async (symbol) => {
      const steps: string[] = [];
      const db = { id: 1, [Symbol[symbol]]: () => void steps.push("disposed") };
      const { server } = createDbServer({ lifespan: () => db });
      const peer = await openPeer(server, revision);
      await callTool(peer, "id");
      expect(steps).toEqual([]);
      await Promise.all([server.close(), server.close()]);
      await server.close();
      expect(steps).toEqual(["disposed"]);
      await peer.ended();
    },
  );

  test("calls under way are told to stop before it is taken from them", async () => {
    const steps: string[] = [];
    const db = { id: 1, [Symbol.asyncDispose]: async () => void steps.push("disposed") };
    const { server } = createDbServer({ lifespan: () => db });
    server.tool("wait", {}, (_, ctx) => {
      return new Promise<void>((resolve) => {
        ctx.signal.addEventListener("abort", () => {
          steps.push(`aborted with db ${ctx.lifespan.id}`);
          resolve();
        });
      });
    });
    const peer = await openPeer(server, revision);
    peer.start("tools/call", { name: "wait" });
    await peer.settle();
    await server.close();
    expect(steps).toEqual(["aborted with db 1", "disposed"]);
  });

  test("a close while it is being made waits for it, and disposes of it", async () => {
    const steps: string[] = [];
    const gate = createDeferred<void>();
    const { server } = createDbServer({
      lifespan: async () => {
        await gate.promise;
        return { id: 1, [Symbol.asyncDispose]: () => void steps.push("disposed") };
      },
    });
    const peer = await openPeer(server, revision, { closed: true });
    if (revision === modern) peer.start("tools/call", { name: "id" });
    else peer.start("initialize", { protocolVersion: revision, capabilities: {}, clientInfo: peer.clientInfo });
    await peer.settle();
    const closing = Promise.all([server.close(), server.close()]);
    await peer.settle();
    expect(steps).toEqual([]);
    gate.resolve();
    await closing;
    expect(steps).toEqual(["disposed"]);
  });
});

test("a server that nobody called never makes one, and closes all the same", async () => {
  let made = 0;
  const { server } = createDbServer({ lifespan: () => ({ id: ++made }) });
  await server.close();
  expect(made).toBe(0);
});

test("await using closes the server", async () => {
  const steps: string[] = [];
  {
    await using server = createDbServer({
      lifespan: () => ({ id: 1, [Symbol.dispose]: () => void steps.push("disposed") }),
    }).server;
    const peer = await openPeer(server, modern);
    await callTool(peer, "id");
  }
  expect(steps).toEqual(["disposed"]);
});

function initialize(peer: Peer): ReturnType<Peer["request"]> {
  const { revision, capabilities, clientInfo } = peer;
  return peer.request("initialize", { protocolVersion: revision, capabilities, clientInfo });
}
