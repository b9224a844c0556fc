// Files of variables, as `.env`: quotes, comments, `export`.
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { Failure } from "../failure.ts";

/** Throws a Failure where it cannot be read. */
export async function readEnvFile(path: string): Promise<{ [name: string]: string }> {
  try {
    const parsed = parseEnv((await readFile(path, "utf8")).replace(/^\ufeff/, ""));
    return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, value ?? ""]));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure("usage", code === "ENOENT" ? `File not found: ${path}` : `${path} cannot be read`, {
      code: "file_not_found",
      hint: "It has a line for each variable: KEY=VALUE.",
      cause: error,
    });
  }
}
