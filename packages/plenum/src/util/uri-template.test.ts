// The grammar's mistakes, the rules of matching one by one, and the types of a literal template. Then its properties:
// what is expanded comes back, what comes back expands to the same, and the cost is linear in the URI
// (CVE-2026-0621), shown by counting steps.
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  isUriTemplate,
  parseParts,
  parseUriTemplate,
  steps,
  type TemplateVariables,
  toCanonicalUri,
} from "./uri-template.ts";
import { expandUriTemplate } from "./uri-template-expand.ts";

const match = (template: string, uri: string) => parseUriTemplate(template).match(uri);

test("variables are named once, in order", () => {
  const template = parseUriTemplate("a/{x,y}{/x:1}{?q,list*}");
  expect(template.source).toBe("a/{x,y}{/x:1}{?q,list*}");
  expect(template.variables).toEqual(["x", "y", "q", "list"]);
  expect(parseUriTemplate("plain://text").variables).toEqual([]);
});

test("variables of queries are told from those that stand elsewhere, too", () => {
  const { queries } = parseUriTemplate("a:{x}{?q,x,list*}{&more}{#f}");
  expect(queries).toEqual(["q", "list", "more"]);
});

test.each(["{x}{?x*}", "{?x*}{&x}", "{x*}/{x:3}"])("%s, whose x is both a list and a value, is refused", (source) => {
  expect(() => parseUriTemplate(source)).toThrow(/"x" is both a list and a value/);
});

test.each([
  ["a://%73ecret", "a://secret"],
  ["a://%C3%a9%2f", "a://%C3%A9%2F"],
  ["a://é", "a://%C3%A9"],
  ["a://{x}", "a://%7Bx%7D"],
  ["a://%zz", "a://%zz"],
])("%s is canonically %s", (uri, canonical) => {
  expect(toCanonicalUri(uri)).toBe(canonical);
  expect(toCanonicalUri(canonical)).toBe(canonical);
});

test("isUriTemplate", () => {
  expect(isUriTemplate("weather://{city}")).toBe(true);
  expect(isUriTemplate("weather://{city")).toBe(true);
  expect(isUriTemplate("weather://oslo")).toBe(false);
});

test.each([
  ...["a{b", "a}b", "a{b{c}}", "my notes", "a%zz", "a%2", "a%FF", "a\ud800", "a\nb", "a|b"].map((source) => [
    source,
    /^URI template ".*": ".+" must be percent-encoded UTF-8; braces must come in pairs$/,
  ]),
  ...["a{}", "{=x}", "{|x}", "{$x}", "{+}", "{x,}", "{x,,y}", "{a b}", "{a..b}", "{..b}", "{a.}", "{a-b}", "{a%2}"].map(
    (source) => [source, /".*" is no variable; use letters, digits, _ and ., then /],
  ),
  ...["{x:0}", "{x:10000}", "{x:}", "{x:3*}", "{x*:3}", "{x**}"].map((source) => [
    source,
    /".*" is no variable; use letters, digits, _ and ., then /,
  ]),
  ["a{b-c,d}", '"b-c" is no variable'],
  ["a{b}c d", '"c d" must be percent-encoded'],
  ["a{b", '"{" must be percent-encoded UTF-8; braces'],
  ["a".repeat(2049), /^URI template "a{80}…": too long$/],
] as [string, string | RegExp][])("%j is refused", (source, message) => {
  expect(() => parseUriTemplate(source)).toThrow(TypeError);
  expect(() => parseUriTemplate(source)).toThrow(message);
  expect(() => expandUriTemplate(source, {})).toThrow(message);
});

const yes: readonly [template: string, uri: string, found: { [name: string]: string | string[] }][] = [
  // literals
  ["plain://text", "plain://text", {}],
  ["a%2fb%7Ec", "a%2Fb~c", {}],
  ["a%62~é", "ab%7e%c3%A9", {}],
  ["{x}/a~é", "1/%61%7e%c3%A9", { x: "1" }],
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
  ["{/a*}{/b*}", "/x/y", { a: ["x"], b: ["y"] }],
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
  ["s{?a}{&b}", "s?a=1&b=2", { a: "1", b: "2" }],
  ["s{?a}{&b}", "s&b=2", { b: "2" }],
  ["s?v=1{&a}", "s?v=1&a=2", { a: "2" }],
  ["s?v={v}{&a}", "s?v=1&a=2", { v: "1", a: "2" }],
  ["s{?a,a.b}", "s?a.b=1&a=2", { a: "2", "a.b": "1" }],
  ["s{?q}{#f}", "s?q=1#top", { q: "1", f: "top" }],
  ["s{?a}{/path*}", "s?a=1/b", { a: "1", path: ["b"] }],
  // twice the same
  ["{x}/{x}", "a/a", { x: "a" }],
];

