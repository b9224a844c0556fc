// Writing a scaffold: into a folder that is empty, or that its owner says may be written into; all of it or nothing where that can be known.
import { lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../failure.ts";

/** What a folder may hold and still count as empty: version control, and what desktops leave behind. */
const unnoticed = [".git", ".DS_Store", "Thumbs.db"];

export interface FolderState {
  readonly isThere: boolean;
  readonly isEmpty: boolean;
  /** Those of `paths` that are there already. */
  readonly taken: readonly string[];
}

/** Throws a Failure where the path is no folder, or cannot be looked into. */
export function lookAt(folder: string, paths: Iterable<string>): FolderState {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats) return { isThere: false, isEmpty: true, taken: [] };
  if (!stats.isDirectory()) {
    throw new Failure("usage", `${folder} is a file`, { code: "not_a_folder", hint: "Name a folder, or a new one." });
  }
  const isEmpty = readdirSync(folder).every((name) => unnoticed.includes(name));
  const isTaken = (path: string): boolean => lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined;
  return { isThere: true, isEmpty, taken: [...paths].filter(isTaken) };
}

/** Throws a Failure, with nothing written, where the folder holds something and `isForced` is false. */
export function assertWritable(folder: string, { isEmpty, taken }: FolderState, isForced: boolean): void {
  if (isEmpty || isForced) return;
  const what = taken.length > 0 ? `It has ${taken.join(", ")} already. ` : "";
  throw new Failure("usage", `${folder} is not empty`, {
    code: "folder_not_empty",
    hint: `${what}Nothing was written. Name another folder; with --force it is written into, and files that are there are replaced.`,
    data: { taken },
  });
}

/**
 * @param replaced paths that may be replaced
 * Throws a Failure where a file cannot be written.
 */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>, replaced: readonly string[]): void {
  try {
    for (const [path, text] of files) {
      const full = join(folder, path);
      mkdirSync(dirname(full), { recursive: true });
      // A link is taken away, not followed: what it leads to is not in this folder.
      if (replaced.includes(path)) rmSync(full);
      writeFileSync(full, text, { flag: "wx" });
    }
  } catch (error) {
    throw new Failure("usage", `Cannot write into ${folder}: ${(error as Error).message}`, {
      code: "unwritable_folder",
      hint: "May you write there, and is there room? What was written so far is left.",
      cause: error,
    });
  }
}
