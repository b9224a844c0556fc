// The grammar's mistakes, the rules of matching one by one, and the types of a literal template.
import { describe, expect, expectTypeOf, test } from "vitest";
import { isUriTemplate, parseUriTemplate, type TemplateVariables } from "./uri-template.ts";

const match = (template: string, uri: string) => parseUriTemplate(template).match(uri);

test("variables are named once, in order", () => {
  const template = parseUriTemplate("a/{x,y}{/x:1}{?q,list*}");
  expect(template.source).toBe("a/{x,y}{/x:1}{?q,list*}");
  expect(template.variables).toEqual(["x", "y", "q", "list"]);
  expect(parseUriTemplate("plain://text").variables).toEqual([]);
});

test("isUriTemplate", () => {
  expect(isUriTemplate("weather://{city}")).toBe(true);
  expect(isUriTemplate("weather://{city")).toBe(true);
  expect(isUriTemplate("weather://oslo")).toBe(false);
});

test.each([
  ["a{b", '"{" is never closed (position 1)'],
  ["a}b", '"}" without "{" (position 1)'],
  ["a{b{c}}", '"{" inside an expression (position 3)'],
  ["a{}", "the expression is empty (position 1)"],
  ["{=x}", 'operator "=" is reserved by RFC 6570 (position 1)'],
  ["{|x}", 'operator "|" is reserved by RFC 6570 (position 1)'],
  ["{$x}", '"$" is no operator and starts no variable name (position 1)'],
  ["{+}", 'operator "+" without a variable (position 1)'],
  ["{x,}", "a variable name is missing (position 3)"],
  ["{x,,y}", "a variable name is missing (position 3)"],
  ["{a b}", '"a b" is no variable name (position 1)'],
  ["{a..b}", '"a..b" is no variable name (position 1)'],
  ["{a-b}", '"a-b" is no variable name (position 1)'],
  ["{x:0}", 'prefix length "0" is not a number from 1 to 9999 (position 3)'],
  ["{x:10000}", 'prefix length "10000" is not a number from 1 to 9999 (position 3)'],
  ["{x:}", 'prefix length "" is not a number from 1 to 9999 (position 3)'],
  ["{x:3*}", '"x:3*" has both a prefix length and "*" (position 1)'],
  ["my notes", '" " must be percent-encoded (position 2)'],
  ["a%zz", '"%" must be followed by two hexadecimal digits (position 1)'],
  ["a\ud800", "half a surrogate pair (position 1)"],
])("%j is refused", (source, message) => {
  expect(() => parseUriTemplate(source)).toThrow(TypeError);
  expect(() => parseUriTemplate(source)).toThrow(message);
});

