// Watching: subscriptions, updates and list changes, to those who want them and may have them, once per burst.
import { createServer, type Revision, type Server, type ServerOptions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer, type Peer, reachable, sessioned } from "./peer.ts";

const create = (options: Partial<ServerOptions<undefined>> = {}): Server =>
  createServer({ name: "library", version: "1.0.0", onError: () => {}, ...options });

const read = (): string => "";
const updated = "notifications/resources/updated";
const listChanged = "notifications/resources/list_changed";

const urisOf = (peer: Peer): unknown[] => peer.notifications(updated).map(({ params }) => params?.uri);

/** Watches a resource the way the revision does. */
async function watch(peer: Peer, uri: string): Promise<void> {
  if (peer.isModern) peer.start("subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } });
  else await peer.call("resources/subscribe", { uri });
  await peer.settle();
}

async function watchList(peer: Peer): Promise<void> {
  if (peer.isModern) peer.start("subscriptions/listen", { notifications: { resourcesListChanged: true } }, "list");
  await peer.settle();
}

describe.each(reachable)("updates in %s", (revision) => {
  test("go to the peer that watches the resource, and to no other", async () => {
    covers(["resource-subscribe", "resource-updates-need-subscription", "schema-updated-params"], revision);
    const server = create();
    server.resource("a:x", {}, read);
    server.resource("n:///{id}", {}, read);
    const [first, second, idle] = [
      await openPeer(server, revision),
      await openPeer(server, revision),
      await openPeer(server, revision),
    ];
    await watch(first, "a:x");
    await watch(second, "n:///1");
    for (const uri of ["a:x", "n:///1", "n:///2"]) server.resourceUpdated(uri);
    for (const peer of [first, second, idle]) await peer.settle();
    expect(urisOf(first)).toEqual(["a:x"]);
    expect(urisOf(second)).toEqual(["n:///1"]);
    expect(idle.notifications()).toEqual([]);
    if (!first.isModern) expect(first.notifications(updated)[0]?.params).toEqual({ uri: "a:x" });
  });

  test("a burst is told once a resource, and the next burst again", async () => {
    covers("resource-subscribe", revision);
    const server = create();
    server.resource("n:///{id}", {}, read);
    const peer = await openPeer(server, revision);
    await watch(peer, "n:///1");
    await watch(peer, "n:///2");
    for (let i = 0; i < 50; i++) for (const id of [1, 2]) server.resourceUpdated(`n:///${id}`);
    await peer.settle();
    expect(urisOf(peer)).toEqual(["n:///1", "n:///2"]);
    server.resourceUpdated("n:///2");
    await peer.settle();
    expect(urisOf(peer)).toEqual(["n:///1", "n:///2", "n:///2"]);
  });

  test("none come without the subscribe capability", async () => {
    covers(
      ["resource-updates-need-capability", "resource-subscribe-undeclared", "resource-capability-options"],
      revision,
    );
    const server = create({ capabilities: { resources: { listChanged: true } } });
    server.resource("a:x", {}, read);
    const peer = await openPeer(server, revision);
    if (peer.isModern) await watch(peer, "a:x");
    else {
      for (const method of ["resources/subscribe", "resources/unsubscribe"])
        expect((await peer.fail(method, { uri: "a:x" })).code).toBe(-32601);
    }
    server.resourceUpdated("a:x");
    await peer.settle();
    expect(peer.notifications(updated)).toEqual([]);
  });

  test("of what a caller may not see are not told", async () => {
    covers(["resource-access-control"], revision);
    const server = create();
    server.resource("a:secret", { visible: (ctx) => ctx.auth?.subject === "ada" }, read);
    const ada = await openPeer(server, revision, { sender: { auth: { subject: "ada", scopes: [] } } });
    const bob = await openPeer(server, revision, { sender: { auth: { subject: "bob", scopes: [] } } });
    await watch(ada, "a:secret");
    if (bob.isModern) await watch(bob, "a:secret");
    else await bob.fail("resources/subscribe", { uri: "a:secret" });
    server.resourceUpdated("a:secret");
    for (const peer of [ada, bob]) await peer.settle();
    expect(urisOf(ada)).toEqual(["a:secret"]);
    expect(urisOf(bob)).toEqual([]);
  });
});

describe.each(sessioned)("subscriptions in %s", (revision) => {
  test("subscribing and unsubscribing give empty results, and unsubscribing ends the updates", async () => {
    covers(["resource-subscribe", "resource-unsubscribe", "schema-empty-result"], revision);
    const server = create();
    server.resource("n:///{id}", {}, read);
    const peer = await openPeer(server, revision);
    const both = async (method: string): Promise<void> => {
      for (const uri of ["n:///1", "n:///2"]) expect(await peer.call(method, { uri })).toEqual({});
    };
    await both("resources/subscribe");
    await both("resources/subscribe");
    expect(await peer.call("resources/unsubscribe", { uri: "n:///1" })).toEqual({});
    for (const uri of ["n:///1", "n:///2"]) server.resourceUpdated(uri);
    await peer.settle();
    expect(urisOf(peer)).toEqual(["n:///2"]);
    await both("resources/unsubscribe");
    server.resourceUpdated("n:///2");
    await peer.settle();
    expect(urisOf(peer)).toEqual(["n:///2"]);
  });

  test("what does not exist cannot be watched, what was removed can be let go", async () => {
    covers("resource-validate-uris", revision);
    const server = create();
    const handle = server.resource("a:x", {}, read);
    const peer = await openPeer(server, revision);
    expect(await peer.fail("resources/subscribe", { uri: "a:y" })).toMatchObject({
      code: -32002,
      data: { uri: "a:y" },
    });
    await peer.call("resources/subscribe", { uri: "a:x" });
    handle.remove();
    expect(await peer.call("resources/unsubscribe", { uri: "a:x" })).toEqual({});
    for (const uri of ["a:x", "a:y"]) server.resourceUpdated(uri);
    await peer.settle();
    expect(urisOf(peer)).toEqual([]);
  });

  test("one peer watches at most so many", async () => {
    const server = create();
    server.resource("n:///{id}", {}, read);
    const peer = await openPeer(server, revision, { maxSubscriptions: 2 });
    for (const id of [1, 2, 2]) await peer.call("resources/subscribe", { uri: `n:///${id}` });
    expect(await peer.fail("resources/subscribe", { uri: "n:///3" })).toEqual({
      code: -32602,
      message: "At most 2 resources can be watched",
    });
    server.resourceUpdated("n:///3");
    await peer.settle();
    expect(urisOf(peer)).toEqual([]);
    await peer.call("resources/unsubscribe", { uri: "n:///1" });
    await peer.call("resources/subscribe", { uri: "n:///3" });
  });

  test("nothing is told before the client has said that it is ready", async () => {
    const server = create();
    server.resource("a:x", {}, read);
    const peer = await openPeer(server, revision, { closed: true });
    await peer.call("initialize", { protocolVersion: revision, capabilities: {}, clientInfo: peer.clientInfo });
    server.resource("a:y", {}, read);
    await peer.settle();
    expect(peer.notifications()).toEqual([]);
    peer.notify("notifications/initialized");
    await peer.settle();
    server.resource("a:z", {}, read);
    await peer.settle();
    expect(peer.notifications(listChanged)).toHaveLength(1);
  });
});

test("in 2026-07-28 there is neither subscribe nor unsubscribe", async () => {
  const server = create();
  server.resource("a:x", {}, read);
  const peer = await openPeer(server, modern as Revision);
  for (const method of ["resources/subscribe", "resources/unsubscribe"])
    expect((await peer.fail(method, { uri: "a:x" })).code).toBe(-32601);
});

describe.each(reachable)("list changes in %s", (revision) => {
  test("are told once per burst, for resources and templates", async () => {
    covers(["resource-list-changed", "resource-list-changed-unsolicited"], revision);
    const server = create();
    const first = server.resource("a:0", {}, read);
    const peer = await openPeer(server, revision);
    await watchList(peer);
    const bursts = [
      () => {
        for (let i = 1; i < 20; i++) server.resource(`a:${i}`, {}, read);
      },
      () => first.remove(),
      () => server.resource("n:///{id}", {}, read),
      () => server.resourcesChanged(),
    ];
    for (const [i, burst] of bursts.entries()) {
      burst();
      await peer.settle();
      expect(peer.notifications(listChanged)).toHaveLength(i + 1);
    }
    if (!peer.isModern) expect(peer.notifications(listChanged)[0]).toEqual({ jsonrpc: "2.0", method: listChanged });
    first.remove();
    await peer.settle();
    expect(peer.notifications(listChanged)).toHaveLength(bursts.length);
  });

  test.each<[what: string, resources: Obj]>([
    ["nothing", {}],
    ["updates only", { subscribe: true }],
    ["list changes denied", { subscribe: true, listChanged: false }],
  ])("are not told by a server that declares %s", async (_, resources) => {
    covers(["resource-list-changed", "resource-capability-options"], revision);
    const server = create({ capabilities: { resources } });
    server.resource("a:0", {}, read);
    const peer = await openPeer(server, revision);
    const opening = peer.isModern ? await peer.call("server/discover") : peer.opening;
    expect((opening.capabilities as Obj).resources).toEqual(resources);
    await watchList(peer);
    server.resource("a:1", {}, read);
    await peer.settle();
    expect(peer.notifications(listChanged)).toEqual([]);
  });

  test("are not told in a session that was opened before there were resources", async () => {
    const server = create();
    server.tool("t", {}, () => "");
    const peer = await openPeer(server, revision);
    await watchList(peer);
    server.resource("a:1", {}, read);
    await peer.settle();
    expect(peer.notifications(listChanged)).toEqual([]);
  });
});
