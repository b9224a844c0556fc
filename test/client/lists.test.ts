// Lists: tools, resources, resource templates and prompts, page by page or all at once.
import { type Client, createServer, type List, revisions } from "plenum";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { eachWay, errorOf, modern, open, openScript, openServer } from "./harness.ts";
import { createScript, type Obj, opening } from "./script.ts";

interface Kind {
  readonly method: string;
  readonly member: string;
  list(client: Client): List<object>;
  /** An item as a server gives it. */
  item(n: number): Obj;
}

const kinds: readonly Kind[] = [
  {
    method: "tools/list",
    member: "tools",
    list: (client) => client.listTools(),
    item: (n) => ({ name: `tool-${n}`, inputSchema: { type: "object" } }),
  },
  {
    method: "resources/list",
    member: "resources",
    list: (client) => client.listResources(),
    item: (n) => ({ uri: `note://${n}`, name: `note-${n}` }),
  },
  {
    method: "resources/templates/list",
    member: "resourceTemplates",
    list: (client) => client.listResourceTemplates(),
    item: (n) => ({ uriTemplate: `note://${n}/{id}`, name: `notes-${n}` }),
  },
  {
    method: "prompts/list",
    member: "prompts",
    list: (client) => client.listPrompts(),
    item: (n) => ({ name: `prompt-${n}` }),
  },
];

const everything = { tools: {}, resources: {}, prompts: {} };

async function walk<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

test.each(eachWay())("all of each list in $revision over $transport", async ({ revision, transport }) => {
  covers(["page-both-flows", "page-missing-is-end", "prompt-client-pagination", "page-not-persisted"], revision);
  const whole = await open(revision, transport, { cache: false }, { pageSize: 1000 });
  const paged = await open(revision, transport, { cache: false }, { pageSize: 2 });
  for (const { list, method } of kinds) {
    const expected = await list(whole.client).all();
    expect(whole.traffic.sent(method)).toHaveLength(1);
    expect(expected.length).toBeGreaterThan(1);

    const one = list(paged.client);
    expect(await walk(one)).toEqual(expected);
    expect(await one.all()).toEqual(expected);
    const pages = await walk(one.pages());
    expect(pages.flatMap(({ items }) => items)).toEqual(expected);
    expect(pages).toHaveLength(Math.ceil(expected.length / 2));
    expect(pages.map(({ nextCursor }) => nextCursor !== undefined)).toEqual(
      pages.map((_, index) => index < pages.length - 1),
    );
    // Three walks of the same length. Each begins without a cursor, though the one before had some.
    const cursors = paged.traffic.sent(method).map(({ params }) => params?.cursor);
    expect(cursors).toHaveLength(3 * pages.length);
    expect(cursors.flatMap((cursor, index) => (cursor === undefined ? [index] : []))).toEqual([
      0,
      pages.length,
      2 * pages.length,
    ]);
  }
});

test.each(eachWay())("what is listed, in the server's order, in $revision over $transport", async (where) => {
  covers(["tool-list"], where.revision);
  const { client } = await open(where.revision, where.transport);
  const tools = await client.listTools().all();
  expect(tools.slice(0, 3).map(({ name }) => name)).toEqual(["seen", "echo", "add"]);
  expect(tools.find(({ name }) => name === "echo")).toMatchObject({
    name: "echo",
    description: "Says it back",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  });
  const add = tools.find(({ name }) => name === "add");
  expect(add?.annotations).toEqual(where.revision > "2024-11-05" ? { readOnlyHint: true } : undefined);
  expect(add?.outputSchema !== undefined).toBe(where.revision >= "2025-06-18");

  const resources = await client.listResources().all();
  expect(resources.map(({ uri }) => uri)).toEqual([
    "manual://saw",
    "photo://saw",
    "inventory://all",
    "note://one",
    "note://two",
    "note://three",
  ]);
  expect((await client.listResourceTemplates().all()).map(({ uriTemplate }) => uriTemplate)).toEqual([
    "secret://{id}",
    "note://{id}",
  ]);
  expect((await client.listPrompts().all()).map(({ name }) => name)).toEqual(["interview", "greet"]);
});

test.each(eachWay())(
  "a list that is left early asks for no further page in $revision over $transport",
  async (where) => {
    const { client, traffic } = await open(where.revision, where.transport, {}, { pageSize: 1 });
    for (const { list, method } of kinds) {
      for await (const _ of list(client)) break;
      for await (const page of list(client).pages()) {
        expect(page.items).toHaveLength(1);
        break;
      }
      // Nothing that was under way is still to come.
      await client.ping();
      expect(traffic.sent(method)).toHaveLength(2);
    }
  },
);

test.each(eachWay())("nothing is asked before the list is looked at in $revision over $transport", async (where) => {
  const { client, traffic } = await open(where.revision, where.transport);
  const lists = kinds.map(({ list }) => list(client));
  await client.ping();
  for (const { method } of kinds) expect(traffic.sent(method)).toEqual([]);
  for (const list of lists) expect((await list.all()).length).toBeGreaterThan(0);
});

// Servers by hand from here on: what no well-behaved one does.

