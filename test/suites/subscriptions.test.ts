// subscriptions/listen of 2026-07-28: acknowledged first, true to its filter, each apart from the others, ended in order.
import { revisions } from "plenum";
import { createRawPeer } from "plenum/memory";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { isOneChannel, type Message, modern, type Obj, openPeer, type Peer } from "./peer.ts";
import { createQuietServer } from "./tool-peer.ts";

const idKey = "io.modelcontextprotocol/subscriptionId";
const serverKey = "io.modelcontextprotocol/serverInfo";
const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

function createWatched() {
  const { server } = createQuietServer();
  server.tool("t", {}, () => "");
  server.prompt("p", {}, () => "");
  server.resource("x://a", {}, () => "");
  server.resource("x://b", {}, () => "");
  let count = 0;
  const change = {
    tools: () => server.tool(`t${count++}`, {}, () => ""),
    prompts: () => server.prompt(`p${count++}`, {}, () => ""),
    resources: () => server.resourcesChanged(),
  };
  return { server, change };
}

/** What came for a subscription: the method, and the params without the tag. */
function toldTo(peer: Peer, id: string | number): [string, Obj][] {
  return peer.notifications().flatMap(({ method = "", params = {} }): [string, Obj][] => {
    const { _meta, ...rest } = params;
    return (_meta as Obj | undefined)?.[idKey] === id ? [[method.replace("notifications/", ""), rest]] : [];
  });
}

const acknowledged = (notifications: Obj): [string, Obj] => ["subscriptions/acknowledged", { notifications }];

async function listen(peer: Peer, notifications: Obj, id: string | number): Promise<void> {
  peer.start("subscriptions/listen", { notifications }, id);
  await peer.settle();
}

describe("the acknowledgement", () => {
  test("comes first, even while changes are under way", async () => {
    covers("subscription-ack-first");
    const { server, change } = createWatched();
    const peer = await openPeer(server, modern);
    change.tools();
    peer.start("subscriptions/listen", { notifications: { ...all, resourceSubscriptions: ["x://a"] } }, "L");
    for (let turn = 0; turn < 20; turn++) {
      change.tools();
      change.prompts();
      change.resources();
      server.resourceUpdated("x://a");
      await (isOneChannel ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, 1)));
    }
    await peer.settle();
    const told = toldTo(peer, "L");
    expect(told[0]).toEqual(acknowledged({ ...all, resourceSubscriptions: ["x://a"] }));
    const methods = told.slice(1).map(([method]) => method);
    // A request on a socket comes when it comes: before it nobody listens, and after it there is more than one burst.
    expect(isOneChannel ? methods.sort() : [...new Set(methods)].sort()).toEqual([
      "prompts/list_changed",
      "resources/list_changed",
      "resources/updated",
      "tools/list_changed",
    ]);
  });

  test("names what is honoured, and nothing that the server does not have", async () => {
    covers("subscription-ack-subset");
    const { server } = createQuietServer();
    server.tool("t", {}, () => "");
    const peer = await openPeer(server, modern);
    await listen(peer, { ...all, resourceSubscriptions: ["x://a"] }, 1);
    expect(toldTo(peer, 1)).toEqual([acknowledged({ toolsListChanged: true })]);

    const { server: silent } = createQuietServer({ capabilities: { tools: {}, resources: { subscribe: true } } });
    silent.resource("x://a", {}, () => "");
    const other = await openPeer(silent, modern);
    await listen(other, { ...all, resourceSubscriptions: ["x://a", "x://a"] }, 2);
    expect(toldTo(other, 2)).toEqual([acknowledged({ resourceSubscriptions: ["x://a"] })]);
  });

  test("of an empty filter is empty, and so is what follows; false is as good as nothing", async () => {
    covers("subscription-omitted-is-off");
    const { server, change } = createWatched();
    const peer = await openPeer(server, modern);
    await listen(peer, {}, "none");
    await listen(peer, { toolsListChanged: false, promptsListChanged: false, resourcesListChanged: false }, "false");
    for (const make of Object.values(change)) make();
    server.resourceUpdated("x://a");
    await peer.settle();
    expect(toldTo(peer, "none")).toEqual([acknowledged({})]);
    expect(toldTo(peer, "false")).toEqual([acknowledged({})]);
    expect(peer.messages).toHaveLength(2);
  });

  test("is not given to a filter that is none: -32602", async () => {
    covers("subscription-filter-required");
    const peer = await openPeer(createWatched().server, modern);
    const bad = [
      undefined,
      null,
      [],
      "tools",
      { toolsListChanged: 1 },
      { promptsListChanged: "true" },
      { resourceSubscriptions: "x://a" },
      { resourceSubscriptions: [1] },
    ];
    for (const notifications of bad) {
      const error = await peer.fail("subscriptions/listen", { notifications });
      expect(error.code, JSON.stringify(notifications)).toBe(-32602);
    }
    expect(peer.notifications()).toEqual([]);
  });

  test("is not given to more resources than may be watched: -32602", async () => {
    const peer = await openPeer(createWatched().server, modern, { maxSubscriptions: 2 });
    const error = await peer.fail("subscriptions/listen", {
      notifications: { resourceSubscriptions: ["x://a", "x://b", "x://c"] },
    });
    expect(error).toEqual({ code: -32602, message: "At most 2 resources can be watched" });
    // Over HTTP nothing says whose the other subscriptions are.
    if (!isOneChannel) return;
    // What the peer's other subscriptions watch counts too, as long as they are open.
    await listen(peer, { resourceSubscriptions: ["x://a", "x://b"] }, "full");
    const more = { notifications: { resourceSubscriptions: ["x://a"] } };
    expect((await peer.fail("subscriptions/listen", more)).code).toBe(-32602);
    await listen(peer, all, "lists only");
    expect(toldTo(peer, "lists only")).toEqual([acknowledged(all)]);
    peer.notify("notifications/cancelled", { requestId: "full" });
    await listen(peer, more.notifications, "again");
    expect(toldTo(peer, "again")).toEqual([acknowledged(more.notifications)]);
    // Two that come at once do not slip through side by side.
    peer.start("subscriptions/listen", more, "one");
    peer.start("subscriptions/listen", more, "two");
    await peer.settle();
    const errors = peer.messages.flatMap(({ id, error }) =>
      error && typeof id === "string" ? [[id, error.code]] : [],
    );
    expect(errors).toEqual([["two", -32602]]);
  });
});

