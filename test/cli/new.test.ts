// `plenum new` on the built program: what it writes is tested, compiled and served as it is, with the packages as they would be
// published; and it leaves alone what is there.
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { connect } from "plenum";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { versions } from "../../packages/cli/src/scaffold/templates.ts";
import { ensureCli } from "../house/built.ts";
import { root } from "../house/source.ts";
import { makeFolder, openTerminal, runCli } from "./stage.ts";

const run = promisify(execFile);
const npm = process.env.npm_execpath?.endsWith("js") ? [process.execPath, process.env.npm_execpath] : ["npm"];

/** Runs npm, without what it inherits from the npm that runs these tests. */
async function runNpm(cwd: string, ...args: string[]): Promise<string> {
  const [command = "npm", ...first] = npm;
  const { PATH = "", HOME = "" } = process.env;
  const shell = command === "npm" && process.platform === "win32";
  return (await run(command, [...first, ...args], { cwd, env: { PATH, HOME }, shell })).stdout;
}

/** The two packages as npm packs them, unpacked, and beside them what they and a scaffold need: as an install would leave it. */
async function install(folder: string): Promise<void> {
  const installed = join(folder, "node_modules");
  const own = { plenum: "plenum", "@plenum/cli": "cli" };
  for (const [name, source] of Object.entries(own)) {
    const from = join(root, "packages", source);
    const packed = JSON.parse(await runNpm(from, "pack", "--json", "--ignore-scripts", "--pack-destination", folder));
    const [{ filename }] = Object.values(packed) as [{ filename: string }];
    mkdirSync(join(installed, name), { recursive: true });
    await run("tar", ["-xzf", filename, "-C", join(installed, name), "--strip-components", "1"], { cwd: folder });
    rmSync(join(folder, filename));
    const nested = join(from, "node_modules");
    if (existsSync(nested)) symlinkSync(nested, join(installed, name, "node_modules"), "junction");
  }
  linkAll(join(root, "node_modules"), installed);
  mkdirSync(join(installed, ".bin"));
  const bins = { plenum: "@plenum/cli/dist/main.cjs", tsc: "typescript/bin/tsc", tsx: "tsx/dist/cli.mjs" };
  for (const [name, path] of Object.entries(bins)) symlinkSync(join("..", path), join(installed, ".bin", name));
}

/** Every package of one folder in another, by links; what is there already is left. */
function linkAll(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    if (name.startsWith(".")) continue;
    if (name.startsWith("@")) {
      mkdirSync(join(to, name), { recursive: true });
      linkAll(join(from, name), join(to, name));
    } else if (!existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name), "junction");
  }
}

/** What the scaffolds of this file are made in: packages of a folder are those of the folders in it. */
const home = mkdtempSync(join(tmpdir(), "plenum-new-"));
beforeAll(async () => {
  await ensureCli();
  await install(home);
}, 120_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

const read = (folder: string, path: string): string => readFileSync(join(folder, path), "utf8");

describe("what it writes works as it is", () => {
  test.each(["server", "http", "minimal"])("%s", async (template) => {
    const folder = join(home, template, "my-server");
    const made = await runCli(["new", folder, "--template", template, "--no-install", "--json"]);
    expect(made.code, made.stderr).toBe(0);
    expect(made.json()).toMatchObject([
      { ok: true, result: { folder, name: "my-server", template, isInstalled: false } },
    ]);
    const isMinimal = template === "minimal";
    expect(read(folder, "test/server.test.ts")).toContain('from "plenum/testing"');

    const [tested, { stdout }] = await Promise.all([
      runNpm(folder, "test"),
      runNpx(folder, "list", "src/server.ts"),
      // Nor is there anything that the doctor would note.
      runNpx(folder, "doctor", "src/server.ts", "--strict").then(({ stdout: report }) =>
        expect(report).toMatch(/checks: \d+ passed; \d+ skipped\n$/),
      ),
      ...(template === "server" ? [runNpx(folder, "list", ".mcp.json:my-server")] : []),
      runNpm(folder, "run", "types"),
      ...(isMinimal ? [] : [runNpm(folder, "run", "build")]),
    ]);
    expect(tested).toMatch(isMinimal ? /# pass 1\n# fail 0/ : /# pass 6\n# fail 0/);
    expect(stdout).toContain(isMinimal ? "add" : "count_words");
    if (isMinimal) return;

    expect(readdirSync(join(folder, "dist")).sort()).toEqual(["main.js", "server.js"]);
    const client =
      template === "http"
        ? await connectToHttp(folder)
        : await connect({ command: process.execPath, args: [join(folder, "dist", "main.js")] });
    const { structured } = await client.callTool("count_words", { text: "one two", wordsPerMinute: 2 });
    expect(structured).toEqual({ words: 2, characters: 7, minutes: 1 });
    await client.close();
  });
});

function runNpx(cwd: string, ...words: string[]): Promise<{ stdout: string }> {
  const env = { PATH: process.env.PATH ?? "" };
  return run(process.execPath, [join(home, "node_modules", "@plenum", "cli", "dist", "main.cjs"), ...words], {
    cwd,
    env,
  });
}

/** Starts what was built on a port that is free, and connects to where it says that it listens. */
async function connectToHttp(folder: string): ReturnType<typeof connect> {
  const child = execFile(process.execPath, [join(folder, "dist", "main.js")], { env: { PORT: "0" } });
  onTestFinished(() => void child.kill("SIGKILL"));
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (data) => {
      text += data;
      const [found] = /http:\S+\/mcp\n/.exec(text) ?? [];
      if (found) resolve(found.trim());
    });
    child.once("exit", (code) => reject(new Error(`It ended with ${code}: ${text}`)));
  });
  return connect(url);
}

