// Changes to the text of a host's file: which ones lead from the value that is there to the one that is wanted, made in the text, and checked
// by reading it again. What does not come out as meant is not written.
import { isDeepStrictEqual } from "node:util";
import { Failure } from "../failure.ts";
import { type Format, type KeyPath, SyntaxProblem } from "./format.ts";
import { isObject, type JsonObject } from "./record.ts";
import type { FormatName } from "./table.ts";

const loaders: { readonly [name in FormatName]: () => Promise<Format> } = {
  json: async () => (await import("./json-format.ts")).jsonFormat,
  toml: async () => (await import("./toml-format.ts")).tomlFormat,
  yaml: async () => (await import("./yaml-format.ts")).yamlFormat,
};

export function loadFormat(name: FormatName): Promise<Format> {
  return loaders[name]();
}

/** The value of a file's text. Throws a Failure that names file, line and column. */
export function parseFile(format: Format, path: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = format.parse(text);
  } catch (error) {
    const isKnown = error instanceof SyntaxProblem;
    const where = isKnown ? `${path}:${error.line}:${error.column}` : path;
    throw new Failure(
      "usage",
      `${where} cannot be read: ${isKnown ? error.message : "it is not as its format wants it"}`,
      {
        code: "broken_file",
        hint: "Nothing was changed. Correct the file, or move it away, and try again.",
        cause: error,
      },
    );
  }
  if (isObject(value)) return value;
  throw new Failure("usage", `${path} holds no table of settings`, {
    code: "broken_file",
    hint: "Nothing was changed. Correct the file, or move it away, and try again.",
  });
}

/** What is under the path, or undefined. */
export function lookUp(value: unknown, path: KeyPath): unknown {
  let found = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

/** The text with `wanted` under the path, undefined for nothing, and everything else as it was. Throws a Failure. */
export function editText(
  format: Format,
  file: string,
  text: string,
  path: KeyPath,
  wanted: JsonObject | undefined,
): string {
  const before = parseFile(format, file, text);
  const changes = planChanges(file, before, path, wanted);
  let edited = text;
  try {
    for (const change of changes) edited = format.change(edited, change.path, change.value);
    const after = format.parse(edited);
    if (isDeepStrictEqual(withoutEmpty(after, path), withoutEmpty(withValue(before, path, wanted), path)))
      return edited;
  } catch (error) {
    throw toUneditable(file, error);
  }
  throw toUneditable(file, undefined);
}

function toUneditable(file: string, cause: unknown): Failure {
  return new Failure("usage", `${file} is written in a way that cannot be edited safely`, {
    code: "uneditable_file",
    hint: "Nothing was changed. Put the entry there by hand, or write the file in a plainer way.",
    cause,
  });
}

/** A table of no servers is as good as none: TOML has it only while there is something in it. */
function withoutEmpty(value: unknown, [root]: KeyPath): unknown {
  if (!isObject(value)) return value;
  const isKept = ([name, one]: readonly [string, unknown]): boolean =>
    !(name === root && isObject(one) && Object.keys(one).length === 0);
  return Object.fromEntries(Object.entries(value).filter(isKept));
}

interface Change {
  readonly path: KeyPath;
  readonly value: unknown;
}

function planChanges(
  file: string,
  before: JsonObject,
  path: KeyPath,
  wanted: JsonObject | undefined,
): readonly Change[] {
  for (let length = 1; length < path.length; length++) {
    const prefix = path.slice(0, length);
    const there = lookUp(before, prefix);
    if (isObject(there)) continue;
    if (there !== undefined && there !== null) {
      throw new Failure("usage", `"${prefix.join(".")}" in ${file} is no table of servers`, {
        code: "broken_file",
        hint: "Nothing was changed. Correct the file, or move it away, and try again.",
      });
    }
    if (wanted === undefined) return [];
    return [
      { path: prefix, value: path.slice(length).reduceRight<unknown>((inner, name) => ({ [name]: inner }), wanted) },
    ];
  }
  const changes = compare(lookUp(before, path), wanted, path);
  // Each reads the text again: an entry of so many differences is written anew.
  return changes.length > maxChanges ? [{ path, value: wanted }] : changes;
}

const maxChanges = 100;

function compare(before: unknown, wanted: unknown, path: KeyPath): readonly Change[] {
  if (isDeepStrictEqual(before, wanted)) return [];
  // A table that is to be empty is set as such: one whose last key is taken away may be gone with it.
  const isTable = isObject(before) && isObject(wanted) && Object.keys(wanted).length > 0;
  if (!isTable) return [{ path, value: wanted }];
  const names = new Set([...Object.keys(before), ...Object.keys(wanted)]);
  return [...names].flatMap((name) => compare(before[name], wanted[name], [...path, name]));
}

/** The same value with another one under the path. A way that is not there is made, unless there is nothing to put at its end. */
function withValue(value: unknown, [name, ...more]: KeyPath, wanted: unknown): unknown {
  if (name === undefined) return wanted;
  const table = isObject(value) ? value : {};
  if (wanted === undefined && !Object.hasOwn(table, name)) return value;
  const inner = withValue(table[name], more, wanted);
  const rest = Object.entries(table).filter(([key]) => key !== name || inner !== undefined);
  const entries = Object.hasOwn(table, name)
    ? rest.map(([key, one]) => [key, key === name ? inner : one])
    : [...rest, [name, inner]];
  return Object.fromEntries(entries);
}
