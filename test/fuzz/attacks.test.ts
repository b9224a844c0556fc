// Regression for known attacks on MCP servers, as far as memory shows them. Each is named after its published number or
// its kind; the lesson is in the name of the test.
import { createServer, type Revision, revisions, type Server } from "plenum";
import { createRawPeer } from "plenum/memory";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type Message, openPeer } from "../suites/peer.ts";
import { watchStrays } from "./strays.ts";
import { calm, createTarget, good, methodsIn, modern, type Obj, openRaw, request } from "./target.ts";

watchStrays();

afterEach(() => {
  vi.useRealTimers();
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

const createQuiet = () => createServer({ name: "quiet", version: "1.0.0", onError: () => {} });

describe("CVE-2026-0621: a URI template is no way to keep the server busy", () => {
  // With a backtracking matcher each of these takes longer than anybody waits: the test would never end.
  const templates = [
    "a:{x}{y}{z}",
    "b:{+x}{+y}{+z}!",
    "c:{x*}{y*}{z*}",
    "d:{/x*}{/y*}{/z*}",
    "e:{;x*}{?y*}{&z*}",
    "f:{x,y,z}-{x1,y1,z1}-{x2,y2,z2}",
    "g:{+a}a{+b}a{+c}a{+d}a{+e}a{+f}a{+g}b",
  ];
  const tails = ["a".repeat(16_000), "/a".repeat(8000), "a,".repeat(8000), ";a=a".repeat(4000), "%61".repeat(5000)];

  test.each(revisions)("reading, watching and completing in %s", async (revision) => {
    const server = createQuiet();
    for (const template of templates) {
      try {
        server.resource(template as string, {}, () => "found");
      } catch (error) {
        // A template may also be refused when it is registered: then nobody can be attacked through it.
        expect(error).toBeInstanceOf(TypeError);
      }
    }
    server.resource("z:{id}", { complete: { id: () => [] } }, () => "found");
    const peer = await openPeer(server, revision);
    for (const tail of tails) {
      for (const scheme of "abcdefg") {
        const { result, error } = await peer.request("resources/read", { uri: `${scheme}:${tail}` });
        if (error) expect([-32002, -32602]).toContain(error.code);
        else expect(result?.contents).toHaveLength(1);
      }
    }
    const ref = { type: "ref/resource", uri: `z:{${"x*,".repeat(5000)}x}` };
    expect((await peer.fail("completion/complete", { ref, argument: { name: "id", value: "" } })).code).toBe(-32602);
  });
});

describe("CVE-2026-25536: clients that share a server get their own answers only", () => {
  test.each(revisions)("the same ids at the same time in %s", async (revision) => {
    const server = createQuiet();
    const gates = new Map<string, () => void>();
    server.tool("secret", { input: z.object({ who: z.string() }) }, async ({ who }, ctx) => {
      ctx.progress(1, 1);
      ctx.log.error(`log of ${who}`);
      await new Promise<void>((resolve) => gates.set(who, resolve));
      return `${who} is ${ctx.auth?.subject}`;
    });
    const names = Array.from({ length: 20 }, (_, i) => `client-${i}`);
    const peers = await Promise.all(
      names.map((subject) => openPeer(server, revision, { sender: { auth: { subject, scopes: [] } } })),
    );
    const level = revision === modern ? { "io.modelcontextprotocol/logLevel": "debug" } : {};
    for (const [index, peer] of peers.entries()) {
      const _meta = { progressToken: 1, ...level };
      peer.start("tools/call", { name: "secret", arguments: { who: names[index] }, _meta }, "same");
    }
    await peers[0]?.settle();
    // The client that cancels its request 1 takes nothing from the others, whose request has the same id.
    peers[3]?.notify("notifications/cancelled", { requestId: "same" });
    await peers[0]?.settle();
    for (const name of [...names].reverse()) gates.get(name)?.();
    await peers[0]?.settle();

    for (const [index, peer] of peers.entries()) {
      const name = names[index];
      const answers = peer.messages.filter((message) => message.id === "same" && message.result);
      const texts = answers.map(({ result }) => result?.content);
      expect(texts).toEqual(index === 3 ? [] : [[{ type: "text", text: `${name} is ${name}` }]]);
      expect(peer.notifications("notifications/progress")).toHaveLength(1);
      expect(peer.notifications("notifications/message").map(({ params }) => params?.data)).toEqual([`log of ${name}`]);
    }
  });

  test.each(revisions.filter((revision) => revision !== modern))("the answers to asks in %s", async (revision) => {
    const server = createQuiet();
    server.tool("where", {}, async (_, ctx) => (await ctx.roots()).map((root) => root.uri).join());
    const [a, b] = await Promise.all([0, 1].map(() => openPeer(server, revision, { capabilities: { roots: {} } })));
    if (!a || !b) throw new Error("no peers");
    a.start("tools/call", { name: "where" }, "x");
    b.start("tools/call", { name: "where" }, "x");
    const [askedA, askedB] = await Promise.all([a.asked(), b.asked()]);
    expect(askedA.id).toBe(askedB.id);
    // B's answer to the id that A was asked with, too, stays B's.
    b.answer(askedB, { roots: [{ uri: "file:///b" }] });
    await a.settle();
    const textsOf = (messages: readonly Message[]) =>
      messages.filter(({ id, result }) => id === "x" && result).map(({ result }) => result?.content);
    expect(textsOf(a.messages)).toEqual([]);
    expect(textsOf(b.messages)).toEqual([[{ type: "text", text: "file:///b" }]]);
    a.answer(askedA, { roots: [{ uri: "file:///a" }] });
    await a.settle();
    expect(textsOf(a.messages)).toEqual([[{ type: "text", text: "file:///a" }]]);
    expect(textsOf(b.messages)).toHaveLength(1);
  });

  test("what one client watches, another one does not hear of", async () => {
    const { server } = createTarget();
    const peers = await Promise.all(revisions.map((revision) => openPeer(server, revision)));
    await peers[0]?.call("resources/subscribe", { uri: "note:///one" });
    server.resourceUpdated("note:///one");
    server.resourceUpdated("note:///two");
    await peers[0]?.settle();
    const heard = peers.map((peer) => peer.notifications().map(({ method, params }) => [method, params]));
    expect(heard).toEqual([[["notifications/resources/updated", { uri: "note:///one" }]], [], [], [], []]);
  });
});

describe("CVE-2026-27896: member names are compared letter by letter", () => {
  const hidden = { name: "bag", arguments: {} };
  test.each(revisions)("what a proxy does not see is not done in %s", async (revision) => {
    const target = createTarget();
    const peer = await openRaw(target.server, revision);
    const call = request(revision, "tools/call", hidden);
    const { method, params, id, ...rest } = call;
    const tricks: readonly Obj[] = [
      { ...rest, id, Method: method, params },
      { ...rest, id, METHOD: method, method: "no/such", params },
      { ...rest, id, method: "no/such", meThod: method, params },
      { ...rest, id, method, Params: params },
      { ...rest, id, method, params: { ...(params as Obj), name: "nope", Name: "bag", NAME: "bag" } },
      { ...rest, id, "\u006dethod\u200b": method, params },
      { ...rest, ID: id, method: "notifications/x", Method: method, params },
    ];
    for (const trick of tricks) peer.send(trick);
    const answers = (): { result?: unknown }[] => peer.received.slice(peer.heard) as { result?: unknown }[];
    // What says that there is no such tool may have to be loaded first.
    await expect.poll(answers).toHaveLength(6);
    await calm();
    expect(target.ran).toBe(0);
    expect(answers().filter(({ result }) => result !== undefined)).toEqual([]);
    expect(answers()).toHaveLength(6);
    peer.close();
  });
});

describe("prototype pollution", () => {
  const payload = '{"__proto__":{"polluted":true,"admin":true},"constructor":{"prototype":{"polluted":true}}}';

  test.each(revisions)("through arguments, _meta, capabilities and templates in %s", async (revision) => {
    const server = createQuiet();
    const seen: unknown[] = [];
    const look = (value: object, ctx: { meta: object; client: { capabilities: object } }) => {
      const inherited = (from: object) => [
        (from as { admin?: unknown }).admin,
        (from as { polluted?: unknown }).polluted,
      ];
      seen.push(...inherited(value), ...inherited(ctx.meta), ...inherited(ctx.client.capabilities));
      return "ok";
    };
    server.tool("loose", { input: { type: "object" } }, (args, ctx) => look(args as object, ctx));
    server.tool("strict", { input: z.object({ a: z.string().optional() }) }, (args, ctx) => look(args, ctx));
    server.tool("catchall", { input: z.looseObject({}) }, (args, ctx) => look(args, ctx));
    server.tool("nested", { input: z.object({ in: z.looseObject({}) }) }, (args, ctx) => look(args.in, ctx));
    server.resource("t:/{a}/{b}", {}, (args, ctx) => look(args, ctx));
    server.prompt("p", { arguments: z.looseObject({}) }, (args, ctx) => look(args, ctx));
    const polluted = JSON.parse(payload) as Obj;
    const peer = await openPeer(server, revision, { capabilities: polluted });
    const _meta = { ...polluted, ...JSON.parse('{"__proto__":{"admin":true}}') };
    for (const name of ["loose", "strict", "catchall"]) {
      await peer.call("tools/call", { name, arguments: polluted, _meta });
    }
    await peer.call("tools/call", { name: "nested", arguments: { in: polluted } });
    // As some hosts send it: an object as a text.
    await peer.call("tools/call", { name: "nested", arguments: { in: payload } });
    await peer.call("resources/read", { uri: "t:/__proto__/constructor" });
    await peer.call("prompts/get", { name: "p", arguments: JSON.parse('{"__proto__":"admin","polluted2":"x"}') });
    expect(seen.filter((value) => value !== undefined)).toEqual([]);
    expect(seen).toHaveLength(7 * 6);
  });

  test.each(revisions)("a capability behind __proto__ is not declared in %s", async (revision) => {
    const server = createQuiet();
    server.tool("where", {}, async (_, ctx) => ctx.roots());
    const capabilities = JSON.parse('{"__proto__":{"roots":{},"sampling":{},"elicitation":{}}}') as Obj;
    const peer = await openPeer(server, revision, { capabilities });
    const { result, error } = await peer.request("tools/call", { name: "where" });
    if (revision === modern) expect(error?.code).toBe(-32021);
    else expect(result).toMatchObject({ isError: true });
    expect(peer.messages.filter(({ method }) => method === "roots/list")).toEqual([]);
  });

  test.each(revisions)("names that every object has are names like others in %s", async (revision) => {
    const names = ["constructor", "__proto__", "toString", "hasOwnProperty", "10", "2", "valueOf"];
    const server = createQuiet();
    for (const name of names) {
      server.tool(name, {}, () => `tool ${name}`);
      const properties = { [name]: { type: "string" } } as const;
      server.prompt(name, { arguments: { type: "object", properties } }, (args) => JSON.stringify(args));
    }
    const peer = await openPeer(server, revision);
    const listed = async (method: string, member: string) =>
      ((await peer.call(method))[member] as { name: string }[]).map(({ name }) => name);
    expect(await listed("tools/list", "tools")).toEqual(names);
    expect(await listed("prompts/list", "prompts")).toEqual(names);
    for (const name of names) {
      expect((await peer.call("tools/call", { name })).content).toEqual([{ type: "text", text: `tool ${name}` }]);
      for (const given of [{}, { [name]: "x" }]) {
        const { messages } = await peer.call("prompts/get", { name, arguments: given });
        expect(messages).toEqual([{ role: "user", content: { type: "text", text: JSON.stringify(given) } }]);
      }
    }
  });
});

describe("what a peer can pile up is bounded", () => {
  test.each(revisions)("slow handlers, by maxInFlight, in %s", async (revision) => {
    const server = createQuiet();
    let running = 0;
    const gates: (() => void)[] = [];
    server.tool("slow", {}, async () => {
      running++;
      await new Promise<void>((resolve) => gates.push(resolve));
      running--;
    });
    const peer = await openPeer(server, revision, { maxInFlight: 5 });
    for (let i = 0; i < 1000; i++) peer.start("tools/call", { name: "slow" }, `call-${i}`);
    await peer.settle();
    expect(running).toBe(5);
    const refused = peer.messages.filter(({ error }) => error);
    expect(refused).toHaveLength(995);
    expect(new Set(refused.map(({ error }) => error?.code))).toEqual(new Set([-32600]));
    expect(refused[0]?.id).toBe("call-5");
    // Room again, by an answer, and by a cancellation when its handler has ended too.
    peer.notify("notifications/cancelled", { requestId: "call-1" });
    gates[0]?.();
    gates[1]?.();
    await peer.settle();
    for (const id of ["next-1", "next-2", "next-3"]) peer.start("tools/call", { name: "slow" }, id);
    await peer.settle();
    expect(peer.messages.filter(({ id, error }) => error && String(id).startsWith("next")).map(({ id }) => id)).toEqual(
      ["next-3"],
    );
    // Notifications are never in flight.
    for (let i = 0; i < 1000; i++) peer.notify("notifications/no_such");
    expect((await peer.request("tools/list")).error?.code).toBe(-32600);
    for (const open of gates) open();
    await peer.settle();
    expect((await peer.request("tools/list")).error).toBeUndefined();
  });

  test.each(revisions)("ids made to collide cost nothing and are kept apart in %s", async (revision) => {
    const { server } = createTarget();
    const peer = await openRaw(server, revision);
    const ids = Array.from({ length: 1000 }, (_, i) => [i, String(i), `${i}`.padStart(8, "0")]).flat();
    for (const id of ids) peer.send(request(revision, "prompts/get", good["prompts/get"], id));
    await peer.settle();
    const answers = peer.received.slice(peer.heard) as { id: unknown; result?: unknown }[];
    expect(answers.filter(({ result }) => result !== undefined).map(({ id }) => id)).toEqual(ids);
    peer.close();
  });

  const sessioned = revisions.filter((revision) => revision !== modern);
  test.each(sessioned)("watched resources, one by one, in %s", async (revision) => {
    const { server } = createTarget();
    const peer = await openPeer(server, revision, { maxSubscriptions: 100 });
    const watch = (i: number) => peer.request("resources/subscribe", { uri: `item:///${i}` });
    for (let i = 0; i < 100; i++) expect((await watch(i)).error).toBeUndefined();
    expect((await watch(100)).error?.code).toBe(-32602);
    expect((await watch(7)).error).toBeUndefined();
    await peer.call("resources/unsubscribe", { uri: "item:///0" });
    expect((await watch(100)).error).toBeUndefined();
    expect((await watch(101)).error?.code).toBe(-32602);
    server.resourceUpdated("item:///101");
    server.resourceUpdated("item:///100");
    await peer.settle();
    expect(peer.notifications().map(({ params }) => params)).toEqual([{ uri: "item:///100" }]);
  });

  test("watched resources of one peer, over all its listen requests", async () => {
    const { server } = createTarget();
    const peer = await openPeer(server, modern, { maxSubscriptions: 100 });
    const uris = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `item:///${from + i}`);
    const listen = (id: string, resourceSubscriptions: readonly string[]) =>
      peer.start("subscriptions/listen", { notifications: { resourceSubscriptions } }, id);
    const acknowledged = () => peer.notifications("notifications/subscriptions/acknowledged");
    const errors = () => peer.messages.filter(({ error }) => error).map(({ id, error }) => [id, error?.code]);
    listen("too-many", uris(101));
    listen("a", uris(60));
    listen("b", uris(60, 60));
    // Long filters take turns: of two at the same time either may be first.
    await vi.waitFor(() => expect(errors()).toHaveLength(2));
    const refused = errors()[1]?.[0] === "a" ? "a" : "b";
    expect(errors()).toEqual([
      ["too-many", -32602],
      [refused, -32602],
    ]);
    listen("c", uris(40, 120));
    await vi.waitFor(() => expect(acknowledged()).toHaveLength(2));
    peer.notify("notifications/cancelled", { requestId: refused === "a" ? "b" : "a" });
    listen("d", uris(60));
    await vi.waitFor(() => expect(acknowledged()).toHaveLength(3));
    expect(errors()).toHaveLength(2);
  });
});

describe("connections that are gone leave nothing behind", () => {
  /** How many connections listen to the server's changes. */
  function countWatchers(server: Server): () => number {
    let watchers = 0;
    const { watch } = server;
    vi.spyOn(server, "watch").mockImplementation((listener) => {
      const end = watch.call(server, listener);
      watchers++;
      return () => {
        watchers--;
        end();
      };
    });
    return () => watchers;
  }

  /** Something under way in a revision that would hold a careless server back. */
  async function burden(server: Server, revision: Revision) {
    const peer = await openRaw(server, revision);
    peer.send(request(revision, "tools/call", { name: "hang" }, "hang"));
    if (revision === modern)
      peer.send(request(revision, "subscriptions/listen", good["subscriptions/listen"], "listen"));
    else peer.send(request(revision, "resources/subscribe", good["resources/subscribe"], "watch"));
    return peer;
  }

  test("10 000 connections, opened and closed", async () => {
    const { server } = createTarget();
    let hanging = 0;
    server.tool("hang", {}, (_, ctx) => {
      hanging++;
      return new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => {
          hanging--;
          reject(ctx.signal.reason);
        });
      });
    });
    const watchers = countWatchers(server);
    for (let round = 0; round < 100; round++) {
      const peers = await Promise.all(
        Array.from({ length: 100 }, (_, i) => burden(server, revisions[i % revisions.length] as Revision)),
      );
      await calm();
      expect(watchers()).toBe(100);
      expect(hanging).toBe(100);
      for (const peer of peers) peer.close();
      await Promise.all(peers.map((peer) => peer.closed));
      await calm();
    }
    expect(watchers()).toBe(0);
    expect(hanging).toBe(0);
    // Nobody watches: a change is told to no one, and no timer runs for it.
    vi.useFakeTimers();
    server.tool("late", {}, () => "late");
    server.resourceUpdated("note:///one");
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each(revisions)("the server's side closes them in %s", async (revision) => {
    const { server } = createTarget();
    server.tool("hang", {}, () => new Promise(() => {}));
    const watchers = countWatchers(server);
    const peer = createRawPeer(server);
    if (revision !== modern)
      await peer.request(
        "initialize",
        { protocolVersion: revision, capabilities: {}, clientInfo: { name: "a", version: "1" } },
        0,
      );
    peer.send(request(revision, "tools/call", { name: "hang" }, "hang"));
    await calm();
    expect(watchers()).toBe(1);
    peer.serving.close();
    await peer.serving.closed;
    await peer.closed;
    expect(watchers()).toBe(0);
    // What was open got its one answer before the end.
    expect(peer.received.filter((message) => (message as Obj).id === "hang")).toMatchObject([
      { error: { code: -32603 } },
    ]);
  });

  test("every method of every revision is answered when a thousand clients came and went", async () => {
    const { server } = createTarget();
    for (let i = 0; i < 1000; i++) createRawPeer(server).close();
    for (const revision of revisions) {
      const peer = await openPeer(server, revision);
      for (const method of methodsIn(revision).filter(
        (name) => !["initialize", "subscriptions/listen"].includes(name),
      )) {
        await peer.call(method, good[method]);
      }
    }
  });
});
