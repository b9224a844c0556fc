// Resources: read, and watched for changes.
import { type Revision, revisions } from "plenum";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { each, errorOf, hasOwnStreams, modern, open, openScript } from "./harness.ts";
import { createInbox } from "./inbox.ts";
import { createScript, opening, type Wire } from "./script.ts";
import type { Traffic } from "./traffic.ts";

test.each(each())("text, bytes and values in $revision over $transport", async ({ revision, transport }) => {
  covers(["resource-read"], revision);
  const { client } = await open(revision, transport);
  expect((await client.readResource("manual://saw")).contents).toEqual([
    { uri: "manual://saw", mimeType: "text/plain", text: "Push and pull." },
  ]);
  expect((await client.readResource("photo://saw")).contents).toEqual([
    { uri: "photo://saw", mimeType: "image/png", blob: "iVBORw==" },
  ]);
  const [inventory] = (await client.readResource("inventory://all")).contents;
  expect(inventory?.mimeType).toBe("application/json");
  expect(JSON.parse((inventory as { text: string }).text)).toEqual({ saws: 2, hammers: 1 });
  expect((await client.readResource("note://two")).contents).toMatchObject([{ uri: "note://two", text: "second" }]);
});

test.each(each())("a resource that there is not in $revision over $transport", async ({ revision, transport }) => {
  covers(["resource-not-found", "resource-not-found-2026", "rpc-error-no-32002"], revision);
  const { client, traffic } = await open(revision, transport);
  for (const uri of ["note://nothing", "manual://hammer", "nothing:at:all"]) {
    const error = await errorOf(client.readResource(uri));
    expect(error.code).toBe("resource_not_found");
    expect(error.message).toContain(uri);
    expect(error.data).toEqual({ uri });
    const answer = traffic.answerTo(traffic.sent("resources/read").at(-1));
    expect(answer?.error?.code).toBe(revision === modern ? -32602 : -32002);
  }
  expect((await client.readResource("note://one")).contents).toHaveLength(1);
});

test.each(revisions)("either number means that there is no such resource in %s", async (revision) => {
  covers(["resource-not-found-accept-32002"], revision);
  const script = createScript(
    revision,
    opening(revision, { resources: {} }, ({ method, params }) => {
      if (method !== "resources/read") return undefined;
      const code = Number(new URL(params?.uri as string).pathname);
      return { error: { code, message: "No", data: { code } } };
    }),
  );
  const client = await openScript(script.target, { revision });
  for (const code of [-32002, -32602]) {
    const error = await errorOf(client.readResource(`code:${code}`));
    expect(error).toMatchObject({ code: "resource_not_found", data: { code } });
    expect(error.cause).toMatchObject({ code: "peer_error", rpcCode: code });
  }
  for (const code of [-32001, -32603, 404]) {
    expect(await errorOf(client.readResource(`code:${code}`))).toMatchObject({ code: "peer_error", rpcCode: code });
  }
});

/** What the server was asked to watch, in the order in which it was told. */
function watchedIn(traffic: Traffic, revision: Revision): unknown[] {
  if (revision === modern) return traffic.sent("subscriptions/listen").map(({ params }) => params?.notifications);
  return traffic.sent().flatMap(({ method, params }) => {
    if (method === "resources/subscribe") return [`+${params?.uri}`];
    return method === "resources/unsubscribe" ? [`-${params?.uri}`] : [];
  });
}

