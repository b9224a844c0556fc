// Processes that save tokens are ended, or stopped for a while, at random moments: whatever the moment, no token is lost that was
// saved, nothing is half written, and nobody waits for who is gone. PLENUM_KILL_ROUNDS chooses how often.
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileTokens } from "plenum/auth/node";
import { expect, onTestFinished, test, vi } from "vitest";
import { bundleProgram } from "../client/harness.ts";

const rounds = Number(process.env.PLENUM_KILL_ROUNDS ?? 45);

async function makePath(): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), "plenum-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return { folder, path: join(folder, "tokens.json") };
}

interface Saver {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** The last number that it said it has saved. */
  readonly last: number;
  /** Resolves when it has saved so many more. */
  more(count: number): Promise<void>;
  /** How it ended, when all that it said has been read. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

async function startSaver(path: string, key: string, first: number): Promise<Saver> {
  const program = await bundleProgram("test/auth/fixtures/save-loop.ts");
  const child = spawn(process.execPath, [program, path, key, `${first}`], { stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.on("error", () => {});
  let said = "";
  let stderr = "";
  let wake = (): void => {};
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    wake();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  let isOver = false;
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.once("close", (code) => {
      isOver = true;
      wake();
      resolve({ code, stderr });
    });
  });
  const count = (): number => said.split("\n").length - 1;
  return {
    process: child,
    ended,
    get last() {
      const lines = said.split("\n");
      return lines.length > 1 ? Number(lines.at(-2)) : first - 1;
    },
    async more(wanted) {
      const goal = count() + wanted;
      while (count() < goal) {
        if (isOver) throw new Error(`It ended by itself: ${stderr}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

async function numberOf(path: string, key: string): Promise<number> {
  const value = await fileTokens(path).get(key);
  return value === undefined ? -1 : JSON.parse(value).number;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

test("whoever is ended while saving leaves the old or the new", { timeout: 120_000 }, async () => {
  const { folder, path } = await makePath();
  const store = fileTokens(path);
  await store.put("kept", "a refresh token");
  let next = 0;
  let interrupted = 0;
  for (let round = 0; round < rounds; round++) {
    const saver = await startSaver(path, "own", next);
    await saver.more(1);
    await delay(Math.random() * 20);
    saver.process.kill("SIGKILL");
    await saver.ended;
    if (await isThere(`${path}.lock`)) interrupted++;
    const stored = await numberOf(path, "own");
    expect([saver.last, saver.last + 1]).toContain(stored);
    expect(await store.get("kept")).toBe("a refresh token");
    // Others would be waited for, and this time does not pass: of this one it is known that it has ended.
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    expect(await store.put("round", `${round}`)).toBe(true);
    clock.mockRestore();
    expect(await readdir(folder)).toEqual(["tokens.json"]);
    expect(await numberOf(path, "own")).toBe(stored);
    next = stored + 1;
  }
  // Otherwise it was never in the middle of anything.
  expect(interrupted).toBeGreaterThan(0);
});

test("whoever shares the file goes on, and neither loses anything", { timeout: 120_000 }, async () => {
  const { folder, path } = await makePath();
  const steady = await startSaver(path, "steady", 0);
  let next = 0;
  for (let round = 0; round < rounds / 3; round++) {
    const saver = await startSaver(path, "own", next);
    await saver.more(1);
    await delay(Math.random() * 20);
    saver.process.kill("SIGKILL");
    await saver.ended;
    await steady.more(2);
    const stored = await numberOf(path, "own");
    expect([saver.last, saver.last + 1]).toContain(stored);
    const before = steady.last;
    expect(await numberOf(path, "steady")).toBeGreaterThanOrEqual(before);
    next = stored + 1;
  }
  steady.process.stdin.end();
  expect(await steady.ended).toEqual({ code: 0, stderr: "" });
  expect(await numberOf(path, "steady")).toBe(steady.last);
  expect(await readdir(folder)).toEqual(["tokens.json"]);
});

test("whoever stood still for too long, and was overtaken, undoes nothing", { timeout: 120_000 }, async () => {
  const { path, folder } = await makePath();
  const store = fileTokens(path);
  // Here the seconds that others are given pass quickly.
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() * 20);
  onTestFinished(() => void vi.restoreAllMocks());
  const saver = await startSaver(path, "own", 0);
  let overtaken = 0;
  for (let round = 0; round < rounds / 3; round++) {
    await saver.more(1);
    await delay(Math.random() * 10);
    saver.process.kill("SIGSTOP");
    if (await isThere(`${path}.lock`)) overtaken++;
    await store.put("ours", `${round}`);
    saver.process.kill("SIGCONT");
    await saver.more(2);
    expect(await store.get("ours")).toBe(`${round}`);
  }
  expect(overtaken).toBeGreaterThan(0);
  saver.process.stdin.end();
  expect(await saver.ended).toEqual({ code: 0, stderr: "" });
  expect(await numberOf(path, "own")).toBe(saver.last);
  expect(await readdir(folder)).toEqual(["tokens.json"]);
});

test("a disk that is full is an error, and what was there stays", async () => {
  const { path, folder } = await makePath();
  const store = fileTokens(path);
  await store.put("kept", "k".repeat(10_000));
  const program = await bundleProgram("test/auth/fixtures/save-once.ts");
  // No file of that process can be larger than 64 KiB or so: the write fails half-way.
  const limited = ["-c", 'ulimit -f 64 && exec "$0" "$@"', process.execPath, program, path];
  const { stdout, stderr } = spawnSync("/bin/sh", [...limited, "new", "1000000"], { encoding: "utf8" });
  expect(stdout, stderr).toMatch(/could not be written \((EFBIG|ENOSPC)\): what it held before it still holds$/);
  expect(await store.get("kept")).toHaveLength(10_000);
  expect(await store.get("new")).toBeUndefined();
  expect(await readdir(folder)).toEqual(["tokens.json"]);
  expect(spawnSync("/bin/sh", [...limited, "new", "1000"], { encoding: "utf8" }).stdout).toBe("true");
});
