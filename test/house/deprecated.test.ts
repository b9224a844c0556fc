// What the protocol deprecates is marked so in the API: editors strike it through.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { root } from "./source.ts";

/** The comment above a member of an interface. */
function commentAbove(path: string, member: RegExp): string {
  const lines = readFileSync(join(root, "packages/plenum/src", path), "utf8").split("\n");
  const at = lines.findIndex((line) => member.test(line));
  expect(at, `${member} in ${path}`).toBeGreaterThan(0);
  const start = lines.slice(0, at).findLastIndex((line) => /^\s*\/\*\*/.test(line));
  return lines.slice(start, at).join("\n");
}

test.each([
  ["sampling-deprecated", "server/context.ts", /^ {2}sample\(/],
  ["sampling-deprecated", "client/options.ts", /^ {2}readonly onSample\?/],
  ["root-deprecated", "server/context.ts", /^ {2}roots\(\)/],
  ["root-deprecated", "client/options.ts", /^ {2}readonly roots\?/],
])("%s: %s", (id, path, member) => {
  covers(id);
  expect(commentAbove(path, member)).toContain("@deprecated");
});
