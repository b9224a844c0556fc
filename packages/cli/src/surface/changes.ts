// What became of a surface, and whom it concerns. Breaking: a caller that worked may fail, a reader may meet what it does not know, or
// a host asks less than it should. Additive: nobody need care. Wording: what models read, and decide by.
import { hintsOf } from "plenum";
import { nearestTo } from "plenum/util/nearest";
import { isSameJson, toCanonicalText } from "./canonical.ts";
import { compareSchemas, type Effect } from "./schema-change.ts";
import { isSchemaObject, withoutWords } from "./schema-ref.ts";
import type { Surface, SurfacePrompt, SurfaceTool } from "./surface.ts";

export const changeClasses = ["breaking", "additive", "wording"] as const;
export type ChangeClass = (typeof changeClasses)[number];

export interface Change {
  readonly class: ChangeClass;
  readonly kind: "server" | "capability" | "tool" | "resource" | "template" | "prompt";
  /** The tool, the URI …; for the server itself, the member. */
  readonly name: string;
  /** Where in it: `input: place.city`. Empty for the whole. */
  readonly at: string;
  /** A sentence without its full stop. */
  readonly reason: string;
  /** The texts before and after, where it is texts that differ. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

type Kind = Change["kind"];
type Add = (cls: ChangeClass, at: string, reason: string, texts?: Texts) => void;
type Texts = { readonly before?: string | undefined; readonly after?: string | undefined };

/**
 * All changes, those of the server first. Empty if and only if the surfaces are the same but for their revision. Callers write input
 * and servers read it, so that what is refused now breaks; of output it is the other way round: a value that is new there (one more in an
 * enum, null, a property that may be absent) breaks who reads it. A property that is new in output is additive: readers leave out what
 * they do not know.
 */
export function compareSurfaces(before: Surface, after: Surface): Change[] {
  const changes: Change[] = [];
  const to =
    (kind: Kind, name: string): Add =>
    (cls, at, reason, texts) =>
      changes.push({ class: cls, kind, name, at, reason, ...texts });

  for (const member of serverMembers) {
    compareText(before.server[member], after.server[member], "", (cls, _, reason, texts) => {
      to("server", member)(cls, "", reason, texts);
    });
  }
  compareCapabilities(before.capabilities, after.capabilities, "", to);
  compareLists("tool", before.tools, after.tools, (one) => one.name, to, compareTools);
  compareLists("resource", before.resources, after.resources, (one) => one.uri, to, compareReadable);
  const [oldTemplates, newTemplates] = [before.resourceTemplates, after.resourceTemplates];
  compareLists("template", oldTemplates, newTemplates, (one) => one.uriTemplate, to, compareReadable);
  compareLists("prompt", before.prompts, after.prompts, (one) => one.name, to, comparePrompts);
  return changes;
}

const serverMembers = ["name", "version", "title", "description", "websiteUrl", "instructions"] as const;

/** @param at where the text stands; in itself when empty */
function compareText(was: unknown, is: unknown, at: string, add: Add): void {
  if (isSameJson(was ?? null, is ?? null)) return;
  const text = (value: unknown): string | undefined =>
    value === undefined || typeof value === "string" ? value : toCanonicalText(value).trim();
  const reason = was === undefined ? "it is new" : is === undefined ? "it is gone" : "it is another";
  add("wording", at, reason, { before: text(was), after: text(is) });
}

type Json = { readonly [key: string]: unknown };

function compareCapabilities(old: Json, now: Json, path: string, to: (kind: Kind, name: string) => Add): void {
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const name = path ? `${path}.${key}` : key;
    const [was, is] = [old, now].map((one) => (Object.hasOwn(one, key) ? one[key] : undefined));
    if (was === undefined) to("capability", name)("additive", "", "the server can do this now");
    else if (is === undefined) to("capability", name)("breaking", "", "the server can no longer do this");
    else if (isSchemaObject(was) && isSchemaObject(is)) compareCapabilities(was, is, name, to);
    else if (!isSameJson(was, is)) to("capability", name)("breaking", "", "it is another");
  }
}

/** @param keyOf what an item is known by; of several with one key, each is compared with the one in its place */
function compareLists<T extends object>(
  kind: Kind,
  old: readonly T[],
  now: readonly T[],
  keyOf: (item: T) => string,
  to: (kind: Kind, name: string) => Add,
  compare: (old: T, now: T, add: Add) => void,
): void {
  const [before, after] = [byKey(old, keyOf), byKey(now, keyOf)];
  const fresh = [...after].filter(([key]) => !before.has(key));
  for (const [key, was] of before) {
    const is = after.get(key);
    const add = to(kind, key);
    if (!is) {
      const guess = guessName(key, was, fresh);
      add("breaking", "", guess === undefined ? "it is gone" : `it is gone; perhaps it is called "${guess}" now`);
    } else if (!isSameJson(was, is)) {
      let found = 0;
      compare(was, is, (...change) => {
        found++;
        add(...change);
      });
      // Differently written, such as another order of what is required: said all the same, since the digests differ.
      if (found === 0) add("wording", "", "it is written otherwise, and means the same");
    }
  }
  for (const [key] of fresh) to(kind, key)("additive", "", "it is new");
}

