// Which files a server may touch: those below its client's roots. A path is judged as what it leads to, after symbolic
// links, and by whole segments: neither `..`, nor a link, nor a folder whose name only begins like a root's leads out.
// Specification: client/roots § Security Considerations.
import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolError } from "../protocol/errors.ts";
import type { Root } from "../protocol/model.ts";
import { quote } from "../util/quote.ts";

/**
 * The real path of what a caller named, if it is a root or below one. A path or a file:// URI; a relative one is taken
 * from the first root. What is not there yet is judged by the folder that it would be in. Throws a ToolError, for the
 * model to read, for everything else. Use what it gives, and at once: between the look and the use links can change.
 */
export async function resolveWithin(roots: readonly Pick<Root, "uri">[], path: string): Promise<string> {
  const folders = roots.map(({ uri }) => fileURLToPath(uri));
  const [first] = folders;
  if (first === undefined) throw new ToolError("There is no folder that may be used: the client has given no roots.");
  const real = await toReal(resolve(first, toPath(path)));
  for (const folder of folders) {
    // A root that is gone has nothing in it.
    const root = await realpath(folder).catch(() => undefined);
    if (root !== undefined && isWithin(root, real)) return real;
  }
  throw new ToolError(
    `${quote(path)} is outside the folders that may be used: ${folders.map((one) => quote(one)).join(", ")}.`,
  );
}

function toPath(given: string): string {
  try {
    if (given.includes("\0")) throw new TypeError("it has a NUL in it");
    return /^file:/i.test(given) ? fileURLToPath(given) : given;
  } catch (error) {
    throw new ToolError(`${quote(given)} is no path: ${(error as Error).message}.`);
  }
}

async function toReal(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    const parent = dirname(path);
    // A link to nowhere is there: what is written through it lands wherever it points.
    if (code !== "ENOENT" || parent === path || (await isLink(path)))
      throw new ToolError(`${quote(path)} cannot be used: ${code}.`);
    return join(await toReal(parent), path.slice(parent.length).replace(/^[\\/]+/, ""));
  }
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
}

function isWithin(root: string, real: string): boolean {
  const way = relative(root, real);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