const no: readonly [template: string, uri: string, why: string][] = [
  ["plain://text", "plain://texts", "longer"],
  ["plain://text", "plain://tex", "shorter"],
  ["a%2Fb", "a/b", "an encoded delimiter is not a plain one"],
  ["a/b", "a%2Fb", "nor the other way"],
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
  ["a/b", "%61/b", "the plain start must stand as it is"],
  ["s{?a}{&b}", "s?b=2&a=1", "pairs of another expression"],
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
  ["{/var:1,var}", "/v/value", "a prefix is another value"],
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

// Well-formed Unicode, with the characters that matter to URIs more often than chance has it.
const char = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  fc.constantFrom(..."/?#&;=,.%+{}[] é😀"),
);
const anyText = fc.string({ unit: char, maxLength: 12 });
const someText = fc.string({ unit: char, minLength: 1, maxLength: 12 });
const dotless = someText.map((text) => text.replaceAll(".", "-"));
const anyList = fc.array(anyText, { maxLength: 4 });
// Reserved expansion keeps triplets and delimiters as they are; this alphabet has neither.
const plain = fc.string({ unit: fc.constantFrom(..."abcAZ09-_~:@!$é😀 /"), minLength: 1, maxLength: 12 });

const maybe = { requiredKeys: [] as [] };

const unambiguous: [string, fc.Arbitrary<{ [name: string]: string | string[] }>][] = [
  ["weather://{city}/now", fc.record({ city: someText })],
  ["db://{schema}/{table}/{id}", fc.record({ schema: someText, table: someText, id: someText })],
  ["x:{a,b,c}", fc.record({ a: someText, b: someText, c: someText })],
  ["x:{/a,b}/end", fc.record({ a: someText, b: someText })],
  ["x{.a,b}", fc.record({ a: dotless, b: dotless })],
  ["x{.a}", fc.record({ a: someText })],
  ["file://{/path*}", fc.record({ path: anyList })],
  ["file://{/path*}{?line}", fc.record({ path: anyList, line: anyText })],
  ["x:{head,tail*}", fc.record({ head: someText, tail: anyList })],
  ["file:///{+path}", fc.record({ path: plain })],
  ["file:///{+path}{?q}", fc.record({ path: plain, q: anyText })],
  ["x{#fragment}", fc.record({ fragment: plain })],
  ["s{?q,limit,tag}", fc.record({ q: anyText, limit: anyText, tag: anyText }, maybe)],
  ["s{?q,tags*}", fc.record({ q: anyText, tags: anyList })],
  ["s{?a}{&b,c*}", fc.record({ a: anyText, b: anyText, c: anyList })],
  ["s?v=1{&a,b}", fc.record({ a: anyText, b: anyText }, maybe)],
  ["{x}{;a,b*}/z", fc.record({ x: someText, a: anyText, b: anyList })],
  ["%7Bé%7D{__proto__}", someText.map((value) => Object.fromEntries([["__proto__", value]]))],
];

describe("round trip", () => {
  test.each(unambiguous)("%s", (source, values) => {
    const template = parseUriTemplate(source);
    fc.assert(
      fc.property(values, (value) => {
        const found = template.match(expandUriTemplate(template, value));
        expect({ ...found }).toEqual({ ...value });
      }),
      { numRuns: 300 },
    );
  });

  test("what any template reads, it also writes and reads again, however ambiguous", () => {
    const literal = fc.constantFrom("a", "/", ".", "-", "?", "&", "%2F", "é");
    const signs = fc.constantFrom("", "+", "#", ".", "/", ";", "?", "&");
    const specs = fc.array(fc.constantFrom("v", "v*", "v:2"), { minLength: 1, maxLength: 3 });
    const expression = fc.tuple(signs, specs).map(([sign, names]) => `{${sign}${names.join(",")}}`);
    const templates = fc.array(fc.oneof(literal, expression), { minLength: 1, maxLength: 5 }).map((pieces) => {
      let count = 0;
      return pieces.join("").replaceAll("v", () => `v${count++}`);
    });
    // No encoded delimiters: `{+v}` gives them back plain, which may then be read otherwise.
    const uris = fc.string({
      unit: fc.constantFrom(..."aa01/.-?&;=,#", "v0=", "v1=", "v2=", "%C3%A9"),
      maxLength: 20,
    });
    let matched = 0;
    fc.assert(
      fc.property(templates, uris, (source, uri) => {
        const template = parseUriTemplate(source);
        const found = template.match(uri);
        if (found === undefined) return;
        matched++;
        expect(template.match(expandUriTemplate(template, found))).toEqual(found);
        for (const part of parseParts(source)) {
          for (const { name, explode } of part.variables)
            if (name && (explode || !part.named)) expect(found).toHaveProperty([name]);
        }
      }),
      { numRuns: 20_000, seed: 1 },
    );
    expect(matched).toBeGreaterThan(200);
  });
});

// ---- a slow and obvious reading of the same rules, for small templates of simple variables

