// What is on this machine: which hosts, which files, which servers in them.
import { existsSync } from "node:fs";
import { Failure } from "../failure.ts";
import { readText } from "./config-file.ts";
import { loadFormat, lookUp, parseFile } from "./document.ts";
import type { KeyPath } from "./format.ts";
import { type Place, pathOf } from "./place.ts";
import { isDisabled, isObject, type ServerRecord, toRecord } from "./record.ts";
import { type FormatName, type Host, hosts } from "./table.ts";

export type Scope = "project" | "user";

/** A file of a host, where it is or would be. */
export interface HostFile {
  readonly host: Host;
  readonly path: string;
  readonly scope: Scope;
}

export interface Entry {
  readonly name: string;
  readonly raw: unknown;
  readonly record: ServerRecord;
  readonly isDisabled: boolean;
}

/** The row of a host by its id. */
export function getHost(id: string): Host {
  const host = hosts.find((one) => one.id === id);
  if (!host) throw new Failure("usage", `There is no host "${id}"`, { code: "unknown_host" });
  return host;
}

/** The user's file: the one that is there, else the one whose folder is, else the first. */
export function findUserFile(host: Host, place: Place): HostFile {
  const files = host.userFiles(place);
  const path =
    files.find((file) => existsSync(file)) ??
    files.find((file) => existsSync(pathOf(place).dirname(file))) ??
    (files[0] as string);
  return { host, path, scope: "user" };
}

/** The project's file in the folder one is in, there or not; undefined for a host without. */
export function findProjectFile(host: Host, place: Place): HostFile | undefined {
  const files = host.projectFiles.map((file) => pathOf(place).join(place.cwd, file));
  const path = files.find((file) => existsSync(file)) ?? files[0];
  return path === undefined ? undefined : { host, path, scope: "project" };
}

/** Whether the host is on this machine: its file, or the folder that it would be in, is there. */
export function isInstalled(host: Host, place: Place): boolean {
  const { path } = findUserFile(host, place);
  const signs = host.signs?.(place) ?? [pathOf(place).dirname(path)];
  return [path, ...signs].some((sign) => existsSync(sign));
}

/** The host's files for where one is, the project's first. In one's home they may be the same. */
export function listFiles(host: Host, place: Place): readonly HostFile[] {
  const [project, user] = [findProjectFile(host, place), findUserFile(host, place)];
  return project && project.path !== user.path ? [project, user] : [user];
}

export function findInstalled(place: Place): readonly Host[] {
  return hosts.filter((host) => isInstalled(host, place));
}

/** The servers of a file, those for this folder first; none where there is no file. Throws a Failure for one that is broken. */
export async function readHostFile({ host, path, scope }: HostFile, place: Place): Promise<readonly Entry[]> {
  const more = scope === "user" ? (host.moreRoots?.(place) ?? []) : [];
  const value = await readValue(path, host.format);
  return value === undefined ? [] : [...more, [host.rootKey]].flatMap((root) => listEntries(value, root));
}

/** Undefined where there is no such file. */
export async function readValue(path: string, name: FormatName): Promise<unknown> {
  const text = await readText(path);
  return text === undefined ? undefined : parseFile(await loadFormat(name), path, text);
}

export function listEntries(value: unknown, root: KeyPath): readonly Entry[] {
  const servers = lookUp(value, root);
  if (!isObject(servers)) return [];
  return Object.entries(servers).map(([name, raw]) => ({
    name,
    raw,
    record: toRecord(raw),
    isDisabled: isDisabled(raw),
  }));
}
