// What was made from files once, kept in the user's cache folder under a name for what it was made from. Without a folder that
// is the user's alone nothing is kept: whoever may write there decides what runs here.
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
import { dirname, isAbsolute, join } from "node:path";

export interface Cache {
  get(key: string): Buffer | undefined;
  /** Says nothing where it cannot be kept. */
  set(key: string, content: string | Uint8Array): void;
}

export interface CacheOptions {
  /** Beyond this many, the half that was written first goes. */
  readonly maxEntries: number;
}

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

/** That of this user. Throws where a user has no home. */
export function findCacheFolder(): string {
  const folder = toCacheFolder({ platform: process.platform, env: process.env, home: homedir() });
  // Else it would be one of the folder that we are in, which anybody may have filled.
  if (!isAbsolute(folder)) throw new Error("there is no home");
  return folder;
}

/** @param name of the folder below the cache folder */
export function openCache(name: string, options: CacheOptions): Cache {
  try {
    return createCache(join(findCacheFolder(), name), options);
  } catch {
    // A user may have no home.
    return { get: () => undefined, set: () => {} };
  }
}

/** A cache in this folder, which is made by the first entry. */
export function createCache(folder: string, { maxEntries }: CacheOptions): Cache {
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
    set(key, content) {
      try {
        isTrusted = makeOwn(folder);
        if (!isTrusted) return;
        prune(folder, maxEntries);
        writeWhole(join(folder, key), content);
      } catch {
        // A full disk, a folder that cannot be written: it is made again next time.
      }
    },
  };
}

/** Others see it whole or not at all, also where two write it at once, and after the power was lost. */
function writeWhole(path: string, content: string | Uint8Array): void {
  // Not imported: most runs only read, and it is much to load.
  const { randomUUID } = process.getBuiltinModule("node:crypto");
  const fresh = `${path}.${randomUUID()}`;
  try {
    writeFileSync(fresh, content, { mode: 0o600, flag: "wx", flush: true });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

function readOwn(path: string): Buffer | undefined {
  const file = openSync(path, "r");
  try {
    return isOurs(fstatSync(file)) ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}

/** Makes the folder if there is none. Whether it is the user's alone. */
export function makeOwn(folder: string): boolean {
  makeFolder(folder, 8);
  return isOwn(folder);
}

/** With those above it, up to so many. Node's own way does not end where a folder can never be made, as below /proc. */
function makeFolder(folder: string, most: number): void {
  const make = (): unknown => mkdirSync(folder, { mode: 0o700 });
  try {
    make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || most === 0) throw error;
    makeFolder(dirname(folder), most - 1);
    make();
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

function prune(folder: string, maxEntries: number): void {
  const names = readdirSync(folder);
  if (names.length < maxEntries) return;
  const timed = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }));
  timed.sort((one, other) => one.at - other.at);
  for (const { name } of timed.slice(0, maxEntries / 2)) rmSync(join(folder, name), { force: true });
}