describe("a subscription", () => {
  test.each(["tools", "prompts", "resources"] as const)(
    "to the list of %s hears of that and nothing else",
    async (kind) => {
      covers(["subscription-only-requested", "subscription-id-on-every-message"]);
      const { server, change } = createWatched();
      const peer = await openPeer(server, modern);
      await listen(peer, { [`${kind}ListChanged`]: true }, "L");
      for (const make of Object.values(change)) make();
      server.resourceUpdated("x://a");
      await peer.settle();
      expect(toldTo(peer, "L").slice(1)).toEqual([[`${kind}/list_changed`, {}]]);
      expect(peer.messages).toHaveLength(2);
    },
  );

  test("to resources hears of those alone", async () => {
    covers(["subscription-resource-updates", "subscription-id-on-every-message", "subscription-only-requested"]);
    const { server, change } = createWatched();
    const peer = await openPeer(server, modern);
    await listen(peer, { resourceSubscriptions: ["x://a"] }, "L");
    for (const uri of ["x://b", "x://a", "x://A", "x://a/b", "x://"]) server.resourceUpdated(uri);
    change.resources();
    await peer.settle();
    expect(toldTo(peer, "L").slice(1)).toEqual([["resources/updated", { uri: "x://a" }]]);
    expect(peer.messages).toHaveLength(2);
  });

  test("hears once of a burst", async () => {
    const { server, change } = createWatched();
    const peer = await openPeer(server, modern);
    await listen(peer, { toolsListChanged: true, resourceSubscriptions: ["x://a"] }, "L");
    for (let n = 0; n < 50; n++) {
      change.tools();
      server.resourceUpdated("x://a");
    }
    await peer.settle();
    expect(toldTo(peer, "L").slice(1)).toEqual([
      ["tools/list_changed", {}],
      ["resources/updated", { uri: "x://a" }],
    ]);
    change.tools();
    await peer.settle();
    expect(toldTo(peer, "L")).toHaveLength(4);
  });

  test("is tagged by the id of its request, in value and type; several live side by side", async () => {
    covers(["subscription-id-value", "subscription-multiple", "subscription-stdio-interleave"]);
    const { server, change } = createWatched();
    const peer = await openPeer(server, modern);
    await listen(peer, { toolsListChanged: true }, 5);
    await listen(peer, { promptsListChanged: true }, "5");
    await listen(peer, { ...all, resourceSubscriptions: ["x://b"] }, "");
    change.tools();
    await peer.settle();
    change.prompts();
    server.resourceUpdated("x://b");
    await peer.settle();
    expect(toldTo(peer, 5).map(([method]) => method)).toEqual(["subscriptions/acknowledged", "tools/list_changed"]);
    expect(toldTo(peer, "5").map(([method]) => method)).toEqual(["subscriptions/acknowledged", "prompts/list_changed"]);
    expect(toldTo(peer, "").map(([method]) => method)).toEqual([
      "subscriptions/acknowledged",
      "tools/list_changed",
      "prompts/list_changed",
      "resources/updated",
    ]);
  });

  test("holds no other call up, and other notifications are never tagged", async () => {
    covers(["subscription-id-only-there", "subscription-list-changed-only-here", "subscription-no-request-scoped"]);
    const { server, change } = createWatched();
    server.tool("busy", {}, (_, ctx) => {
      ctx.progress(1);
      ctx.log.error("busy");
      change.prompts();
      return "";
    });
    const call = { name: "busy", _meta: { progressToken: "t", "io.modelcontextprotocol/logLevel": "debug" } };
    const alone = await openPeer(server, modern);
    await alone.call("tools/call", call);
    await alone.settle();
    expect(alone.notifications().map(({ method }) => method)).toEqual([
      "notifications/progress",
      "notifications/message",
    ]);
    const peer = await openPeer(server, modern);
    await listen(peer, { toolsListChanged: true }, "L");
    await peer.call("tools/call", call);
    await peer.settle();
    const others = peer.notifications().slice(1);
    expect(others.map(({ method }) => method)).toEqual(["notifications/progress", "notifications/message"]);
    for (const { params } of others) expect(params).not.toHaveProperty("_meta");
  });

  test("that the client cancels is silent and answers nothing; the others go on", async () => {
    const { server, change } = createWatched();
    const peer = await openPeer(server, modern);
    await listen(peer, all, "first");
    await listen(peer, all, "second");
    const before = peer.messages.length;
    peer.notify("notifications/cancelled", { requestId: "first", reason: "enough" });
    await peer.settle();
    change.tools();
    await peer.settle();
    expect(peer.messages).toHaveLength(before + 1);
    expect(toldTo(peer, "second").at(-1)).toEqual(["tools/list_changed", {}]);
    expect(toldTo(peer, "first")).toHaveLength(1);
    // Its id is free again.
    await listen(peer, { toolsListChanged: true }, "first");
    change.tools();
    await peer.settle();
    expect(
      toldTo(peer, "first")
        .map(([method]) => method)
        .slice(1),
    ).toEqual(["subscriptions/acknowledged", "tools/list_changed"]);
  });

  test("ends with its connection: a new one hears nothing until it listens itself", async () => {
    covers("subscription-no-state-kept");
    const { server, change } = createWatched();
    const first = await openPeer(server, modern);
    await listen(first, { ...all, resourceSubscriptions: ["x://a"] }, "L");
    first.raw.close();
    const second = await openPeer(server, modern);
    await second.call("tools/list");
    change.tools();
    server.resourceUpdated("x://a");
    await second.settle();
    expect(second.notifications()).toEqual([]);
    expect(first.messages).toHaveLength(1);
  });
});

