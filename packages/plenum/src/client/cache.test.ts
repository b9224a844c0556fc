import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import type { JsonObject } from "../jsonrpc/message.ts";
import { McpError } from "../protocol/errors.ts";
import { methods } from "../protocol/methods.ts";
import { type CacheOptions, createCache } from "./cache.ts";
import { createList } from "./pages.ts";

/** A cache with a clock of our own, and a server behind it that counts what it is asked. */
function setup(options: CacheOptions = {}) {
  const clock = { time: 1_000_000 };
  const cache = createCache({ now: () => clock.time, ...options });
  const asked: JsonObject[] = [];
  const hints = { ttlMs: 1000 as unknown, cacheScope: "private" };
  /** As a client does it. */
  const ask = (method: string, params: JsonObject = {}, result: JsonObject = {}) => {
    const kept = cache.get(method, params);
    if (kept) return kept;
    asked.push({ method, ...params });
    const answer = { ...result, n: asked.length, ...hints };
    cache.keep(cache.begin(method, params), answer);
    return answer;
  };
  return { clock, cache, asked, hints, ask };
}

const cached = methods.filter((method) => method.cached).map(({ name }) => name);

describe("what is kept", () => {
  test("is fresh for as long as the server says, and asked for again when it is wanted after that", () => {
    covers(["cache-ttl-positive", "cache-refetch-stale"]);
    const { clock, asked, ask } = setup();
    expect(ask("tools/list")).toBe(ask("tools/list"));
    clock.time += 999;
    ask("tools/list");
    expect(asked).toHaveLength(1);
    clock.time += 1;
    ask("tools/list");
    expect(asked).toHaveLength(2);
    clock.time += 999;
    ask("tools/list");
    expect(asked).toHaveLength(2);
  });

  test("is nothing for a ttl of 0", () => {
    covers("cache-ttl-zero");
    const { asked, ask, hints } = setup();
    hints.ttlMs = 0;
    ask("tools/list");
    ask("tools/list");
    expect(asked).toHaveLength(2);
  });

  test.each([undefined, -5, Number.NaN, Number.NEGATIVE_INFINITY, "1000", null, {}, true])(
    "is nothing for a ttl of %s",
    (ttlMs) => {
      const { cache, ask, hints } = setup();
      hints.ttlMs = ttlMs;
      ask("tools/list");
      expect(cache.size).toBe(0);
    },
  );

  test.each([Number.POSITIVE_INFINITY, 1e300, 86_400_001])("is kept a day at most, also for a ttl of %d", (ttlMs) => {
    const { clock, asked, ask, hints } = setup();
    hints.ttlMs = ttlMs;
    ask("tools/list");
    clock.time += 86_399_999;
    ask("tools/list");
    expect(asked).toHaveLength(1);
    clock.time += 1;
    ask("tools/list");
    expect(asked).toHaveLength(2);
  });

  test("is not trusted after the clock was set back", () => {
    const { clock, asked, ask } = setup();
    ask("tools/list");
    clock.time -= 1;
    ask("tools/list");
    expect(asked).toHaveLength(2);
  });

  test("is of the methods that say how long", () => {
    const { cache, ask } = setup();
    for (const { name } of methods) ask(name);
    expect(cache.size).toBe(cached.length);
    for (const name of ["constructor", "__proto__", "my/method"]) ask(name);
    expect(cache.size).toBe(cached.length);
  });

  test("cannot be changed by one for another", () => {
    const { ask } = setup();
    const tools = [{ name: "a", inputSchema: { type: "object", properties: { x: {} } } }];
    const kept = ask("tools/list", {}, { tools }) as { tools: typeof tools };
    expect(() => kept.tools.push(...tools)).toThrow(TypeError);
    expect(() => Object.assign(kept.tools[0]?.inputSchema.properties.x ?? {}, { type: "string" })).toThrow(TypeError);
    expect(Object.isFrozen(kept)).toBe(true);
  });

  test("is frozen, and what is not kept is not", () => {
    const { ask, hints } = setup();
    hints.ttlMs = 0;
    expect(Object.isFrozen(ask("tools/list"))).toBe(false);
  });

  test("is no result of a request with input, and none that is not final", () => {
    const { cache, ask } = setup();
    const uri = "file:///a";
    const result = { contents: [], ttlMs: 1000, cacheScope: "private" };
    cache.keep(cache.begin("resources/read", { uri }), result, true);
    expect(cache.size).toBe(0);
    cache.keep(cache.begin("resources/read", { uri, requestState: "s" }), result);
    cache.keep(cache.begin("resources/read", { uri, inputResponses: {} }), result);
    cache.keep(cache.begin("resources/read", { uri }), { ...result, resultType: "input_required" });
    expect(cache.size).toBe(0);
    cache.keep(cache.begin("resources/read", { uri }), { ...result, resultType: "complete" });
    expect(cache.size).toBe(1);
    // What such a request brought is newer than what was kept.
    cache.keep(cache.begin("resources/read", { uri }), result, true);
    expect(ask("resources/read", { uri })).toMatchObject({ n: 1 });
  });

  test("gives way to what the server says later", () => {
    const { cache, ask, hints } = setup();
    ask("tools/list");
    hints.ttlMs = 0;
    cache.keep(cache.begin("tools/list", {}), { tools: [], ttlMs: 0 });
    expect(cache.get("tools/list", {})).toBeUndefined();
  });
});

