// One writer at a time: a lock beside the file, for the moment that reading, changing and renaming takes.
import type { Stats } from "node:fs";
import { open, readFile, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../failure.ts";
import { toHarmless } from "../output.ts";

/** A change takes milliseconds: a lock that is older was left behind. */
const staleMs = 10_000;
const giveUpMs = 30_000;
/** Who waits longer wants to know what for. */
const quietMs = 1000;

/**
 * Runs while it holds the lock. Throws a Failure where another holds it too long.
 * @param stale the milliseconds after which a lock was left behind, whatever it says
 */
export async function withLock<T>(path: string, run: () => Promise<T>, stale = staleMs): Promise<T> {
  const token = `${process.pid} ${Math.random().toString(36).slice(2)}\n`;
  const since = Date.now();
  const giveUp = since + giveUpMs;
  const seen: Sightings = new Map();
  let isSaid = false;
  while (!(await tryLock(path, token))) {
    if (Date.now() > giveUp) {
      throw new Failure("usage", `${path} is held by another program`, {
        code: "locked",
        hint: "If no other plenum runs, delete that file and try again.",
      });
    }
    if (!isSaid && Date.now() - since > quietMs) {
      isSaid = true;
      process.stderr.write(`Waiting for another program that holds ${toHarmless(path)} …\n`);
    }
    await dropStale(path, seen, stale);
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
async function dropStale(path: string, sightings: Sightings, stale: number): Promise<void> {
  const seen = await readStale(path, sightings, stale);
  if (seen === undefined) return;
  const guard = `${path}-stale`;
  if (!(await tryLock(guard, ""))) {
    const stats = await stat(guard).catch(() => undefined);
    if (stats && isOld(guard, stats, sightings, stale)) await rm(guard, { force: true });
    return;
  }
  try {
    if ((await readStale(path, sightings, stale)) === seen) await rm(path, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

/** What is in a lock that was left behind; undefined for one that is held, or none. */
async function readStale(path: string, sightings: Sightings, stale: number): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  const token = await readFile(path, "utf8").catch(() => undefined);
  if (!stats || token === undefined) return undefined;
  const owner = Number.parseInt(token, 10);
  const isHeld = Number.isNaN(owner) || isRunning(owner);
  return isHeld && !isOld(path + token, stats, sightings, stale) ? undefined : token;
}

/** When a lock was first seen, by what tells it from others. */
type Sightings = Map<string, number>;

/** By its time, or by ours: its own may be in the future. */
function isOld(name: string, { ino, mtimeMs }: Stats, sightings: Sightings, stale: number): boolean {
  const key = `${name} ${ino} ${mtimeMs}`;
  const first = sightings.get(key) ?? Date.now();
  sightings.set(key, first);
  return Date.now() - Math.min(first, mtimeMs) >= stale;
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