/** Whether the text can be divided among literals and simple variables at all, by trying every division. */
function canDivide(pieces: readonly string[], uri: string): boolean {
  const [piece, ...rest] = pieces;
  if (piece === undefined) return uri === "";
  if (!piece.startsWith("{")) return uri.startsWith(piece) && canDivide(rest, uri.slice(piece.length));
  for (let end = 1; end <= uri.length; end++) {
    if (!piece.startsWith("{+") && uri.charAt(end - 1) === "/") return false;
    if (canDivide(rest, uri.slice(end))) return true;
  }
  return false;
}

test("matches exactly what some division of the URI matches, however ambiguous", () => {
  const unit = fc.constantFrom("a", "b", "/", "ab", "{v}", "{+v}");
  fc.assert(
    fc.property(
      fc.array(unit, { minLength: 1, maxLength: 6 }),
      fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 8 }),
      (units, uri) => {
        const pieces = units.map((piece, index) => piece.replace("v", `v${index}`));
        expect(parseUriTemplate(pieces.join("")).match(uri) !== undefined).toBe(canDivide(pieces, uri));
      },
    ),
    { numRuns: 3000 },
  );
});

// ---- cost

function accepts(source: string): boolean {
  try {
    return parseUriTemplate(source) !== undefined;
  } catch {
    return false;
  }
}

function stepsOf(source: string, uri: string): number {
  const template = parseUriTemplate(source);
  const before = steps;
  template.match(uri);
  return steps - before;
}

const letters = [..."abcdefghijklmnopqrst"];
const adversarial: [what: string, source: string, uri: (size: number) => string][] = [
  ["neighbours that can all take everything", letters.map((l) => `{${l}}`).join(""), (n) => "x".repeat(n)],
  ["the same, and no match", `${letters.map((l) => `{${l}}`).join("")}!`, (n) => "x".repeat(n)],
  ["reserved neighbours", `${letters.map((l) => `{+${l}}`).join("/")}!`, (n) => "/".repeat(n)],
  ["exploded segments", `${letters.map((l) => `{/${l}*}`).join("")}!`, (n) => "/a".repeat(n / 2)],
  ["exploded lists", `${letters.map((l) => `{${l}*}`).join(",")}!`, (n) => ",".repeat(n)],
  ["labels", `${letters.map((l) => `{.${l}*}`).join("")}!`, (n) => ".a".repeat(n / 2)],
  ["prefixes", `${letters.map((l) => `{${l}:9999}`).join("")}!`, (n) => "x".repeat(n)],
  ["one group of many names", `{?${letters.join(",")}}!`, (n) => `?${"a=&".repeat(n / 3)}`],
  [
    "names that begin alike",
    `{?${letters.map((_, i) => "a".repeat(i + 1)).join(",")}}!`,
    (n) => `?${"a&".repeat(n / 2)}`,
  ],
  ["pairs repeated", "{?x*}", (n) => `?${"x=1&".repeat(n / 4)}x=1`],
  ["parameters after parameters", `${letters.map((l) => `{;${l}}`).join("")}!`, (n) => ";a".repeat(n / 2)],
  ["text that almost repeats", `{a}${"ab".repeat(20)}{b}${"ab".repeat(20)}!`, (n) => "ab".repeat(n / 2)],
  ["encoded text", "{a}{b}{c}/!", (n) => "%C3%A9".repeat(n / 6)],
  ["a value and many prefixes of it", "{x}{?x:1}", (n) => `${"a".repeat(n / 2)}?${"x=a&".repeat(n / 8)}x=a`],
];

describe("linear in the URI, whatever the template", () => {
  test.each(adversarial)("%s", (_what, source, uri) => {
    const size = 1992;
    const once = stepsOf(source, uri(size));
    const four = stepsOf(source, uri(4 * size));
    expect(once).toBeGreaterThan(0);
    expect(four).toBeLessThan(4.2 * once + 1000);
    // Length of the URI times length of the template, with a small factor.
    expect(four).toBeLessThan(4 * (4 * size + 2) * source.length);
  });

  test("a URI that differs at the start costs nothing", () => {
    expect(stepsOf("weather://{city}", `other://${"x".repeat(1000)}`)).toBe(0);
  });

  test("a URI that is too long costs nothing and does not match", () => {
    expect(match("a:{x}", `a:${"x".repeat(8190)}`)).toEqual({ x: "x".repeat(8190) });
    expect(match("a:{x}", `a:${"x".repeat(8191)}`)).toBeUndefined();
    expect(stepsOf("a:{x}", `a:${"x".repeat(8191)}`)).toBe(0);
  });

  test("the longest templates are prepared and matched in no time", () => {
    // No assertion on time: work that explodes would not end before the runner gives up.
    for (const unit of ["{a}/{+b}", "{", "{a", "a.", "%41", "?#&;"]) {
      const long = unit.repeat(2040 / unit.length);
      for (const source of [long, `{${long}}`, `{?${long}}`])
        if (accepts(source)) expect(match(source, "/".repeat(8192))).toBeUndefined();
    }
  });
});
