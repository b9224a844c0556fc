// Reads TypeScript files for the tests of the house: what a file imports and exports, whether it says `any`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "vite";

export const root: string = join(import.meta.dirname, "..", "..");

/** What a file says about others. */
export interface Source {
  readonly text: string;
  /** Specifiers of every form of import: static, type-only, dynamic, `import("…")` types, `export … from`. */
  readonly imports: readonly string[];
  /** Names exported as values and as types. A name that stands for both is in `values`. */
  readonly values: readonly string[];
  readonly types: readonly string[];
  /** Whether there is an `export *`. */
  readonly exportsAll: boolean;
  /** Lines on which the type `any` is written. */
  readonly anyLines: readonly number[];
}

/**
 * Where a package is loaded that applications may have: its name is no literal, so that bundlers leave it alone. And where the
 * command line loads the files of its users.
 */
const computed = /(^|\/)protocol\/trace\.[jt]s$|^load\/|^dev\/|^start\//;

/** Parses one file. Throws on a syntax error, and on a dynamic import whose target is computed. */
export function readSource(path: string, text: string): Source {
  const { program, module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const imports = new Set(module.staticImports.map((one) => one.moduleRequest.value));
  const values = new Set<string>();
  const types = new Set<string>();
  let exportsAll = false;
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest, importName, exportName, isType } of entries) {
      if (moduleRequest) imports.add(moduleRequest.value);
      if (importName.kind === "All" || importName.kind === "AllButDefault") exportsAll = true;
      else (isType ? types : values).add(exportName.kind === "Default" ? "default" : (exportName.name ?? ""));
    }
  }
  const anyLines: number[] = [];
  const addLiteral = (node: { type: string; value?: unknown }): void => {
    if (node.type !== "Literal" || typeof node.value !== "string") {
      throw new Error(`${path}: the target of a dynamic import is not a plain string`);
    }
    imports.add(node.value);
  };
  new Visitor({
    ImportExpression: (node) => {
      if (!computed.test(path)) addLiteral(node.source);
    },
    TSImportType: (node) => addLiteral(node.source),
    TSAnyKeyword: (node) => {
      anyLines.push(text.slice(0, node.start).split("\n").length);
    },
  }).visit(program);
  // Interfaces, type aliases and `declare` in .d.ts files: a name declared as a value wins.
  for (const name of values) types.delete(name);
  return { text, imports: [...imports], values: [...values], types: [...types], exportsAll, anyLines };
}

/** Every file of a folder whose name ends as given, as paths with `/` relative to the folder. */
export function listFiles(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(ending))
    .sort();
}

/** The texts of a package's source files without its tests, by path relative to src. */
export function readPackage(name: string): Map<string, string> {
  const folder = join(root, "packages", name, "src");
  const paths = listFiles(folder, ".ts").filter((path) => !path.endsWith(".test.ts"));
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}
