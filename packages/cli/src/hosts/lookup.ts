// From the name of a server in a host's file to what can be connected to: the entry is found, its variables and references are resolved.
import { basename, dirname, resolve } from "node:path";
import { nearestTo } from "plenum/util/nearest";
import { Failure } from "../failure.ts";
import { toHarmless } from "../output.ts";
import type { CommandSpec, UrlSpec } from "../target/spec.ts";
import { findPlace, type Place } from "./place.ts";
import type { CommandRecord, UrlRecord } from "./record.ts";
import { type Entry, getHost, type HostFile, listEntries, listFiles, readHostFile, readValue } from "./survey.ts";
import { type FormatName, type Host, hosts, type VariableForm } from "./table.ts";
import { expandVariables, type VariableContext } from "./variables.ts";

interface Found {
  readonly entry: Entry;
  readonly file: HostFile;
}

/** The servers of a host, those of the project first: the nearer one hides the other of its name. */
async function findAll(host: Host, place: Place): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const file of listFiles(host, place)) {
    for (const entry of await readHostFile(file, place)) {
      if (!found.some((one) => one.entry.name === entry.name)) found.push({ entry, file });
    }
  }
  return found;
}

/** The names of a host's servers. */
export async function listHostServers(id: string, place = findPlace()): Promise<readonly string[]> {
  return (await findAll(getHost(id), place)).map(({ entry }) => entry.name);
}

export async function findHostServer(id: string, name: string, place = findPlace()): Promise<CommandSpec | UrlSpec> {
  const host = getHost(id);
  const found = await findAll(host, place);
  const names = found.map(({ entry }) => entry.name);
  const chosen = chooseName(name, names, host.title, (one) => `${id}:${one}`);
  const { entry, file } = found.find((one) => one.entry.name === chosen) as Found;
  return toSpec(entry, { forms: host.variables, place, file: file.path, label: `${id}:${chosen}` });
}

export async function readFileServer(path: string, name: string, place = findPlace()): Promise<CommandSpec | UrlSpec> {
  const format = formatOf(path);
  const value = await readValue(path, format);
  if (value === undefined) {
    throw new Failure("usage", `File not found: ${path}`, {
      code: "file_not_found",
      hint: "Is the path right? It is taken from the folder you are in.",
    });
  }
  const roots = [...new Set(hosts.filter((host) => host.format === format).map((host) => host.rootKey))];
  // A file of settings may have more than one of the keys; only one of them has servers.
  const [rootKey, entries] = roots
    .map((root) => [root, listEntries(value, [root]).filter(({ record }) => record.kind !== "other")] as const)
    .find(([, all]) => all.length > 0) ?? [undefined, []];
  if (rootKey === undefined) {
    throw new Failure("usage", `${path} has no servers`, {
      code: "no_entry",
      hint: `They are looked for under ${roots.join(", ")}.`,
    });
  }
  const chosen = chooseName(
    name,
    entries.map((one) => one.name),
    basename(path),
    (one) => `${path}:${one}`,
  );
  const entry = entries.find((one) => one.name === chosen) as Entry;
  const forms = guessHost(path, format, rootKey)?.variables ?? anyForms;
  return toSpec(entry, { forms, place, file: path, label: `${basename(path)}:${chosen}` });
}

/** What a file of nobody's may hold. */
const anyForms: readonly VariableForm[] = ["braces", "default", "env", "input", "folders"];

function formatOf(path: string): FormatName {
  if (/\.toml$/i.test(path)) return "toml";
  return /\.ya?ml$/i.test(path) ? "yaml" : "json";
}

/** The host whose file has that name. */
function guessHost(path: string, format: FormatName, rootKey: string): Host | undefined {
  const slashes = path.replaceAll("\\", "/");
  const isOf = (host: Host): boolean =>
    host.projectFiles.some((file) => slashes.endsWith(`/${file}`)) ||
    host.userFiles({ platform: "linux", home: "/", env: {}, cwd: "/" }).some((file) => slashes.endsWith(file));
  return hosts.find((host) => host.format === format && host.rootKey === rootKey && isOf(host));
}

