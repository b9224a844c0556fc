// Foreign text cannot command a terminal, forge a line or turn the text around it.
import { expect, test } from "vitest";
import { quote, toLine } from "./quote.ts";

test.each<[string, string, string, string]>([
  ["plain text", "é 日本 🎉", '"é 日本 🎉"', "é 日本 🎉"],
  ["C0", "a\u001b[31m\nb", '"a\\u001b[31m\\nb"', "a [31m b"],
  ["DEL and C1", "a\u007f\u009b31m", '"a\\u{7f}\\u{9b}31m"', "a 31m"],
  ["directions", "a\u202eb\u2066c", '"a\\u{202e}b\\u{2066}c"', "a b c"],
  ["line separators", "a\u2028\u2029b", '"a\\u{2028}\\u{2029}b"', "a b"],
  ["without width", "a\u200bb\ufeffc", '"a\\u{200b}b\\u{feff}c"', "a b c"],
  ["tags beyond the first plane", "a\u{e0041}b", '"a\\u{e0041}b"', "a b"],
  ["quotes", 'a"b', '"a\\"b"', 'a"b'],
])("%s", (_, text, quoted, line) => {
  expect(quote(text)).toBe(quoted);
  expect(toLine(text)).toBe(line);
});

test("both are bounded", () => {
  expect(quote("x".repeat(100), 10)).toBe(`"${"x".repeat(10)}…"`);
  expect(toLine("x".repeat(100), 10)).toBe("x".repeat(10));
});
