// The command line as such: its version, its help, what it says of words that it does not understand.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { revisions } from "plenum";
import { expect, test } from "vitest";
import { commands } from "../../packages/cli/src/commands.ts";
import { ensureCli } from "../house/built.ts";
import { root } from "../house/source.ts";
import { fixture, libraryUrl, makeFolder, openTerminal, runCli } from "./stage.ts";

const manifest = JSON.parse(readFileSync(join(root, "packages", "cli", "package.json"), "utf8"));

test("--version is that of the package", async () => {
  expect(await runCli(["--version"])).toMatchObject({ code: 0, stdout: `plenum ${manifest.version}\n`, stderr: "" });
});

test("version names the revisions of the library", async () => {
  const [envelope] = (await runCli(["version", "--json"])).json();
  expect(envelope).toMatchObject({
    ok: true,
    result: { plenum: manifest.version, revisions: [...revisions].reverse() },
  });
});

test("a tool of a server in a file", async () => {
  const { code, stdout } = await runCli(["call", fixture("everything.mjs"), "shapes", "text=hello", "--json"]);
  expect({ code, stdout }).toMatchObject({ code: 0 });
});

test("a misspelt command gets a suggestion, at a terminal too", async () => {
  const { code, stderr } = await runCli(["lst"]);
  expect(code).toBe(1);
  expect(stderr).toContain('Did you mean "plenum list"?');
  const terminal = await openTerminal(["lst"]);
  await terminal.until(/Did you mean "plenum list"\?/);
  expect(await terminal.exited).toBe(1);
});

test.each(commands.map((row) => [row.name, row] as const))("%s is what the table says", async (name, row) => {
  const { command } = await row.load();
  expect(command).toMatchObject({ name, summary: row.summary });
  expect(command.examples.length).toBeGreaterThan(0);
});

test("a file that leaves something running does not keep the command from its end", async () => {
  const folder = makeFolder({
    "server.mjs": `import { createServer } from "${libraryUrl()}";
setInterval(() => {}, 1000);
export const server = createServer({ name: "busy", version: "1" });
server.tool("long", {}, () => "x".repeat(300_000));`,
  });
  const { code, stdout } = await runCli(["call", `${join(folder, "server.mjs")}:server`, "long"], {
    timeoutMs: 10_000,
  });
  expect({ code, length: stdout.length }).toEqual({ code: 0, length: 300_001 });
});

test("a folder that is gone under one's feet is said to be gone, by every command", async () => {
  const program = await ensureCli();
  for (const words of ["list server.ts", "dev server.ts", "run server.ts", "call x -- node x.js"]) {
    const script = `rm -r "$PWD"; exec "${process.execPath}" "${program}" ${words}`;
    const ran = spawnSync("sh", ["-c", script], { cwd: makeFolder(), encoding: "utf8", timeout: 20_000 });
    expect([words, ran.status, ran.stderr]).toEqual([
      words,
      1,
      expect.stringMatching(/^error: The folder you are in is gone\nChange to another one\.\n$/),
    ]);
  }
});