describe("the key", () => {
  test("tells methods and params apart", () => {
    covers("cache-key");
    const { asked, ask } = setup();
    const requests: [string, JsonObject?][] = [
      ["tools/list"],
      ["prompts/list"],
      ["tools/list", { cursor: "2" }],
      ["tools/list", { cursor: "" }],
      ["tools/list", { cursor: "null" }],
      ["tools/list", { cursor: "__proto__" }],
      ["tools/list", { cursor: "constructor" }],
      ["resources/read", { uri: "file:///a" }],
      ["resources/read", { uri: "file:///b" }],
      ["resources/read", { uri: "file:///a ", cursor: undefined }],
      ["resources/read", { uri: '","' }],
      ["resources/read", { uri: "\ud800" }],
      ["resources/read", { uri: "\ud801" }],
    ];
    const first = requests.map(([method, params]) => ask(method, params));
    expect(asked).toHaveLength(requests.length);
    expect(requests.map(([method, params]) => ask(method, params))).toEqual(first);
    expect(asked).toHaveLength(requests.length);
  });

  test("is the same for two requests only if they are the same", () => {
    const part = fc.option(fc.string({ unit: "binary", maxLength: 3 }), { nil: undefined });
    const request = fc.record({ method: fc.constantFrom(...cached), cursor: part, uri: part });
    fc.assert(
      fc.property(request, request, (a, b) => {
        const cache = createCache();
        const ticket = ({ method, ...params }: typeof a) => cache.begin(method, params).key;
        const isSame = a.method === b.method && a.cursor === b.cursor && a.uri === b.uri;
        expect(ticket(a) === ticket(b)).toBe(isSame);
      }),
    );
  });

  test.each([
    { filter: "x" },
    { _meta: {} },
    { cursor: 5 },
    { cursor: null },
    { uri: {} },
    JSON.parse('{"__proto__":1}'),
  ])("is none where it does not know what the params mean: %j", (params) => {
    const { cache, ask } = setup();
    ask("tools/list");
    expect(ask("tools/list", params)).toMatchObject({ n: 2 });
    expect(cache.size).toBe(1);
  });
});

describe("bounds", () => {
  test("entries", () => {
    const { cache, asked, ask } = setup({ maxEntries: 3 });
    for (const cursor of ["1", "2", "3"]) ask("tools/list", { cursor });
    ask("tools/list", { cursor: "1" });
    ask("tools/list", { cursor: "4" });
    expect(cache.size).toBe(3);
    ask("tools/list", { cursor: "1" });
    expect(asked).toHaveLength(4);
    ask("tools/list", { cursor: "2" });
    expect(asked).toHaveLength(5);
  });

  test("a thousand entries by default", () => {
    const { cache, ask } = setup();
    for (let i = 0; i < 1100; i++) ask("tools/list", { cursor: `${i}` });
    expect(cache.size).toBe(1000);
  });

  test("size, where large keys count too", () => {
    const { cache, ask } = setup({ maxChars: 10_000 });
    for (let i = 0; i < 20; i++)
      ask("resources/read", { uri: `${i}` }, { contents: [{ uri: `${i}`, text: "x".repeat(900) }] });
    expect(cache.size).toBeGreaterThan(5);
    expect(cache.size).toBeLessThan(11);
    for (let i = 0; i < 20; i++) ask("tools/list", { cursor: "x".repeat(2000) + i });
    expect(cache.size).toBeLessThan(6);
  });

  test("one large result does not drive out the others", () => {
    const { cache, ask } = setup({ maxChars: 10_000 });
    ask("tools/list");
    const large = ask("resources/read", { uri: "a" }, { contents: [{ uri: "a", text: "x".repeat(2600) }] });
    expect(cache.size).toBe(1);
    expect(Object.isFrozen(large)).toBe(false);
    expect(cache.get("tools/list", {})).toBeDefined();
  });
});

