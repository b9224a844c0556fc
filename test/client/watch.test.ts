// Changes in 2026-07-28: one `subscriptions/listen` request at a time, which names all that is watched.
import type { ClientOptions } from "plenum";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, modern } from "./harness.ts";
import {
  createScript,
  loadClient,
  type Obj,
  opening,
  openScript,
  type Script,
  type Sent,
  settle,
  type Wire,
} from "./script.ts";

// What is loaded on demand is loaded ahead: a clock that stands still does not wait for files.
beforeAll(loadClient);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const everything = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
};
const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/** Says that a listen request is taken, whole or in part. */
function acknowledge(wire: Wire, listen: Sent, honoured = listen.params?.notifications): void {
  wire.send(acknowledgement(listen, honoured));
}

function acknowledgement({ id, params }: Sent, honoured = params?.notifications): Obj {
  const _meta = { [subscriptionId]: id };
  return {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: honoured, _meta },
  };
}

type OnListen = (message: Sent, wire: Wire) => void;

/** A client of a server that takes every listen request, unless told; with all that was heard and warned of. */
async function stage(options: ClientOptions = {}, capabilities: Obj = everything, onListen?: OnListen) {
  const script = createScript(
    modern,
    opening(modern, capabilities, (message, wire) => {
      if (message.method === "subscriptions/listen")
        (onListen ?? ((listen, to) => acknowledge(to, listen)))(message, wire);
      return undefined;
    }),
  );
  const heard: string[] = [];
  const warnings: string[] = [];
  const client = await openScript(script, {
    onResourceUpdated: (uri) => heard.push(uri),
    onWarning: (problem) => warnings.push(problem),
    ...options,
  });
  return { script, client, heard, warnings, tell: teller(script) };
}

/** Tells of an update on a subscription. */
function teller(script: Script) {
  return async (uri: string, id: unknown): Promise<void> => {
    script.wire.notify("notifications/resources/updated", {
      uri,
      ...(id !== undefined && { _meta: { [subscriptionId]: id } }),
    });
    await settle();
  };
}

const listens = (script: Script): Sent[] => script.of("subscriptions/listen");
const filters = (script: Script): unknown[] => listens(script).map(({ params }) => params?.notifications);
const cancelled = (script: Script): unknown[] =>
  script.of("notifications/cancelled").map(({ params }) => params?.requestId);

describe("what is asked for", () => {
  test("resources, by their URIs; settled when the server has taken it", async () => {
    covers(["subscription-filter-required", "meta-required-fields", "rpc-support-core-2026"], modern);
    const { client, script, heard, tell } = await stage({}, everything, () => {});
    let isDone = false;
    const done = client.subscribe("file:///a").then(() => {
      isDone = true;
    });
    const listen = await script.heard("subscriptions/listen");
    expect(listen.params).toEqual({
      notifications: { resourceSubscriptions: ["file:///a"] },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": modern,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": expect.anything(),
      },
    });
    await settle();
    expect(isDone).toBe(false);
    acknowledge(script.wire, listen);
    await done;
    await tell("file:///a", listen.id);
    expect(heard).toEqual(["file:///a"]);
  });

  test("lists, where somebody listens, as far as the server tells of them", async () => {
    covers("subscription-filter-required", modern);
    const onListChanged = (): void => {};
    const all = await stage({ onListChanged });
    expect(filters(all.script)).toEqual([
      { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
    ]);
    const some = await stage(
      { onListChanged },
      { tools: { listChanged: true }, prompts: {}, resources: { listChanged: false } },
    );
    expect(filters(some.script)).toEqual([{ toolsListChanged: true }]);
    const none = await stage({ onListChanged }, { tools: {} });
    expect(listens(none.script)).toEqual([]);
    const nobody = await stage();
    expect(listens(nobody.script)).toEqual([]);
  });

  test("nothing that the server does not offer", async () => {
    const { client, script } = await stage({}, { resources: { listChanged: true } });
    expect((await errorOf(client.subscribe("file:///a"))).code).toBe("method_not_found");
    expect(listens(script)).toEqual([]);
  });

  test("nothing twice, and all of what is asked for side by side", async () => {
    const { client, script } = await stage();
    await Promise.all([client.subscribe("file:///a"), client.subscribe("file:///a"), client.subscribe("file:///b")]);
    await client.subscribe("file:///b");
    await client.unsubscribe("file:///unknown");
    expect(filters(script)).toEqual([
      { resourceSubscriptions: ["file:///a"] },
      { resourceSubscriptions: ["file:///a", "file:///b"] },
    ]);
  });
});

