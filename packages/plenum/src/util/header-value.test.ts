import fc from "fast-check";
import { expect, test } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import { decodeHeaderValue, encodeHeaderValue } from "./header-value.ts";

test("the examples of the specification", () => {
  covers(["header-param-base64", "header-param-sentinel-literal"]);
  const examples = {
    "us-west1": "us-west1",
    "Hello, 世界": "=?base64?SGVsbG8sIOS4lueVjA==?=",
    " padded ": "=?base64?IHBhZGRlZCA=?=",
    "line1\nline2": "=?base64?bGluZTEKbGluZTI=?=",
    "=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
  };
  for (const [text, value] of Object.entries(examples)) {
    expect(encodeHeaderValue(text)).toBe(value);
    expect(decodeHeaderValue(value)).toBe(text);
  }
});

test.each([
  ["München ", "=?base64?TcO8bmNoZW4g?="],
  ["größe", "=?base64?Z3LDtsOfZQ==?="],
  ["", ""],
  ["two words", "two words"],
  ["a\tb", "a\tb"],
  ["\ta", "=?base64?CWE=?="],
  ["a ", "=?base64?YSA=?="],
  [" ", "=?base64?IA==?="],
  ["a\r\nX-Injected: 1", "=?base64?YQ0KWC1JbmplY3RlZDogMQ==?="],
  ["\u0000", "=?base64?AA==?="],
  ["\u007f", "=?base64?fw==?="],
  ["\u0085", "=?base64?woU=?="],
  ["\u00a0a", "=?base64?wqBh?="],
  ["\ufeffmark", "=?base64?77u/bWFyaw==?="],
  ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
  ["=?base64?", "=?base64?"],
  ["=?BASE64?YQ==?=", "=?BASE64?YQ==?="],
  ["file:///projects/myapp/config.json", "file:///projects/myapp/config.json"],
])("%j is written %j, and read back", (text, value) => {
  expect(encodeHeaderValue(text)).toBe(value);
  expect(decodeHeaderValue(value)).toBe(text);
});

test("whatever is written is a safe header, and is read back as it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const value = encodeHeaderValue(text);
      expect(value).toMatch(/^([!-~]([\t -~]*[!-~])?)?$/);
      expect(decodeHeaderValue(value)).toBe(text);
    }),
  );
});

test("half of a surrogate pair is refused rather than replaced", () => {
  expect(() => encodeHeaderValue("a\ud800")).toThrow(TypeError);
  expect(() => encodeHeaderValue("\udc00b")).toThrow(TypeError);
  expect(decodeHeaderValue(encodeHeaderValue("\ud83d\ude00"))).toBe("😀");
});

test.each([
  ["no base64", "=?base64?%%%?="],
  ["no padding", "=?base64?YQ?="],
  ["bits to spare", "=?base64?YR==?="],
  ["URL-safe base64", "=?base64?PT9-_w==?="],
  ["no UTF-8", "=?base64?//4=?="],
  ["half of a surrogate pair", "=?base64?7aCA?="],
  ["a control character", "a\nb"],
  ["a character beyond ASCII", "größe"],
])("what is no value is not read: %s", (_, value) => {
  expect(decodeHeaderValue(value)).toBeUndefined();
});

test.each(["=?BASE64?YQ==?=", "=?Base64?YQ==?=", "=?base64?YQ==", "YQ==?=", "x=?base64?YQ==?=", "=?base64?="])(
  "marks that are not exact are part of the text: %s",
  (value) => {
    expect(decodeHeaderValue(value)).toBe(value);
  },
);

test("the empty text may come encoded", () => {
  expect(decodeHeaderValue("=?base64??=")).toBe("");
});

test("a megabyte is no trouble", () => {
  const text = "ä".repeat(1_000_000);
  expect(decodeHeaderValue(encodeHeaderValue(text))).toBe(text);
});