describe("drops", () => {
  const all: [string, JsonObject?][] = [
    ["server/discover"],
    ["tools/list"],
    ["tools/list", { cursor: "2" }],
    ["prompts/list"],
    ["resources/list"],
    ["resources/templates/list"],
    ["resources/read", { uri: "file:///a" }],
  ];

  test.each([
    ["tools", ["tools/list"]],
    ["prompts", ["prompts/list"]],
    ["resources", ["resources/list", "resources/templates/list"]],
  ] as const)("of %s drop just those lists", (kind, gone) => {
    const { cache, ask } = setup();
    for (const [method, params] of all) ask(method, params);
    cache.drop(kind);
    const left = all.filter(([method, params = {}]) => cache.get(method, params));
    expect(left).toEqual(all.filter(([method]) => !(gone as readonly string[]).includes(method)));
  });

  test("of pages say whether there were any", () => {
    const { cache, ask } = setup();
    expect(cache.dropPages("tools/list")).toBe(false);
    ask("tools/list", { cursor: "2" });
    ask("prompts/list");
    expect(cache.dropPages("tools/list")).toBe(true);
    expect(cache.dropPages("tools/list")).toBe(false);
    expect(cache.dropPages("__proto__")).toBe(false);
    expect(cache.size).toBe(1);
  });

  test("of everything leave nothing", () => {
    const { cache, ask } = setup();
    for (const [method, params] of all) ask(method, params);
    cache.clear();
    expect(cache.size).toBe(0);
  });

  test.each([
    // changed, read, whether that is dropped
    ["file:///a", "file:///a", true],
    ["file:///a", "file:///b", false],
    ["file:///a", "file:///ab", false],
    ["file:///ab", "file:///a", false],
    ["file:///dir/x", "file:///dir", true],
    ["file:///dir/x", "file:///dir/", true],
    ["file:///dir", "file:///dir/x/y", true],
    ["file:///dir/", "file:///dir/x", true],
    ["file:///a#part", "file:///a", true],
    ["file:///a", "file:///a?line=3", true],
    ["berth://4", "berth://44", false],
    ["", "file:///a", false],
  ])("an update of %j concerns the read of %j: %s", (changed, uri, isDropped) => {
    const { cache, ask } = setup();
    ask("resources/read", { uri });
    ask("resources/list");
    cache.dropRead(changed);
    expect(cache.get("resources/read", { uri }) === undefined).toBe(isDropped);
    expect(cache.get("resources/list", {})).toBeDefined();
  });

  test("an update concerns reads that contain the resource", () => {
    const { cache, ask } = setup();
    const contents = [{ uri: "git://blob/1", text: "" }];
    ask("resources/read", { uri: "git://tree" }, { contents });
    ask("resources/read", { uri: "git://other" }, { contents: [] });
    const many = Array.from({ length: 101 }, (_, i) => ({ uri: `x://${i}`, text: "" }));
    ask("resources/read", { uri: "git://many" }, { contents: many });
    cache.dropRead("git://blob/1");
    expect(cache.get("resources/read", { uri: "git://tree" })).toBeUndefined();
    expect(cache.get("resources/read", { uri: "git://many" })).toBeUndefined();
    expect(cache.get("resources/read", { uri: "git://other" })).toBeDefined();
  });
});

describe("what was dropped while a request was under way", () => {
  const result = () => ({ tools: [], ttlMs: 1000, cacheScope: "private" });

  test.each([
    ["a changed list", "tools/list", {}, (cache: ReturnType<typeof createCache>) => cache.drop("tools")],
    ["dropped pages", "tools/list", { cursor: "2" }, (cache) => cache.dropPages("tools/list")],
    ["a changed resource", "resources/read", { uri: "file:///a" }, (cache) => cache.dropRead("file:///a")],
    ["another authorization", "server/discover", {}, (cache) => cache.clear()],
  ] as [string, string, JsonObject, (cache: ReturnType<typeof createCache>) => void][])(
    "is not kept after %s",
    (_, method, params, drop) => {
      const { cache } = setup();
      const ticket = cache.begin(method, params);
      drop(cache);
      cache.keep(ticket, result());
      expect(cache.get(method, params)).toBeUndefined();
      cache.keep(cache.begin(method, params), result());
      expect(cache.get(method, params)).toBeDefined();
    },
  );

  test("leaves other lists alone", () => {
    const { cache } = setup();
    const ticket = cache.begin("prompts/list", {});
    cache.drop("tools");
    cache.dropRead("file:///a");
    cache.keep(ticket, result());
    expect(cache.get("prompts/list", {})).toBeDefined();
  });

  test("does not take what came after it with it", () => {
    const { cache } = setup();
    const late = cache.begin("tools/list", {});
    cache.drop("tools");
    cache.keep(cache.begin("tools/list", {}), { ...result(), which: "new" });
    cache.keep(late, { ...result(), which: "old" });
    expect(cache.get("tools/list", {})).toMatchObject({ which: "new" });
  });
});