describe("what the server takes of it", () => {
  test("a resource that it does not is an error, and what was watched before still is", async () => {
    covers("subscription-client-checks-ack", modern);
    const { client, script, heard, tell } = await stage({}, everything, (listen, wire) =>
      acknowledge(wire, listen, { resourceSubscriptions: ["file:///a"] }),
    );
    await client.subscribe("file:///a");
    const error = await errorOf(client.subscribe("file:///b"));
    expect(error.code).toBe("resource_not_found");
    expect(error.message).toContain("file:///b");
    await settle();
    const [first, second] = listens(script);
    expect(cancelled(script)).toEqual([second?.id]);
    await tell("file:///a", first?.id);
    expect(heard).toEqual(["file:///a"]);
    // And is not asked for again.
    await errorOf(client.subscribe("file:///c"));
    expect(filters(script).at(-1)).toEqual({ resourceSubscriptions: ["file:///a", "file:///c"] });
  });

  test.each<[string, unknown]>([
    ["nothing", {}],
    ["nothing at all", undefined],
    ["text", { resourceSubscriptions: "file:///a and more" }],
    ["another", { resourceSubscriptions: ["file:///aa"] }],
  ])("%s: an error", async (_, honoured) => {
    covers("subscription-client-checks-ack", modern);
    const { client, script } = await stage({}, everything, ({ id }, wire) =>
      wire.notify("notifications/subscriptions/acknowledged", {
        notifications: honoured,
        _meta: { [subscriptionId]: id },
      }),
    );
    expect((await errorOf(client.subscribe("file:///a"))).code).toBe("resource_not_found");
    await settle();
    expect(cancelled(script)).toEqual([listens(script)[0]?.id]);
  });

  test("a list that it does not tell of is a warning", async () => {
    covers("subscription-client-checks-ack", modern);
    const kinds: string[] = [];
    const { script, warnings } = await stage(
      { onListChanged: (kind) => kinds.push(kind) },
      { tools: { listChanged: true }, prompts: { listChanged: true } },
      (listen, wire) => acknowledge(wire, listen, { toolsListChanged: true }),
    );
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("promptsListChanged");
    const [listen] = listens(script);
    script.wire.notify("notifications/tools/list_changed", { _meta: { [subscriptionId]: listen?.id } });
    await settle();
    expect(kinds).toEqual(["tools"]);
  });

  test("an error is the subscriber's", async () => {
    const { client } = await stage({}, everything, ({ id }, wire) =>
      wire.send({ jsonrpc: "2.0", id, error: { code: -32603, message: "Too many" } }),
    );
    expect(await errorOf(client.subscribe("file:///a"))).toMatchObject({ code: "peer_error", rpcCode: -32603 });
  });

  test("a failure to listen to lists is a warning: the client opens all the same", async () => {
    const { client, warnings } = await stage({ onListChanged: () => {} }, everything, ({ id }, wire) =>
      wire.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "What?" } }),
    );
    expect(client.state).toBe("open");
    expect(warnings[0]).toContain("Changes of lists are not heard");
  });

  test("a result before the acknowledgement is an error", async () => {
    const { client, script } = await stage({}, everything, ({ id }, wire) =>
      wire.send({ jsonrpc: "2.0", id, result: { resultType: "complete", _meta: { [subscriptionId]: id } } }),
    );
    expect((await errorOf(client.subscribe("file:///a"))).code).toBe("invalid_result");
    await settle();
    expect(cancelled(script)).toEqual([]);
  });

  const ends: [string, (id: unknown) => Obj][] = [
    ["result", (id) => ({ id, result: { resultType: "complete", _meta: { [subscriptionId]: id } } })],
    ["cancellation", (requestId) => ({ method: "notifications/cancelled", params: { requestId } })],
  ];
  const ways = ends.flatMap(([name, end]) => [true, false].map((isOneChunk) => ({ name, end, isOneChunk })));

  test.each(ways)(
    "an acknowledgement with a $name right behind it (in one chunk: $isOneChunk)",
    async ({ name, end, isOneChunk }) => {
      const { client, script, warnings } = await stage({}, everything, (listen, wire) => {
        const messages = [acknowledgement(listen), { jsonrpc: "2.0", ...end(listen.id) }];
        if (isOneChunk) wire.send(...messages);
        else for (const one of messages) wire.send(one);
      });
      const told = await client.subscribe("file:///a").then(
        () => "subscribed",
        () => "refused",
      );
      await settle();
      // Whoever subscribed knows that nothing will be heard.
      if (told === "subscribed") expect(warnings).toHaveLength(1);
      if (name === "cancellation" && isOneChunk) expect(told).toBe("refused");
      expect(cancelled(script)).toEqual([]);
      await client.subscribe("file:///a").catch(() => {});
      expect(listens(script)).toHaveLength(2);
    },
  );

  test("acknowledgements of what was not asked for are ignored", async () => {
    const { client, script } = await stage({}, everything, ({ id }, wire) => {
      for (const other of [String(id), Number(id) + 1, undefined, "", {}])
        acknowledge(wire, { id: other as number, params: { notifications: { resourceSubscriptions: ["file:///a"] } } });
    });
    const subscribing = errorOf(client.subscribe("file:///a", { timeoutMs: 100 }));
    await script.heard("subscriptions/listen");
    await settle();
    await vi.advanceTimersByTimeAsync(100);
    expect((await subscribing).code).toBe("timeout");
  });
});