const yes: readonly [template: string, uri: string, found: { [name: string]: string | string[] }][] = [
  // literals
  ["plain://text", "plain://text", {}],
  ["a%2fb%7Ec", "a%2Fb~c", {}],
  ["a~é", "%61%7e%c3%A9", {}],
  // simple
  ["weather://{city}/now", "weather://oslo/now", { city: "oslo" }],
  ["weather://{city}/now", "weather://S%C3%A3o%20Paulo/now", { city: "São Paulo" }],
  ["weather://{city}/now", "weather://new york/now", { city: "new york" }],
  ["weather://{city}/now", "weather://münchen/now", { city: "münchen" }],
  ["f://{x}", "f://a%2F..%2fb", { x: "a/../b" }],
  ["f://{x}", "f://a,b;c&d=e", { x: "a,b;c&d=e" }],
  ["{x,y}", "a,b%2Cc", { x: "a", y: "b,c" }],
  ["{name}.{ext}", "a.tar.gz", { name: "a.tar", ext: "gz" }],
  ["{a}{b}", "xyz", { a: "xy", b: "z" }],
  ["{a:1}{b}", "xyz", { a: "x", b: "yz" }],
  ["{a:2}-{b}", "x-z", { a: "x", b: "z" }],
  ["{x:2}", "😀%F0%9F%98%80", { x: "😀😀" }],
  ["{list*}", "red,green,,blue", { list: ["red", "green", "", "blue"] }],
  ["a{list*}", "a", { list: [] }],
  ["{x,list*}", "a,b,c", { x: "a", list: ["b", "c"] }],
  ["{x,list*}", "a", { x: "a", list: [] }],
  ["{list*,x}", "a,b,c", { list: ["a", "b"], x: "c" }],
  ["p?q={q}&r={r}", "p?q=1&r=2", { q: "1", r: "2" }],
  // reserved and fragment
  ["file:///{+path}", "file:///a/b%20c?d#e", { path: "a/b c?d#e" }],
  ["{+path}/{id}", "a/b/c", { path: "a/b", id: "c" }],
  ["{+path}{?q}", "a/b?q=1", { path: "a/b", q: "1" }],
  ["{+path}{?q}", "a/b", { path: "a/b" }],
  ["{+base}{&q}", "h?a=1&b=2&q=3", { base: "h?a=1&b=2", q: "3" }],
  ["{+x,y}", "/a,b", { x: "/a", y: "b" }],
  ["{+x}{#y}", "a?b#c#d", { x: "a?b", y: "c#d" }],
  ["a{#list*}", "a#b,c", { list: ["b", "c"] }],
  ["a{#list*}", "a", { list: [] }],
  // labels and segments
  ["www{.dom*}", "www.example.com", { dom: ["example", "com"] }],
  ["{name}{.exts*}", "a.tar.gz", { name: "a", exts: ["tar", "gz"] }],
  ["X{.x}", "X.a.b", { x: "a.b" }],
  ["X{.x,y}", "X.a.b", { x: "a", y: "b" }],
  ["{/x,y}/here", "/a/b/here", { x: "a", y: "b" }],
  ["f:{/path*}", "f:/a//b/", { path: ["a", "", "b", ""] }],
  ["f:{/path*}", "f:", { path: [] }],
  ["f:{/path*}/end", "f:/a/end/end", { path: ["a", "end"] }],
  ["{/a*}{/b*}", "/x/y", { a: [], b: ["x", "y"] }],
  ["{a*,b*}", "x,y,z", { a: ["x"], b: ["y", "z"] }],
  ["{/list*,x}", "/a/b/c", { list: ["a", "b"], x: "c" }],
  ["{/list*,x}", "/c", { list: [], x: "c" }],
  // pairs
  ["a{;x,y}", "a;y=2;x=1", { x: "1", y: "2" }],
  ["a{;x,y}", "a;x", { x: "" }],
  ["a{;x}/b", "a;x=1/b", { x: "1" }],
  ["{a}{;x}", "v;x=1", { a: "v", x: "1" }],
  ["s{?q,limit}", "s?limit=5&q=a%26b+c", { q: "a&b+c", limit: "5" }],
  ["s{?q,limit}", "s", {}],
  ["s{?q}", "s?q=a/b?c=d", { q: "a/b?c=d" }],
  ["s{?q}", "s?q", { q: "" }],
  ["s{?q}", "s?q=1&q=1", { q: "1" }],
  ["s{?tags*}", "s?tags=a&tags=b", { tags: ["a", "b"] }],
  ["s{?tags*}", "s", { tags: [] }],
  ["s{?a}{&b}", "s?b=2&a=1", { a: "1", b: "2" }],
  ["s?v=1{&a}", "s?v=1&a=2", { a: "2" }],
  ["s?v={v}{&a}", "s?v=1&a=2", { v: "1", a: "2" }],
  ["s{?a,a.b}", "s?a.b=1&a=2", { a: "2", "a.b": "1" }],
  ["s{?a,ab}{+rest*}", "s?ab", { ab: "", rest: [] }],
  ["s{?q}{#f}", "s?q=1#top", { q: "1", f: "top" }],
  // twice the same
  ["{x}/{x}", "a/a", { x: "a" }],
  ["{/var:1,var}", "/v/value", { var: "value" }],
  ["{var}{/var:1}", "value/v", { var: "value" }],
  ["{x*}{/x}", "a,b/a%2Cb", { x: ["a", "b"] }],
];

