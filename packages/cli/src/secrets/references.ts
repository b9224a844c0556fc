// Secrets by reference: `@env:NAME`, `@file:PATH` and `@keychain:NAME` in place of a value, resolved when a server starts, so
// that no file of a host need hold the value.
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { Failure } from "../failure.ts";

const pattern = /^@(env|file|keychain):(.+)$/s;

/** A key or a certificate is smaller. */
const maxBytes = 64 * 1024;

export function isReference(value: string): boolean {
  return pattern.test(value);
}

/** The same variables, with what references lead to in their place. Throws a Failure that names the variable, never a value. */
export async function resolveEnv(env: { readonly [name: string]: string }): Promise<{ [name: string]: string }> {
  const entries = Object.entries(env).map(async ([name, value]) => [name, await resolveValue(name, value)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** This process's environment without references. Throws a Failure that names the variable. */
export async function resolveEnvironment(): Promise<{ [name: string]: string }> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const references = Object.fromEntries(entries.filter(([, value]) => isReference(value)));
  return { ...Object.fromEntries(entries), ...(await resolveEnv(references)) };
}

async function resolveValue(variable: string, value: string): Promise<string> {
  const [, kind, where = ""] = pattern.exec(value) ?? [];
  if (kind === undefined) {
    // A value that only begins like one is a value: "@home".
    if (!/^@(env|file|keychain):?$/.test(value)) return value;
    throw new Failure("usage", `${variable} is ${value}, which leads nowhere`, {
      code: "invalid_reference",
      hint: "References are @env:NAME, @file:PATH and @keychain:NAME.",
    });
  }
  if (kind === "env") return fromEnvironment(variable, where);
  if (kind === "file") return readSecretFile(resolve(where.replace(/^~(?=[\\/]|$)/, homedir())), variable);
  const { readSecret, toSecretPlace } = await import("./keychain.ts");
  return readSecret(toSecretPlace(where), variable);
}

function fromEnvironment(variable: string, name: string): string {
  const value = process.env[name];
  // A variable that refers to itself is what a host hands on as it was written.
  if (value !== undefined && value !== `@env:${name}`) return value;
  throw new Failure("usage", `${variable} is taken from the variable ${name}, which is not set`, {
    code: "variable_not_set",
    hint: `Set ${name} for the program that starts the server. A host that is started from the desktop does not see what a shell sets.`,
  });
}

/** A secret that is a file's content, without the line break at its end. Throws a Failure that names who needs it. */
export async function readSecretFile(path: string, variable: string): Promise<string> {
  const fail = (problem: string, hint: string, cause?: unknown): Failure =>
    new Failure("usage", `${variable} is taken from the file ${path}, ${problem}`, {
      code: "secret_not_found",
      hint,
      cause,
    });
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw fail("which is no file", "Name the file itself.");
    if (stats.size > maxBytes) throw fail("which is too large for a secret", `It may have ${maxBytes} bytes.`);
    return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw fail("which is not there", "Write the value into it, for you alone to read: chmod 600.", error);
    throw fail("which cannot be read", "Is it yours? ls -l shows whose it is.", error);
  }
}
