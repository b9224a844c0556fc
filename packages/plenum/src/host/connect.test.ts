// What `connect` says about a target that it cannot reach.
import { expect, test } from "vitest";
import { connect } from "./connect.ts";

test("a URL is named on one line, without its secrets", async () => {
  const failure = connect("https://bob:hun/ter2@host/mcp\n\u009b31m?token=abc");
  await expect(failure).rejects.toThrow(TypeError);
  await expect(failure).rejects.toThrow('connect: "https://***@host/mcp\\n\\u{9b}31m?…" is a URL');
});

test.each<[string, unknown, string]>([
  ["a URL object", new URL("https://example.com/mcp"), "HTTP cannot be reached yet"],
  ["a promise", Promise.resolve({}), "await it first"],
  ["a factory", () => ({}), "call it first"],
  ["a list", ["node", "server.js"], "{ command, args }"],
  ["an object of another kind", { url: "https://example.com" }, '"url"'],
  ["nothing", undefined, "undefined"],
  ["a misspelt option of a command", { command: "node", arg: ["server.js"] }, '"arg"'],
  ["arguments that are no list", { command: "node", args: "server.js" }, "args must be a list"],
])("%s is refused with what to do", async (_, target, remedy) => {
  const failure = connect(target as never);
  await expect(failure).rejects.toThrow(TypeError);
  await expect(failure).rejects.toThrow(remedy);
});