/** Gives pages of these sizes, with these cursors behind all but the last. */
function servePages(kind: Kind, sizes: readonly number[], cursors: readonly string[]) {
  return ({ method, params }: { method?: string; params?: Obj }) => {
    if (method !== kind.method) return undefined;
    const index = params?.cursor === undefined ? 0 : cursors.indexOf(params.cursor as string) + 1;
    if (index === 0 && params?.cursor !== undefined) return { error: { code: -32602, message: "Unknown cursor" } };
    const before = sizes.slice(0, index).reduce((sum, size) => sum + size, 0);
    const items = Array.from({ length: sizes[index] as number }, (_, n) => kind.item(before + n));
    const nextCursor = cursors[index];
    return { result: { ...wrap({ [kind.member]: items }), ...(nextCursor !== undefined && { nextCursor }) } };
  };
}

/** What a result of 2026-07-28 has besides; older revisions take no notice. */
function wrap(result: Obj): Obj {
  return { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result };
}

const oddCursors = ["ключ 🗝 \\ \" ' \u0000 \u2028", "  ", '{"page":3}', ""];

test.each(revisions)("pages of any size and cursors of any form in %s", async (revision) => {
  covers(["page-size-not-fixed", "page-opaque", "page-empty-string-cursor"], revision);
  const sizes = [3, 0, 7, 1, 2];
  for (const kind of kinds) {
    const script = createScript(revision, opening(revision, everything, servePages(kind, sizes, oddCursors)));
    const client = await openScript(script.target, { revision });
    const items = await kind.list(client).all();
    expect(items).toEqual(Array.from({ length: 13 }, (_, n) => kind.item(n)));
    expect(script.of(kind.method).map(({ params }) => params?.cursor)).toEqual([undefined, ...oddCursors]);
  }
});

test.each(revisions)("no cursor outlives the connection in %s", async (revision) => {
  covers(["page-not-persisted"], revision);
  for (const kind of kinds) {
    const script = createScript(revision, opening(revision, everything, servePages(kind, [1, 1], ["next"])));
    for (let connection = 0; connection < 2; connection++) {
      const client = await openScript(script.target, { revision });
      for await (const _ of kind.list(client)) break;
      await client.close();
    }
    expect(script.of(kind.method).map(({ params }) => params?.cursor)).toEqual([undefined, undefined]);
  }
});

test.each(revisions)("a cursor that is no text is refused in %s", async (revision) => {
  covers(["page-cursor-string"], revision);
  for (const kind of kinds) {
    const answer = ({ method }: { method?: string }) =>
      method === kind.method
        ? { result: { ...wrap({ [kind.member]: [kind.item(1)] }), nextCursor: 2 as unknown as string } }
        : undefined;
    const script = createScript(revision, opening(revision, everything, answer));
    const client = await openScript(script.target, { revision });
    const error = await errorOf(kind.list(client).all());
    expect(error.code).toBe("invalid_result");
    expect(error.message).toContain("nextCursor");
  }
});

test.each(revisions)("what the server did not declare is not asked for in %s", async (revision) => {
  covers(
    [
      "tool-invocation-needs-capability",
      "lifecycle-operation-capabilities",
      "lifecycle-operation-capabilities-2025-06",
      "lifecycle-handle-capability-failure",
      "prompt-respect-capabilities",
    ],
    revision,
  );
  const bare = createServer({ name: "bare", version: "1.0.0", logging: false });
  const { client, traffic } = await openServer(bare, revision, { onResourceUpdated() {} });
  const before = traffic.sent().length;
  const calls: [string, () => Promise<unknown>][] = [
    ["tools", () => client.listTools().all()],
    ["tools", () => client.callTool("echo", { text: "hello" })],
    ["resources", () => client.listResources().all()],
    ["resources", () => client.listResourceTemplates().all()],
    ["resources", () => client.readResource("note://one")],
    ["resources.subscribe", () => client.subscribe("note://one")],
    ["prompts", () => client.listPrompts().all()],
    ["prompts", () => client.getPrompt("greet", { name: "Ada" })],
    ["logging", () => client.setLogLevel("debug")],
    ["tools", () => client.request("tools/call", { name: "echo" })],
  ];
  for (const [capability, call] of calls) {
    const error = await errorOf(call());
    expect(error.code, capability).toBe("method_not_found");
    expect(error.message).toContain(`the server capability ${capability}`);
  }
  expect(traffic.sent()).toHaveLength(before);

  // Completion has a capability from 2025-03-26 on; before, only the server knows.
  const complete = await errorOf(client.complete({ type: "ref/prompt", name: "greet" }, { name: "name", value: "A" }));
  expect(complete.code).toBe(revision === "2024-11-05" ? "peer_error" : "method_not_found");
  expect(traffic.sent()).toHaveLength(revision === "2024-11-05" ? before + 1 : before);
  await client.ping();
});

test("a method of another revision is not sent", async () => {
  covers(["rpc-removed-methods-2026"], modern);
  const { client, traffic } = await open(modern, "memory");
  const before = traffic.sent().length;
  for (const method of ["ping", "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]) {
    const error = await errorOf(client.request(method, { uri: "note://one", level: "info" }));
    expect(error.code).toBe("method_not_found");
  }
  expect(() => client.notify("notifications/initialized")).toThrow("sends no notifications/initialized");
  expect(traffic.sent()).toHaveLength(before);
});