test("the versions that it names are those that this project is tested with", () => {
  const { devDependencies } = JSON.parse(read(root, "package.json"));
  expect(devDependencies).toMatchObject(versions);
});

describe("what is there is left alone", () => {
  test("a folder that is not empty, unless it is forced, and then not without a word", async () => {
    const folder = makeFolder({ "README.md": "mine", "notes.txt": "mine too" });
    const refused = await runCli(["new", ".", "--name", "mine", "--no-install"], { cwd: folder });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("is not empty");
    expect(refused.stderr).toContain("It has README.md already. Nothing was written.");
    expect(readdirSync(folder).sort()).toEqual(["README.md", "notes.txt"]);
    const forced = await runCli(["new", ".", "--name", "mine", "--no-install", "--force"], { cwd: folder });
    expect(forced.code, forced.stderr).toBe(0);
    expect(forced.stderr).toContain("Replaced README.md");
    expect(read(folder, "notes.txt")).toBe("mine too");
    expect(read(folder, "README.md")).toContain("# mine");
  });

  test("what a link leads to", async () => {
    const elsewhere = makeFolder({ "precious.md": "precious" });
    const folder = makeFolder({ "notes.txt": "" });
    symlinkSync(join(elsewhere, "precious.md"), join(folder, "README.md"));
    expect((await runCli(["new", folder, "--name", "mine", "--no-install", "--force"])).code).toBe(0);
    expect(read(elsewhere, "precious.md")).toBe("precious");
    expect(read(folder, "README.md")).toContain("# mine");
  });

  test("a file where the folder should be", async () => {
    const folder = makeFolder({ thing: "mine" });
    const { code, stderr } = await runCli(["new", "thing", "--no-install"], { cwd: folder });
    expect(code).toBe(1);
    expect(stderr).toContain("is a file");
    expect(read(folder, "thing")).toBe("mine");
  });
});

test("names that npm does not take are refused with one that it takes, and nothing is written", async () => {
  const folder = makeFolder();
  const bad = async (...words: string[]): Promise<string> => {
    const { code, stderr } = await runCli(["new", ...words, "--no-install"], { cwd: folder });
    expect(code).toBe(1);
    return stderr;
  };
  expect(await bad("My Server")).toContain("Try: --name my-server");
  expect(await bad("x", "--name", "@Me/Größe!")).toContain("Try: --name @me/gro-e");
  expect(await bad("http")).toContain("Try: --name http-server");
  expect(await bad("plenum")).toContain("Try: --name plenum-server");
  expect(await bad()).toContain("Such as: plenum new my-server");
  expect(await bad("x", "--template", "htp")).toContain('Did you mean "http"?');
  expect(readdirSync(folder)).toEqual([]);
});

test("a scope is for npm, not for the folder nor for the server", async () => {
  const folder = makeFolder();
  expect((await runCli(["new", "--name", "@me/tools", "--no-install"], { cwd: folder })).code).toBe(0);
  expect(JSON.parse(read(folder, "tools/package.json"))).toMatchObject({
    name: "@me/tools",
    bin: { tools: "./dist/main.js" },
  });
  expect(read(folder, "tools/src/server.ts")).toContain('name: "tools"');
});

