// Which files a server may touch: those below its client's roots. A path is judged as what it leads to, after symbolic
// links, and by whole segments: neither `..`, nor a link, nor a folder whose name only begins like a root's leads out.
// Specification: client/roots § Security Considerations.
import { readlink, realpath } from "node:fs/promises";
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
  const folders = roots.flatMap(({ uri }) => toFolder(uri));
  const [first] = folders;
  if (first === undefined)
    throw new ToolError("There is no folder that may be used: the client has given no roots that are local folders.");
  // A root that is gone has nothing in it.
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => [])));
  const found = await find(resolve(first, toPath(path)));
  // Whether it is outside is asked first: why something out there cannot be used tells what there is.
  if (!real.flat().some((root) => isWithin(root, found.path))) {
    const list = folders.map((one) => quote(one)).join(", ");
    throw new ToolError(`${quote(path)} is outside the folders that may be used: ${list}.`);
  }
  if (found.problem !== undefined) throw new ToolError(`${quote(path)} cannot be used: ${found.problem}.`);
  return found.path;
}

/** None for a root that is no folder of this machine: nothing can be below it. */
function toFolder(uri: string): string[] {
  try {
    const folder = fileURLToPath(uri);
    return folder.includes("\0") ? [] : [folder];
  } catch {
    return [];
  }
}

function toPath(given: string): string {
  try {
    if (given.includes("\0")) throw new TypeError("it has a NUL in it");
    return /^file:/i.test(given) ? fileURLToPath(given) : given;
  } catch (error) {
    throw new ToolError(`${quote(given)} is no path: ${(error as Error).message}.`);
  }
}

interface Found {
  /** Real as far as it is there. */
  readonly path: string;
  /** Why it cannot be used, wherever it is. */
  readonly problem?: string | undefined;
}

async function find(path: string): Promise<Found> {
  try {
    return { path: await realpath(path) };
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) return { path, problem: codeOf(error) };
    const above = await find(parent);
    const whole = join(above.path, path.slice(parent.length).replace(/^[\\/]+/, ""));
    if (above.problem !== undefined) return { path: whole, problem: above.problem };
    const problem = codeOf(error);
    // A link to nowhere is there: what is written through it lands wherever it points, and there it is judged.
    const link = problem === "ELOOP" ? undefined : await readlink(whole).catch(() => undefined);
    if (link !== undefined) return { path: (await find(resolve(above.path, link))).path, problem };
    return { path: whole, ...(problem !== "ENOENT" && { problem }) };
  }
}

function codeOf(error: unknown): string {
  return (error as { readonly code?: string }).code ?? String(error);
}

function isWithin(root: string, real: string): boolean {
  const way = relative(root, real);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
