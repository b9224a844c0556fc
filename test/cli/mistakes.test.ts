// What people get wrong, and what they are told: the words must lead to what would be right.
import { expect, test } from "vitest";
import { publishedServer } from "../interop/harness.ts";
import { fixture, libraryUrl, makeFolder, runCli } from "./stage.ts";

const file = fixture("everything.mjs");

test.each<[string, string[], number, RegExp]>([
  ["a host that is misspelt", ["list", "cursr:weather"], 1, /Did you mean cursor:weather\?/],
  ["a path that leads nowhere", ["list", "/no/such/path"], 1, /File not found: \/no\/such\/path/],
  ["a lock file that is misspelt", ["diff", "plenum.lock.jsn", file], 1, /File not found: .*plenum\.lock\.jsn/],
  ["a command without --", ["list", file, "server.js"], 1, /A command that starts a server stands after --\./],
  ["a name in place of a URI", ["read", file, "today"], 1, /"today" is no URI[\s\S]*plenum list TARGET shows/],
  ["a resource that is not there", ["read", file, "none://x"], 4, /plenum list TARGET shows the resources/],
  ["half an object", ["call", file, "add", '{"a": 1'], 1, /Quote it for your shell: '\{"a": 1\}'/],
  ["half a value", ["call", file, "add", "a:={"], 1, /Quote it for your shell: 'a:=\{"a": 1\}'/],
  ["a value given twice", ["call", file, "add", "a=1", "a=2"], 1, /more than once[\s\S]*Give it once/],
  ["a file for text that is not there", ["call", file, "shapes", "text@=no.txt"], 1, /key@=FILE is the text of a file/],
  [
    "nobody listens",
    ["list", "http://127.0.0.1:9/mcp"],
    2,
    /^error: http:\/\/127\.0\.0\.1:9\/mcp could not be reached/,
  ],
])("%s", async (_, words, code, said) => {
  const ran = await runCli(words);
  expect(ran).toMatchObject({ code, stdout: "" });
  expect(ran.stderr).toMatch(said);
  expect(ran.stderr).not.toMatch(/^ {4}at /m);
});

test("a server without tools has none to call", async () => {
  const folder = makeFolder({
    "server.mjs": `import { createServer } from "${libraryUrl()}";
export default createServer({ name: "bare", version: "1" });`,
  });
  const ran = await runCli(["call", `${folder}/server.mjs`, "x", "--json"]);
  expect(ran.json()[0]).toMatchObject({
    error: { code: "unknown_tool", exitCode: 4, message: "The server has no tools" },
  });
});

test.each(["list", "doctor"])("%s of a file that serves itself and exports nothing is no success", async (command) => {
  const folder = makeFolder({
    "server.mjs": `import { createServer } from "${libraryUrl()}";
import { serveStdio } from "${libraryUrl("transport/stdio/server.js")}";
const server = createServer({ name: "weather", version: "1" });
serveStdio(server);`,
  });
  const ran = await runCli([command, `${folder}/server.mjs`]);
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toMatch(/serves itself|exports no Plenum server/);
});

test("a tool that a server lists only to those who can be asked", async () => {
  const { command, args } = publishedServer("everything");
  const ran = await runCli(["call", "trigger-elicitation-request", "--", command, ...args]);
  expect(ran.code).toBe(5);
  expect(ran.stderr).toContain("only to clients that can answer");
});

test("a tool's own error has the exit code in its envelope", async () => {
  const [envelope] = (await runCli(["call", file, "fail", "--json"])).json();
  expect(envelope).toMatchObject({ ok: false, error: { code: "tool_error", exitCode: 5 } });
});