test("of two answers to the same, that of the later request is kept", () => {
  const { cache } = setup();
  const [first, second] = [cache.begin("tools/list", {}), cache.begin("tools/list", {})];
  cache.keep(second, { n: 2, ttlMs: 1000 });
  cache.keep(first, { n: 1, ttlMs: 1000 });
  expect(cache.get("tools/list", {})).toMatchObject({ n: 2 });
});

describe("with pages", () => {
  /** A list read through a cache, as a client does it; pages live as long as they say. */
  function paged(pages: Map<string | undefined, JsonObject | Error>) {
    const { clock, cache } = setup();
    const asked: (string | undefined)[] = [];
    const list = createList<string>({
      member: "tools",
      maxPages: 100,
      emptyCursorMayEnd: false,
      restart: () => cache.dropPages("tools/list"),
      fetch: async (cursor) => {
        const params = cursor === undefined ? {} : { cursor };
        const kept = cache.get("tools/list", params);
        if (kept) return kept;
        asked.push(cursor);
        const ticket = cache.begin("tools/list", params);
        const answer = pages.get(cursor);
        if (!answer || answer instanceof Error) throw answer;
        cache.keep(ticket, { ...answer });
        return answer;
      },
    });
    return { clock, list, asked };
  }

  test("each page has a time of its own", async () => {
    covers("cache-page-independent");
    const { clock, list, asked } = paged(
      new Map([
        [undefined, { tools: ["a"], nextCursor: "1", ttlMs: 3000 }],
        ["1", { tools: ["b"], nextCursor: "2", ttlMs: 1000 }],
        ["2", { tools: ["c"], ttlMs: 2000 }],
      ]),
    );
    await list.all();
    expect(asked.splice(0)).toEqual([undefined, "1", "2"]);
    await list.all();
    expect(asked).toEqual([]);
    clock.time += 1500;
    expect(await list.all()).toEqual(["a", "b", "c"]);
    expect(asked.splice(0)).toEqual(["1"]);
    clock.time += 700;
    await list.all();
    expect(asked).toEqual(["2"]);
  });

  test("an error for a cursor of a kept page drops all pages and starts again", async () => {
    covers("cache-invalid-cursor-reset");
    const pages = new Map<string | undefined, JsonObject | Error>([
      [undefined, { tools: ["old"], nextCursor: "1", ttlMs: 3000 }],
      ["1", { tools: ["older"], ttlMs: 1000 }],
    ]);
    const { clock, list, asked } = paged(pages);
    await list.all();
    asked.splice(0);
    clock.time += 1500;
    pages.set("1", new McpError("peer_error", "Invalid cursor", { rpcCode: -32602 }));
    pages.set(undefined, { tools: ["a"], nextCursor: "2", ttlMs: 3000 });
    pages.set("2", { tools: ["b"], ttlMs: 3000 });
    expect(await list.all()).toEqual(["a", "b"]);
    expect(asked).toEqual(["1", undefined, "2"]);
  });

  test("an error that stays is thrown", async () => {
    const error = new McpError("peer_error", "Out of order", { rpcCode: -32603 });
    const { list, asked } = paged(
      new Map<string | undefined, JsonObject | Error>([
        [undefined, { tools: ["a"], nextCursor: "1", ttlMs: 3000 }],
        ["1", error],
      ]),
    );
    await expect(list.all()).rejects.toBe(error);
    expect(asked).toEqual([undefined, "1", undefined, "1"]);
  });
});

test("time passing by itself does nothing", () => {
  vi.useFakeTimers();
  try {
    const cache = createCache();
    cache.keep(cache.begin("tools/list", {}), { ttlMs: 1000 });
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(999);
    expect(cache.get("tools/list", {})).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(cache.get("tools/list", {})).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});
