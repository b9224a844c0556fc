// The requirement catalog: one YAML file a topic in this folder. `loadCatalog` reads it whole, `scanIds` only the ids
// with their revisions, fast enough to be done by every test file.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export const levels = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "schema"] as const;
export const roles = ["server", "client", "both", "host", "authorization-server"] as const;
export type Level = (typeof levels)[number];
export type Role = (typeof roles)[number];

/** One requirement; the fields are explained in README.md. */
export interface Entry {
  readonly id: string;
  readonly topic: string;
  readonly level: Level;
  readonly role: Role;
  readonly revisions: readonly string[];
  readonly requirement: string;
  readonly check: string;
}

export const folder: string = import.meta.dirname;

/** Files here that are no topic. */
const otherFiles = new Set(["exempt.yaml"]);

function topicFiles(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".yaml") && !otherFiles.has(name))
    .sort();
}

/** Reads every entry. Throws when a field is missing or unknown, an id is used twice or stands in another topic's file. */
export function loadCatalog(): Entry[] {
  const entries: Entry[] = [];
  const seen = new Set<string>();
  for (const name of topicFiles()) {
    const topic = name.slice(0, -".yaml".length);
    for (const raw of parse(readFileSync(join(folder, name), "utf8")) as Entry[]) {
      const entry: Entry = { ...raw, topic };
      const wrong = checkEntry(entry, seen);
      if (wrong !== undefined) throw new Error(`${name}: ${String(raw.id)}: ${wrong}`);
      seen.add(entry.id);
      entries.push(entry);
    }
  }
  return entries;
}

function checkEntry(entry: Entry, seen: ReadonlySet<string>): string | undefined {
  if (typeof entry.id !== "string" || !entry.id.startsWith(`${entry.topic}-`))
    return "the id does not begin with the topic";
  if (seen.has(entry.id)) return "the id is used twice";
  if (!levels.includes(entry.level)) return `unknown level ${String(entry.level)}`;
  if (!roles.includes(entry.role)) return `unknown role ${String(entry.role)}`;
  if (!Array.isArray(entry.revisions) || entry.revisions.length === 0) return "no revisions";
  if (typeof entry.requirement !== "string" || typeof entry.check !== "string") return "no requirement or no check";
  return undefined;
}

/** The ids and the revisions of each, taken from the lines of the files without parsing YAML. */
export function scanIds(): Map<string, readonly string[]> {
  const ids = new Map<string, readonly string[]>();
  for (const name of topicFiles()) {
    const text = readFileSync(join(folder, name), "utf8");
    for (const [, id, list] of text.matchAll(/^- id: (\S+)\n(?: {2}.*\n)*? {2}revisions: \[(.*)\]$/gm)) {
      if (id === undefined || list === undefined) continue;
      ids.set(
        id,
        list.split(",").map((item) => item.trim().replace(/^'|'$/g, "")),
      );
    }
  }
  return ids;
}
