// What `require` needs to run TypeScript and to find the library. It is done to Node's CommonJS loader itself: hooks of the
// module loader reach it in newer Nodes alone, and CommonJS whose text they hand over cannot require ES modules in any.
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { findTypeScriptOf, isLibrary, isNotFound, isRuntimeHelper, ownParentUrl } from "./resolution.ts";
import { findTransformed, type RunnableModule, transform } from "./typescript.ts";

interface LoadedModule {
  _compile(source: string, path: string, format: RunnableModule["format"]): void;
}

type Extension = (module: LoadedModule, path: string) => void;

type Resolve = (
  specifier: string,
  parent: { readonly filename?: string | null } | undefined,
  ...rest: unknown[]
) => string;

/** The parts of it that loaders of other languages have always used, and that Node keeps for them. */
interface Loader {
  readonly _extensions: Record<string, Extension>;
  _resolveFilename: Resolve;
}

const ownRequire = createRequire(ownParentUrl);

/** What a TypeScript file is to Node, in the turn. Throws as `transform` does. */
export function readRunnable(path: string): RunnableModule {
  const text = readFileSync(path, "utf8");
  const made = findTransformed(path, text);
  if (made) return made;
  // It is an ES module without awaits, which every Node that we run on can require.
  const { transformSync } = ownRequire("oxc-transform") as typeof import("oxc-transform");
  return transform(path, text, transformSync);
}

/** @param tell told of every file that is required, those of installed packages too */
export function extendRequire(tell: (path: string) => void): void {
  const loader = Module as unknown as Loader;
  for (const ending of [".ts", ".cts", ".mts", ".tsx"]) {
    loader._extensions[ending] = (module, path) => {
      tell(path);
      const { source, format } = readRunnable(path);
      module._compile(source, path, format);
    };
  }
  const runPlain = loader._extensions[".js"] as Extension;
  loader._extensions[".js"] = (module, path) => {
    tell(path);
    runPlain(module, path);
  };
  const find = loader._resolveFilename;
  loader._resolveFilename = (specifier, parent, ...rest) => {
    if (isRuntimeHelper(specifier)) return ownRequire.resolve(specifier);
    try {
      return find(specifier, parent, ...rest);
    } catch (error) {
      const found = isNotFound(error) ? findOther(specifier, parent?.filename) : undefined;
      if (found === undefined) throw error;
      return found;
    }
  };
}

/** The same as for imports: see findRemedy. */
function findOther(specifier: string, parent: string | null | undefined): string | undefined {
  if (!parent) return undefined;
  if (isLibrary(specifier)) return ownRequire.resolve(specifier);
  return /^\.{0,2}[\\/]/.test(specifier) ? findTypeScriptOf(resolve(dirname(parent), specifier)) : undefined;
}
