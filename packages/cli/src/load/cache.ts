// Texts that were made from files once, kept in the user's cache folder by a digest of what they were made from. Without a
// folder that is the user's alone nothing is kept: whoever may write there decides what runs here.
import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

export interface TextCache {
  get(key: string): string | undefined;
  /** Says nothing where it cannot be kept. */
  set(key: string, text: string): void;
}

/** Beyond this many, the half that was written first goes. */
const maxEntries = 2000;

/** What decides where the cache is. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: { readonly [name: string]: string | undefined };
  readonly home: string;
}

/** The folder of all that Plenum may lose. */
export function toCacheFolder({ platform, env, home }: Surroundings): string {
  if (platform === "win32") return join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "plenum", "cache");
  if (platform === "darwin") return join(home, "Library", "Caches", "plenum");
  // A relative one is to be ignored, says the specification of XDG.
  const given = env.XDG_CACHE_HOME;
  return join(given && isAbsolute(given) ? given : join(home, ".cache"), "plenum");
}

export function toKey(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  // The lengths keep ("ab", "c") apart from ("a", "bc").
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex");
}

/** @param name of the folder below the cache folder */
export function openCache(name: string): TextCache {
  try {
    const folder = join(toCacheFolder({ platform: process.platform, env: process.env, home: homedir() }), name);
    return createCache(folder);
  } catch {
    // A user may have no home.
    return { get: () => undefined, set: () => {} };
  }
}

/** A cache in this folder, which is made by the first text. */
export function createCache(folder: string): TextCache {
  let isTrusted = isOwn(folder);
  return {
    get(key) {
      if (!isTrusted) return undefined;
      try {
        return readOwn(join(folder, key));
      } catch {
        return undefined;
      }
    },
    set(key, text) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        isTrusted = isOwn(folder);
        if (!isTrusted) return;
        prune(folder);
        writeWhole(join(folder, key), text);
      } catch {
        // A full disk, a folder that cannot be written: the text is made again next time.
      }
    },
  };
}

/** Others see a text whole or not at all, also where two write it at once. */
function writeWhole(path: string, text: string): void {
  const fresh = `${path}.${randomUUID()}`;
  try {
    writeFileSync(fresh, text, { mode: 0o600, flag: "wx" });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

function readOwn(path: string): string | undefined {
  const file = openSync(path, "r");
  try {
    return isOurs(fstatSync(file)) ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}

function isOwn(folder: string): boolean {
  try {
    const stats = lstatSync(folder);
    return stats.isDirectory() && isOurs(stats);
  } catch {
    return false;
  }
}

/** Windows has neither owners nor modes here; there a user's local folder is theirs. */
function isOurs({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  if (!process.getuid) return true;
  return uid === process.getuid() && (mode & 0o022) === 0;
}

function prune(folder: string): void {
  const names = readdirSync(folder);
  if (names.length < maxEntries) return;
  const timed = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }));
  timed.sort((one, other) => one.at - other.at);
  for (const { name } of timed.slice(0, maxEntries / 2)) rmSync(join(folder, name), { force: true });
}
