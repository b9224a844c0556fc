// What a tool's handler may return: nothing, text, values, content, lists of those, or a whole result.
import { audio, createServer, embedded, image, resourceLink, revisions, type Server, text, toolResult } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { openPeer } from "./peer.ts";
import { bare, callTool, contentOf, createQuietServer } from "./tool-peer.ts";

function serverOf(returns: () => unknown): Server {
  const server = createServer({ name: "s", version: "1" });
  server.tool("give", {}, returns);
  return server;
}

const block = (value: string) => ({ type: "text", text: value });
const png = image({ data: new Uint8Array([1, 2, 3]) });
const pngBlock = { type: "image", data: "AQID", mimeType: "image/png" };

const values: readonly [what: string, value: unknown, blocks: readonly object[]][] = [
  ["nothing", undefined, []],
  ["null", null, []],
  ["a string", "hello", [block("hello")]],
  ["an empty string", "", [block("")]],
  ["a number", 4.5, [block("4.5")]],
  ["zero", 0, [block("0")]],
  ["false", false, [block("false")]],
  ["an object", { a: [1, "x"], b: null }, [block('{"a":[1,"x"],"b":null}')]],
  ["an object that says how it is written", { toJSON: () => "json" }, [block('"json"')]],
  ["an object with a type that is no content", { type: "text", size: 4 }, [block('{"type":"text","size":4}')]],
  ["an object with a content member", { content: "x" }, [block('{"content":"x"}')]],
  ["a list of numbers", [1, 2], [block("[1,2]")]],
  ["a list of objects", [{ a: 1 }, { b: 2 }], [block('[{"a":1},{"b":2}]')]],
  ["a list of lists of numbers", [[1], [2, 3]], [block("[[1],[2,3]]")]],
  ["a list of strings", ["a", "b"], [block("a"), block("b")]],
  ["a promise", Promise.resolve("soon"), [block("soon")]],
  ["content", png, [pngBlock]],
  ["a list of content", [png, text("t")], [pngBlock, block("t")]],
  [
    "content between other things",
    ["a", png, { n: 1 }, 7, null, undefined],
    [block("a"), pngBlock, block('{"n":1}'), block("7")],
  ],
  [
    "lists in lists",
    [
      ["a", png],
      [[text("b")], "c"],
    ],
    [block("a"), pngBlock, block("b"), block("c")],
  ],
  ["content in inner lists only", [[text("a")], [text("b"), text("c")]], [block("a"), block("b"), block("c")]],
  ["promises in lists", [Promise.resolve("a"), Promise.resolve(png)], [block("a"), pngBlock]],
  [
    "promises of lists in lists",
    [Promise.resolve([text("a"), Promise.resolve("b")]), "c"],
    [block("a"), block("b"), block("c")],
  ],
];

