// What a person is told of a file that cannot be loaded: the place in the code, the package that is not installed, what its code threw.
import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure } from "../failure.ts";
import type { FileSpec } from "../target/spec.ts";
import { formatPlace } from "./place.ts";
import { isNotFound, isTypeScript } from "./resolution.ts";
import { describeThrown } from "./thrown.ts";
import { syntaxErrorCode, transform } from "./typescript.ts";

/** What `import` threw, as a Failure. */
export async function toLoadFailure(error: unknown, spec: FileSpec): Promise<Failure> {
  if (error instanceof Failure) return error;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (code === syntaxErrorCode) return toSyntax((error as Error).message, error);
  if (error instanceof SyntaxError) return toSyntax(await describeSyntax(error, spec), error);
  if (isNotFound(error)) return toMissing(error as Error, spec);
  if (code === "ERR_UNKNOWN_FILE_EXTENSION") {
    return new Failure("usage", (error as Error).message, {
      code: "unknown_file_type",
      hint: "A server is in a file that ends in .ts, .mts, .cts, .tsx, .js, .mjs or .cjs, and imports such files.",
      cause: error,
    });
  }
  return toThrown(error, spec);
}

function toSyntax(message: string, cause: unknown): Failure {
  return new Failure("usage", message, {
    code: "syntax_error",
    hint: "Correct the file, then try again.",
    cause,
  });
}

/** Node names the file and the line in front of the stack, not the column; the transformer's parser knows it. */
async function describeSyntax(error: SyntaxError, spec: FileSpec): Promise<string> {
  const [, where = spec.path, line = "0"] = /^(\S.*?):(\d+)\n/.exec(error.stack ?? "") ?? [];
  const path = (where.startsWith("file:") ? fileURLToPath(where) : where).replace(/\?again$/, "");
  if (!existsSync(path)) return `${path}: ${error.message}`;
  const text = readFileSync(path, "utf8");
  const missing = /requested module '(.*)' does not provide an export named '(.*)'/.exec(error.message);
  if (missing) return describeMissingName(path, text, missing[1] as string, missing[2] as string);
  try {
    const { transformSync } = await import("oxc-transform");
    transform(path, text, transformSync);
  } catch (other) {
    if ((other as { readonly code?: unknown }).code === syntaxErrorCode) return (other as Error).message;
  }
  // Of TypeScript, Node knows the line of what was made from it.
  return `${isTypeScript(path) ? path : `${path}:${line}`}: ${error.message}`;
}

function describeMissingName(path: string, text: string, from: string, name: string): string {
  const at = [`"${from}"`, `'${from}'`].map((one) => text.indexOf(one)).find((one) => one >= 0);
  const problem = `"${from}" has no export "${name}"`;
  const place = at === undefined ? `${path}: ${problem}` : formatPlace(path, text, at, problem);
  return isTypeScript(path) ? `${place}\nIf it is a type, import it with: import type` : place;
}

function toMissing(error: Error, spec: FileSpec): Failure {
  const { message } = error;
  const [, what = "", parent] = /Cannot find (?:package|module) '([^']*)'(?: imported from (.*))?/.exec(message) ?? [];
  const from = parent ?? requireParent(error) ?? spec.path;
  const importer = from.startsWith("file:") ? fileURLToPath(from) : from.replace(/\?.*$/, "");
  const isFile = /^(?:\.{0,2}[\\/]|[a-z]:[\\/]|file:)/i.test(what);
  const shown = isFile ? toShown(what.replace(/^file:\/\//, ""), importer) : what;
  return new Failure("usage", `${importer} imports "${shown}", which ${isFile ? "is not there" : "is not installed"}`, {
    code: "import_not_found",
    hint: isFile ? adviseFile(what, shown) : advisePackage(what, importer),
    cause: error,
  });
}

function requireParent(error: Error): string | undefined {
  const { requireStack } = error as { readonly requireStack?: readonly string[] };
  return requireStack?.[0];
}

function toShown(path: string, importer: string): string {
  const near = relative(dirname(importer), path).replaceAll("\\", "/");
  return path.startsWith(".") ? path : near.startsWith(".") ? near : `./${near}`;
}

/** Endings are never guessed: that is how modules work, and what people stumble over. */
function adviseFile(path: string, shown: string): string {
  const endings = [".ts", ".tsx", ".mts", ".js", ".mjs", "/index.ts", "/index.js"];
  const found = endings.find((ending) => existsSync(path + ending));
  return found ? `Imports need the whole name: "${shown}${found}".` : "Is the name right, and its ending?";
}

function advisePackage(what: string, importer: string): string {
  const name = what
    .split("/")
    .slice(0, what.startsWith("@") ? 2 : 1)
    .join("/");
  if (builtinModules.includes(name)) return `Write "node:${name}".`;
  return `Install it, in ${dirname(importer)}: npm i ${name}`;
}

function toThrown(error: unknown, spec: FileSpec): Failure {
  return new Failure("usage", `${basename(spec.path)} failed while it was loaded: ${describeThrown(error)}`, {
    code: "load_failed",
    hint: "--debug shows all of the stack.",
    cause: error,
  });
}
