// What the program keeps of itself for the next run, and what it prints with.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ensureCli } from "../house/built.ts";
import { fixture, makeFolder, runCli } from "./stage.ts";

const words = ["call", fixture("everything.mjs"), "shapes", "text=hello"];
const right = { code: 0, stdout: '{"text":"hello"}\n', stderr: "" };

/** Runs it with this home, and gives what is kept there, by its file. */
async function runAt(home: string, env: { readonly [name: string]: string } = {}): Promise<Map<string, number>> {
  const { code, stdout, stderr } = await runCli(words, { env: { HOME: home, ...env } });
  expect({ code, stdout, stderr }).toEqual(right);
  return listKept(home);
}

const folderOf = (home: string): string => join(home, ".cache", "plenum", "code");

/** When each was written. */
function listKept(home: string): Map<string, number> {
  const folder = folderOf(home);
  try {
    return new Map(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]));
  } catch {
    return new Map();
  }
}

test("what was compiled is kept for the user alone, and taken the next time", async () => {
  const home = makeFolder();
  const kept = await runAt(home);
  expect([...kept.keys()]).toEqual([expect.stringContaining("-call-first.cjs")]);
  expect(statSync(folderOf(home)).mode & 0o777).toBe(0o700);
  for (const name of kept.keys()) expect(statSync(join(folderOf(home), name)).mode & 0o777).toBe(0o600);
  // What V8 refuses would be written anew.
  expect(await runAt(home)).toEqual(kept);
});

test("what was compiled with other flags is kept beside it", async () => {
  const home = makeFolder();
  const kept = await runAt(home);
  const env = { NODE_OPTIONS: "--stack-trace-limit=20" };
  const both = await runAt(home, env);
  expect(both.size).toBe(2);
  expect(await runAt(home)).toEqual(both);
  expect(await runAt(home, env)).toEqual(both);
  expect(both).toEqual(new Map([...both, ...kept]));
});

test.each([
  ["cut off", (path: string) => truncateSync(path, 1000)],
  ["empty", (path: string) => truncateSync(path, 0)],
  ["something else", (path: string) => writeFileSync(path, "x".repeat(statSync(path).size))],
  ["damaged within", (path: string) => writeFileSync(path, readFileSync(path).fill(0, 90_000, 90_016))],
  ["of another V8", (path: string) => writeFileSync(path, readFileSync(path).fill(1, 4, 8))],
])("what is kept and %s is made anew", async (_, harm) => {
  const home = makeFolder();
  const [name = ""] = (await runAt(home)).keys();
  const path = join(folderOf(home), name);
  const { size } = statSync(path);
  harm(path);
  await runAt(home);
  // It differs by what was compiled by then.
  expect(statSync(path).size).toBeGreaterThan(size / 2);
  const again = listKept(home);
  expect(await runAt(home)).toEqual(again);
});

test("a folder that others may write to is neither read nor written", async () => {
  const home = makeFolder();
  const [name = ""] = (await runAt(home)).keys();
  writeFileSync(join(folderOf(home), name), "theirs");
  chmodSync(folderOf(home), 0o777);
  await runAt(home);
  expect(readFileSync(join(folderOf(home), name), "utf8")).toBe("theirs");
});

test("nothing is kept of what went wrong, or where that is switched off", async () => {
  const home = makeFolder();
  const { code } = await runCli(["call", fixture("everything.mjs"), "fail"], { env: { HOME: home } });
  expect(code).toBe(5);
  expect(listKept(home)).toEqual(new Map());
  expect(await runAt(home, { NODE_DISABLE_COMPILE_CACHE: "1" })).toEqual(new Map());
});

test("without a home that can be written to it works, and says nothing", async () => {
  const home = join(makeFolder({ file: "" }), "file");
  expect(await runAt(home)).toEqual(new Map());
});

test.each(["", "relative"])("a home that is %j is none: nothing is kept in the folder that one is in", async (home) => {
  const cwd = makeFolder();
  const { code, stdout } = await runCli(words, { cwd, env: { HOME: home } });
  expect({ code, stdout, kept: readdirSync(cwd) }).toEqual({ code: 0, stdout: right.stdout, kept: [] });
});

