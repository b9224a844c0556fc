// Names of places in JSON, and what patterns of them match.
import { expect, test } from "vitest";
import { toPointerPart, toPointerPattern } from "./json-pointer.ts";

test("a name is escaped", () => {
  expect(["plain", "a/b", "a~b", "~1"].map(toPointerPart)).toEqual(["plain", "a~1b", "a~0b", "~01"]);
});

test.each([
  ["/a/b", "/a/b", true],
  ["/a/b", "/a/bc", false],
  ["/a/*/c", "/a/b/c", true],
  ["/a/*/c", "/a/b/b/c", false],
  ["/a/**", "/a/b/c", true],
  ["/**/c", "/a/b/c", true],
  ["/a.b", "/axb", false],
])("%s matches %s: %s", (pattern, pointer, isMatch) => {
  expect(toPointerPattern(pattern).test(pointer)).toBe(isMatch);
});
