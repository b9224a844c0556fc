// Loads the server that a file exports, with the library that the file itself uses.
import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { FileSpec } from "../target/spec.ts";
import { type Exports, type FoundServer, findServer } from "./exports.ts";
import { assertFile } from "./file-spec.ts";
import { type OwnLibrary, openLibrary } from "./library.ts";
import { againMark, findTypeScriptOf, isLibrary, isNotFound, isTypeScript } from "./resolution.ts";

export type { OwnLibrary } from "./library.ts";

export interface LoadedServer {
  readonly server: FoundServer;
  readonly library: OwnLibrary;
}

export interface LoadOptions {
  /**
   * Told the absolute path of every file that is loaded for the server, those of installed packages left out: before it is
   * compiled, so that what does not compile is told too, and also when it is loaded later. A path may come twice.
   */
  readonly onFile?: ((path: string) => void) | undefined;
}

/** Throws a Failure that says what is wrong with the file. */
export async function loadServer(spec: FileSpec, { onFile }: LoadOptions = {}): Promise<LoadedServer> {
  assertFile(spec);
  if (onFile) (await ensureHooks()).addFileListener(onFile);
  try {
    const { exports, url } = await importFile(realpathSync(spec.path));
    return { server: findServer(exports, spec), library: openLibrary(url) };
  } catch (error) {
    const { toLoadFailure } = await import("./load-failure.ts");
    throw await toLoadFailure(error, spec);
  } finally {
    hooks?.flushFiles();
  }
}

let hooks: typeof import("./hooks.ts") | undefined;

/**
 * A file without TypeScript, whose library is installed beside it, is loaded without them: they take time. Who will need them
 * may have them before there is a file.
 */
export async function ensureHooks(): Promise<typeof import("./hooks.ts")> {
  if (hooks) return hooks;
  const loaded = await import("./hooks.ts");
  if (!hooks) loaded.registerHooks();
  hooks = loaded;
  return loaded;
}

async function importFile(path: string): Promise<{ readonly exports: Exports; readonly url: string }> {
  const url = pathToFileURL(path).href;
  if (isTypeScript(path)) await ensureHooks();
  try {
    return { exports: (await import(url)) as Exports, url };
  } catch (error) {
    if (hooks || !needsHooks(error)) throw error;
    await ensureHooks();
    const again = url + againMark;
    return { exports: (await import(again)) as Exports, url: again };
  }
}

const typeScriptCodes = [
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
  "ERR_INVALID_TYPESCRIPT_SYNTAX",
];

/** Whether hooks would find, or run, what Node did not. */
function needsHooks(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  if (code !== undefined && typeScriptCodes.includes(code)) return true;
  if (!isNotFound(error)) return false;
  const [, what = ""] = /Cannot find (?:package|module) '([^']*)'/.exec(message ?? "") ?? [];
  return isLibrary(what) || findTypeScriptOf(what) !== undefined;
}
