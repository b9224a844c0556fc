// The library as a file sees it: the copy of `plenum` that its own imports lead to, else ours.
import { constants, Script } from "node:vm";
import { isNotFound } from "./resolution.ts";

/** The library as the file sees it. Its classes are those that the server's errors are made of. */
export interface OwnLibrary {
  /** An export path of it: `"plenum/stdio"`. Falls back to ours where the file has none. */
  import<T>(path: string): Promise<T>;
}

/** @param url that the file was imported by */
export function openLibrary(url: string): OwnLibrary {
  let importFrom: ((path: string) => Promise<unknown>) | undefined;
  return {
    async import<T>(path: string): Promise<T> {
      importFrom ??= createImport(url);
      try {
        return (await withoutWarnings(() => importFrom?.(path))) as T;
      } catch (error) {
        if (!isMissing(error, path)) throw error;
        return importInstalled(path);
      }
    },
  };
}

/** An import by code that Node takes for a part of the file: the only way to import as the file does, hooks and conditions included. */
function createImport(url: string): (path: string) => Promise<unknown> {
  return new Script("(path) => import(path)", {
    filename: url,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }).runInThisContext();
}

/** The library that is installed with this program, not the copy that is part of it: for files that have none of their own. */
export function importInstalled<T>(path: string): Promise<T> {
  return import(path);
}

/** Node 20 and 22 warn, in the turn of the import, that this way of importing may change. It is no concern of a user's. */
function withoutWarnings<T>(run: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return run();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Not installed, or of a version that has no such path; not something else that is missing inside it. */
function isMissing(error: unknown, path: string): boolean {
  if ((error as { readonly code?: unknown } | null)?.code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return true;
  return isNotFound(error) && (error as Error).message.includes(`'${path.split("/")[0]}'`);
}
