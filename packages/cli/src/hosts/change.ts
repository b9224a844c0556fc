// A change of the entries of hosts: planned for all of them before the first is made, shown as a difference, or written.

import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { Failure } from "../failure.ts";
import { readText, updateFile, type Written } from "./config-file.ts";
import { editText, loadFormat, lookUp, parseFile } from "./document.ts";
import { toHostId } from "./entry.ts";
import { hideText } from "./hidden.ts";
import type { Place } from "./place.ts";
import type { JsonObject } from "./record.ts";
import { findInstalled, findProjectFile, findUserFile, getHost, type HostFile, isInstalled } from "./survey.ts";

/** What an entry is to become, given what it is; undefined takes it away. */
export type EntryEdit = (file: HostFile, existing: unknown) => JsonObject | undefined;

export interface PlannedChange {
  readonly file: HostFile;
  /** Whether there was an entry of that name. */
  readonly wasThere: boolean;
  /** What it is to become, as far as one can see now. */
  readonly wanted: JsonObject | undefined;
  /** The difference in words for people, secrets hidden; "" where there is none. */
  diff(): Promise<string>;
  write(): Promise<Written>;
}

/** The files of these hosts. Throws a Failure for a host that is not on this machine, or has no file for projects. */
export function findFiles(names: readonly string[], isProject: boolean, place: Place): readonly HostFile[] {
  const ids = [...new Set(names.map(toHostId))];
  return ids.map((id) => {
    const host = getHost(id);
    if (!isProject) {
      if (isInstalled(host, place)) return findUserFile(host, place);
      throw toNotFound(host.title, findUserFile(host, place).path, place);
    }
    const file = findProjectFile(host, place);
    if (file) return file;
    throw new Failure("usage", `${host.title} has no file for projects`, {
      code: "no_project_file",
      hint: "Without --project the server is installed for you, in every project.",
    });
  });
}

function toNotFound(title: string, path: string, place: Place): Failure {
  const found = findInstalled(place).map((host) => host.id);
  return new Failure("usage", `${title} not found: there is no ${dirname(path)}`, {
    code: "host_not_found",
    data: { found },
    hint:
      found.length > 0
        ? `On this machine there is ${found.join(", ")}. Choose with --host: --host ${found[0]}`
        : "No host was found on this machine. Start the host once, so that it makes its folder, or use --project.",
  });
}

/** Reads, and says what would be written. Throws a Failure, and nothing is changed. */
export async function planChange(file: HostFile, name: string, edit: EntryEdit): Promise<PlannedChange> {
  const { host, path } = file;
  const format = await loadFormat(host.format);
  const entry = [host.rootKey, name];
  const apply = (text: string): string => {
    const existing = lookUp(parseFile(format, path, text), entry);
    return editText(format, path, text, entry, edit(file, existing));
  };
  const there = await readText(path);
  const [isThere, text] = [there !== undefined, there ?? ""];
  const before = parseFile(format, path, text);
  const after = apply(text);
  const existing = lookUp(before, entry);
  return {
    file,
    wasThere: existing !== undefined,
    wanted: edit(file, existing),
    async diff() {
      if (after === text) return "";
      const { structuredPatch } = await import("diff");
      const [old = "", fresh = ""] = [text, after].map((one) =>
        hideText(one, { format, entry, before }).replaceAll("\r\n", "\n"),
      );
      const { hunks } = structuredPatch(path, path, old, fresh, "", "", { context: 3 });
      const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: own }) => [
        `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
        ...own,
      ]);
      return [`--- ${isThere ? path : "/dev/null"}`, `+++ ${path}`, ...lines, ""].join("\n");
    },
    async write() {
      if (file.scope === "user") return updateFile(path, apply);
      await mkdir(dirname(path), { recursive: true });
      // Others work on the project too.
      return updateFile(path, apply, 0o666);
    },
  };
}
