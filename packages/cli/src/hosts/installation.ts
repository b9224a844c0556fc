// What `install` is asked to put into a host: from its words to a name and a record.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Failure } from "../failure.ts";
import { assertFile, parseFileSpec } from "../load/file-spec.ts";
import type { Output } from "../output.ts";
import { isReference } from "../secrets/references.ts";
import { toEnv, toHeaders } from "../target/find.ts";
import type { FileSpec } from "../target/spec.ts";
import { looksSecret } from "./hidden.ts";
import type { CommandRecord, ServerRecord, UrlRecord } from "./record.ts";

export interface InstallOptions {
  readonly name: string | undefined;
  readonly "env-var": readonly string[];
  readonly "env-file": string | undefined;
  readonly header: readonly string[];
  readonly dev: boolean;
}

export interface Installation {
  readonly name: string;
  readonly record: CommandRecord | UrlRecord;
  /** Whether an entry of a host's file is of the same server, however it is started. */
  isSame(existing: ServerRecord): boolean;
}

/** Throws a Failure for words that do not go together. */
export async function toInstallation(
  server: string | undefined,
  rest: readonly string[] | undefined,
  options: InstallOptions,
): Promise<Installation> {
  if (server !== undefined && rest) throw toUsage("Give a SERVER, or a command after --, but not both");
  if (server === undefined && !rest) throw toUsage("install needs a SERVER: a file, a URL, or a command after --");
  const isUrl = server !== undefined && /^https?:\/\//i.test(server);
  if (!isUrl && options.header.length > 0) throw toUsage("--header is for servers at a URL");
  if (options.dev && (isUrl || rest)) throw toUsage("--dev is for a file that exports a server");
  if (isUrl) return toRemote(server, options);
  const env = {
    ...(options["env-file"] === undefined ? {} : await readEnv(options["env-file"])),
    ...toEnv(options["env-var"]),
  };
  if (rest) return toCommand(rest, env, options);
  const spec = parseFileSpec(server as string);
  assertFile(spec);
  const file = spec.exportName === undefined ? spec.path : `${spec.path}:${spec.exportName}`;
  const args = [toProgram(), options.dev ? "dev" : "run", file];
  return {
    name: toName(options.name ?? guessName(spec)),
    record: { kind: "command", command: process.execPath, args, env },
    // By another Node, another plenum, or as plenum dev: the file is what counts.
    isSame: (existing) => wordsOf(existing).includes(file),
  };
}

function toUsage(message: string): Failure {
  return new Failure("usage", message, { hint: "plenum install --help explains it." });
}

async function readEnv(path: string): Promise<{ [name: string]: string }> {
  const { readEnvFile } = await import("../secrets/env-file.ts");
  return readEnvFile(resolve(path));
}

/** This program, main.cjs, by its absolute path. */
function toProgram(): string {
  return realpathSync(process.argv[1] as string);
}

function toRemote(url: string, options: InstallOptions): Installation {
  if (!URL.canParse(url)) throw toUsage(`${url} is no URL`);
  if (options["env-var"].length > 0 || options["env-file"] !== undefined) {
    throw toUsage("--env-var and --env-file are for servers that are started, not for one at a URL");
  }
  const headers = toHeaders(options.header);
  const reference = Object.entries(headers).find(([, value]) => isReference(value));
  if (reference) {
    throw new Failure("usage", `The header ${reference[0]} is a reference, which the host would send as it is`, {
      code: "invalid_reference",
      hint: "References are resolved by plenum, for servers that it starts. Many hosts have variables of their own for headers.",
    });
  }
  const { hostname } = new URL(url);
  const labels = hostname.split(".");
  // mcp.example.com is example's.
  const guess = labels.length > 2 && /^(mcp|api|www)$/.test(labels[0] as string) ? labels[1] : labels[0];
  return {
    name: toName(options.name ?? (/^[\d.]+$|^\[/.test(hostname) ? undefined : guess)),
    record: { kind: "url", url, headers },
    isSame: (existing) => existing.kind === "url" && withoutQuery(existing.url) === withoutQuery(url),
  };
}

/** Where a variable is a reference, the command is started by plenum, which resolves it: the host would hand it on as it is. */
function toCommand(rest: readonly string[], env: { [name: string]: string }, options: InstallOptions): Installation {
  const [command, ...args] = rest;
  if (command === undefined) throw toUsage("There is no command after --");
  const name = toName(options.name);
  const isSame = (existing: ServerRecord): boolean => isDeepStrictEqual(withoutWrap(wordsOf(existing)), rest);
  if (!Object.values(env).some(isReference)) return { name, isSame, record: { kind: "command", command, args, env } };
  const wrapped = [toProgram(), ...wrap, command, ...args];
  return { name, isSame, record: { kind: "command", command: process.execPath, args: wrapped, env } };
}

/** What stands between plenum and a command that it starts with secrets. */
const wrap = ["secret", "exec", "--"];

function wordsOf(record: ServerRecord): readonly string[] {
  return record.kind === "command" ? [record.command, ...record.args] : [];
}

/** The command itself, where plenum starts it. */
function withoutWrap(words: readonly string[]): readonly string[] {
  return isDeepStrictEqual(words.slice(2, 2 + wrap.length), wrap) ? words.slice(2 + wrap.length) : words;
}

/** A key may be in it, which changes. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, "");
}

function toName(name: string | undefined): string {
  if (name === undefined) throw toUsage("What should the host call it? Give a --name");
  if (name.trim() === "" || /[\p{Cc}\u2028\u2029]/u.test(name)) throw toUsage("--name must be a name");
  return name.trim();
}

/** Names of files that say nothing: many servers are called so. */
const plainNames = ["server", "index", "main", "app", "mcp"];
const plainFolders = ["src", "lib", "dist", "build"];

/** The name of the file's package without its scope; without a package that of the file, or of its folder where that says more. */
function guessName({ path }: FileSpec): string {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (!existsSync(file)) continue;
    const { name } = readPackage(file);
    const bare = typeof name === "string" ? name.replace(/^@[^/]*\//, "").trim() : "";
    if (bare !== "") return bare;
    break;
  }
  const [file = "", ...folders] = path.split(/[\\/]/).reverse();
  const own = basename(file, extname(file));
  return (plainNames.includes(own) && folders.find((folder) => !plainFolders.includes(folder))) || own;
}

function readPackage(file: string): { readonly name?: unknown } {
  try {
    return JSON.parse(readFileSync(file, "utf8")) ?? {};
  } catch {
    // It says nothing of the name, and that is all we ask.
    return {};
  }
}

/** Says which values would stand in the host's file for everyone to read who can read that. */
export function warnOfSecrets(record: CommandRecord | UrlRecord, output: Output): void {
  const isUrl = record.kind === "url";
  for (const [name, value] of Object.entries(isUrl ? record.headers : record.env)) {
    if (!looksSecret(name, value)) continue;
    output.warn(
      isUrl
        ? `The header ${name} looks like a secret, and stands in the host's file as it is.`
        : `${name} looks like a secret, and stands in the host's file as it is. Better is a reference: ${name}=@keychain:${name} (after plenum secret set ${name}), @file:PATH or @env:NAME.`,
    );
  }
}