test("it ends where the folder can never be made", async () => {
  const { code, stdout } = await runCli(words, { env: { XDG_CACHE_HOME: "/proc/self" } });
  expect({ code, stdout }).toEqual({ code: 0, stdout: right.stdout });
});

const talker = `import { createServer } from "plenum";
const server = createServer({ name: "talker", version: "1.0.0" });
server.tool("long", {}, () => "x".repeat(3_000_000) + "end");
export default server;
console.log("said while it is loaded");
`;

test("all of a long result arrives, also where the pipe does not wait for its reader", async () => {
  const folder = makeFolder({ "server.mjs": talker });
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  const { PATH = "" } = process.env;
  const args = [await ensureCli(), "call", "server.mjs", "long"];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH, HOME: folder },
    stdio: ["ignore", writer, "ignore"],
  });
  closeSync(writer);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const piece = Buffer.alloc(100_000);
  let text = "";
  for (let read = 1; read > 0; ) {
    try {
      read = readSync(reader, piece);
      text += piece.toString("latin1", 0, read);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
    await delay(1);
  }
  expect(await ended).toBe(0);
  expect(text.length).toBe(3_000_004);
  expect(text.endsWith("xend\n")).toBe(true);
});

/** Runs it with stdout and stderr as given. */
async function runWith(stdio: readonly ("pipe" | number)[], ...words: readonly string[]) {
  const { PATH = "" } = process.env;
  const options = { env: { PATH, HOME: makeFolder() }, encoding: "utf8", timeout: 20_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [await ensureCli(), ...words], {
    ...options,
    stdio: ["ignore", ...stdio],
  });
  return { code: status, stdout, stderr };
}

function openFull(): number {
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  return full;
}

test("a result that cannot be written is no success", async () => {
  const ran = await runWith([openFull(), "pipe"], ...words);
  expect(ran).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: stdout cannot be written to: .*ENOSPC/),
  });
  expect(await runWith([openFull(), "pipe"], "--version")).toMatchObject({ code: 1, stderr: "" });
});

test("words that cannot be written change neither the result nor the exit code", async () => {
  const file = fixture("everything.mjs");
  const wrong = await runWith(["pipe", openFull()], "call", file, "nope", "--json");
  expect(wrong.code).toBe(4);
  expect(wrong.stdout.trim().split("\n")).toHaveLength(1);
  expect(await runWith(["pipe", openFull()], ...words, "--trace")).toMatchObject({ code: 0, stdout: right.stdout });
});

const ending = `import { createServer } from "plenum";
const server = createServer({ name: "ending", version: "1.0.0" });
server.tool("end", {}, () => process.exit(0));
server.tool("fine", {}, () => "fine");
export default server;
process.on("exit", () => console.log("said at the end"));
`;

test("a file that ends the process does not look like success, and what it says at the end is no result", async () => {
  const folder = makeFolder({ "server.mjs": ending, "gone.mjs": "process.exit(0);" });
  const server = join(folder, "server.mjs");
  expect(await runCli(["call", server, "fine"])).toMatchObject({
    code: 0,
    stdout: "fine\n",
    stderr: "said at the end\n",
  });
  for (const words of [
    ["call", server, "end"],
    ["list", join(folder, "gone.mjs")],
  ]) {
    const ran = await runCli([...words, "--json"]);
    expect(ran.code).toBe(1);
    expect(ran.json()).toMatchObject([{ ok: false, error: { code: "ended", exitCode: 1 } }]);
    expect(ran.stderr).toContain("ended the process");
  }
});

test("an exception that cannot be told ends the process all the same, and is told at most once", async () => {
  const folder = makeFolder({
    "server.mjs": `${talker}process.stderr.write = process.exit = () => { throw new Error("not this way"); };
setTimeout(() => { throw new Error("late"); }, 50);
await new Promise((resolve) => setTimeout(resolve, 10_000));`,
  });
  const { code, stdout } = await runCli(["list", join(folder, "server.mjs"), "--json"]);
  expect(code).toBe(1);
  expect(stdout.trim().split("\n")).toHaveLength(1);
});
