// --trace: what is shown of a conversation, and what never is.
import { join } from "node:path";
import { expect, test } from "vitest";
import { openProtected } from "./protected.ts";
import { fixture, libraryUrl, makeFolder, openTerminal, runCli } from "./stage.ts";

/** A server that gives away all that it knows, and writes to stdout what is no message. */
const leaky = `
  import { createServer, jsonSchema } from "${libraryUrl()}";
  import { serveStdio } from "${libraryUrl("transport/stdio/server.js")}";
  console.log("Listening with planted-env-secret");
  const server = createServer({ name: "leaky", version: "1.0.0" });
  const password = jsonSchema({ type: "object", properties: { password: { type: "string" } }, required: ["password"] });
  server.tool("ask", { input: password }, async ({ password: given }, ctx) => {
    const { content } = await ctx.elicit("And again?", password);
    return content.password === "planted-answer" && given === "planted-argument" ? "both came" : "not both";
  });
  server.tool("leak", {}, () => JSON.stringify({
    said: "my key is " + process.env.API_TOKEN,
    header: "Authorization: Bearer planted-bearer-0123456789",
  }));
  serveStdio(server);
`;
const planted = ["planted-env-secret", "planted-bearer-0123456789"];

test.each([[[]], [["--json"]]])("every message is on stderr, without secrets %j", async (more) => {
  const folder = makeFolder({ "server.mjs": leaky });
  const words = ["call", "leak", "--trace", "--env", "API_TOKEN=planted-env-secret", ...more];
  const { code, stdout, stderr } = await runCli([...words, "--", "node", join(folder, "server.mjs")]);
  expect(code).toBe(0);
  expect(stderr).toContain("server/discover");
  expect(stderr).toContain("tools/call");
  expect(stderr).toContain("Listening with [redacted]");
  for (const secret of planted) {
    expect(stderr).not.toContain(secret);
    // The result itself is the user's own.
    expect(stdout).toContain(secret);
  }
});

test("with --json each line of it is JSON, and stdout has the result alone", async () => {
  const { stdout, stderr, json } = await runCli(["call", fixture("everything.mjs"), "fail", "--trace", "--json"]);
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ trace }) => trace.kind)).toEqual(expect.arrayContaining(["sent", "received", "closed"]));
  expect(json()).toHaveLength(1);
  expect(stdout).not.toContain('"trace"');
});

test.each(["2025-11-25", "2026-07-28"])(
  "arguments and answers by the names of secrets are not in it (%s)",
  async (revision) => {
    const folder = makeFolder({ "server.mjs": leaky });
    const words = ["call", "ask", "password=planted-argument", "--answer", "password=planted-answer", "--trace", "-q"];
    const ran = await runCli([...words, "--revision", revision, "--", "node", join(folder, "server.mjs")]);
    expect(ran.stdout).toBe("both came\n");
    // Also with --quiet: who asks for it wants it.
    expect(ran.stderr).toMatch(/→ tools\/call #\d+ .*"password":"\[redacted\]"/);
    expect(ran.stderr).not.toMatch(/planted-(argument|answer)/);
  },
);

test("a header that gives leave is not in it, nor in what is said of a refusal", async () => {
  const { url } = await openProtected();
  const ran = await runCli(["call", url, "list_notes", "--trace", "-H", "Authorization: Bearer planted-0123456789"]);
  expect(ran.code).toBe(3);
  expect(ran.stdout + ran.stderr).not.toContain("planted-0123456789");
});

test("in colours at a terminal, on lines of its own", async () => {
  const terminal = await openTerminal(["call", fixture("everything.mjs"), "fail", "--trace"]);
  await terminal.until(/0\.000s → server\/discover #\d+ \{/);
  await terminal.until(/s ← result of tools\/call #\d+ \{/);
  await terminal.exited;
  expect(terminal.shown).toContain("\u001b[36m→ server/discover");
});
