// Caching hints: on the six results that have them and on nothing else, private unless the author says otherwise.
import { createServer, revisions, type Server, type ServerOptions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "./peer.ts";

function createFullServer(options: Partial<ServerOptions<undefined>> = {}): Server {
  const server = createServer({ name: "s", version: "1", ...options });
  server.tool("t", {}, () => "t");
  server.prompt("p", {}, () => "p");
  server.resource("r:1", {}, () => "r");
  server.resource("t:{x}", {}, () => "t");
  return server;
}

const six: readonly [method: string, params: Obj][] = [
  ["server/discover", {}],
  ["tools/list", {}],
  ["prompts/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["resources/read", { uri: "r:1" }],
];

const hintsOf = ({ ttlMs, cacheScope }: Obj): Obj => ({ ttlMs, cacheScope });

describe.each(six)("%s in 2026-07-28", (method, params) => {
  test("carries hints that are safe when nothing is configured", async () => {
    covers(["cache-hints-required", "cache-ttl-non-negative", "cache-scope-values"]);
    const peer = await openPeer(createFullServer(), modern);
    expect(hintsOf(await peer.call(method, params))).toEqual({ ttlMs: 0, cacheScope: "private" });
  });

  test("carries what the author says", async () => {
    covers(["cache-hints-required", "cache-scope-values"]);
    const peer = await openPeer(createFullServer({ cache: { ttlMs: 60_000, scope: "public" } }), modern);
    expect(hintsOf(await peer.call(method, params))).toEqual({ ttlMs: 60_000, cacheScope: "public" });
    const shy = await openPeer(createFullServer({ cache: { ttlMs: 5 } }), modern);
    expect(hintsOf(await shy.call(method, params))).toEqual({ ttlMs: 5, cacheScope: "private" });
  });

  test("carries them again when it is asked again", async () => {
    covers("cache-hints-required");
    const peer = await openPeer(createFullServer({ cache: { ttlMs: 7 } }), modern);
    const first = await peer.call(method, params);
    expect(await peer.call(method, params)).toEqual(first);
    expect(first.ttlMs).toBe(7);
  });
});

describe.each(revisions)("hints in %s", (revision) => {
  test("are on no other result, and on none before 2026-07-28", async () => {
    covers("cache-hints-required", revision);
    const server = createFullServer({ cache: { ttlMs: 60_000, scope: "public" } });
    server.tool("guarded", { visible: () => true }, () => "g");
    server.resource("c:1", { cache: { ttlMs: 1 } }, () => "c");
    const peer = await openPeer(server, revision);
    const others: [method: string, params?: Obj][] = [
      ["tools/call", { name: "t" }],
      ["prompts/get", { name: "p" }],
    ];
    const older = revision === modern ? [] : [...six.slice(1), ["resources/read", { uri: "c:1" }] as const];
    for (const [method, params] of [...others, ...older]) {
      const result = await peer.call(method, params);
      expect(Object.keys(result)).not.toContain("ttlMs");
      expect(Object.keys(result)).not.toContain("cacheScope");
    }
    expect(Object.keys(peer.opening)).not.toContain("ttlMs");
  });
});

describe("hints in 2026-07-28", () => {
  test("a result that asks for input carries none", async () => {
    covers("cache-no-hints-on-interim");
    const server = createServer({ name: "s", version: "1", cache: { ttlMs: 9, scope: "public" } });
    const asking = {
      resultType: "input_required",
      inputRequests: { dirs: { method: "roots/list" } },
      requestState: "state",
    };
    let answer: Obj = asking;
    server.handle("resources/read", () => answer);
    const peer = await openPeer(server, modern, { capabilities: { roots: {} } });
    const result = await peer.call("resources/read", { uri: "r:1" });
    expect(result).toMatchObject(asking);
    expect(result).not.toHaveProperty("ttlMs");
    expect(result).not.toHaveProperty("cacheScope");
    answer = { contents: [] };
    expect(hintsOf(await peer.call("resources/read", { uri: "r:1" }))).toEqual({ ttlMs: 9, cacheScope: "public" });
  });

  test("a time to live that is no whole number of at least 0 is refused when it is configured", () => {
    covers("cache-ttl-non-negative");
    for (const ttlMs of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5" as never]) {
      expect(() => createServer({ name: "s", version: "1", cache: { ttlMs } })).toThrow(
        /cache: ttlMs must be an integer of at least 0/,
      );
      const server = createServer({ name: "s", version: "1" });
      expect(() => server.resource("r:1", { cache: { ttlMs } }, () => "r")).toThrow(/cache: ttlMs must be/);
    }
  });

  test("a scope that does not exist is refused when it is configured", () => {
    covers("cache-scope-values");
    const cache = { ttlMs: 1, scope: "shared" as never };
    expect(() => createServer({ name: "s", version: "1", cache })).toThrow(
      /cache: cacheScope must be "public" or "private"/,
    );
    const server = createServer({ name: "s", version: "1" });
    expect(() => server.resource("r:1", { cache }, () => "r")).toThrow(
      /cache: cacheScope must be "public" or "private"/,
    );
  });

  test("hints that a handler writes itself are checked like all else", async () => {
    covers(["cache-ttl-non-negative", "cache-scope-values"]);
    const errors: unknown[] = [];
    const server = createServer({ name: "s", version: "1", onError: (error) => errors.push(error) });
    let hints: Obj = {};
    server.handle("tools/list", () => ({ tools: [], ...hints }));
    const peer = await openPeer(server, modern);
    for (hints of [{ ttlMs: -1 }, { ttlMs: 0.5 }, { ttlMs: "1" }, { cacheScope: "all" }]) {
      expect((await peer.fail("tools/list")).code).toBe(-32603);
    }
    expect(errors).toHaveLength(4);
    hints = { ttlMs: 3, cacheScope: "public" };
    expect(hintsOf(await peer.call("tools/list"))).toEqual(hints);
  });

  test("all pages of a list have the same scope", async () => {
    covers("cache-scope-same-on-pages");
    const server = createServer({ name: "s", version: "1", pageSize: 2, cache: { ttlMs: 1, scope: "public" } });
    const scopes = async (): Promise<unknown[]> => {
      const found: unknown[] = [];
      let cursor: unknown;
      do {
        const page = await peer.call("tools/list", cursor === undefined ? {} : { cursor });
        found.push(page.cacheScope);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return found;
    };
    for (const name of ["a", "b", "c", "d", "e"]) server.tool(name, {}, () => name);
    const peer = await openPeer(server, modern);
    expect(await scopes()).toEqual(["public", "public", "public"]);
    // One entry on one page that depends on the caller is enough for all pages.
    server.tool("f", { visible: () => true }, () => "f");
    expect(await scopes()).toEqual(["private", "private", "private"]);
  });

  test("what depends on the caller is private even where the server says public", async () => {
    covers(["cache-public-aware", "cache-access-control"]);
    const server = createServer({ name: "s", version: "1", cache: { ttlMs: 5, scope: "public" } });
    const visible = (ctx: { auth: { subject?: string } | undefined }): boolean => ctx.auth?.subject === "ada";
    server.prompt("p", { visible }, () => "p");
    server.resource("r:1", { visible }, () => "only for Ada");
    server.resource("open:1", {}, () => "for all");
    server.resource("t:{x}", { visible }, () => "only for Ada");
    server.resource("own:1", { visible, cache: { ttlMs: 8, scope: "public" } }, () => "the author knows better");
    const ada = await openPeer(server, modern, { sender: { auth: { subject: "ada", scopes: [] } } });
    const bob = await openPeer(server, modern, { sender: { auth: { subject: "bob", scopes: [] } } });
    for (const method of ["prompts/list", "resources/list", "resources/templates/list"]) {
      expect(hintsOf(await ada.call(method))).toEqual({ ttlMs: 5, cacheScope: "private" });
      expect(hintsOf(await bob.call(method))).toEqual({ ttlMs: 5, cacheScope: "private" });
    }
    for (const uri of ["r:1", "t:1"]) {
      expect(hintsOf(await ada.call("resources/read", { uri }))).toEqual({ ttlMs: 5, cacheScope: "private" });
      expect((await bob.fail("resources/read", { uri })).code).toBe(-32602);
    }
    expect(hintsOf(await bob.call("resources/read", { uri: "open:1" }))).toEqual({ ttlMs: 5, cacheScope: "public" });
    expect(hintsOf(await ada.call("resources/read", { uri: "own:1" }))).toEqual({ ttlMs: 8, cacheScope: "public" });
  });

  test("a list that a template computes is private", async () => {
    covers("cache-public-aware");
    const server = createServer({ name: "s", version: "1", cache: { ttlMs: 5, scope: "public" } });
    server.resource("t:{x}", { list: () => [{ uri: "t:1", name: "one" }] }, () => "t");
    const peer = await openPeer(server, modern);
    expect((await peer.call("resources/list")).cacheScope).toBe("private");
    expect((await peer.call("resources/templates/list")).cacheScope).toBe("public");
  });

  test("a resource has hints of its own", async () => {
    covers(["cache-hints-required", "cache-scope-values"]);
    const server = createServer({ name: "s", version: "1", cache: { ttlMs: 5, scope: "public" } });
    server.resource("a:1", { cache: { ttlMs: 20_000, scope: "public" } }, () => "a");
    server.resource("b:1", { cache: { ttlMs: 0 } }, () => "b");
    const peer = await openPeer(server, modern);
    expect(hintsOf(await peer.call("resources/read", { uri: "a:1" }))).toEqual({ ttlMs: 20_000, cacheScope: "public" });
    expect(hintsOf(await peer.call("resources/read", { uri: "b:1" }))).toEqual({ ttlMs: 0, cacheScope: "private" });
  });

  test("a time to live needs no listChanged, and pages may differ in it", async () => {
    covers(["cache-ttl-without-list-changed", "cache-page-ttl-differs"]);
    const server = createServer({
      name: "s",
      version: "1",
      pageSize: 1,
      capabilities: { tools: {} },
      cache: { ttlMs: 60 },
    });
    for (const name of ["a", "b"]) server.tool(name, {}, () => name);
    const peer = await openPeer(server, modern);
    expect((await peer.call("server/discover")).capabilities).toMatchObject({ tools: {} });
    const first = await peer.call("tools/list");
    expect(first.ttlMs).toBe(60);
    server.use(async (call, next) => {
      const result = await next(call);
      return call.params.cursor === undefined ? result : { ...result, ttlMs: 10 };
    });
    expect((await peer.call("tools/list")).ttlMs).toBe(60);
    expect((await peer.call("tools/list", { cursor: first.nextCursor })).ttlMs).toBe(10);
  });
});