describe.each(revisions)("what a handler returns in %s", (revision) => {
  test.each(values)("%s", async (_, value, blocks) => {
    covers(["tool-call", "schema-call-tool-result"], revision);
    const peer = await openPeer(
      serverOf(() => value),
      revision,
    );
    expect(bare(await callTool(peer, "give"))).toEqual({ content: blocks });
  });

  test("several blocks of all kinds arrive in order", async () => {
    covers(["tool-call", "tool-embedded-resource"], revision);
    const peer = await openPeer(
      serverOf(() => [
        "first",
        png,
        embedded({ uri: "note:///1", mimeType: "text/plain", text: "one" }),
        embedded({ uri: "note:///2", blob: new Uint8Array([255]) }),
        text("last"),
      ]),
      revision,
    );
    expect(await contentOf(peer, "give")).toEqual([
      block("first"),
      pngBlock,
      { type: "resource", resource: { uri: "note:///1", mimeType: "text/plain", text: "one" } },
      { type: "resource", resource: { uri: "note:///2", blob: "/w==" } },
      block("last"),
    ]);
  });

  test("one promise of a list that fails is the call's failure", async () => {
    covers("tool-execution-error-in-result", revision);
    const { server, errors } = createQuietServer();
    const cause = new Error("no image");
    server.tool("give", {}, () => [text("a"), Promise.reject(cause), Promise.reject(new Error("nor here"))]);
    const peer = await openPeer(server, revision);
    expect((await callTool(peer, "give")).isError).toBe(true);
    expect(errors.map(({ error }) => error)).toEqual([cause]);
  });

  test("what JSON cannot say is a failure, not a broken answer", async () => {
    covers("tool-execution-error-in-result", revision);
    const { server, errors } = createQuietServer();
    const circle: { self?: object } = {};
    circle.self = circle;
    server.tool("circle", {}, () => circle);
    server.tool("bigint", {}, () => ({ n: 1n }));
    const peer = await openPeer(server, revision);
    for (const name of ["circle", "bigint"]) {
      expect((await callTool(peer, name)).isError).toBe(true);
      expect(errors.pop()?.error).toBeInstanceOf(TypeError);
    }
  });

  test("a whole result as the protocol writes it passes as it is", async () => {
    covers(["tool-call", "tool-is-error-default"], revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("good", {}, () => ({ content: [text("a")], _meta: { "com.example/n": 1 } }));
    server.tool("bad", {}, () => ({ content: [text("b")], isError: true }));
    const peer = await openPeer(server, revision);
    expect(bare(await callTool(peer, "good"))).toEqual({ content: [block("a")], _meta: { "com.example/n": 1 } });
    expect(bare(await callTool(peer, "bad"))).toEqual({ content: [block("b")], isError: true });
  });

  test("toolResult gives content, structured content, isError and _meta", async () => {
    covers(["tool-call", "tool-structured-content", "tool-structured-content-2026"], revision);
    const server = createServer({ name: "s", version: "1" });
    const meta = { "com.example/cost": 0.5 };
    const structured = { sum: 3 };
    server.tool("all", {}, () => toolResult({ content: [text("three"), png], structured, meta }));
    server.tool("structured", {}, () => toolResult({ structured }));
    server.tool("error", {}, () => toolResult({ content: [text("no")], isError: true, meta }));
    server.tool("not-error", {}, () => toolResult({ content: [text("yes")], isError: false }));
    server.tool("nothing", {}, () => toolResult({}));
    const peer = await openPeer(server, revision);
    const known = revision >= "2025-06-18" ? { structuredContent: structured } : {};
    expect(bare(await callTool(peer, "all"))).toEqual({ content: [block("three"), pngBlock], ...known, _meta: meta });
    expect(bare(await callTool(peer, "structured"))).toEqual({ content: [block('{"sum":3}')], ...known });
    expect(bare(await callTool(peer, "error"))).toEqual({ content: [block("no")], isError: true, _meta: meta });
    expect((await callTool(peer, "not-error")).isError).not.toBe(true);
    expect(bare(await callTool(peer, "nothing"))).toEqual({ content: [] });
  });

  test("files are read where there are files, and the suffix says the type", async () => {
    const server = serverOf(async () => [image({ path: new URL("./fixtures/dot.png", import.meta.url) }), "after"]);
    const peer = await openPeer(server, revision);
    const { content, isError } = await callTool(peer, "give");
    expect(isError).toBeUndefined();
    expect(content).toEqual([
      { type: "image", mimeType: "image/png", data: expect.stringMatching(/^iVBORw0KGgo/) },
      block("after"),
    ]);
  });

  test("a content helper that is misused fails the call, with the reason for the author only", async () => {
    covers(["schema-blob-base64", "schema-embedded-resource"], revision);
    const misuses: readonly [() => unknown, RegExp][] = [
      [() => image({ data: "not base64!" }), /data is a string that is not base64/],
      [() => audio({ data: "data:audio/wav;base64,AAAA" }), /data is a string that is not base64/],
      [() => embedded({ uri: "a:b", blob: "=" }), /blob is a string that is not base64/],
      [() => embedded({ uri: "relative", text: "x" }), /no absolute URI/],
      [() => embedded({ uri: "a:b" }), /exactly one of text and blob/],
      [() => image({ data: "AAAA", mimeType: "png" }), /no MIME type/],
      [() => resourceLink({ uri: "no scheme", name: "x" }), /no absolute URI/],
    ];
    const { server, errors } = createQuietServer();
    for (const [index, [give]] of misuses.entries()) server.tool(`m${index}`, {}, give);
    const peer = await openPeer(server, revision);
    for (const [index, [, reason]] of misuses.entries()) {
      expect((await callTool(peer, `m${index}`)).isError).toBe(true);
      expect(String(errors.pop()?.error)).toMatch(reason);
    }
  });
});
