import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import type { JsonObject } from "../jsonrpc/message.ts";
import { McpError } from "../protocol/errors.ts";
import { createList, type ListOptions } from "./pages.ts";

type Answer = JsonObject | Error;

/** A list whose pages are given by cursor; the first is under `start`. */
function list(pages: ReadonlyMap<string | undefined, Answer>, options: Partial<ListOptions> = {}) {
  const asked: (string | undefined)[] = [];
  const made = createList<string>({
    member: "tools",
    fetch: async (cursor) => {
      asked.push(cursor);
      const answer = pages.get(cursor);
      if (answer === undefined) throw new Error(`nobody gave the cursor ${cursor}`);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    maxPages: 1000,
    emptyCursorMayEnd: false,
    ...options,
  });
  return { list: made, asked };
}

/** Pages of these items, joined by cursors. */
function chain(pages: readonly (readonly string[])[], cursors: readonly string[]): Map<string | undefined, JsonObject> {
  return new Map(
    pages.map((tools, i) => [
      i === 0 ? undefined : cursors[i - 1],
      i === pages.length - 1 ? { tools } : { tools, nextCursor: cursors[i] },
    ]),
  );
}

const refused = (rpcCode = -32602) => new McpError("peer_error", "Invalid cursor", { rpcCode });

async function take(items: AsyncIterable<string>, count: number): Promise<string[]> {
  const taken: string[] = [];
  for await (const item of items) if (taken.push(item) === count) break;
  return taken;
}

describe("a list", () => {
  test("is read page by page, whatever their sizes", async () => {
    covers(["page-size-not-fixed", "page-missing-is-end"]);
    const pages = [["a", "b", "c"], [], ["d", "e", "f", "g", "h", "i", "j"], ["k"]];
    const { list: tools, asked } = list(chain(pages, ["1", "2", "3"]));
    expect((await tools.all()).join("")).toBe("abcdefghijk");
    expect(asked).toEqual([undefined, "1", "2", "3"]);
    expect(await take(tools, 100)).toEqual(pages.flat());
  });

  test("may have one page only", async () => {
    covers("page-both-flows");
    const { list: tools, asked } = list(new Map([[undefined, { tools: ["a"] }]]));
    expect(await tools.all()).toEqual(["a"]);
    expect(asked).toEqual([undefined]);
    const paged = list(chain([["a"], ["b"]], ["1"]));
    expect(await paged.list.all()).toEqual(["a", "b"]);
  });

  test("is also given as pages", async () => {
    const { list: tools } = list(chain([["a"], ["b", "c"]], ["1"]));
    const pages = [];
    for await (const page of tools.pages()) pages.push(page);
    expect(pages).toEqual([
      { items: ["a"], nextCursor: "1" },
      { items: ["b", "c"], nextCursor: undefined },
    ]);
  });

  test("is not asked for before it is wanted, and each time anew", async () => {
    const { list: tools, asked } = list(chain([["a"], ["b"]], ["1"]));
    tools.pages();
    tools[Symbol.asyncIterator]();
    await Promise.resolve();
    expect(asked).toEqual([]);
    expect(await tools.all()).toEqual(await tools.all());
    expect(asked).toEqual([undefined, "1", undefined, "1"]);
  });

  test("that is left early is read no further", async () => {
    const { list: tools, asked } = list(chain([["a", "b"], ["c"], ["d"]], ["1", "2"]));
    expect(await take(tools, 2)).toEqual(["a", "b"]);
    expect(asked).toEqual([undefined]);
    expect(await take(tools, 3)).toEqual(["a", "b", "c"]);
    expect(asked).toEqual([undefined, undefined, "1"]);
    for await (const page of tools.pages()) if (page.nextCursor) break;
    expect(asked).toHaveLength(4);
  });

  test("can be read by several at once", async () => {
    const { list: tools } = list(chain([["a"], ["b"], ["c"]], ["1", "2"]));
    expect(await Promise.all([tools.all(), tools.all(), take(tools, 2)])).toEqual([
      ["a", "b", "c"],
      ["a", "b", "c"],
      ["a", "b"],
    ]);
  });

  test("may be huge", async () => {
    const many = Array.from({ length: 300_000 }, (_, i) => `${i}`);
    const { list: tools } = list(chain([many, many], ["1"]));
    expect(await tools.all()).toHaveLength(600_000);
  });
});

describe("cursors", () => {
  test.each([false, true])("go back as they came, whatever they are (empty may end: %s)", async (emptyCursorMayEnd) => {
    covers("page-opaque");
    const cursors = fc.uniqueArray(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(cursors, async (cursors) => {
        const pages = Array.from({ length: cursors.length + 1 }, (_, i) => [`${i}`]);
        const { list: tools, asked } = list(chain(pages, cursors), { emptyCursorMayEnd });
        expect(await tools.all()).toEqual(pages.flat());
        expect(asked).toEqual([undefined, ...cursors]);
      }),
      { examples: [[["", "__proto__", "constructor", "\ud800", "\0 \r\n"]]] },
    );
  });

  test("that are empty are cursors", async () => {
    covers("page-empty-string-cursor");
    const { list: tools, asked } = list(chain([["a"], ["b"]], [""]));
    expect(await tools.all()).toEqual(["a", "b"]);
    expect(asked).toEqual([undefined, ""]);
  });

  test.each([null, 5, {}])("that are no text end the list: %j", async (nextCursor) => {
    const { list: tools } = list(new Map([[undefined, { tools: ["a"], nextCursor }]]));
    expect(await tools.all()).toEqual(["a"]);
  });

  test("that come twice are an endless list", async () => {
    const { list: tools, asked } = list(
      new Map([
        [undefined, { tools: ["a"], nextCursor: "1" }],
        ["1", { tools: ["b"], nextCursor: "2" }],
        ["2", { tools: ["c"], nextCursor: "1" }],
      ]),
    );
    await expect(tools.all()).rejects.toMatchObject({
      code: "invalid_result",
      message: 'The server\'s list of tools has no end: it gave the cursor "1" twice',
    });
    expect(asked).toEqual([undefined, "1", "2"]);
    expect(await take(tools, 3)).toEqual(["a", "b", "c"]);
  });

  test("that never end are an endless list", async () => {
    const fetch = vi.fn(async () => ({ tools: ["a"], nextCursor: `${fetch.mock.calls.length}` }));
    const tools = createList<string>({ member: "tools", fetch, maxPages: 7, emptyCursorMayEnd: false });
    await expect(tools.all()).rejects.toMatchObject({
      code: "invalid_result",
      message: expect.stringContaining("more than 7 pages"),
    });
    expect(fetch).toHaveBeenCalledTimes(7);
  });

  test("as many as allowed are no endless list", async () => {
    const { list: tools } = list(chain([["a"], ["b"], ["c"]], ["1", "2"]), { maxPages: 3 });
    expect(await tools.all()).toEqual(["a", "b", "c"]);
  });

  test("that are monstrous are not collected", async () => {
    const long = "x".repeat(6_000_000);
    const fetch = vi.fn(async () => ({ tools: [], nextCursor: `${long}${fetch.mock.calls.length}` }));
    const tools = createList<string>({ member: "tools", fetch, maxPages: 1000, emptyCursorMayEnd: false });
    const error = await tools.all().catch((error) => error);
    expect(error).toMatchObject({ code: "invalid_result" });
    expect(error.message.length).toBeLessThan(300);
    expect(fetch).toHaveBeenCalledTimes(3);
  });
});

describe("an empty cursor that may be the end", () => {
  const first = { tools: ["a", "b"], nextCursor: "" };

  test("is the end when the server takes it for none", async () => {
    const { list: tools, asked } = list(
      new Map([
        [undefined, first],
        ["", structuredClone(first)],
      ]),
      { emptyCursorMayEnd: true },
    );
    expect(await tools.all()).toEqual(["a", "b"]);
    expect(await take(tools, 100)).toEqual(["a", "b"]);
    expect(asked).toEqual([undefined, "", undefined, ""]);
  });

  test("is the end also behind other pages", async () => {
    const start = { tools: ["a"], nextCursor: "1" };
    const pages = new Map<string | undefined, Answer>([
      [undefined, start],
      ["1", { tools: ["b"], nextCursor: "" }],
      ["", structuredClone(start)],
    ]);
    expect(await list(pages, { emptyCursorMayEnd: true }).list.all()).toEqual(["a", "b"]);
  });

  test("is the end when the server refuses it", async () => {
    const restart = vi.fn(() => true);
    const pages = new Map<string | undefined, Answer>([
      [undefined, first],
      ["", refused()],
    ]);
    const { list: tools } = list(pages, { emptyCursorMayEnd: true, restart });
    expect(await tools.all()).toEqual(["a", "b"]);
    expect(restart).not.toHaveBeenCalled();
  });

  test("is not the end when it leads on, though to the same items", async () => {
    const pages = new Map<string | undefined, Answer>([
      [undefined, { tools: [], nextCursor: "" }],
      ["", { tools: [], nextCursor: "1" }],
      ["1", { tools: ["a"] }],
    ]);
    expect(await list(pages, { emptyCursorMayEnd: true }).list.all()).toEqual(["a"]);
  });

  test("is not the end when the server fails", async () => {
    const pages = new Map<string | undefined, Answer>([
      [undefined, first],
      ["", refused(-32603)],
    ]);
    await expect(list(pages, { emptyCursorMayEnd: true }).list.all()).rejects.toMatchObject({ rpcCode: -32603 });
  });

  test("is a cursor where the revision says so", async () => {
    const pages = new Map<string | undefined, Answer>([
      [undefined, first],
      ["", structuredClone(first)],
    ]);
    await expect(list(pages).list.all()).rejects.toMatchObject({ code: "invalid_result" });
  });
});

describe("an error for a cursor", () => {
  /** The cursor is refused until the list is started again. */
  function stale(error: Error, forgotten = true) {
    const pages = new Map<string | undefined, Answer>([
      [undefined, { tools: ["old"], nextCursor: "1" }],
      ["1", error],
    ]);
    const restart = vi.fn(() => {
      pages.set(undefined, { tools: ["a"], nextCursor: "2" });
      pages.set("2", { tools: ["b"] });
      return forgotten;
    });
    return { pages, restart, ...list(pages, { restart }) };
  }

  test.each([-32602, -32603, -32000])("%d starts the list again while nothing was handed out", async (code) => {
    const { list: tools, asked } = stale(refused(code));
    expect(await tools.all()).toEqual(["a", "b"]);
    expect(asked).toEqual([undefined, "1", undefined, "2"]);
  });

  test.each(["items", "pages"] as const)(
    "is thrown once %s were handed out; the next iteration starts afresh",
    async (kind) => {
      const { list: tools, restart } = stale(refused());
      const got: unknown[] = [];
      const read = async () => {
        for await (const one of kind === "items" ? tools : tools.pages()) got.push(one);
      };
      await expect(read()).rejects.toMatchObject({ code: "peer_error" });
      expect(got).toHaveLength(1);
      expect(restart).toHaveBeenCalledTimes(1);
      expect(await take(tools, 100)).toEqual(["a", "b"]);
    },
  );

  test("behind empty pages starts an iteration again", async () => {
    const { list: tools, pages } = stale(refused());
    pages.set(undefined, { tools: [], nextCursor: "1" });
    expect(await take(tools, 100)).toEqual(["a", "b"]);
  });

  test("is thrown when no pages were kept", async () => {
    const { list: tools, asked } = stale(refused(), false);
    await expect(tools.all()).rejects.toMatchObject({ code: "peer_error" });
    expect(asked).toEqual([undefined, "1"]);
  });

  test("is thrown the second time", async () => {
    const pages = new Map<string | undefined, Answer>([
      [undefined, { tools: ["a"], nextCursor: "1" }],
      ["1", refused()],
    ]);
    const restart = vi.fn(() => true);
    const { list: tools, asked } = list(pages, { restart });
    await expect(tools.all()).rejects.toMatchObject({ code: "peer_error" });
    expect(asked).toEqual([undefined, "1", undefined, "1"]);
  });

  test.each(["timeout", "aborted", "connection_lost", "invalid_result"] as const)(
    "of our own, %s, is just thrown",
    async (code) => {
      const { list: tools, restart } = stale(new McpError(code, "no"));
      await expect(tools.all()).rejects.toMatchObject({ code });
      expect(restart).not.toHaveBeenCalled();
    },
  );

  test("for the first page is just thrown", async () => {
    const restart = vi.fn(() => true);
    const { list: tools } = list(new Map([[undefined, refused()]]), { restart });
    await expect(tools.all()).rejects.toMatchObject({ code: "peer_error" });
    expect(restart).not.toHaveBeenCalled();
  });
});