/** @param where for people: what has no such name */
function chooseName(name: string, names: readonly string[], where: string, toTarget: (name: string) => string): string {
  if (names.includes(name)) return name;
  const [only] = names;
  if (name === "" && names.length === 1 && only !== undefined) return only;
  const all = names.map(toHarmless).join(", ");
  if (names.length === 0) {
    throw new Failure("usage", `${where} has no servers`, {
      code: "no_entry",
      hint: "plenum hosts shows who has which.",
    });
  }
  if (name === "") {
    throw new Failure("usage", `${where} has ${names.length} servers: ${all}`, {
      code: "no_entry",
      data: { names },
      hint: `Name one of them: ${toTarget(toHarmless(only as string))}`,
    });
  }
  const near = nearestTo(name, names);
  throw new Failure("usage", `${where} has no server "${name}"`, {
    code: "no_entry",
    data: { names },
    hint: near ? `Did you mean "${toHarmless(near)}"?` : `It has ${all}.`,
  });
}

async function toSpec(entry: Entry, context: VariableContext): Promise<CommandSpec | UrlSpec> {
  const { record } = entry;
  if (record.kind === "command") return toCommand(record, context);
  if (record.kind === "url") return toUrl(record, context);
  throw new Failure("usage", `${context.label} names neither a command nor a URL`, {
    code: "no_entry",
    hint: "The host brings that server itself.",
  });
}

async function expandAll(
  table: { readonly [name: string]: string },
  context: VariableContext,
): Promise<{ [name: string]: string }> {
  const entries = Object.entries(table).map(
    async ([name, value]) => [name, await expandVariables(value, context)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

async function toCommand(record: CommandRecord, context: VariableContext): Promise<CommandSpec> {
  const { resolveEnv } = await import("../secrets/references.ts");
  const { place, label, file } = context;
  const fromFile =
    record.envFile === undefined ? {} : await readEnvOf(await expandVariables(record.envFile, context), file);
  const inherited = pick(place, record.inherited ?? [], label);
  const env = { ...fromFile, ...inherited, ...(await expandAll(record.env, context)) };
  return {
    kind: "command",
    name: label,
    command: await expandVariables(record.command, context),
    args: await Promise.all(record.args.map((arg) => expandVariables(arg, context))),
    env: await resolveEnv(env),
    cwd: record.cwd === undefined ? undefined : resolve(place.cwd, await expandVariables(record.cwd, context)),
  };
}

async function readEnvOf(path: string, file: string): Promise<{ [name: string]: string }> {
  const { readEnvFile } = await import("../secrets/env-file.ts");
  return readEnvFile(resolve(dirname(file), path));
}

function pick(place: Place, names: readonly string[], label: string): { [name: string]: string } {
  const missing = names.find((name) => place.env[name] === undefined);
  if (missing !== undefined) {
    throw new Failure("usage", `${label} needs the variable ${missing}, which is not set`, {
      code: "variable_not_set",
      hint: `The host keeps it elsewhere. Set it for this command: ${missing}=… plenum …`,
    });
  }
  return Object.fromEntries(names.map((name) => [name, place.env[name] as string]));
}

async function toUrl(record: UrlRecord, context: VariableContext): Promise<UrlSpec> {
  const { place, label } = context;
  const { headerVariables = {}, bearerVariable } = record;
  const named = pick(place, [...Object.values(headerVariables), ...(bearerVariable ? [bearerVariable] : [])], label);
  const url = await expandVariables(record.url, context);
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new Failure("usage", `The URL of ${label} is none`, {
      code: "broken_file",
      hint: "It begins with http:// or https://.",
    });
  }
  const headers = await expandAll(record.headers, context);
  for (const [header, variable] of Object.entries(headerVariables)) headers[header] = named[variable] as string;
  if (bearerVariable) headers.Authorization = `Bearer ${named[bearerVariable]}`;
  return { kind: "url", name: label, url, headers };
}