/** A program on the PATH that writes down how it was called. */
function fakeProgram(name: string, exitCode = 0, said = ""): { readonly env: { PATH: string }; calls(): string } {
  const folder = makeFolder();
  const log = join(folder, "calls");
  writeFileSync(
    join(folder, name),
    `#!/bin/sh\necho "$PWD: ${name} $*" >> "${log}"\ncat >&2 <<'SAID'\n${said}\nSAID\nexit ${exitCode}\n`,
    {
      mode: 0o755,
    },
  );
  return {
    env: { PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}` },
    calls: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
  };
}

test("it installs with the package manager that it was started by, and says so when that fails", async () => {
  const folder = makeFolder();
  const good = fakeProgram("pnpm");
  const env = { ...good.env, npm_config_user_agent: "pnpm/9.0.0 npm/? node/v20" };
  const made = await runCli(["new", "one", "--yes"], { cwd: folder, env });
  expect(made).toMatchObject({ code: 0, stdout: "" });
  expect(good.calls()).toMatch(/\/one: pnpm install\n$/);
  expect(made.stderr).toContain("Next:\n  cd one\n  pnpm test\n");
  const bad = fakeProgram("npm", 7);
  const failed = await runCli(["new", "two", "--yes"], { cwd: folder, env: bad.env });
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain("The files are written, but what they need is not installed: npm ended with 7");
  expect(existsSync(join(folder, "two", "package.json"))).toBe(true);
});

test.each([
  ["npm", "npm error code E404\nnpm error 404  'plenum@^0.1.0' is not in this registry."],
  ["npm", "npm error 404 Not Found - GET https://registry.npmjs.org/@plenum%2fcli - Not found"],
  ["npm", "npm error code ETARGET\nnpm error notarget No matching version found for plenum@^0.1.0."],
  ["pnpm", " ERR_PNPM_FETCH_404  GET https://registry.npmjs.org/plenum: Not Found - 404"],
])("without a release, it says how to install what a clone makes (%s: %s)", async (manager, said) => {
  const { version } = JSON.parse(read(root, "packages/cli/package.json"));
  const { env } = fakeProgram(manager, 1, said);
  const agent = { npm_config_user_agent: `${manager}/9.0.0 node/v20` };
  const { code, stderr } = await runCli(["new", "one", "--yes"], { cwd: makeFolder(), env: { ...env, ...agent } });
  expect(code).toBe(1);
  expect(stderr).toContain(said);
  expect(stderr).toContain("there is no release of plenum in the registry yet");
  expect(stderr).toContain("npm pack -w plenum -w @plenum/cli\n");
  const add = manager === "npm" ? "npm i" : "pnpm add";
  expect(stderr).toContain(
    `  cd one\n  ${add} /path/to/plenum-${version}.tgz /path/to/plenum-cli-${version}.tgz\n  ${manager} test\n`,
  );
});

test("a package of another that is not there is another matter", async () => {
  const { env } = fakeProgram("npm", 1, "npm error 404  'zod@^4' is not in this registry, which plenum-tools needs");
  const { stderr } = await runCli(["new", "one", "--yes"], { cwd: makeFolder(), env });
  expect(stderr).toContain("npm ended with 1");
  expect(stderr).not.toContain("no release");
});

test("nothing that it writes or says runs a plenum from the registry", async () => {
  const folder = makeFolder();
  for (const template of ["server", "http", "minimal"]) {
    const { stderr } = await runCli(["new", template, "-n", "mine", "-t", template, "--no-install"], { cwd: folder });
    const files = readdirSync(join(folder, template), { recursive: true, withFileTypes: true });
    const texts = files
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name), "utf8"));
    for (const text of [stderr, ...texts])
      expect(text).not.toMatch(/npx"?,?[\s\S]{0,20}?(?<!--no-install"?,? "?)plenum/);
    const { scripts } = JSON.parse(read(folder, `${template}/package.json`));
    expect(scripts.dev).toBe("plenum dev src/server.ts");
  }
});

test("--git makes a repository that leaves out what is installed", async () => {
  const folder = makeFolder();
  expect((await runCli(["new", "one", "--no-install", "--git"], { cwd: folder })).code).toBe(0);
  mkdirSync(join(folder, "one", "node_modules"));
  writeFileSync(join(folder, "one", "node_modules", "x"), "");
  const { stdout } = await run("git", ["status", "--short", "--untracked-files=all"], { cwd: join(folder, "one") });
  expect(stdout).toContain("?? src/server.ts");
  expect(stdout).not.toContain("node_modules");
});

describe("at a terminal", () => {
  test("it asks for the folder, the name and the template", async () => {
    const folder = makeFolder();
    const terminal = await openTerminal(["new", "--no-install"], { cwd: folder });
    await terminal.until(/Where should the server be\?/);
    terminal.type("My Tools\r");
    await terminal.until(/What is it called\?/);
    await terminal.until(/my-tools/);
    terminal.type("\r");
    await terminal.until(/What should be in it\?/);
    terminal.type("\u001b[B\u001b[B\r");
    await terminal.until(/Next:/);
    expect(await terminal.exited).toBe(0);
    expect(JSON.parse(read(folder, "My Tools/package.json")).name).toBe("my-tools");
    expect(existsSync(join(folder, "My Tools", "src", "main.ts"))).toBe(false);
  });

  test("it asks before it writes into a folder that is not empty; Enter means no, Ctrl-C ends it", async () => {
    const folder = makeFolder({ "README.md": "mine" });
    const words = ["new", ".", "--name", "mine", "-t", "minimal", "--no-install"];
    const first = await openTerminal(words, { cwd: folder });
    await first.until(/is not empty\. Write into it all the same\?/);
    first.type("\r");
    expect(await first.exited).toBe(1);
    const second = await openTerminal(words, { cwd: folder });
    await second.until(/is not empty\. Write into it all the same\?/);
    second.type("\u0003");
    expect(await second.exited).toBe(130);
    expect(readdirSync(folder)).toEqual(["README.md"]);
    const third = await openTerminal(words, { cwd: folder });
    await third.until(/is not empty\. Write into it all the same\?/);
    third.type("y");
    await third.until(/Next:/);
    expect(await third.exited).toBe(0);
    expect(read(folder, "README.md")).toContain("# mine");
  });
});
