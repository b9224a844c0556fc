// Names of files that begin as the word that is typed, for shells that are not asked to find them themselves.
import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Candidate } from "./candidate.ts";
import type { Completion } from "./complete.ts";

const targetFile = /\.([mc]?[jt]s|[jt]sx|jsonc?|toml|ya?ml)$/i;
const maxFiles = 1000;

export function listFileNames(current: string, files: NonNullable<Completion["files"]>): Candidate[] {
  const slash = current.lastIndexOf("/") + 1;
  const [folder, start] = [current.slice(0, slash), current.slice(slash)];
  const path = folder.startsWith("~/") ? join(homedir(), folder.slice(1)) : folder || ".";
  const found: Candidate[] = [];
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const { name } = entry;
    if (!name.startsWith(start) || (name.startsWith(".") && start === "")) continue;
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && isFolderAt(join(path, name)));
    if (isFolder) found.push({ value: `${folder}${name}/`, isOpen: true });
    else if (files === "all" || (files === "targets" && targetFile.test(name))) found.push({ value: folder + name });
    if (found.length >= maxFiles) break;
  }
  return found;
}

function isFolderAt(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