test.each(each())("updates of what is watched, and of nothing else, in $revision over $transport", async (where) => {
  const { revision } = where;
  covers(
    [
      "resource-unsubscribe",
      "resource-subscribe",
      "resource-updates-need-subscription",
      "subscription-resource-updates",
      "subscription-filter-required",
      "subscription-client-cancel-stdio",
      "subscription-stdio-correlation",
      "rpc-support-core-2026",
    ],
    revision,
  );
  const updates = createInbox<string>();
  const { client, traffic } = await open(revision, where.transport, { onResourceUpdated: updates.put });
  const write = (id: string, text = "new"): Promise<unknown> => client.callTool("write", { id, text });

  // Nothing is watched yet.
  await write("one");
  // News go out with the next turn: these are not to come behind the subscription.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await client.subscribe("note://one");
  await write("two");
  await write("one");
  expect(await updates.first(1)).toEqual(["note://one"]);

  await client.subscribe("note://two");
  // Watched already: nothing changes.
  await client.subscribe("note://two");
  await write("three");
  await write("two");
  await write("one");
  expect(await updates.first(3)).toEqual(["note://one", "note://two", "note://one"]);

  await client.unsubscribe("note://one");
  await client.unsubscribe("note://one");
  await client.unsubscribe("note://never");
  await write("one");
  await write("two", "last");
  expect((await updates.first(4)).at(-1)).toBe("note://two");
  expect((await client.readResource("note://two")).contents).toMatchObject([{ text: "last" }]);

  await client.unsubscribe("note://two");
  await write("two");
  await client.subscribe("note://three");
  await write("three");
  expect((await updates.first(5)).at(-1)).toBe("note://three");
  expect(updates.all).toHaveLength(5);

  expect(watchedIn(traffic, revision)).toEqual(
    revision === modern
      ? [["note://one"], ["note://one", "note://two"], ["note://two"], ["note://three"]].map((uris) => ({
          resourceSubscriptions: uris,
        }))
      : ["+note://one", "+note://two", "-note://one", "-note://two", "+note://three"],
  );
  if (revision === modern && hasOwnStreams(where.transport))
    expect(traffic.sent("notifications/cancelled")).toEqual([]);
  else if (revision === modern) {
    // Each is ended by name, the old one only when the new one stands.
    const listens = traffic.sent("subscriptions/listen").map(({ id }) => id);
    const ended = traffic.sent("notifications/cancelled").map(({ params }) => params?.requestId);
    expect(ended).toEqual(listens.slice(0, 3));
    const order = traffic.sent().flatMap(({ id, method, params }) => {
      if (method === "subscriptions/listen") return [`open ${id}`];
      return method === "notifications/cancelled" ? [`end ${params?.requestId}`] : [];
    });
    const [a, b, c, d] = listens;
    expect(order).toEqual([`open ${a}`, `open ${b}`, `end ${a}`, `open ${c}`, `end ${b}`, `end ${c}`, `open ${d}`]);
  }
});

test.each(each())("many subscriptions at once in $revision over $transport", async ({ revision, transport }) => {
  const updates = createInbox<string>();
  const { client } = await open(revision, transport, { onResourceUpdated: updates.put });
  const outcomes = await Promise.allSettled([
    client.subscribe("note://one"),
    client.subscribe("manual://hammer"),
    client.subscribe("note://two"),
    client.unsubscribe("note://one"),
    client.subscribe("note://three"),
  ]);
  // One that fails takes no other with it.
  expect(outcomes.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
    "fulfilled",
  ]);
  for (const id of ["one", "two", "three"]) await client.callTool("write", { id, text: "new" });
  expect(await updates.first(2)).toEqual(["note://two", "note://three"]);
});

test.each(each())("what there is not cannot be watched in $revision over $transport", async (where) => {
  covers(["subscription-client-checks-ack"], where.revision);
  const updates = createInbox<string>();
  const { client } = await open(where.revision, where.transport, { onResourceUpdated: updates.put });
  await client.subscribe("note://one");
  const error = await errorOf(client.subscribe("manual://hammer"));
  expect(error.code).toBe("resource_not_found");
  expect(error.message).toContain("manual://hammer");
  // What was watched before still is.
  await client.callTool("write", { id: "one", text: "new" });
  expect(await updates.first(1)).toEqual(["note://one"]);
});

