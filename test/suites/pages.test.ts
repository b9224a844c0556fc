// Pages of the four lists: complete, in order, with cursors that are opaque, sealed, bound to their list, and good while
// entries come and go.
import { createServer, type Registration, revisions, type Server } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { type Obj, openPeer, type Peer } from "./peer.ts";

const lists = [
  { method: "tools/list", member: "tools" },
  { method: "prompts/list", member: "prompts" },
  { method: "resources/list", member: "resources" },
  { method: "resources/templates/list", member: "resourceTemplates" },
] as const;
type List = (typeof lists)[number];

const letters = ["a", "b", "c", "d", "e", "f", "g"];

function register(server: Server, { member }: List, name: string): Registration {
  switch (member) {
    case "tools":
      return server.tool(name, {}, () => name);
    case "prompts":
      return server.prompt(name, {}, () => name);
    case "resources":
      return server.resource(`r:${name}`, { name }, () => name);
    case "resourceTemplates":
      return server.resource(`t-${name}:{x}`, { name }, () => name);
  }
}

function createListServer(options: { pageSize?: number; secret?: string } = {}): Server {
  return createServer({ name: "s", version: "1", pageSize: 3, ...options });
}

interface Page {
  readonly names: readonly string[];
  readonly next: string | undefined;
}

async function pageOf(peer: Peer, { method, member }: List, cursor?: string): Promise<Page> {
  const result = await peer.call(method, cursor === undefined ? {} : { cursor });
  const names = (result[member] as { name: string }[]).map(({ name }) => name);
  return { names, next: result.nextCursor as string | undefined };
}

async function pagesOf(peer: Peer, list: List): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | undefined; ; ) {
    const { names, next } = await pageOf(peer, list, cursor);
    pages.push([...names]);
    if (pages.length > 100) throw new Error("the pages do not end");
    if (next === undefined) return pages;
    cursor = next;
  }
}

