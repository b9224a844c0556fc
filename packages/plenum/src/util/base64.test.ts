import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64, encodeBase64, isBase64 } from "./base64.ts";

const ascii = (text: string) => new TextEncoder().encode(text);

// RFC 4648 §10
const vectors = [
  ["", ""],
  ["f", "Zg=="],
  ["fo", "Zm8="],
  ["foo", "Zm9v"],
  ["foob", "Zm9vYg=="],
  ["fooba", "Zm9vYmE="],
  ["foobar", "Zm9vYmFy"],
] as const;

describe("base64", () => {
  test.each(vectors)("%j is %j", (text, encoded) => {
    expect(encodeBase64(ascii(text))).toBe(encoded);
    expect(decodeBase64(encoded)).toEqual(ascii(text));
  });

  test("the alphabet is not that of base64url", () => {
    const bytes = Uint8Array.of(0xfb, 0xff, 0xbf);
    expect(encodeBase64(bytes)).toBe("+/+/");
    expect(decodeBase64("-_-_")).toBeUndefined();
  });

  test.each([
    ["Zg", "no padding"],
    ["Zg=", "too little padding"],
    ["Zg===", "too much padding"],
    ["====", "padding alone"],
    ["Z===", "one character"],
    ["Zh==", "bits lost at the end"],
    ["Zm9=", "bits lost at the end of three"],
    ["Zg==Zg==", "padding in the middle"],
    ["Zm9v\n", "a line break"],
    [" Zm9v", "a space"],
    ["Zm9é", "outside ASCII"],
    ["Zm9\u{1f600}", "far outside ASCII"],
    ["data:image/png;base64,Zm9v", "a data URL"],
  ])("%j is refused: %s", (text) => {
    expect(decodeBase64(text)).toBeUndefined();
    expect(isBase64(text)).toBe(false);
  });

  test("every byte string comes back, in its one spelling", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const encoded = encodeBase64(bytes);
        expect(encoded).toBe(Buffer.from(bytes).toString("base64"));
        expect(isBase64(encoded)).toBe(true);
        expect(decodeBase64(encoded)).toEqual(Uint8Array.from(bytes));
      }),
    );
  });

  test("isBase64 and decodeBase64 agree on any text", () => {
    const text = fc.string({ unit: fc.constantFrom(..."AZaz09+/=-_ "), maxLength: 9 });
    fc.assert(
      fc.property(text, (value) => {
        expect(isBase64(value)).toBe(decodeBase64(value) !== undefined);
      }),
      { numRuns: 2000 },
    );
  });

  test("larger than one call's arguments", () => {
    const bytes = new Uint8Array(300_001).map((_, index) => index * 7);
    expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
    expect(Buffer.compare(decodeBase64(encodeBase64(bytes)) ?? new Uint8Array(), bytes)).toBe(0);
  });

  test("the engine's own encoder is used where there is one", () => {
    const bytes = Object.assign(Uint8Array.of(1), { toBase64: () => "native" });
    expect(encodeBase64(bytes)).toBe("native");
  });
});