function byKey<T extends object>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T> {
  const map = new Map<string, T>();
  for (const item of items) {
    const key = String(keyOf(item));
    let name = key;
    for (let count = 2; map.has(name); count++) name = `${key} (${count})`;
    map.set(name, item);
  }
  return map;
}

/** The new item that takes the same, or is called almost the same. A guess, and said to be one. */
function guessName<T extends object>(
  key: string,
  was: T,
  fresh: readonly (readonly [string, T])[],
): string | undefined {
  const takes = ({ inputSchema }: { readonly inputSchema?: Json }): string | undefined =>
    inputSchema && Object.keys((inputSchema.properties as object | undefined) ?? {}).length > 0
      ? toCanonicalText(withoutWords(inputSchema))
      : undefined;
  const same = fresh.filter(([, one]) => takes(one) !== undefined && takes(one) === takes(was));
  const names = (same.length > 0 ? same : fresh).map(([name]) => name);
  return nearestTo(key, names) ?? (same.length === 1 ? names[0] : undefined);
}

function compareTools(old: SurfaceTool, now: SurfaceTool, add: Add): void {
  for (const member of ["title", "description", "icons"] as const) compareText(old[member], now[member], member, add);
  compareValues("input", old.inputSchema, now.inputSchema, add);
  const [was, is] = [old.outputSchema, now.outputSchema];
  if (was && !is) add("breaking", "output", "the schema of what it returns is gone");
  else if (!was && is) add("additive", "output", "what it returns has a schema now");
  else compareValues("output", was, is, add);
  compareHints(old, now, add);
}

function compareValues(side: "input" | "output", old: unknown, now: unknown, add: Add): void {
  for (const { path, effect, reason, texts } of compareSchemas(old, now))
    add(classOf[side][effect], path ? `${side}: ${path}` : side, reason, texts);
}

const classOf: { readonly [side in "input" | "output"]: { readonly [effect in Effect]: ChangeClass } } = {
  input: {
    ...{ narrows: "breaking", widens: "additive", adds: "additive", breaks: "breaking", words: "wording" },
    ...{ defaults: "additive", redefaults: "breaking" },
  },
  // A default says nothing to who reads.
  output: {
    ...{ narrows: "additive", widens: "breaking", adds: "additive", breaks: "breaking", words: "wording" },
    ...{ defaults: "wording", redefaults: "wording" },
  },
};

/** Which value of a hint lets a host ask less. */
const easyHints = {
  readOnly: [true, "it only reads", "it no longer says that it only reads"],
  destructive: [false, "it destroys nothing", "it may destroy now"],
  idempotent: [true, "it can be repeated safely", "it no longer says that it can be repeated safely"],
  openWorld: [false, "it stays within its own world", "it may reach beyond its own world now"],
} as const;

function compareHints(old: SurfaceTool, now: SurfaceTool, add: Add): void {
  if (isSameJson(old.annotations ?? {}, now.annotations ?? {})) return;
  const [was, is] = [hintsOf(old), hintsOf(now)];
  for (const [name, [easy, claim, warning]] of Object.entries(easyHints)) {
    const hint = name as keyof typeof easyHints;
    if (was[hint] === is[hint]) continue;
    if (is[hint] === easy)
      add("additive", "annotations", `it says now that ${claim}: a host that believes it asks less`);
    else add("breaking", "annotations", warning);
  }
  const known = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
  const rest = (annotations: object = {}): object =>
    Object.fromEntries(Object.entries(annotations).filter(([key]) => !known.includes(key)));
  if (!isSameJson(rest(old.annotations), rest(now.annotations)))
    compareText(rest(old.annotations), rest(now.annotations), "annotations", add);
}

type Readable = Surface["resources"][number] | Surface["resourceTemplates"][number];

function compareReadable(old: Readable, now: Readable, add: Add): void {
  const [was, is] = [old.mimeType, now.mimeType];
  if (was === undefined && is !== undefined) add("additive", "mimeType", `it says now that it is ${is}`);
  else if (was !== is) add("breaking", "mimeType", `it is ${is ?? "unknown"}, and was ${was}`);
  for (const member of ["name", "title", "description", "icons", "annotations"] as const)
    compareText(old[member], now[member], member, add);
}

function comparePrompts(old: SurfacePrompt, now: SurfacePrompt, add: Add): void {
  for (const member of ["title", "description", "icons"] as const) compareText(old[member], now[member], member, add);
  const [before, after] = [old, now].map((one) => byKey(one.arguments ?? [], ({ name }) => name));
  for (const [name, argument] of before ?? []) {
    const other = after?.get(name);
    const at = `argument: ${name}`;
    if (!other) add("breaking", at, "it is gone");
    else {
      if (!argument.required && other.required) add("breaking", at, "it is required now");
      if (argument.required && !other.required) add("additive", at, "it is optional now");
      compareText(argument.title, other.title, `${at}: title`, add);
      compareText(argument.description, other.description, `${at}: description`, add);
    }
  }
  for (const [name, { required }] of after ?? []) {
    if (before?.has(name)) continue;
    const reason = required ? "it is new, and required" : "it is new, and optional";
    add(required ? "breaking" : "additive", `argument: ${name}`, reason);
  }
}
