// `path/server.ts` or `path/server.ts:name`: a file, and which of its exports.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { Failure } from "../failure.ts";
import type { FileSpec } from "../target/spec.ts";

/** Split on the last colon; the one after a Windows drive letter separates nothing. `~` is the home, paths are made absolute. */
export function parseFileSpec(text: string, cwd: string = process.cwd()): FileSpec {
  const colon = text.lastIndexOf(":");
  const isDrive = colon === 1 && /^[a-z]:[\\/]/i.test(text);
  const path = colon < 0 || isDrive ? text : text.slice(0, colon);
  const exportName = colon < 0 || isDrive ? undefined : text.slice(colon + 1);
  const home = path === "~" || /^~[\\/]/.test(path) ? join(homedir(), path.slice(1)) : path;
  const absolute = resolve(cwd, home);
  return { kind: "file", name: basename(absolute), path: absolute, exportName: exportName || undefined };
}

/** Throws a Failure where there is no such file, or where it is a folder. */
export function assertFile({ path }: Pick<FileSpec, "path">): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) {
    throw new Failure("usage", `File not found: ${path}`, {
      code: "file_not_found",
      hint: "Is the path right? It is taken from the folder you are in.",
    });
  }
  if (!stats.isFile())
    throw new Failure("usage", `Not a file: ${path}`, {
      code: "not_a_file",
      hint: "Name the file that exports the server.",
    });
}
