// Variables in the values of a host's file, as that host writes them, expanded when an entry becomes a target:
// braces ${X}, default ${X:-d}, dollar $X, env ${env:X}, input ${input:id}, folders ${workspaceFolder}, curly {env:X} and {file:PATH}.
import { homedir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { Failure } from "../failure.ts";
import type { Place } from "./place.ts";
import type { VariableForm } from "./table.ts";

export interface VariableContext {
  readonly forms: readonly VariableForm[];
  readonly place: Place;
  /** The file that the entry is in. */
  readonly file: string;
  /** The entry, for people: `cursor:weather`. */
  readonly label: string;
}

const name = "[A-Za-z_]\\w*";
const pattern = new RegExp(`\\$\\{([^{}]*)\\}|\\$(${name})|\\{(env|file):([^{}]*)\\}`, "g");

/** The text with what its variables are worth. What the host does not take for a variable stays. Throws a Failure for one that is not set. */
export async function expandVariables(text: string, context: VariableContext): Promise<string> {
  let expanded = "";
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    const [whole, braced, bare, curlyKind, curly] = match;
    const worth =
      braced !== undefined
        ? expandBraced(braced, context)
        : bare !== undefined
          ? expandBare(bare, context)
          : await expandCurly(curlyKind as string, curly as string, context);
    expanded += text.slice(at, match.index) + (worth ?? whole);
    at = match.index + whole.length;
  }
  return expanded + text.slice(at);
}

function expandBraced(inside: string, context: VariableContext): string | undefined {
  const { forms, place } = context;
  const has = (form: VariableForm): boolean => forms.includes(form);
  const [, kind, id = ""] = /^(env|input):(.*)$/.exec(inside) ?? [];
  if (kind === "env" && has("env")) return readVariable(id, context);
  if (kind === "input" && has("input")) throw toUnknownInput(id, context);
  if (has("folders")) {
    const folder = projectOf(context);
    const worth: { readonly [name: string]: string } = {
      workspaceFolder: folder,
      workspaceFolderBasename: basename(folder),
      userHome: place.home,
      pathSeparator: place.platform === "win32" ? "\\" : "/",
      "/": place.platform === "win32" ? "\\" : "/",
    };
    if (Object.hasOwn(worth, inside)) return worth[inside];
  }
  const [, variable, fallback] = new RegExp(`^(${name})(?::-(.*))?$`, "s").exec(inside) ?? [];
  if (variable === undefined || !has(fallback === undefined ? "braces" : "default")) return undefined;
  return fallback === undefined ? readVariable(variable, context) : place.env[variable] || fallback;
}

/** One that is not set is no variable: `$` is a letter like others too. */
function expandBare(variable: string, { forms, place }: VariableContext): string | undefined {
  return forms.includes("dollar") ? place.env[variable] : undefined;
}

async function expandCurly(kind: string, inside: string, context: VariableContext): Promise<string | undefined> {
  if (!context.forms.includes("curly")) return undefined;
  if (kind === "env") return readVariable(inside, context);
  const { readSecretFile } = await import("../secrets/references.ts");
  const path = inside.replace(/^~(?=[\\/])/, homedir());
  return readSecretFile(resolve(dirname(context.file), path), context.label);
}

function readVariable(variable: string, { place, label }: VariableContext): string {
  const value = place.env[variable];
  if (value !== undefined) return value;
  throw new Failure("usage", `${label} needs the variable ${variable}, which is not set`, {
    code: "variable_not_set",
    hint: `Set it for this command: ${variable}=… plenum …`,
  });
}

function toUnknownInput(id: string, { label }: VariableContext): Failure {
  return new Failure("usage", `${label} needs the input "${id}", which only the host can ask for`, {
    code: "unknown_input",
    hint: "Give the server by hand instead: plenum … --env KEY=VALUE -- COMMAND, or a URL with --header.",
  });
}

/** The project that a file belongs to: the folder around `.vscode` and the like, else where one is. */
function projectOf({ file, place }: VariableContext): string {
  const folder = dirname(file);
  return /^\.(vscode|cursor)$/.test(basename(folder)) && dirname(folder) !== place.home ? dirname(folder) : place.cwd;
}
