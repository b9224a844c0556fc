import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import { toRoots } from "./roots.ts";

test("strings and objects become roots, names and _meta stay", () => {
  expect(toRoots(["file:///a", { uri: "file:///b/", name: "B" }, { uri: "file:///c", _meta: { k: 1 } }])).toEqual([
    { uri: "file:///a" },
    { uri: "file:///b/", name: "B" },
    { uri: "file:///c", _meta: { k: 1 } },
  ]);
  expect(toRoots([])).toEqual([]);
  expect(Object.keys(toRoots([{ uri: "file:///a", strange: 1 }])[0] as object)).toEqual(["uri"]);
});

test.each([
  ["file:///", "file:///"],
  ["file:///home/me/my%20project", "file:///home/me/my%20project"],
  ["file:///C:/Users/me", "file:///C:/Users/me"],
  ["FILE://localhost/srv", "file:///srv"],
  ["file://LocalHost/srv", "file:///srv"],
  ["file:///grüße", "file:///gr%C3%BC%C3%9Fe"],
  ["file:///a/.hidden/..b/c.../...", "file:///a/.hidden/..b/c.../..."],
  ["file:///a/%2525", "file:///a/%2525"],
  ["file:///a/what%3F%23", "file:///a/what%3F%23"],
  ["file:///a/%40scope%252fname", "file:///a/%40scope%252fname"],
])("%s is taken", (uri, written) => {
  expect(toRoots([uri])).toEqual([{ uri: written }]);
});

test("what the advice gives is taken", () => {
  const uri = pathToFileURL("/tmp/with space/100%/#1?/ä").href;
  expect(toRoots([uri])).toEqual([{ uri }]);
});

describe("what is refused is named, with a way to do it right", () => {
  test.each([
    "http://x",
    "https://example.com/a",
    "/home/me",
    "C:\\Users\\me",
    "",
    "file:",
    "file:/home/me",
    "file:home/me",
    "files:///a",
    " file:///a",
    "data:,file:///a",
  ])("%j is no file:// URI", (uri) => {
    covers("root-file-uri");
    expect(() => toRoots(["file:///ok", uri])).toThrow(TypeError);
    expect(() => toRoots(["file:///ok", uri])).toThrow("roots[1]");
    expect(() => toRoots(["file:///ok", uri])).toThrow("pathToFileURL(path).href");
    expect(() => toRoots(["file:///ok", { uri }])).toThrow("roots[1]");
    expect(() => toRoots([uri])).toThrow(JSON.stringify(uri));
  });

  test.each([
    "file:///a/../../etc",
    "file:///..",
    "file:///a/./b",
    "file:///a/.",
    "file:///a/%2e%2e/b",
    "file:///a/%2E./b",
    "file:///a/.%2e",
    "file:///a/%2e",
    "file:///a/%252e%252e/b",
    "file:///a/%25252e./b",
    "file:///a/..%20/b",
    "file:///a/..%2fb",
    "file:///a/..%2Fb",
    "file:///a%2f..%2f..%2fetc",
    "file:///a/..%5cb",
    "file:///a%5C..%5C..",
    "file:///a/..\\b",
    "file:///a\\..\\..",
    "file:///a/%00",
    "file:///a\0",
    "file:///a/.\t./b",
    "file:///a/.\n./b",
    "file:///a/%c0%ae%c0%ae/b",
    "file:///a/%zz",
    "file:///a/%",
  ])("%j could lead elsewhere", (uri) => {
    covers("root-validate-uris");
    expect(() => toRoots([uri])).toThrow(/^roots\[0\] ".*pathToFileURL/);
  });

  test.each([
    ["file://server/share", "another machine"],
    ["file://127.0.0.1/a", "another machine"],
    ["file://user@localhost/a", "another machine"],
    ["file://localhost:80/a", "another machine"],
    ["file://localhost.evil/a", "another machine"],
    ["file:////server/share", "no absolute path"],
    ["file://\\\\server/share", "another machine"],
    ["file://", "no absolute path"],
    ["file://localhost", "no absolute path"],
    ["file:///a?b", "query"],
    ["file:///a#b", "fragment"],
    ["file:///a#", "fragment"],
    ["file:///a?", "query"],
    ["file://?/a", "query"],
    ["file:///a b", "blanks"],
    ["file:///a\u0001", "control characters"],
    ["file:///a\u007f", "control characters"],
    ["file:///a ", "blanks"],
    ["file:///a\u00a0", "blanks"],
  ])("%j: %s", (uri, why) => {
    expect(() => toRoots([uri])).toThrow(why);
  });

  test.each([[undefined], [null], ["file:///a"], [{ length: 1, 0: "file:///a" }], [new Set(["file:///a"])]])(
    "%j is no list",
    (list) => {
      expect(() => toRoots(list)).toThrow("roots must be a list");
    },
  );

  test.each([
    [1],
    [null],
    [undefined],
    [["file:///a"]],
    [{}],
    [{ uri: 1 }],
    [{ uri: new URL("file:///a") }],
    [{ uri: "file:///a", name: 1 }],
    [{ uri: "file:///a", name: null }],
    [{ uri: "file:///a", _meta: "x" }],
    [{ uri: "file:///a", _meta: null }],
  ])("%j is no root", (root) => {
    expect(() => toRoots([root])).toThrow(/^roots\[0\] must/);
  });

  test("a hole is no root", () => {
    expect(() => toRoots(new Array(1))).toThrow(/^roots\[0\] must/);
  });

  test("a long one is cut short", () => {
    expect(() => toRoots([`http://${"x".repeat(10_000)}`])).toThrow(/^.{0,250}$/s);
  });
});
