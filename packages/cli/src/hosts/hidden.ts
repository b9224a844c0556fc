// What is shown of a host's file without what may be secret in it: values of variables and headers, queries of URLs, what looks like a key.
import { isReference } from "../secrets/references.ts";
import { lookUp } from "./document.ts";
import type { Format, KeyPath, Leaf } from "./format.ts";
import type { ServerRecord } from "./record.ts";

export const hidden = "(hidden)";

const secretName =
  /(pass(word|phrase|wd)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|auth|bearer|cookie|pat)$/i;
const secretPrefix =
  /^(sk|pk|rk|ghp|gho|ghu|ghs|github_pat|glpat|xox[a-z]|AKIA|ASIA|AIza|ya29|eyJ|hf|npm|pypi|dop_v1|shp[a-z]{2})[-_.A-Za-z0-9]/;

/** Whether a value is a secret in clear, by the name of its variable or by its looks. A guess: it may err both ways. */
export function looksSecret(name: string, value: string): boolean {
  if (value === "" || isReference(value) || /^(true|false|\d{1,5})$/i.test(value)) return false;
  if (/^\$?\{.*\}$/.test(value)) return false;
  return secretName.test(name) || (secretPrefix.test(value) && value.length >= 16) || isRandom(value);
}

/** Long, without words or signs of a path, and of many different letters. */
function isRandom(value: string): boolean {
  return (
    /^[A-Za-z0-9+/_=-]{32,}$/.test(value) &&
    /\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    new Set(value).size >= 16 &&
    !/^\/|^\.|\/.*\/.*\//.test(value)
  );
}

const isUrl = (text: string): boolean => /^[a-z][a-z\d+.-]*:\/\//i.test(text);

/** A URL without user, query and fragment, whatever its scheme: `postgres://user:password@host/name`. */
export function hideUrl(text: string): string {
  if (URL.canParse(text)) {
    const { origin, pathname, search, hash } = new URL(text);
    if (origin !== "null") return `${origin}${pathname}${search || hash ? `?${hidden}` : ""}`;
  }
  // A password may hold any sign where nobody made sure of it, so that the last @ before a space is the one.
  return text.replace(/(:\/\/)\S*@/, "$1").replace(/[?#].*$/s, `?${hidden}`);
}

/** The words of a command, for people, with what looks like a secret hidden. */
export function hideArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const before = args[index - 1] ?? "";
    if (/^--?[\w-]+$/.test(before) && secretName.test(before) && !arg.startsWith("-")) return hidden;
    const [, name, value] = /^(-{0,2}[\w.-]+)=(.*)$/s.exec(arg) ?? [];
    if (name !== undefined && value !== undefined && looksSecret(name, value)) return `${name}=${hidden}`;
    if (isUrl(arg)) return hideUrl(arg);
    // A header as a word: "Authorization: Bearer …".
    const [, header] = /^([\w-]+):\s*\S/.exec(arg) ?? [];
    if (
      header !== undefined &&
      (/^(--header|-H)$/.test(before) || /^(proxy-)?authorization$/i.test(header) || secretName.test(header))
    ) {
      return `${header}: ${hidden}`;
    }
    // One that something stands before: "--db=postgres://…", "jdbc:postgresql://…".
    const start = arg.search(/[a-z][a-z\d+.-]*:\/\//i);
    if (start > 0) return arg.slice(0, start) + hideUrl(arg.slice(start));
    return looksSecret("", arg) ? hidden : arg;
  });
}

/** A server in one line. */
export function describeRecord(record: ServerRecord): string {
  if (record.kind === "url") return hideUrl(record.url);
  if (record.kind === "command") return [record.command, ...hideArgs(record.args)].join(" ");
  return "(neither a command nor a URL)";
}

export interface HideOptions {
  readonly format: Format;
  /** The entry that is changed: it is shown, but for what may be secret. */
  readonly entry: KeyPath;
  /** The file as it was: a value that is new says so. */
  readonly before: unknown;
}

/** The text with its values hidden, all of those outside of the entry: only the host knows what is secret among them. */
export function hideText(text: string, options: HideOptions): string {
  const hide = createHide(options.format.parse(text), options);
  // Pieces, since a file may hold a hundred thousand leaves: a copy of the text for each takes minutes.
  const pieces: string[] = [];
  let at = 0;
  for (const leaf of options.format.leaves(text)) {
    const shown = hide(leaf);
    if (shown === undefined) continue;
    pieces.push(text.slice(at, leaf.start), shown);
    at = leaf.end;
  }
  pieces.push(text.slice(at));
  return pieces.join("");
}

const tables = ["env", "envs", "environment", "headers", "http_headers"];

/** What to show in a leaf's place; undefined for the leaf as it is. */
function createHide(value: unknown, { format, entry, before }: HideOptions): (leaf: Leaf) => string | undefined {
  /** Each list is looked at once, as a whole: what a word is depends on the one before. */
  const lists = new Map<readonly unknown[], readonly string[]>();
  const hideList = (list: readonly unknown[]): readonly string[] => {
    const shown = lists.get(list) ?? hideArgs(list.map(String));
    lists.set(list, shown);
    return shown;
  };
  return ({ path }) => {
    if (!entry.every((name, index) => path[index] === name)) return format.quote("…");
    const own = String(at(value, path));
    const [key = "", ...more] = path.slice(entry.length);
    if (tables.includes(key) && more.length > 0) {
      if (isReference(own)) return undefined;
      return format.quote(at(before, path) === at(value, path) ? hidden : `(hidden, new)`);
    }
    const list = at(value, path.slice(0, -1));
    if (more.length > 0 && Array.isArray(list)) {
      const shown = hideList(list)[Number(more.at(-1))] as string;
      return shown === own ? undefined : format.quote(shown);
    }
    return isUrl(own) ? format.quote(hideUrl(own)) : undefined;
  };
}

function at(value: unknown, path: KeyPath): unknown {
  const [name, ...more] = path;
  if (name === undefined) return value;
  return Array.isArray(value) ? at(value[Number(name)], more) : at(lookUp(value, [name]), more);
}