test.each(each())("a callback that fails is heard of, and no more, in $revision over $transport", async (where) => {
  const warnings = createInbox<string>();
  const { client } = await open(where.revision, where.transport, {
    onResourceUpdated() {
      throw new Error("no hands");
    },
    onWarning: warnings.put,
  });
  await client.subscribe("note://one");
  await client.callTool("write", { id: "one", text: "new" });
  expect(await warnings.first(1)).toEqual(["onResourceUpdated failed: no hands"]);
  expect((await client.readResource("note://one")).contents).toMatchObject([{ text: "new" }]);
});

// Servers by hand from here on, in 2026-07-28.

const idKey = "io.modelcontextprotocol/subscriptionId";

/** Acknowledges whatever is to be watched, and stays silent. */
function createWatcher() {
  return createScript(
    modern,
    opening(
      modern,
      { resources: { subscribe: true }, tools: { listChanged: true } },
      ({ id, method, params }, wire) => {
        if (method === "subscriptions/listen")
          wire.send({
            jsonrpc: "2.0",
            method: "notifications/subscriptions/acknowledged",
            params: { notifications: params?.notifications, _meta: { [idKey]: id } },
          });
        return undefined;
      },
    ),
  );
}

function sendUpdate(wire: Wire, uri: string, subscription?: unknown): void {
  const _meta = subscription === undefined ? undefined : { [idKey]: subscription };
  wire.send({
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri, ...(_meta && { _meta }) },
  });
}

test("an update that belongs to no subscription of ours is not heard", async () => {
  covers(["subscription-stdio-correlation"], modern);
  const updates = createInbox<string>();
  const warnings: string[] = [];
  const script = createWatcher();
  const client = await openScript(script.target, {
    revision: modern,
    onResourceUpdated: updates.put,
    onWarning: (problem) => warnings.push(problem),
  });
  await client.subscribe("note://one");
  await client.subscribe("note://two");
  const [first, second] = script.of("subscriptions/listen").map(({ id }) => id);
  sendUpdate(script.wire, "note://none");
  sendUpdate(script.wire, "note://strange", "strange");
  sendUpdate(script.wire, "note://text", String(second));
  // The first one was ended when the second took its place.
  sendUpdate(script.wire, "note://ended", first);
  sendUpdate(script.wire, "note://one", second);
  expect(await updates.first(1)).toEqual(["note://one"]);
  expect(script.of("notifications/cancelled").map(({ params }) => params?.requestId)).toEqual([first]);
  expect(warnings).toEqual([]);
});

test("a subscription that the server ends is over, however it says so", async () => {
  covers(["subscription-client-accepts-both-ends"], modern);
  const updates = createInbox<string>();
  const warnings = createInbox<string>();
  const states = createInbox<string>();
  const script = createWatcher();
  const client = await openScript(script.target, {
    revision: modern,
    onResourceUpdated: updates.put,
    onWarning: warnings.put,
    onStateChange: states.put,
  });
  const ends = [
    (id: unknown) => {
      script.wire.send({ jsonrpc: "2.0", id, result: { resultType: "complete", _meta: { [idKey]: id } } });
    },
    (id: unknown) => {
      script.wire.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: "Bye" } });
    },
  ];
  for (const [index, end] of ends.entries()) {
    await client.subscribe(`note://${index}`);
    const { id } = script.of("subscriptions/listen").at(-1) ?? {};
    end(id);
    expect((await warnings.first(index + 1)).at(-1)).toContain("The server ended the subscription");
    // What comes all the same is not heard any more.
    sendUpdate(script.wire, `note://late-${index}`, id);
  }
  await client.subscribe("note://more");
  const last = script.of("subscriptions/listen").at(-1);
  // Whatever is still wanted is asked for again with the next change.
  expect(last?.params?.notifications).toEqual({ resourceSubscriptions: ["note://0", "note://1", "note://more"] });
  expect(script.of("notifications/cancelled")).toEqual([]);
  sendUpdate(script.wire, "note://more", last?.id);
  expect(await updates.first(1)).toEqual(["note://more"]);

  script.wire.close();
  expect(await states.first(3)).toEqual(["connecting", "open", "closed"]);
});
