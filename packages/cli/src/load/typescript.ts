// TypeScript to what Node runs: types away; enums, parameter properties, decorators and JSX as code. Made once per text, then
// taken from the cache. Used by the hooks of both kinds, in this thread and in another.
import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import type { transformSync } from "oxc-transform";
import { version } from "../identity.ts";
import { type Cache, openCache } from "../start/cache.ts";
import { formatPlace } from "./place.ts";

export interface RunnableModule {
  readonly format: "module" | "commonjs";
  readonly source: string;
}

/** The code of the errors that are thrown for what is no TypeScript: their message is for people. */
export const syntaxErrorCode = "PLENUM_SYNTAX";

let cache: Cache | undefined;
const cacheOptions = { maxEntries: 2000 };

/** The dependency that transforms has an exact version, so ours stands for both. */
function keyOf(path: string, text: string): string {
  // The map names the file by its name alone, wherever it is.
  return toKey(version, basename(path), text);
}

/** A digest of all parts. */
export function toKey(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  // The lengths keep ("ab", "c") apart from ("a", "bc").
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex");
}

/** What was made of this text before, if it was. */
export function findTransformed(path: string, text: string): RunnableModule | undefined {
  cache ??= openCache("typescript", cacheOptions);
  const source = cache.get(keyOf(path, text))?.toString();
  return source === undefined ? undefined : { format: formatOf(path, source), source };
}

/** Throws a SyntaxError with `syntaxErrorCode`, whose message names the place and shows the line. */
export function transform(path: string, text: string, run: typeof transformSync): RunnableModule {
  const { code, map, errors } = run(basename(path), text, {
    sourceType: isCommonJs(path) ? "commonjs" : "unambiguous",
    target: "node20",
    sourcemap: true,
    // Those of the standard are not yet in any Node, so whoever has decorators means these.
    decorator: { legacy: true },
  });
  const [error] = errors;
  if (error) {
    // The last label is where it went wrong; those before say with what it clashes. They count bytes.
    const start = error.labels.at(-1)?.start ?? 0;
    const offset = Buffer.from(text).subarray(0, start).toString().length;
    throw toSyntaxError(formatPlace(path, text, offset, error.message), error.helpMessage);
  }
  // An import of types alone leaves a trace that CommonJS does not know.
  const body = isCommonJs(path) ? code.replace(/^export \{\};$/m, "") : code;
  const keyword = isCommonJs(path) ? moduleKeyword.exec(body)?.[0] : undefined;
  if (keyword) {
    const problem = `${path}: "${keyword}" in a .cts file, which is CommonJS`;
    throw toSyntaxError(problem, 'Write import x = require("x") and export =, or name the file .mts.');
  }
  const source = `${body}${toInlineMap(map)}`;
  cache ??= openCache("typescript", cacheOptions);
  cache.set(keyOf(path, text), source);
  return { format: formatOf(path, source), source };
}

export interface LoadedText {
  readonly format: "module";
  readonly source: string;
  readonly shortCircuit: true;
}

/**
 * As a load hook gives it. CommonJS is left to `require`, see common-js.ts, and a module with its exports stands for it: what
 * hooks give as CommonJS cannot itself require ES modules, in any Node.
 */
export function toLoaded(path: string, { format, source }: RunnableModule): LoadedText {
  return { format: "module", source: format === "module" ? source : toStandIn(path, source), shortCircuit: true };
}

function toStandIn(path: string, source: string): string {
  const found = Array.from(source.matchAll(/\bexports\.([a-z_$][\w$]*)\s*=/gi), ([, name]) => name as string);
  const names = [...new Set(found)].filter((name) => name !== "default");
  const named = names.map((name, at) => `const { ${name}: n${at} } = whole; export { n${at} as ${name} };`);
  return `import { createRequire } from "node:module";
const whole = createRequire(import.meta.url)(${JSON.stringify(path)});
export default whole;
${named.join("\n")}`;
}

function toSyntaxError(message: string, help: string | null): SyntaxError {
  return Object.assign(new SyntaxError(help ? `${message}\n${help}` : message), { code: syntaxErrorCode });
}

/** The text is in the file, so the map need not have it. */
function toInlineMap(
  map: { readonly mappings: string; readonly sources: string[]; names: string[] } | undefined,
): string {
  if (!map) return "";
  const { mappings, sources, names } = map;
  const json = JSON.stringify({ version: 3, sources, names, mappings });
  return `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(json).toString("base64")}`;
}

const isCommonJs = (path: string): boolean => extname(path).toLowerCase() === ".cts";

/** Statements begin lines in what the transformer prints. */
const moduleKeyword = /^(?:import(?=[\s{*"'])|export(?=[\s{*]))/m;
const commonJsWords = /\brequire\s*\(|\bmodule\.exports\b|^exports\./m;

/** .ts is a module whatever package.json says, unless it has nothing of one and something of CommonJS. */
function formatOf(path: string, source: string): RunnableModule["format"] {
  if (isCommonJs(path)) return "commonjs";
  if (/\.mts$/i.test(path) || moduleKeyword.test(source)) return "module";
  return commonJsWords.test(source) ? "commonjs" : "module";
}
