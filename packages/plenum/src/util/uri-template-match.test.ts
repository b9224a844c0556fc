// Properties of matching: what is expanded comes back, what comes back expands to the same, and the cost is linear
// in the URI (CVE-2026-0621), shown by counting steps.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseUriTemplate } from "./uri-template.ts";
import { compileMatcher } from "./uri-template-match.ts";
import { parseParts } from "./uri-template-parse.ts";
import type { Meter } from "./uri-template-pieces.ts";

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
  ["{a:3}/{a}", fc.record({ a: someText })],
  ["%7Bé%7D{__proto__}", someText.map((value) => Object.fromEntries([["__proto__", value]]))],
];

describe("round trip", () => {
  test.each(unambiguous)("%s", (source, values) => {
    const template = parseUriTemplate(source);
    fc.assert(
      fc.property(values, (value) => {
        const found = template.match(template.expand(value));
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
        expect(template.match(template.expand(found))).toEqual(found);
        for (const part of parseParts(source)) {
          if (part.kind === "literal") continue;
          for (const { name, explode } of part.variables)
            if (explode || !part.operator.named) expect(found).toHaveProperty([name]);
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

function stepsOf(source: string, uri: string): number {
  const meter: Meter = { steps: 0 };
  compileMatcher(parseParts(source))(uri, meter);
  return meter.steps;
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
  ["a list and many prefixes of it", "{x*}{?x:1}", (n) => `${"a,".repeat(n / 4)}?${"x=a&".repeat(n / 8)}x=a`],
];

describe("linear in the URI, whatever the template", () => {
  test.each(adversarial)("%s", (_what, source, uri) => {
    const size = 2400;
    const once = stepsOf(source, uri(size));
    const four = stepsOf(source, uri(4 * size));
    expect(once).toBeGreaterThan(0);
    expect(four).toBeLessThan(4.2 * once + 1000);
    // Length of the URI times length of the template, with a small factor.
    expect(four).toBeLessThan(4 * (4 * size + 2) * source.length);
  });

  test.each(adversarial)(
    "%s, with 240,000 characters",
    (_what, source, uri) => {
      // No assertion on time: quadratic work would not end before the runner gives up.
      const text = uri(240_000);
      const template = parseUriTemplate(source);
      const found = template.match(text);
      if (source.endsWith("!")) expect(found).toBeUndefined();
    },
    30_000,
  );

  test("a URI that differs at the start costs nothing", () => {
    expect(stepsOf("weather://{city}", `other://${"x".repeat(1000)}`)).toBe(0);
  });

  test("a template of many expressions is prepared in linear time", () => {
    const template = parseUriTemplate("{a}/{+b}".repeat(20_000));
    expect(template.match("?")).toBeUndefined();
  });
});
