// What `connect` says about a target that it cannot reach.
import { expect, test } from "vitest";
import { connect } from "./connect.ts";

test("a URL is refused without its secrets", async () => {
  const failure = connect("https://bob:hunter2@host/mcp?token=abc");
  await expect(failure).rejects.toThrow(TypeError);
  await expect(failure).rejects.toThrow('{ url: "https://host/mcp", headers: { authorization: … } }');
  await expect(failure).rejects.not.toThrow(/bob|hunter2|abc/);
});

test.each<[string, unknown, string]>([
  ["a URL of another kind", "ws://localhost:1", "only http and https"],
  ["a URL object of another kind", new URL("file:///etc/hosts"), "only http and https"],
  ["half of a URL", { url: "/mcp" }, "Write it whole"],
  ["a misspelt option of a URL", { url: "https://example.com", header: {} }, '"header"'],
  ["a promise", Promise.resolve({}), "await it first"],
  ["a factory", () => ({}), "call it first"],
  ["a list", ["node", "server.js"], "{ command, args }"],
  ["an object of another kind", { uri: "https://example.com" }, '"uri"'],
  ["nothing", undefined, "undefined"],
  ["a misspelt option of a command", { command: "node", arg: ["server.js"] }, '"arg"'],
  ["arguments that are no list", { command: "node", args: "server.js" }, "args must be a list"],
])("%s is refused with what to do", async (_, target, remedy) => {
  const failure = connect(target as never);
  await expect(failure).rejects.toThrow(TypeError);
  await expect(failure).rejects.toThrow(remedy);
});
