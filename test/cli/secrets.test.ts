// Secrets by reference, from the environment, from files, and from a real keychain: put in, used, taken out again.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { ensureKeyring, keyringMs } from "../../scripts/keyring.mjs";
import { ensureCli } from "../house/built.ts";
import { makeFolder, openTerminal, runCli } from "./stage.ts";

/** A program that is started with references, and shows what it got. */
const show = ["--", process.execPath, "-e", "process.stdout.write(process.env.KEY ?? 'none')"];
const exec = (env: { readonly [name: string]: string }, words = show) => runCli(["secret", "exec", ...words], { env });

test("@env is another variable", async () => {
  expect(await exec({ KEY: "@env:OTHER", OTHER: "s3cret" })).toMatchObject({ code: 0, stdout: "s3cret" });
  const { code, stderr } = await exec({ KEY: "@env:OTHER" });
  expect(code).toBe(1);
  expect(stderr).toContain("KEY is taken from the variable OTHER, which is not set");
  expect((await exec({ KEY: "@env:KEY" })).stderr).toContain("which is not set");
});

test("@file is the content of a file, without the line break at its end", async () => {
  const home = makeFolder({ "key.txt": "s3cret\n", "two.txt": "a\n\n", "large.txt": "x".repeat(70_000) });
  const from = (path: string) => exec({ HOME: home, KEY: `@file:${path}` });
  expect(await from("~/key.txt")).toMatchObject({ code: 0, stdout: "s3cret" });
  expect(await from(join(home, "two.txt"))).toMatchObject({ stdout: "a\n" });
  expect((await from("~/none.txt")).stderr).toMatch(/KEY is taken from the file .*none\.txt, which is not there/);
  expect((await from("~")).stderr).toContain("which is no file");
  expect((await from("~/large.txt")).stderr).toContain("too large");
});

test("what only begins like a reference is a value; one that leads nowhere is not", async () => {
  expect(await exec({ KEY: "@home" })).toMatchObject({ stdout: "@home" });
  expect(await exec({ KEY: "x@env:OTHER" })).toMatchObject({ stdout: "x@env:OTHER" });
});

test("exec gives the exit code of the command, and says where there is none", async () => {
  expect((await exec({}, ["--", process.execPath, "-e", "process.exit(7)"])).code).toBe(7);
  expect((await exec({}, [])).stderr).toContain("There is no command after --");
  expect(await exec({}, ["--", "no-such-program"])).toMatchObject({ code: 2 });
});

test("secret says what it can do", async () => {
  expect((await runCli(["secret", "get", "x"])).stderr).toContain("It can set, delete, exec.");
  expect((await runCli(["secret", "set"])).stderr).toContain("secret set needs a NAME");
});

test("without a keychain it says what to do instead", async () => {
  const env = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent/bus", XDG_RUNTIME_DIR: "/nonexistent" };
  const { code, stderr } = await runCli(["secret", "set", "weather"], { env, input: "s3cret" });
  expect(code).toBe(1);
  expect(stderr).toContain("The keychain of this system cannot be used");
  expect(stderr).toContain("@file:PATH");
  expect(stderr).not.toContain("s3cret");
});

test("a secret is typed without being shown, and Ctrl-C stops", async () => {
  const env = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent/bus", XDG_RUNTIME_DIR: "/nonexistent" };
  const terminal = await openTerminal(["secret", "set", "weather"], { env });
  await terminal.until(/Secret for weather: /);
  terminal.type("s3cret\r");
  // It was taken; that there is no keychain here is what follows.
  expect(await terminal.exited).toBe(1);
  expect(terminal.text).toContain("cannot be used");
  expect(terminal.text).not.toContain("s3cret");
  const other = await openTerminal(["secret", "set", "weather"], { env });
  await other.until(/Secret for weather: /);
  other.type("\x03");
  expect(await other.exited).toBe(130);
});

describe("in a real keychain", () => {
  let keyring: readonly string[];
  beforeAll(async () => {
    keyring = await ensureKeyring();
  }, keyringMs);

  /** Runs a shell script in which $PLENUM is the program, in a session with a keychain of its own. */
  async function runSession(script: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const program = await ensureCli();
    const home = makeFolder();
    mkdirSync(join(home, "run"), { mode: 0o700 });
    const { PATH = "" } = process.env;
    const env = { PATH, HOME: home, XDG_RUNTIME_DIR: join(home, "run"), NODE: process.execPath, PROGRAM: program };
    const [command = "", ...args] = [...keyring, "sh", "-c", `plenum() { "$NODE" "$PROGRAM" "$@"; }\n${script}`];
    const child = spawn(command, args, { env, cwd: home, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    await new Promise((resolve) => child.once("exit", resolve));
    return { stdout, stderr };
  }

  test("set, used by name and by service, delete", async () => {
    const { stdout, stderr } = await runSession(`
      printf 's3cret\\n' | plenum secret set weather; echo "set $?"
      printf 'other' | plenum secret set some-app/ann; echo "set $?"
      KEY=@keychain:weather plenum secret exec -- sh -c 'echo "got $KEY"'
      KEY=@keychain:some-app/ann plenum secret exec -- sh -c 'echo "got $KEY"'
      plenum secret delete weather; echo "delete $?"
      KEY=@keychain:weather plenum secret exec -- sh -c 'echo "got $KEY"'; echo "gone $?"
      plenum secret delete weather; echo "delete $?"
    `);
    expect(stdout.split("\n")).toEqual([
      "Kept. Use it as @keychain:weather",
      "set 0",
      "Kept. Use it as @keychain:some-app/ann",
      "set 0",
      "got s3cret",
      "got other",
      "Deleted weather",
      "delete 0",
      "gone 1",
      "delete 1",
      "",
    ]);
    expect(stderr).toContain('KEY is taken from the keychain, which has no "weather"');
    expect(stderr).toContain("plenum secret set weather");
    expect(stderr).not.toContain("s3cret");
  });
});