const no: readonly [template: string, uri: string, why: string][] = [
  ["plain://text", "plain://texts", "longer"],
  ["plain://text", "plain://tex", "shorter"],
  ["a%2Fb", "a/b", "an encoded delimiter is not a plain one"],
  ["a/b", "a%2Fb", "nor the other way"],
  ["a%FF", "a%FF", "no UTF-8, even in the template"],
  ["weather://{city}/now", "weather:///now", "empty"],
  ["weather://{city}/now", "weather://a/b/now", "a slash"],
  ["{x}", "a?b", "a question mark"],
  ["{x}", "a#b", "a hash"],
  ["{x}", "a%zz", "malformed triplet"],
  ["{x}", "a%2", "cut triplet"],
  ["{x}", "a%C3", "cut UTF-8"],
  ["{x}", "%C0%AF", "overlong UTF-8"],
  ["{x}", "%E0%80%AF", "overlong UTF-8 of three"],
  ["{x}", "%ED%A0%80", "encoded surrogate"],
  ["{x}", "%F4%90%80%80", "above Unicode"],
  ["{x}", "%80", "continuation alone"],
  ["{x}", "a\ud800", "half a surrogate pair"],
  ["{x}", "a\nb", "raw control character"],
  ["{x:2}", "abc", "longer than the prefix"],
  ["{?x:2}", "?x=abc", "longer than the prefix"],
  ["{x,y}", "a", "a variable is missing"],
  ["{x,y}", "a,b,c", "one too many"],
  ["{/x}", "a", "no slash"],
  ["{/x}", "/", "empty segment"],
  ["a{#x}", "a", "no fragment"],
  ["s{?q}", "s?q=1&evil=2", "unknown parameter"],
  ["s{?q}", "s?", "no pair"],
  ["s{?q}", "s?q=1&", "open end"],
  ["s{?q}", "s?q=1&q=2", "two values"],
  ["s{?q}", "s?qq=1", "another name"],
  ["s{?q}", "s?q=1#f", "a fragment"],
  ["{+path}{?q}", "a?b=1", "unknown parameter after a reserved value"],
  ["p?q={q}&r={r}", "p?q=1&r=2&r=3", "a value in the query has no ampersand"],
  ["{x}/{x}", "a/b", "two values"],
  ["{/var:1,var}", "/w/value", "not its prefix"],
  ["{x*}{/x}", "a,b/a", "list and text differ"],
];

describe("match", () => {
  test.each(yes)("%s takes %s", (template, uri, found) => {
    expect(match(template, uri)).toEqual(found);
  });

  test.each(no)("%s refuses %j: %s", (template, uri) => {
    expect(match(template, uri)).toBeUndefined();
  });

  test("names that every object inherits are names like any other", () => {
    const found = match("{__proto__}/{constructor}{?toString}", "a/b");
    expect(Object.entries(found ?? {})).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
    expect(found?.toString).toBeUndefined();
  });
});

test("types of a literal template", () => {
  expectTypeOf<TemplateVariables<"weather://{city}/now">>().toEqualTypeOf<{ city: string }>();
  expectTypeOf<TemplateVariables<"{a,b}/{+path}{#f}">>().toEqualTypeOf<{
    a: string;
    b: string;
    path: string;
    f: string;
  }>();
  expectTypeOf<TemplateVariables<"s{?q,limit}{&tags*}{;v:3}">>().toEqualTypeOf<{
    q?: string;
    limit?: string;
    tags: string[];
    v?: string;
  }>();
  expectTypeOf<TemplateVariables<"f:{/path*}/{var:3}{.ext}">>().toEqualTypeOf<{
    path: string[];
    var: string;
    ext: string;
  }>();
  expectTypeOf<keyof TemplateVariables<"plain://text">>().toEqualTypeOf<never>();
  expectTypeOf<TemplateVariables<string>>().toEqualTypeOf<{ [name: string]: string | string[] }>();
});
