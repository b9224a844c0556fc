// The file of a host, read and written: whole or not at all. Who edits it meanwhile, the host or another of us, loses nothing.
// Before the first change the file as it was is kept beside it, as NAME.plenum.bak: always the one before the last change.
import { randomBytes } from "node:crypto";
import {
  type FileHandle,
  lstat,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Failure } from "../failure.ts";
import { withLock } from "./lock.ts";

/** Editing takes time and memory many times that of the file: settings by hand are a thousandth of this. */
const maxBytes = 4 * 1024 * 1024;

/** A file's text without its byte order mark. Undefined where there is no such file. Throws a Failure where it cannot be read. */
export async function readText(path: string): Promise<string | undefined> {
  const bytes = await readBytes(path);
  return bytes && toText(path, bytes).text;
}

async function readBytes(path: string): Promise<Buffer | undefined> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw new Failure("usage", `Not a file: ${path}`, { code: "not_a_file" });
    if (stats.size > maxBytes) {
      throw new Failure(
        "usage",
        `${path} is too large to be settings: ${stats.size} bytes, and at most ${maxBytes} are read`,
        {
          code: "broken_file",
          hint: "Nothing was changed. Is it the right file? Make it smaller, or move it away, and try again.",
        },
      );
    }
    return await readFile(path);
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw toFileFailure(error, path, "read");
  }
}

const bom = "\ufeff";

function toText(path: string, bytes: Buffer): { readonly text: string; readonly mark: string } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(bom) ? { text: text.slice(1), mark: bom } : { text, mark: "" };
  } catch {
    throw new Failure("usage", `${path} cannot be read: it is not UTF-8`, {
      code: "broken_file",
      hint: "Nothing was changed. Save it as UTF-8 and try again.",
    });
  }
}

export interface Written {
  /** Whether there was anything to change. */
  readonly isChanged: boolean;
  /** Where the file as it was is kept; undefined where there was none. */
  readonly backup: string | undefined;
}

/**
 * Replaces the text by what `edit` makes of it; "" is what a file that is not there holds. Called again where the file has changed
 * meanwhile. Links are followed; mode and owner stay.
 * @param mode of a file that is not there yet, less what the process takes away; it may come to hold secrets
 */
export async function updateFile(path: string, edit: (text: string) => string, mode = 0o600): Promise<Written> {
  try {
    const real = await followLinks(path);
    const folder = dirname(real);
    return await withLock(join(folder, `.${basename(real)}.plenum-lock`), async () => {
      await sweep(folder);
      return replace(real, edit, mode);
    });
  } catch (error) {
    throw toFileFailure(error, path, "written");
  }
}

/** Also where a link leads that nothing is at yet. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
    const folder = await realpath(dirname(path));
    const target = await readlink(path).catch(() => undefined);
    return target === undefined ? join(folder, basename(path)) : followLinks(resolve(folder, target));
  }
}

async function replace(path: string, edit: (text: string) => string, mode: number): Promise<Written> {
  for (let round = 0; round < 20; round++) {
    const before = await readBytes(path);
    // A folder may be ours while the file is not to be written.
    if (before) await (await open(path, "r+")).close();
    const { text, mark } = before ? toText(path, before) : { text: "", mark: "" };
    const edited = edit(text);
    if (before && edited === text) return { isChanged: false, backup: undefined };
    const fresh = await writeBeside(path, Buffer.from(mark + edited), before ? undefined : mode);
    try {
      const now = await readBytes(path);
      const isSame = before && now ? before.equals(now) : before === now;
      if (!isSame) continue;
      const backup = before && `${path}.plenum.bak`;
      if (before && backup) await rename(await writeBeside(path, before, undefined), backup);
      await rename(fresh, path);
      await syncFolder(dirname(path));
      return { isChanged: true, backup };
    } finally {
      await rm(fresh, { force: true });
    }
  }
  throw new Failure("usage", `${path} is changed by another program all the time`, {
    code: "locked",
    hint: "Close the host and try again.",
  });
}

/** Writing takes milliseconds: what is older was left behind by one of us that was killed. */
const leftMs = 60_000;
const freshName = /^\..+\.plenum-[\da-f]{16}\.tmp$/;

/** Takes away what was left behind in the folder, which may hold secrets. What cannot be is left to others. */
async function sweep(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => freshName.test(one))) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile() && Date.now() - stats.mtimeMs > leftMs) await rm(path, { force: true }).catch(() => {});
  }
}

/**
 * A file beside the other, whole on the disk. While it is being written it is its owner's alone.
 * @param mode undefined: mode and owner are those of the other
 */
async function writeBeside(path: string, bytes: Buffer, mode: number | undefined): Promise<string> {
  const fresh = join(dirname(path), `.${basename(path)}.plenum-${randomBytes(8).toString("hex")}.tmp`);
  const file = await open(fresh, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    if (mode === undefined) await copyOwner(path, file);
    else await file.chmod(mode & ~process.umask());
    await file.sync();
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return fresh;
}

async function copyOwner(path: string, file: FileHandle): Promise<void> {
  const [there, ours] = [await stat(path), await file.stat()];
  if (there.uid !== ours.uid) await file.chown(there.uid, there.gid);
  // Of a group that one is not in, a file can be had but not given.
  else if (there.gid !== ours.gid) await file.chown(there.uid, there.gid).catch(() => {});
  await file.chmod(there.mode & 0o7777);
}

/** So that the new name lasts too; where folders cannot be opened there is nothing to do. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === code;
}

const reasons: { readonly [code: string]: readonly [reason: string, hint: string] } = {
  EACCES: ["you have no permission", "Is it yours? ls -l shows whose it is."],
  EPERM: ["you have no permission", "Is it yours? ls -l shows whose it is."],
  EROFS: ["its disk can only be read", "Nothing can be written there."],
  ENOSPC: ["the disk is full", "Make room and try again."],
  EDQUOT: ["your share of the disk is used up", "Make room and try again."],
  EFBIG: ["it would be larger than files may be here", "ulimit -f shows the limit."],
  ENOTDIR: ["a part of the path is no folder", "Is the path right?"],
  ELOOP: ["its links lead in a circle", "Is the path right?"],
  ENOENT: ["its folder is not there", "Is the path right?"],
};

function toFileFailure(error: unknown, path: string, verb: "read" | "written"): unknown {
  if (error instanceof Failure) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  const [reason, hint] = reasons[code] ?? [message, "With --debug you see where it comes from."];
  const untouched = verb === "written" ? "Nothing was changed. " : "";
  return new Failure("usage", `${path} cannot be ${verb}: ${reason}`, {
    code: code === "EACCES" || code === "EPERM" ? "no_permission" : "file_trouble",
    hint: untouched + hint,
    cause: error,
  });
}
