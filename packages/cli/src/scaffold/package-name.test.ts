// Names of packages: which npm takes, and what is proposed instead of the others.
import { expect, test } from "vitest";
import { checkPackageName, suggestPackageName, toServerName } from "./package-name.ts";

test.each(["a", "my-server", "@me/my.server_2", "1server", "~x", "a".repeat(214)])("%s is one", (name) => {
  expect(checkPackageName(name)).toBeUndefined();
});

test.each([
  ["My Server", "my-server"],
  ["_private", "private"],
  [".hidden", "hidden"],
  ["Ünïcode", "unicode"],
  ["@Me/My Server", "@me/my-server"],
  ["@/x", "x"],
  ["a/b/c", "a-b-c"],
  ["fs", "fs-server"],
  ["node:fs", "node-fs"],
  ["zod", "zod-server"],
  ["node_modules", "node_modules-server"],
  ["../../etc", "etc"],
  ["", undefined],
  ["日本", undefined],
  ["a".repeat(215), "a".repeat(100)],
])("%j is none, but %j", (name, near) => {
  expect(checkPackageName(name)).toEqual(expect.any(String));
  expect(suggestPackageName(name)).toBe(near);
  if (near !== undefined) expect(checkPackageName(near)).toBeUndefined();
});

test("a server is called without the scope", () => {
  expect([toServerName("@me/x"), toServerName("x")]).toEqual(["x", "x"]);
});
