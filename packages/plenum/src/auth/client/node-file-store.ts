// A store in one file, which only its owner can read: for tokens of a command line, in as many processes as there are. It is never
// written to: a draft is put in its place, whole and on the disk, so that whoever is ended in between leaves the old or the new.
//
// The draft is the lock as well. It lies in a folder beside the file, and whoever is alone in there may write. To take the lock from
// somebody is to take away his draft: then he has nothing that he could put in place, however late he comes.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readlink, realpath, rename, rm, rmdir } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { pid, platform } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "../../store/store.ts";
import { createPlacedStore, createTurns, type Entries, formatEntries, parseEntries } from "./entries.ts";

/** To write takes milliseconds: who is seen in the folder for so long was ended, or stands still. */
const staleMs = 5000;
/** How long to wait for others altogether. */
const patienceMs = 30_000;
const pollMs = 5;
const maxBytes = 16_777_216;

/**
 * Owner-only permissions are those of POSIX; on Windows the file has those of its folder. A link in its place is followed.
 * Rejects where the file cannot be read or written, and where it holds something else: that is not written over. Throws a TypeError for what is no path.
 * @param path Default: tokens.json in the folder `plenum` of the user's configuration
 */
export function fileTokens(path: string = defaultPath()): Store {
  if (typeof path !== "string" || path === "")
    throw new TypeError("fileTokens takes the path of a file, or nothing for tokens.json in the user's configuration");
  const inTurn = createTurns();
  return createPlacedStore({
    read: () => readEntries(path),
    change: (make) => inTurn(() => changeFile(path, make)),
  });
}

function defaultPath(): string {
  const { XDG_CONFIG_HOME = "", APPDATA = "" } = process.env;
  // A relative one counts for nothing: https://specifications.freedesktop.org/basedir-spec/
  const folder = [XDG_CONFIG_HOME, APPDATA].find(isAbsolute) ?? join(homedir(), ".config");
  return join(folder, "plenum", "tokens.json");
}

/** Nothing where there is no file. */
async function readEntries(path: string): Promise<Entries> {
  let file: FileHandle;
  try {
    // Without waiting for whoever might write, if it is a pipe.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return new Map();
    throw error;
  }
  try {
    const about = await file.stat();
    const isPlain = about.isFile() && about.size <= maxBytes;
    const entries = isPlain ? parseEntries(await file.readFile("utf8")) : undefined;
    if (!entries) throw new Error(`${path} holds no tokens that were saved here. Move it away, and log in again`);
    // Somebody has let others read it: from now on they do not. On Windows these bits say nothing.
    if ((about.mode & 0o077) !== 0 && platform !== "win32") await file.chmod(0o600).catch(() => {});
    return entries;
  } finally {
    await file.close();
  }
}

async function changeFile(given: string, make: (entries: Entries) => boolean): Promise<void> {
  const endsAt = performance.now() + patienceMs;
  let isChanged = false;
  const note = (entries: Entries): boolean => {
    isChanged = make(entries);
    return isChanged;
  };
  try {
    const path = await follow(given);
    while (!(await tryChange(path, note, endsAt))) await delay(pollMs);
    if (isChanged) await syncFolder(dirname(path));
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new Error(`${given} could not be written (${code}): what it held before it still holds`, { cause: error });
  }
}

/** False where the draft was taken away. */
async function tryChange(path: string, make: (entries: Entries) => boolean, endsAt: number): Promise<boolean> {
  const draft = await openDraft(`${path}.lock`, endsAt);
  try {
    const entries = await readEntries(path);
    if (!make(entries)) return true;
    const text = formatEntries(entries);
    if (Buffer.byteLength(text) > maxBytes) throw new Error(`${path} is full: it holds ${maxBytes} bytes at most`);
    await draft.file.writeFile(text);
    await draft.file.sync();
    await draft.file.close();
    return await rename(draft.path, path).then(
      () => true,
      (error) => {
        if (codeOf(error) === "ENOENT" || isBusy(error)) return false;
        throw error;
      },
    );
  } finally {
    await draft.end();
  }
}

/** The file itself, by the one name that all its readers agree on. */
async function follow(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  if ((await readlink(path).catch(() => undefined)) !== undefined)
    throw new Error(`${path} is a link that leads nowhere`);
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return join(await realpath(folder), basename(path));
}

interface Draft {
  readonly path: string;
  readonly file: FileHandle;
  /** Gives the lock back, whatever became of the draft. */
  end(): Promise<void>;
}

const host = hostname()
  .replace(/[^\w-]/g, "_")
  .slice(0, 64);

/** Waits until nobody else has one. */
async function openDraft(folder: string, endsAt: number): Promise<Draft> {
  const name = `${pid}-${randomUUID()}-${host}`;
  const path = join(folder, name);
  const seen = new Map<string, number>();
  for (;;) {
    if (performance.now() > endsAt)
      throw new Error(
        `${folder} was in use for ${patienceMs / 1000} s: nothing is saved. If nobody is at work, remove it`,
      );
    const file = await createDraft(folder, path);
    if (file) {
      const end = async (): Promise<void> => {
        await file.close().catch(() => {});
        await rm(path, { force: true }).catch(() => {});
        await removeEmpty(folder);
      };
      // The folder may have been taken away while it was empty, and made anew by another, who is in there too.
      if ((await listFolder(folder)).every((other) => other === name)) return { path, file, end };
      await end();
    }
    if (!(await clear(folder, seen))) await delay(pollMs * (0.5 + Math.random()));
  }
}

/** Undefined where somebody else was first. */
async function createDraft(folder: string, path: string): Promise<FileHandle | undefined> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === "EEXIST" || isBusy(error)) return undefined;
    throw error;
  }
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    await removeEmpty(folder);
    if (codeOf(error) === "ENOENT" || isBusy(error)) return undefined;
    throw error;
  }
}

/**
 * Takes away the drafts of those who were ended, and then the folder, if it is empty.
 * @param seen since when each draft is known to be there. Not the time that the file says: clocks differ, and are set
 */
async function clear(folder: string, seen: Map<string, number>): Promise<boolean> {
  const now = performance.now();
  for (const name of await listFolder(folder)) {
    const since = seen.get(name) ?? now;
    seen.set(name, since);
    if (now - since > staleMs || isEnded(name))
      await rm(join(folder, name), { force: true, recursive: true }).catch(() => {});
  }
  return removeEmpty(folder);
}

/** Whether it is gone. Taken away with something in it, it would be taken from its owner. */
async function removeEmpty(folder: string): Promise<boolean> {
  return rmdir(folder).then(
    () => true,
    (error) => codeOf(error) === "ENOENT",
  );
}

async function listFolder(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error) => {
    if (codeOf(error) === "ENOENT" || isBusy(error)) return [];
    throw error;
  });
}

/** Only of processes of this machine can that be known at once. A mistake costs them another try, and nothing else. */
function isEnded(name: string): boolean {
  const [, owner, at] = /^(\d+)-[0-9a-f-]{36}-(.*)$/.exec(name) ?? [];
  if (owner === undefined || at !== host) return false;
  try {
    process.kill(Number(owner), 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}

/** After it a loss of power does not bring the old file back, with a refresh token that is used up. Not everywhere possible. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** On Windows: somebody has it open just now, or it is about to vanish. */
function isBusy(error: unknown): boolean {
  return platform === "win32" && ["EPERM", "EACCES", "EBUSY"].includes(codeOf(error) ?? "");
}
