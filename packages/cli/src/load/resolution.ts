// Where imports of a server's files lead that Node finds nothing for: the .ts beside a missing .js, and our own library for a
// file that has none. And which files are a server's own. Used by the hooks of both kinds.
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface ResolveContext {
  readonly parentURL?: string | undefined;
}

export interface Remedy {
  readonly specifier: string;
  /** Undefined: as before. */
  readonly parentURL?: string;
}

export function isTypeScript(path: string): boolean {
  return /\.(?:[mc]?ts|tsx)$/i.test(path);
}

/** Marks the addresses of a second attempt: Node does not load again what it failed to load. */
export const againMark = "?again";

/** What the transformer's output imports. It belongs to us, not to the file. */
export function isRuntimeHelper(specifier: string): boolean {
  return specifier.startsWith("@oxc-project/runtime/");
}

export function isLibrary(specifier: string): boolean {
  return specifier === "plenum" || specifier.startsWith("plenum/");
}

/** From here `plenum` and the transformer's helpers are always found. */
export const ownParentUrl = import.meta.url;

/** What to try when Node has found nothing. */
export function findRemedy(error: unknown, specifier: string, { parentURL }: ResolveContext): Remedy | undefined {
  if (!isNotFound(error)) return undefined;
  if (isLibrary(specifier)) return { specifier, parentURL: ownParentUrl };
  if (!/^(?:\.{0,2}\/|file:)/.test(specifier) || !parentURL?.startsWith("file:")) return undefined;
  const url = new URL(specifier, parentURL);
  const sibling = findTypeScriptOf(fileURLToPath(url));
  return sibling ? { specifier: pathToFileURL(sibling).href + url.search + url.hash } : undefined;
}

const typeScriptEndings: { readonly [ending: string]: readonly string[] } = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};

/** The TypeScript file that a missing JavaScript file would be made from. */
export function findTypeScriptOf(path: string): string | undefined {
  const dot = path.lastIndexOf(".");
  const endings = typeScriptEndings[path.slice(dot)] ?? [];
  return endings.map((ending) => path.slice(0, dot) + ending).find((one) => existsSync(one));
}

export function isNotFound(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
}

/** The address in a second attempt, handed on from each of the server's files to those that it imports. */
export function toAgain(url: string, { parentURL }: ResolveContext): string {
  return parentURL?.endsWith(againMark) && toLocalPath(url) && !url.includes("?") ? url + againMark : url;
}

const ownFolder = new URL("..", import.meta.url).href;

/** The path of a file that is the server's own: neither of an installed package nor of this program. */
export function toLocalPath(url: string): string | undefined {
  if (!url.startsWith("file:") || url.includes("/node_modules/") || url.startsWith(ownFolder)) return undefined;
  return fileURLToPath(url);
}
