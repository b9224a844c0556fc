// Servers and files that mean harm: what they send is no danger to the terminal, the files or the time of who calls them.
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fixture, libraryUrl, makeFolder, runCli } from "./stage.ts";

const hostile = `
  import { createServer, McpError } from "${libraryUrl()}";
  import { serveStdio } from "${libraryUrl("transport/stdio/server.js")}";
  const server = createServer({ name: "one\\nerror: forged", version: "1.0.0\\u202e" });
  server.tool("leak", {}, () => {
    throw new McpError("invalid_params", "No: " + process.env.PLAIN + " and Bearer planted-bearer-0123 \\u009b2J", {
      data: { given: process.env.PLAIN },
    });
  });
  server.tool("say", {}, () => "planted-plain \\u009b2J \\u007f");
  server.tool("pieces", {}, () => ({ content: [{ type: "text", text: "one" }, { type: "text", text: "two" }] }));
  serveStdio(server);
`;

function onServer(words: readonly string[]): readonly string[] {
  return [...words, "--env", "PLAIN=planted-plain", "--", "node", join(makeFolder({ "s.mjs": hostile }), "s.mjs")];
}

/** Control characters of C1, and DEL. */
const raw = /[\u007f-\u009f]/;

test("progress without end does not keep a call alive beyond --max-time", async () => {
  const ran = await runCli(["call", fixture("everything.mjs"), "slow", "ms=1000", "--max-time", "1.5", "--json"]);
  expect(ran.code).toBe(2);
  expect(ran.json()[0]?.error).toMatchObject({ code: "timeout" });
  const wrong = await runCli(["call", fixture("everything.mjs"), "slow", "--max-time", "0"]);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("--max-time must be") });
});

test.each([[[]], [["--json"]], [["--debug"]]])(
  "what is said of a failure holds no secrets and no controls %j",
  async (more) => {
    const { code, stdout, stderr } = await runCli(onServer(["call", "leak", ...more]));
    expect(code).not.toBe(0);
    expect(stderr).toContain("No: [redacted] and Bearer [redacted]");
    expect(stdout + stderr).not.toMatch(/planted/);
    expect(stdout + stderr).not.toMatch(raw);
  },
);

test("a trace holds no value of --env, whatever its name; the envelope holds no controls", async () => {
  const { stdout, stderr, json } = await runCli(onServer(["call", "say", "--trace", "--json"]));
  expect(stderr).toContain("tools/call");
  expect(stderr).not.toContain("planted");
  expect(stdout + stderr).not.toMatch(raw);
  expect(json()[0]?.result).toMatchObject({ content: [{ text: "planted-plain \u009b2J \u007f" }] });
});

test("lock to stdout holds no controls", async () => {
  const folder = makeFolder({
    "s.mjs": `import { createServer } from "${libraryUrl()}";
      export default createServer({ name: "s", version: "1.0.0", instructions: "a\\u009b2J" });`,
  });
  const { code, stdout } = await runCli(["lock", join(folder, "s.mjs"), "-o", "-"]);
  expect(code).toBe(0);
  expect(stdout).not.toMatch(raw);
  expect(stdout).toContain("\\u009b2J");
});

test("a name stands on one line, in the order that it has", async () => {
  const { stderr } = await runCli(onServer(["list"]));
  expect(stderr).toContain("one\\nerror: forged 1.0.0\\u202e speaks");
});

test("a warning is shown, however soon the command ends", async () => {
  // More than a client remembers: it says so while the list is read, and then the command is over.
  const folder = makeFolder({
    "s.mjs": `import { createServer } from "${libraryUrl()}";
      const server = createServer({ name: "s", version: "1.0.0" });
      for (let n = 0; n <= 1000; n++) server.tool("t" + n, {}, () => "");
      export default server;`,
  });
  const { code, stderr } = await runCli(["list", join(folder, "s.mjs")]);
  expect(code).toBe(0);
  expect(stderr).toContain("warning: The server has more tools than are remembered");
});

test("content is not written over files, nor through links, unasked", async () => {
  const folder = makeFolder({ "out/2.txt": "mine", "victim.txt": "victim" });
  const out = join(folder, "out");
  const call = (...more: string[]) => runCli(onServer(["call", "pieces", "-o", out, "--json", ...more]));
  const refused = await call();
  expect(refused.code).toBe(1);
  expect(refused.json()[0]?.error).toMatchObject({ code: "file_exists", hint: expect.stringContaining("--force") });
  expect(lstatSync(join(out, "1.txt"), { throwIfNoEntry: false })).toBeUndefined();
  expect(readFileSync(join(out, "2.txt"), "utf8")).toBe("mine");
  symlinkSync(join(folder, "victim.txt"), join(out, "1.txt"));
  const linked = await call("--force");
  expect(linked.json()[0]?.error).toMatchObject({ code: "symbolic_link" });
  expect(readFileSync(join(folder, "victim.txt"), "utf8")).toBe("victim");
  const file = join(folder, "note.txt");
  const read = (...more: string[]) => runCli(["read", fixture("everything.mjs"), "note://today", "-o", file, ...more]);
  writeFileSync(file, "mine");
  expect(await read()).toMatchObject({ code: 1, stderr: expect.stringContaining("is there already") });
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect((await read("--force")).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe("Buy milk");
  expect((await runCli(["read", fixture("everything.mjs"), "note://today", "-o", "/dev/null"])).code).toBe(0);
});

test("settings of a host that are too large are refused at once", async () => {
  const folder = makeFolder({ ".cursor/mcp.json": `{"mcpServers": {}}${" ".repeat(5_000_000)}` });
  const words = ["install", "--host", "cursor", "--name", "x", "--dry-run", "--", "node", "y"];
  const { code, stderr } = await runCli(words, { env: { HOME: folder } });
  expect(code).toBe(1);
  expect(stderr).toContain("too large to be settings");
});
