// Completion in real shells at a pseudo-terminal: Tab is pressed, and what the shell makes of the line is run. PowerShell is not
// tried: it has no Debian package. Of its script the words that it calls are.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createServer } from "plenum";
import { serveHttp } from "plenum/http/node";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { shellNames } from "../../packages/cli/src/completion/scripts.ts";
import { ensureProgram, installMs } from "../../scripts/debian.mjs";
import { ensureCli } from "../house/built.ts";
import { fixture, makeFolder, openProgram, runCli, type Terminal } from "./stage.ts";

const shells: { [name: string]: string } = { bash: "/bin/bash" };

beforeAll(async () => {
  for (const name of ["bash", "zsh", "fish"]) shells[name] = await ensureProgram(name);
}, installMs);

// A machine that is busy must not be the reason why a server was not asked.
const patient = { PLENUM_COMPLETION_TIMEOUT: "30" };

/** How each is started without the settings of a person, and taught to complete. */
const starts: { readonly [name: string]: { readonly args: readonly string[]; readonly teach: string } } = {
  bash: { args: ["--norc", "--noprofile", "-i"], teach: "source <(plenum completion bash)" },
  zsh: {
    args: ["-f", "-i"],
    teach: "autoload -Uz compinit && compinit -u -d $HOME/.dump; source <(plenum completion zsh)",
  },
  fish: { args: ["--no-config", "-i"], teach: "plenum completion fish | source" },
};

interface Shell extends Terminal {
  readonly folder: string;
  readonly name: string;
}

/** In a folder with a server, a shell that knows how to complete and whose PATH has the program. */
async function openShell(name: string): Promise<Shell> {
  const program = await ensureCli();
  const server = `export { default } from ${JSON.stringify(fixture("everything.mjs"))};\n`;
  const evil = `export { default } from ${JSON.stringify(fixture("evil.mjs"))};\n`;
  const folder = makeFolder({
    "bin/plenum": `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`,
    "server.mjs": server,
    "evil.mjs": evil,
    "two words/server.mjs": server,
    "home/.keep": "",
  });
  chmodSync(join(folder, "bin", "plenum"), 0o755);
  const path = [join(folder, "bin"), dirname(process.execPath), process.env.PATH].join(":");
  const { args, teach } = starts[name] as (typeof starts)[string];
  const env = { PATH: path, HOME: join(folder, "home"), PS1: "> ", ...patient };
  const terminal = openProgram(shells[name] as string, args, { cwd: folder, env });
  terminal.type(`${teach}; echo rea''dy\r`);
  await terminal.until(/ready\s/);
  return Object.assign(Object.create(terminal, Object.getOwnPropertyDescriptors(terminal)), { folder, name });
}

/** Types, presses Tab, waits until the line shows it, and takes the line away. */
async function completes(shell: Shell, typed: string, shown: RegExp): Promise<void> {
  shell.type(`${typed}\t`);
  await shell.until(shown);
  shell.type("\x15");
}