describe("clocks", () => {
  test("without an acknowledgement it is given up, and the server told", async () => {
    const { client, script } = await stage({}, everything, () => {});
    const subscribing = errorOf(client.subscribe("file:///a", { timeoutMs: 500 }));
    const { id } = await script.heard("subscriptions/listen");
    await vi.advanceTimersByTimeAsync(500);
    const error = await subscribing;
    expect(error.code).toBe("timeout");
    expect(error.message).toContain("500 ms");
    await settle();
    expect(cancelled(script)).toEqual([id]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("once it is taken no clock runs for it", async () => {
    const { client, script, heard, tell } = await stage({ timeoutMs: 500, maxTimeoutMs: 1000 });
    await client.subscribe("file:///a", { timeoutMs: 100, maxTimeoutMs: 100 });
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(cancelled(script)).toEqual([]);
    await tell("file:///a", listens(script)[0]?.id);
    expect(heard).toEqual(["file:///a"]);
  });

  test("an abort ends the subscribing, not the subscription", async () => {
    let isTaken = false;
    const { client, script } = await stage({}, everything, (listen, wire) => {
      if (isTaken) acknowledge(wire, listen);
    });
    const controller = new AbortController();
    const subscribing = errorOf(client.subscribe("file:///a", { signal: controller.signal }));
    const { id } = await script.heard("subscriptions/listen");
    controller.abort("no");
    expect(await subscribing).toMatchObject({ code: "aborted", cause: "no" });
    await settle();
    expect(cancelled(script)).toEqual([id]);
    isTaken = true;
    const later = new AbortController();
    await client.subscribe("file:///a", { signal: later.signal });
    later.abort();
    await settle();
    expect(cancelled(script)).toEqual([id]);
  });
});

describe("what is heard", () => {
  test("only what comes on a subscription of ours, by its id as it is", async () => {
    covers("subscription-stdio-correlation", modern);
    const kinds: string[] = [];
    const { client, script, heard, tell } = await stage({ onListChanged: (kind) => kinds.push(kind) });
    await client.subscribe("file:///a");
    const [lists, all] = listens(script);
    for (const id of [undefined, null, String(all?.id), Number(all?.id) + 1, "", {}, lists?.id]) {
      await tell("file:///a", id);
      script.wire.notify("notifications/tools/list_changed", { _meta: { [subscriptionId]: id } });
    }
    await settle();
    expect([heard, kinds]).toEqual([[], []]);
    await tell("file:///a", all?.id);
    script.wire.notify("notifications/tools/list_changed", { _meta: { [subscriptionId]: all?.id } });
    await settle();
    expect([heard, kinds]).toEqual([["file:///a"], ["tools"]]);
  });

  test("nothing is missed while one takes the place of another", async () => {
    covers(["subscription-stdio-correlation", "subscription-client-cancel-stdio"], modern);
    const waiting: Sent[] = [];
    const { client, script, heard, tell } = await stage({}, everything, (listen) => void waiting.push(listen));
    const first = client.subscribe("file:///a");
    await script.heard("subscriptions/listen");
    acknowledge(script.wire, waiting[0] as Sent);
    await first;
    const second = client.subscribe("file:///b");
    await script.heard("subscriptions/listen", 2);
    // The old one is not ended before the new one is taken.
    await settle();
    expect(cancelled(script)).toEqual([]);
    await tell("file:///a", waiting[0]?.id);
    expect(heard).toEqual(["file:///a"]);
    acknowledge(script.wire, waiting[1] as Sent);
    await second;
    await settle();
    expect(cancelled(script)).toEqual([waiting[0]?.id]);
    await tell("file:///a", waiting[0]?.id);
    expect(heard).toEqual(["file:///a"]);
    await tell("file:///b", waiting[1]?.id);
    expect(heard).toEqual(["file:///a", "file:///b"]);
    expect(script.order.slice(1)).toEqual(["subscriptions/listen", "subscriptions/listen", "notifications/cancelled"]);
  });

  test("what is malformed is a warning", async () => {
    const { client, script, heard, warnings } = await stage();
    await client.subscribe("file:///a");
    const [listen] = listens(script);
    script.wire.notify("notifications/resources/updated", { _meta: { [subscriptionId]: listen?.id } });
    await settle();
    expect(heard).toEqual([]);
    expect(warnings).toHaveLength(1);
  });
});

describe("the end", () => {
  test("unsubscribing the last ends it, and nothing is heard from then on", async () => {
    covers("subscription-client-cancel-stdio", modern);
    const { client, script, heard, warnings, tell } = await stage();
    await client.subscribe("file:///a");
    await client.subscribe("file:///b");
    await client.unsubscribe("file:///a");
    expect(filters(script).at(-1)).toEqual({ resourceSubscriptions: ["file:///b"] });
    await client.unsubscribe("file:///b");
    await settle();
    const ids = listens(script).map(({ id }) => id);
    expect(ids).toHaveLength(3);
    expect(cancelled(script)).toEqual(ids);
    for (const id of ids) await tell("file:///b", id);
    // Nor is its answer, should one come.
    script.wire.send({
      jsonrpc: "2.0",
      id: ids[2],
      result: { resultType: "complete", _meta: { [subscriptionId]: ids[2] } },
    });
    await settle();
    expect([heard, warnings]).toEqual([[], []]);
    expect(cancelled(script)).toEqual(ids);
  });

  const result = (id: unknown): Obj => ({ id, result: { resultType: "complete", _meta: { [subscriptionId]: id } } });
  const cancel = (requestId: unknown): Obj => ({ method: "notifications/cancelled", params: { requestId } });

  test.each<[string, (id: unknown) => Obj[]]>([
    ["with a result", (id) => [result(id)]],
    ["by cancelling it", (id) => [cancel(id)]],
    ["in both ways", (id) => [cancel(id), result(id)]],
    ["in both ways, the other way round", (id) => [result(id), cancel(id)]],
    ["with an error", (id) => [{ id, error: { code: -32603, message: "shutting down" } }]],
  ])("a server that ends it %s: one warning, and nothing is sent back", async (_, ends) => {
    covers("subscription-client-accepts-both-ends", modern);
    const { client, script, heard, warnings, tell } = await stage();
    await client.subscribe("file:///a");
    const [listen] = listens(script);
    for (const end of ends(listen?.id)) script.wire.send({ jsonrpc: "2.0", ...end });
    await settle();
    expect(warnings).toEqual(["The server ended the subscription: changes are not heard any more"]);
    await tell("file:///a", listen?.id);
    expect(heard).toEqual([]);
    expect(cancelled(script)).toEqual([]);
    expect(client.state).toBe("open");
    // Asked for once more, it is opened anew.
    await client.subscribe("file:///a");
    await tell("file:///a", listens(script)[1]?.id);
    expect(heard).toEqual(["file:///a"]);
  });

  test("with the connection it ends too, which is told as such", async () => {
    covers("subscription-client-accepts-both-ends", modern);
    const states: string[] = [];
    const { client, script, warnings } = await stage({ onStateChange: (state) => states.push(state) });
    await client.subscribe("file:///a");
    script.wire.close();
    await settle();
    expect(states).toEqual(["connecting", "open", "closed"]);
    expect(warnings).toEqual([]);
  });

  test("a client that closes is not warned of it", async () => {
    const { client, warnings } = await stage({ onListChanged: () => {} });
    await client.subscribe("file:///a");
    await client.close();
    await settle();
    expect(warnings).toEqual([]);
  });

  test("a cancellation of another request of ours ends nothing", async () => {
    const { client, script, heard, warnings, tell } = await stage();
    await client.subscribe("file:///a");
    const [listen] = listens(script);
    for (const id of [1, String(listen?.id), 999]) script.wire.send({ jsonrpc: "2.0", ...cancel(id) });
    await tell("file:///a", listen?.id);
    expect([heard, warnings]).toEqual([["file:///a"], []]);
  });
});
