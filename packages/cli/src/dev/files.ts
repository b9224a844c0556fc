// The files that a server is made of, watched. What counts is whether a file is another than when it was read, by its time, size
// and inode; the file system's word that something happened in a folder is only the reason to look. So it does not matter how an
// editor saves. Where the file system says nothing, as some of networks and containers do, a look now and then finds it.
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";

export interface Files {
  /** A version is about to be loaded: what the files are now is what it is made of. */
  begin(): void;
  /** One of its files. */
  add(path: string): void;
  /** It was loaded: files that it does not have are not watched any more. Looks whether one has changed meanwhile. */
  commit(): void;
  /** It was not loaded: beside a change of its files, any in their folders may be what was missing. */
  fail(): void;
  close(): void;
}

/** An editor takes a moment to save, and a version control system to change many files. */
const quietMs = 50;
const lookMs = 2000;
/** What the clock of a file system may lag behind ours. */
const clockMs = 20;
const codeFile = /\.([mc]?[jt]sx?|json)$/i;

/** @param onChange told when a file is another than it was; once for changes that come together */
export function watchFiles(onChange: () => void): Files {
  /** What each file was when it was read. */
  const known = new Map<string, string>();
  const folders = new Map<string, FSWatcher | undefined>();
  let added = new Set<string>();
  let beganAt = 0;
  let isBroken = false;
  /** A file with code has come, or gone, that is none of ours. */
  let hasNews = false;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const looking = setInterval(look, lookMs);
  looking.unref();

  function look(): void {
    timer = undefined;
    if (isClosed) return;
    let isChanged = isBroken && hasNews;
    hasNews = false;
    for (const [path, before] of known) {
      const now = signatureOf(path);
      // One that is gone is on its way back: an editor is saving.
      if (now === before || now === undefined) continue;
      known.set(path, now);
      isChanged = true;
    }
    if (isChanged) onChange();
  }

  /** Something happened in a folder. */
  function stir(event: string, name: string | null): void {
    hasNews ||= event === "rename" && codeFile.test(name ?? "");
    timer ??= setTimeout(look, quietMs);
  }

  function watchFolder(path: string): void {
    const folder = dirname(path);
    if (folders.has(folder)) return;
    try {
      const watcher = watch(folder, { persistent: false }, stir);
      // The folder may go: what is in it is still looked at.
      watcher.on("error", () => unwatch(folder));
      folders.set(folder, watcher);
    } catch {
      folders.set(folder, undefined);
    }
  }

  function unwatch(folder: string): void {
    folders.get(folder)?.close();
    folders.delete(folder);
  }

  return {
    begin() {
      beganAt = Date.now();
      added = new Set();
      for (const path of known.keys()) known.set(path, signatureOf(path) ?? "");
    },
    add(path) {
      if (/[\\/]node_modules[\\/]/.test(path)) return;
      added.add(path);
      watchFolder(path);
      if (known.has(path)) return;
      // It was read before we heard of it: one that is so new may have changed since.
      const isFresh = (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > beganAt - clockMs;
      known.set(path, isFresh ? "" : (signatureOf(path) ?? ""));
    },
    commit() {
      isBroken = false;
      for (const path of known.keys()) if (!added.has(path)) known.delete(path);
      const used = new Set([...known.keys()].map((path) => dirname(path)));
      for (const folder of folders.keys()) if (!used.has(folder)) unwatch(folder);
      look();
    },
    fail() {
      isBroken = true;
      look();
    },
    close() {
      isClosed = true;
      clearInterval(looking);
      clearTimeout(timer);
      for (const folder of [...folders.keys()]) unwatch(folder);
    },
  };
}

function signatureOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
}