describe("a server that closes", () => {
  test("ends every subscription: the notification that names it, then its result, then the channel", async () => {
    covers([
      "subscription-server-cancelled",
      "subscription-graceful-result",
      "subscription-graceful-result-id",
      "cancel-params",
    ]);
    const { server } = createWatched();
    const peer = await openPeer(server, modern);
    await listen(peer, all, 5);
    await listen(peer, {}, "5");
    const before = peer.messages.length;
    await server.close();
    await peer.ended();
    const told = peer.messages.slice(before);
    for (const id of [5, "5"]) {
      const mine = told.filter((message) => message.id === id || message.params?.requestId === id);
      const notice = {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: id, reason: "The server is closing" },
      };
      expect(mine).toEqual([
        // A stream that carries nothing else ends with its result.
        ...(isOneChannel ? [notice] : []),
        {
          jsonrpc: "2.0",
          id,
          result: { resultType: "complete", _meta: { [idKey]: id, [serverKey]: { name: "quiet", version: "1.0.0" } } },
        },
      ]);
    }
    expect(told).toHaveLength(isOneChannel ? 4 : 2);
  });

  test("does so on the connections that it closes, one or all", async () => {
    const { server, change } = createWatched();
    const raw = createRawPeer(server);
    const other = await openPeer(server, modern);
    const meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    raw.send({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: { notifications: all, _meta: meta } });
    await raw.settle();
    await listen(other, all, "still");
    raw.serving.close();
    await raw.closed;
    expect((raw.received as Message[]).map(({ method, id }) => method ?? id)).toEqual([
      "notifications/subscriptions/acknowledged",
      "notifications/cancelled",
      1,
    ]);
    change.tools();
    await other.settle();
    expect(toldTo(other, "still").at(-1)).toEqual(["tools/list_changed", {}]);
  });
});

test.each(revisions.filter((revision) => revision !== modern))(
  "there is nothing to listen to in %s",
  async (revision) => {
    const only = await openPeer(createWatched().server, revision, { revisions: [revision] });
    expect((await only.fail("subscriptions/listen", { notifications: all })).code).toBe(-32601);
    expect(only.notifications()).toEqual([]);
  },
);
