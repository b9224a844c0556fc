// One writer at a time: a lock beside the file, for the moment that reading, changing and renaming takes.
import { open, readFile, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../failure.ts";

/** A change takes milliseconds: a lock that is older was left behind. */
const staleMs = 10_000;
const giveUpMs = 30_000;

/** Runs while it holds the lock. Throws a Failure where another holds it too long. */
export async function withLock<T>(path: string, run: () => Promise<T>): Promise<T> {
  const token = `${process.pid} ${Math.random().toString(36).slice(2)}\n`;
  const giveUp = Date.now() + giveUpMs;
  while (!(await tryLock(path, token))) {
    if (Date.now() > giveUp) {
      throw new Failure("usage", `${path} is held by another program`, {
        code: "locked",
        hint: "If no other plenum runs, delete that file and try again.",
      });
    }
    await dropStale(path);
    // Not all at once again.
    await delay(5 + Math.random() * 20);
  }
  try {
    return await run();
  } finally {
    // It may have been taken for stale, and be another's by now.
    if ((await readFile(path, "utf8").catch(() => undefined)) === token) await rm(path, { force: true });
  }
}

async function tryLock(path: string, token: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(token);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Takes away a lock whose owner is gone. One at a time does so: else the lock of who came next could be taken for the old one. */
async function dropStale(path: string): Promise<void> {
  const seen = await readStale(path);
  if (seen === undefined) return;
  const guard = `${path}-stale`;
  if (!(await tryLock(guard, ""))) {
    const stats = await stat(guard).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > staleMs) await rm(guard, { force: true });
    return;
  }
  try {
    if ((await readStale(path)) === seen) await rm(path, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

/** What is in a lock that was left behind; undefined for one that is held, or none. */
async function readStale(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  const token = await readFile(path, "utf8").catch(() => undefined);
  if (!stats || token === undefined) return undefined;
  const owner = Number.parseInt(token, 10);
  const isHeld = Number.isNaN(owner) || isRunning(owner);
  return isHeld && Date.now() - stats.mtimeMs < staleMs ? undefined : token;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // One of another user's is there all the same.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
