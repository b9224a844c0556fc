// Files that are made from a server and made again: written over only where they are of the same make.
import { readFile, writeFile } from "node:fs/promises";
import { Failure } from "../failure.ts";

/** The text, or undefined where there is no such file. Throws a Failure where it cannot be read. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Failure("usage", `Cannot read ${path}: ${message}`, {
      code: "unreadable_file",
      hint: "Is it a file, and may you read it?",
      cause: error,
    });
  }
}

/**
 * @param isOwn whether a text that is there already may be replaced
 * Throws a Failure, with nothing written, where it may not.
 */
export async function writeOwn(path: string, text: string, isOwn: (text: string) => boolean): Promise<void> {
  const there = await readIfThere(path);
  if (there === text) return;
  if (there !== undefined && there.trim() !== "" && !isOwn(there)) {
    throw new Failure("usage", `${path} is there already, and this program did not write it`, {
      code: "foreign_file",
      hint: "Name another file with -o, or remove that one.",
    });
  }
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new Failure("usage", `Cannot write ${path}: ${(error as Error).message}`, {
      code: "unwritable_file",
      hint: "Is the folder there, and may you write in it?",
      cause: error,
    });
  }
}