describe.each(revisions)("pages in %s", (revision) => {
  test.each(lists)("$method gives everything once, in order, and says where it ends", async (list) => {
    covers(["page-operations", "page-next-cursor", "page-start-after-cursor", "schema-list-results"], revision);
    const server = createListServer();
    for (const name of letters) register(server, list, name);
    const peer = await openPeer(server, revision);
    expect(await pagesOf(peer, list)).toEqual([["a", "b", "c"], ["d", "e", "f"], ["g"]]);
    // The last page has no cursor at all, not an empty one.
    const first = await peer.call(list.method);
    const second = await peer.call(list.method, { cursor: first.nextCursor });
    expect(await peer.call(list.method, { cursor: second.nextCursor })).not.toHaveProperty("nextCursor");
  });

  test.each(lists)("$method ends exactly at a full page", async (list) => {
    covers(["page-next-cursor", "schema-list-results"], revision);
    const server = createListServer();
    for (const name of letters.slice(0, 6)) register(server, list, name);
    const peer = await openPeer(server, revision);
    expect(await pagesOf(peer, list)).toEqual([
      ["a", "b", "c"],
      ["d", "e", "f"],
    ]);
  });

  test.each(lists)("$method takes strings as cursors and nothing else", async (list) => {
    covers("page-cursor-string", revision);
    const server = createListServer();
    for (const name of letters) register(server, list, name);
    const peer = await openPeer(server, revision);
    expect((await peer.call(list.method)).nextCursor).toBeTypeOf("string");
    for (const cursor of [3, null, true, {}, ["a"]]) {
      expect((await peer.fail(list.method, { cursor })).code).toBe(-32602);
    }
  });

  test.each(lists)("$method refuses cursors that it did not give, and serves on", async (list) => {
    covers(["page-invalid-cursor-graceful", "page-invalid-cursor-code"], revision);
    const server = createListServer();
    for (const name of letters) register(server, list, name);
    const peer = await openPeer(server, revision);
    const { next = "" } = await pageOf(peer, list);
    const dot = next.indexOf(".");
    const bad = [
      ...["garbage", "", ".", "a.b", "0", "3", "💥", "x".repeat(100_000), `${next}=`, ` ${next}`, next.slice(0, -1)],
      // The seal of one position does not open another.
      `${next.slice(0, dot)}.5.0`,
      `${"a".repeat(dot)}${next.slice(dot)}`,
    ];
    for (const cursor of bad) {
      expect(await peer.fail(list.method, { cursor })).toEqual({
        code: -32602,
        message: "Invalid cursor: use nextCursor as it came",
      });
    }
    expect((await pageOf(peer, list, next)).names).toEqual(["d", "e", "f"]);
  });

  test("a cursor belongs to its list", async () => {
    covers("page-invalid-cursor-code", revision);
    const server = createListServer();
    for (const list of lists) for (const name of letters) register(server, list, name);
    const peer = await openPeer(server, revision);
    for (const from of lists) {
      const { next: cursor } = await pageOf(peer, from);
      for (const to of lists) {
        const { error } = await peer.request(to.method, { cursor });
        expect(error?.code).toBe(to === from ? undefined : -32602);
      }
    }
  });

  test.each(lists)("$method gives the same page for the same cursor, to every peer", async (list) => {
    covers("page-stable-cursors", revision);
    const server = createListServer();
    for (const name of letters) register(server, list, name);
    const [peer, other] = [await openPeer(server, revision), await openPeer(server, revision)];
    const { next } = await pageOf(peer, list);
    const second = await pageOf(peer, list, next);
    expect(second.names).toEqual(["d", "e", "f"]);
    expect(await pageOf(peer, list, next)).toEqual(second);
    expect(await pageOf(other, list, next)).toEqual(second);
    expect(await pageOf(peer, list)).toEqual({ names: ["a", "b", "c"], next });
  });

  test.each(lists)("$method: nothing is skipped or repeated while entries come and go", async (list) => {
    covers(["page-stable-cursors", "page-start-after-cursor"], revision);
    const server = createListServer();
    const entries = letters.map((name) => register(server, list, name));
    const peer = await openPeer(server, revision);
    const { next } = await pageOf(peer, list);
    entries[0]?.remove();
    expect((await pageOf(peer, list, next)).names).toEqual(["d", "e", "f"]);
    // Also when the very entry is gone at which the page would begin.
    entries[3]?.remove();
    expect((await pageOf(peer, list, next)).names).toEqual(["e", "f", "g"]);
    entries[4]?.disable();
    register(server, list, "h");
    expect((await pageOf(peer, list, next)).names).toEqual(["f", "g", "h"]);
    entries[4]?.enable();
    expect((await pageOf(peer, list, next)).names).toEqual(["e", "f", "g"]);
    // One that is registered again goes to the end: it was not missed, it is new.
    register(server, list, "a");
    expect(await pagesOf(peer, list)).toEqual([["b", "c", "e"], ["f", "g", "h"], ["a"]]);
    for (const entry of entries.slice(4)) entry.remove();
    expect((await pageOf(peer, list, next)).names).toEqual(["h", "a"]);
  });

  test("a cursor that leads past the end gives an empty last page", async () => {
    covers(["page-stable-cursors", "schema-list-results"], revision);
    const server = createListServer();
    const entries = letters.map((name) => register(server, lists[0], name));
    const peer = await openPeer(server, revision);
    const { next } = await pageOf(peer, lists[0]);
    for (const entry of entries.slice(3)) entry.remove();
    expect(await pageOf(peer, lists[0], next)).toEqual({ names: [], next: undefined });
  });

  test("a thousand tools come in pages by default", async () => {
    covers(["page-operations", "page-next-cursor"], revision);
    const server = createServer({ name: "s", version: "1" });
    const names = Array.from({ length: 1000 }, (_, index) => `tool-${index}`);
    for (const name of names) server.tool(name, {}, () => name);
    const peer = await openPeer(server, revision);
    const pages = await pagesOf(peer, lists[0]);
    expect(pages.map(({ length }) => length)).toEqual([250, 250, 250, 250]);
    expect(pages.flat()).toEqual(names);
  });

  test("what a caller may not see takes no place on its pages", async () => {
    covers(["page-next-cursor", "tool-access-control"], revision);
    const server = createListServer();
    for (const [index, name] of letters.entries()) {
      server.tool(name, index % 2 === 1 ? { visible: (ctx) => ctx.auth?.subject === "ada" } : {}, () => name);
    }
    const peer = await openPeer(server, revision);
    const ada = await openPeer(server, revision, { sender: { auth: { subject: "ada", scopes: [] } } });
    expect(await pagesOf(peer, lists[0])).toEqual([["a", "c", "e"], ["g"]]);
    expect(await pagesOf(ada, lists[0])).toEqual([["a", "b", "c"], ["d", "e", "f"], ["g"]]);
    // A cursor is a place, not a permission.
    const { next } = await pageOf(ada, lists[0]);
    expect((await pageOf(peer, lists[0], next)).names).toEqual(["e", "g"]);
  });

  test("the resources that templates list are paged with the others", async () => {
    covers(["page-operations", "page-next-cursor", "page-stable-cursors"], revision);
    const server = createListServer();
    const list = lists[2];
    const listed = (prefix: string, count: number): { uri: string; name: string }[] =>
      Array.from({ length: count }, (_, index) => ({ uri: `${prefix}:${index}`, name: `${prefix}${index}` }));
    server.resource("first:1", { name: "first" }, () => "1");
    server.resource("p:{x}", { list: () => listed("p", 4) }, () => "p");
    server.resource("empty:{x}", { list: () => [] }, () => "e");
    server.resource("q:{x}", { list: async () => listed("q", 5) }, () => "q");
    const peer = await openPeer(server, revision);
    expect(await pagesOf(peer, list)).toEqual([["first", "p0", "p1"], ["p2", "p3", "q0"], ["q1", "q2", "q3"], ["q4"]]);
  });

  test("nodes that share a secret share cursors, and others do not", async () => {
    covers(["page-stable-cursors", "page-invalid-cursor-code"], revision);
    const peerOf = async (secret?: string): Promise<Peer> => {
      const server = createListServer(secret === undefined ? {} : { secret });
      for (const name of letters) server.tool(name, {}, () => name);
      return openPeer(server, revision);
    };
    const secret = "0123456789abcdef";
    const [one, two, three] = [await peerOf(secret), await peerOf(secret), await peerOf()];
    const { next } = await pageOf(one, lists[0]);
    expect((await pageOf(two, lists[0], next)).names).toEqual(["d", "e", "f"]);
    expect((await three.fail("tools/list", { cursor: next })).code).toBe(-32602);
  });

  test("list requests may have no params, empty ones, and members that nobody knows", async () => {
    covers("schema-open-members", revision);
    const server = createListServer();
    for (const list of lists) for (const name of letters) register(server, list, name);
    const peer = await openPeer(server, revision);
    for (const { method } of lists) {
      const plain = await peer.call(method);
      expect(await peer.call(method, {})).toEqual(plain);
      expect(await peer.call(method, { limit: 1, Cursor: "x" } satisfies Obj)).toEqual(plain);
    }
  });
});

test("page sizes and secrets that make no sense are refused", () => {
  for (const pageSize of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3" as never]) {
    expect(() => createServer({ name: "s", version: "1", pageSize })).toThrow(/pageSize cannot be /);
  }
  expect(() => createServer({ name: "s", version: "1", secret: "short" })).toThrow(/16 bytes or more/);
});
