// Good and bad values of every leaf, and that long ones cost linear time.
import { describe, expect, it } from "vitest";
import { sheetOf } from "./wire.ts";

const checkOf = (name: string) => sheetOf("2024-11-05").typeOf(name)[0];

const good: { readonly [name: string]: readonly unknown[] } = {
  uri: ["a:", "file:///x", "https://h/p?q#f", "urn:a:b", "x+y.z-1:ö", `a:${"x".repeat(1000)}`],
  template: ["", "a", "{a}", "file:///{a}/{+b}{?c,d}", "{a}{b}"],
  base64: ["", "aGk=", "aA==", "abcd", "+/+/"],
  unit: [0, 1, 0.5],
  integer: [0, -1, 5, 2 ** 60],
  count: [0, 7],
  id: ["", "x", 0, -3],
  number: [0, 1.5, -1e300],
  "{}": [{}, { a: 1 }],
  any: [null, 0, "", {}],
};

const bad: { readonly [name: string]: readonly unknown[] } = {
  uri: ["", "x", "/x", "//h/p", ":x", "1a:b", "a b:c", "a:b c", "a:\n", "a:\u0000", "a:\u007f", "a\u00a0:b", 5, null],
  template: ["{", "}", "a{b", "a}b", "{}", "{a{b}}", "{a}}", "{{a}", "a b", "{a\n}", 5],
  base64: ["a", "ab", "abc", "abc!", "ab=c", "a===", "====", "=", "ab\n=", "ab-_", 5],
  unit: [-0.1, 1.1, "1", Number.NaN],
  integer: [1.5, "1", Number.POSITIVE_INFINITY, null],
  count: [-1, 0.5, "0"],
  id: [1.5, 2 ** 53, null, {}, true],
  number: [Number.NaN, Number.POSITIVE_INFINITY, "1"],
  "{}": [null, [], "x"],
  any: [undefined],
};

describe.each(Object.keys(good))("%s", (name) => {
  it.each(good[name] ?? [])("takes %j", (value) => {
    expect(checkOf(name)(value)).toBeUndefined();
  });

  it.each(bad[name] ?? [])("refuses %j", (value) => {
    expect(checkOf(name)(value)).toMatch(/^ must be /);
  });
});

describe("long strings", () => {
  const size = 5_000_000;
  it.each([
    ["uri", "a".repeat(size)],
    ["uri", `a:${"b".repeat(size)} `],
    ["template", "{".repeat(size)],
    ["template", `{${"a".repeat(size)}`],
    ["template", "}".repeat(size)],
    ["base64", `${"a".repeat(size)}!!!!`],
    ["base64", "=".repeat(size)],
  ])("are refused as %s in linear time", (name, text) => {
    expect(checkOf(name)(text)).toBeDefined();
  });
});