describe.each(Object.keys(starts))("%s", (name) => {
  test("completes commands, options, their choices, files, tools and their arguments", async () => {
    const shell = await openShell(name);
    await completes(shell, "plenum completi", /completion/);
    await completes(shell, "plenum call --rev", /--revision/);
    await completes(shell, "plenum call --revision 2024", /2024-11-05/);
    await completes(shell, "plenum call ser", /server\.mjs/);
    await completes(shell, "plenum call server.mjs sha", /shapes/);
    await completes(shell, "plenum call server.mjs shapes cou", /count=/);
    await completes(shell, "plenum call server.mjs shapes size=sm", /size=small|small/);
    await completes(shell, "plenum prompt server.mjs rev", /review/);
    await completes(shell, "plenum completion pow", /powershell/);
    await completes(shell, "plenum list claude-d", /claude-desktop:/);
  });

  test("what is completed is run as it was meant", async () => {
    const shell = await openShell(name);
    shell.type("plenum call server.mjs shap\tsiz\tsma\ttex\thello\r");
    await shell.until(/\{"text":"hello","size":"small"\}|\{"size":"small","text":"hello"\}/);
  });

  test("a path with a blank is quoted", async () => {
    const shell = await openShell(name);
    shell.type("plenum call two\t");
    await shell.until(/words/);
    shell.type("ser\tadd a=1 b=2\r");
    await shell.until(/"sum":3|"sum": 3/);
  });

  test("nothing is run by names of tools that are commands", async () => {
    const shell = await openShell(name);
    const names = [
      "a$(touch pwned)",
      "b`touch pwned`",
      "c;touch pwned",
      "d'$(touch pwned)'",
      'e"$(touch pwned)"',
      "g&&touch pwned",
      "h !! *",
    ];
    for (const tool of names) {
      shell.type(`plenum call evil.mjs ${tool[0]}\t`);
      await shell.until(/touch|!!|!.*!/);
      shell.type("\r");
      await shell.until(new RegExp(`called <${tool.replace(/[$().*?`]/g, "\\$&")}>`));
    }
    // All of them at once, as a list.
    shell.type("plenum call evil.mjs \t\t\t");
    await shell.until(/g.*touch/);
    expect(existsSync(join(shell.folder, "pwned"))).toBe(false);
  });
});

test.each(["'", '"'])("bash: nothing is run behind an open %s", async (mark) => {
  const shell = await openShell("bash");
  for (const tool of ["a$(touch pwned)", "b`touch pwned`", "c;touch pwned"]) {
    shell.type(`plenum call evil.mjs ${mark}${tool[0]}\t`);
    await shell.until(/touch|!!|!.*!/);
    shell.type("\r");
    await shell.until(new RegExp(`called <${tool.replace(/[$().*?`]/g, "\\$&")}>`));
  }
  expect(existsSync(join(shell.folder, "pwned"))).toBe(false);
});

/** What a script is told. */
async function ask(words: readonly string[], env: { readonly [name: string]: string } = patient, cwd?: string) {
  const { stdout, stderr, code } = await runCli(["__complete", "powershell", "--", ...words], {
    env,
    ...(cwd && { cwd }),
  });
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t")[0]);
}

test("a server at a URL is asked", async () => {
  const server = createServer({ name: "here", version: "1.0.0" });
  server.tool("near", {}, () => "near");
  const serving = await serveHttp(server, { port: 0 });
  onTestFinished(() => serving.close());
  expect(await ask(["call", serving.url, "n"])).toEqual(["near"]);
});

test("a server that says nothing, or never ends, is not waited for", async () => {
  const folder = makeFolder({ "mute.mjs": "for (;;) {}", "end.mjs": "process.exit(3)", "bad.mjs": "}" });
  for (const file of ["mute.mjs", "end.mjs", "bad.mjs", "none.mjs"])
    expect(await ask(["call", file, ""], { PLENUM_COMPLETION_TIMEOUT: "0.3" }, folder)).toEqual([]);
  expect(await ask(["call", "http://127.0.0.1:9/mcp", ""])).toEqual([]);
});

test("with a time of 0 no file is loaded", async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "server.mjs"), `import { writeFileSync } from "node:fs"; writeFileSync("loaded", "");`);
  expect(await ask(["call", "server.mjs", ""], { PLENUM_COMPLETION_TIMEOUT: "0" }, folder)).toEqual([]);
  expect(existsSync(join(folder, "loaded"))).toBe(false);
  await ask(["call", "server.mjs", ""], patient, folder);
  expect(existsSync(join(folder, "loaded"))).toBe(true);
});

test.each([[[]], [["--"]], [["bash"]], [["bash", "--"]], [["nushell", "--", "x", ""]], [["zsh", "--", "\u0000", "-"]]])(
  "nothing is said of broken words: %j",
  async (words) => {
    const { code, stderr } = await runCli(["__complete", ...words.filter((word) => word !== "\u0000")]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  },
);

test.each(shellNames)("the script for %s is printed as it is", async (name) => {
  const { code, stdout } = await runCli(["completion", name, "--json"]);
  expect(code).toBe(0);
  expect(stdout).toContain(
    `plenum __complete ${name}`.replace("plenum __complete powershell", "__complete powershell"),
  );
});

test("a shell that there is none for gets a suggestion", async () => {
  const { code, stderr } = await runCli(["completion", "fishh"]);
  expect(code).toBe(1);
  expect(stderr).toContain('Did you mean "fish"?');
});
