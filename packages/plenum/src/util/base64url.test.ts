import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBase64Url, encodeBase64Url } from "./base64url.ts";

test("bytes go there and back, as others write them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      const text = encodeBase64Url(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64url"));
      expect(decodeBase64Url(text)).toEqual(bytes);
    }),
  );
});

test("every value has one spelling", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."AQgw059-_+/= \n") }), (text) => {
      const bytes = decodeBase64Url(text);
      if (bytes) expect(encodeBase64Url(bytes)).toBe(text);
    }),
  );
});

test.each(["A", "AAAAA", "AB", "AAB", "AA==", "A+A", "A/A", "AA A", "é", "AA\n"])("%j is refused", (text) => {
  expect(decodeBase64Url(text)).toBeUndefined();
});
