import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf, toCanonicalJson } from "./digest.ts";

/** The same value with the members of its objects in another order. */
function turn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turn);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, turn(member)]),
  );
}

// As a peer can send it: what is read from JSON. -0 has a test of its own below.
const written = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));

test("the order of members does not matter, everything else does", () => {
  fc.assert(
    fc.property(written, written, (a, b) => {
      expect(toCanonicalJson(turn(a))).toBe(toCanonicalJson(a));
      // Read back, it is the value: nothing is lost.
      expect(JSON.parse(toCanonicalJson(a))).toEqual(JSON.parse(JSON.stringify(a)));
      const isSame = toCanonicalJson(a) === toCanonicalJson(b);
      if (isSame) expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)));
    }),
  );
});

test.each([
  [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
  [[{ b: [], a: {} }, "b", "a"], '[{"a":{},"b":[]},"b","a"]'],
  [{ a: undefined, b: null }, '{"b":null}'],
  [{ é: 1, z: 1, Z: 1, "": 1 }, '{"":1,"Z":1,"z":1,"é":1}'],
  [JSON.parse('{"z":1,"__proto__":{"b":1,"a":2}}'), '{"__proto__":{"a":2,"b":1},"z":1}'],
  ["\ud800", '"\\ud800"'],
  // What JSON writes as another number, or as none, follows with its place.
  [[0, -0, null, Number.POSITIVE_INFINITY], "[0,0,null,null] 3:-0 5:Infinity"],
])("%j is written as %s", (value, text) => {
  expect(toCanonicalJson(value)).toBe(text);
});

test("a digest is SHA-256 in base64url", async () => {
  for (const text of ["", "a", "é\ud83d\ude00", "x".repeat(100_000)])
    expect(await digestOf(text)).toBe(createHash("sha256").update(text).digest("base64url"));
});
