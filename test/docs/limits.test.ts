// The numbers in the guide's table of limits are those of the source.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultMaxBytes } from "plenum/stdio/channel";
import { expect, test } from "vitest";
import { readPackage, root } from "../house/source.ts";

const guide = readFileSync(join(root, "docs/guide.md"), "utf8");
const table = guide.slice(guide.indexOf("\n## Limits\n"), guide.indexOf("\n## What each revision gets\n"));
const source = readPackage("plenum");

/** The one number that a name is given anywhere in a room of the source: `= 250`, `?? 250`, `, 250`. */
function numberOf(room: string, name: string): number {
  const form = new RegExp(`\\b${name}\\s*(?:=|\\?\\?)\\s*([\\d_]+)\\b`, "g");
  const found = [...source].flatMap(([path, text]) =>
    path.startsWith(room) ? [...text.matchAll(form)].map(([, digits = ""]) => Number(digits.replaceAll("_", ""))) : [],
  );
  expect(new Set(found).size, `${name} in ${room}`).toBe(1);
  return found[0] as number;
}

test.each([
  ["nesting of a message", "jsonrpc/", "maxJsonDepth", " levels"],
  ["messages in a batch (2025-03-26)", "jsonrpc/", "maxBatchLength", ""],
  ["open requests of a client", "jsonrpc/", "maxInFlight", ""],
  ["watched resources of a client", "protocol/", "maxSubscriptions", ""],
  ["state of a call that waits for an answer", "server/", "maxStateBytes", " characters"],
  ["items per page", "server/", "pageSize", ""],
  ["suggestions per completion", "server/completion", "maxValues", ""],
  ["progress notifications per second and call", "server/", "progressPerSecond", ""],
  ["log messages per second and call", "server/", "logsPerSecond", ""],
  ["callers that a rate limit remembers", "server/rate-limit", "maxKeys", ""],
  ["length of a URI to read or watch", "server/", "maxUriLength", " characters"],
  ["length of a cursor", "util/seal", "maxLength", " characters"],
  ["nesting of a JSON Schema, and of the value it checks", "schema/", "maxDepth", ""],
  ["subschemas of a JSON Schema", "schema/", "maxSubschemas", ""],
  ["steps of one validation", "schema/", "maxSteps", ""],
  ["issues that a validation reports", "schema/", "maxErrors", ""],
  ["length of a pattern in a JSON Schema", "schema/pattern.ts", "maxLength", " characters"],
])("%s", (row, room, name, unit) => {
  expect(table).toContain(`\n| ${row} | ${numberOf(room, name).toLocaleString("en")}${unit} |`);
});

test("the wait for an ask", () => {
  expect(table).toContain(`\n| wait for an ask | ${numberOf("protocol/", "askTimeoutMs") / 60_000} minutes |`);
});

test("the size of a message over stdio", () => {
  expect(table).toContain(`\n| size of a message over stdio | ${defaultMaxBytes / 2 ** 20} MiB |`);
});

test("every row of the table is looked at, but for the one that has no number", () => {
  expect(table.match(/^\| (?!what \|)[^-]/gm)).toHaveLength(20);
});
