// Words as they stand on a line of a shell.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { fromBash, quote, unquote } from "./shell-words.ts";

test.each([
  ["plain", "plain", undefined],
  ["a\\ b", "a b", undefined],
  ["'a b'c", "a bc", undefined],
  ["'a \\b", "a \\b", "'"],
  ['"a \\" \\n', 'a " \\n', '"'],
  ["end\\", "end", undefined],
])("%s is %s", (word, text, open) => {
  expect(unquote(word)).toEqual({ text, open });
});

const nasty = ["$(touch x)", "`id`", "a'b\"c", "!! *?[x]{a,b}", "~/x", "#;&|<>()", "é\u00a0ü", "\\"];

test("bash reads what was quoted as it was", () => {
  const lines = nasty.map((text) => quote(text, undefined));
  expect(printed(lines)).toEqual(nasty);
  expect(lines.map((line) => unquote(line).text)).toEqual(nasty);
});

test.each(["'", '"'] as const)("behind an open %s too", (open) => {
  const line = fromBash(`plenum call ${open}`, ["plenum", "call", open]);
  const replies = nasty.map((text) => line.toReply(text, false));
  const fitting = nasty.filter((_, at) => replies[at] !== undefined);
  expect(fitting).toEqual(["$(touch x)", "`id`", "~/x", "#;&|<>()", "é\u00a0ü"]);
  expect(printed(replies.flatMap((reply) => (reply === undefined ? [] : `${open}${reply}${open}`)))).toEqual(fitting);
});

function printed(words: readonly string[]): string[] {
  const said = execFileSync("bash", ["-c", `printf '%s\\n' ${words.join(" ")}`], { encoding: "utf8" });
  return said.trimEnd().split("\n");
}

test.each([
  // The line up to the cursor, the words that bash makes of it, ours, and what is put in place of a value.
  ["plenum call ", ["plenum", "call", ""], ["call", ""], "x=y", "x=y "],
  ["plenum call a=", ["plenum", "call", "a", "=", ""], ["call", "a="], "a=y", "y "],
  ["plenum call a=", ["plenum", "call", "a", "="], ["call", "a="], "a=y", "y "],
  ["plenum call a=x", ["plenum", "call", "a", "=", "x"], ["call", "a=x"], "a=xy", "xy "],
  ["plenum list cursor:w", ["plenum", "list", "cursor", ":", "w"], ["list", "cursor:w"], "cursor:we", "we "],
  ["plenum list 'my ", ["plenum", "list", "'my "], ["list", "my "], "my file", "my file"],
  ["plenum list my\\ f", ["plenum", "list", "my\\ f"], ["list", "my f"], "my file", "my\\ file "],
  ["plenum li", ["plenum", "list"], ["li"], "list", "list "],
])("bash: %s", (line, given, words, value, reply) => {
  const bash = fromBash(line, given);
  expect(bash.words).toEqual(words);
  expect(bash.toReply(value, false)).toBe(reply);
});
