// The tools as models and hosts see them: names, descriptions, parameters, annotations.
import type { JsonObject } from "plenum";
import { type Check, type Finding, found, skip, type Verdict } from "../check.ts";
import type { Ground } from "../ground.ts";
import { isObject, toObject } from "../visit.ts";
import { countOf } from "../words.ts";

/** Looks at the tools; without any there is nothing to look at. */
export function overTools(look: (tools: readonly JsonObject[], ground: Ground) => readonly Finding[]): Check["run"] {
  return async (ground): Promise<Verdict> => {
    if (!ground.main.declares("tools")) return skip("it has no tools");
    const { items } = await ground.main.list("tools");
    return items.length === 0 ? skip("it has no tools") : found(look(items, ground));
  };
}

/** Looks at each tool. */
export function eachTool(look: (tool: JsonObject) => Omit<Finding, "where"> | undefined): Check["run"] {
  return overTools((tools) => tools.flatMap((tool) => toFinding(look(tool), tool)));
}

function toFinding(finding: Omit<Finding, "where"> | undefined, tool: JsonObject): Finding[] {
  return finding ? [{ ...finding, where: whereOf(tool) }] : [];
}

export function whereOf({ name }: JsonObject): string {
  const shown = String(name);
  return `tool "${shown.length > 80 ? `${shown.slice(0, 79)}…` : shown}"`;
}

function nameOf({ name }: JsonObject): string {
  return typeof name === "string" ? name : "";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

const maxName = 64;
const maxDescription = 1024;
const minDescription = 8;

// Blanks that are none, marks that turn the direction of text, and the plane of tags: nobody sees them, and models read them.
const hidden = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u;

/** Every text of a tool that a model reads, with its place. */
function* textsOf(value: unknown, path: string): Iterable<readonly [string, string]> {
  if (typeof value === "string") yield [path, value];
  else if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      yield [`${path} (a key)`, key];
      yield* textsOf(inner, path ? `${path}.${key}` : key);
    }
}

function describeParameters(tool: JsonObject): string[] {
  const { properties } = toObject(tool.inputSchema);
  return Object.entries(toObject(properties))
    .filter(([, schema]) => isObject(schema) && textOf(schema.description) === "")
    .map(([name]) => name);
}

function judgeAnnotations(tools: readonly JsonObject[]): Finding[] {
  const findings: Finding[] = [];
  const bare = tools.filter(({ annotations }) => !isObject(annotations) || Object.keys(annotations).length === 0);
  for (const tool of tools) {
    const { readOnlyHint, destructiveHint, idempotentHint } = toObject(tool.annotations);
    if (readOnlyHint === true && destructiveHint === true) {
      findings.push({
        message: "It says that it only reads, and that it destroys.",
        where: whereOf(tool),
        severity: "warning",
        remedy: "Set readOnlyHint only on tools that change nothing.",
      });
    } else if (destructiveHint === true && readOnlyHint === undefined) {
      findings.push({
        message: "destructiveHint without readOnlyHint: say readOnlyHint: false too.",
        where: whereOf(tool),
      });
    } else if (readOnlyHint === true && idempotentHint === false) {
      findings.push({ message: "idempotentHint means nothing for a tool that only reads.", where: whereOf(tool) });
    }
  }
  if (bare.length > 0) {
    const message = `${countOf(bare.length, "tool")} without annotations: hosts must take each for one that destroys.`;
    findings.push({ message, where: bare.slice(0, 5).map(nameOf).join(", ") });
  }
  return findings;
}

const usual = { appliesTo: "any", severity: "error" } as const;

export const toolsChecks: readonly Check[] = [
  {
    ...usual,
    id: "tools/unique-names",
    title: "Names of tools are unique",
    looksAt: "the names of all tools",
    remedy: "Rename one of them: a call can only mean one.",
    run: overTools((tools) => {
      const names = tools.map(nameOf);
      const twice = [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
      return twice.map((name) => ({ message: "More than one tool has this name.", where: `tool "${name}"` }));
    }),
  },
  {
    ...usual,
    id: "tools/name-length",
    title: `Names of tools have at most ${maxName} characters`,
    looksAt: "the length of names",
    remedy: "Shorten it. Hosts put the name of the server before it, too: 40 characters leave room for that.",
    run: eachTool((tool) => {
      const { length } = nameOf(tool);
      if (length === 0) return { message: "It has no name." };
      if (length <= maxName) return undefined;
      return {
        message: `Its name has ${length} characters. OpenAI's API refuses requests with more than ${maxName}, others too.`,
      };
    }),
  },
  {
    ...usual,
    id: "tools/name-characters",
    title: "Names of tools have only letters of ASCII, digits, _ and -",
    looksAt: "the characters of names",
    severity: "warning",
    remedy: "Use only A-Z, a-z, 0-9, _ and -.",
    run: eachTool((tool) => {
      const [bad] = /[^A-Za-z0-9_-]/u.exec(nameOf(tool)) ?? [];
      if (bad === undefined) return undefined;
      // Dots are names in MCP, and in no API of the large models.
      const isAllowed = bad === ".";
      const message = `${JSON.stringify(bad)} stands in its name. The APIs of OpenAI and Anthropic refuse it${isAllowed ? "" : ", and so does MCP from 2025-11-25 on"}.`;
      return { message, severity: isAllowed ? "warning" : "error" };
    }),
  },
  {
    ...usual,
    id: "tools/prefixes",
    title: "Names of tools have no prefix in common",
    looksAt: "what all names begin with",
    severity: "note",
    remedy: "Leave the prefix out where the host adds one; keep it if the tools are used without a host.",
    run: overTools((tools) => {
      const names = tools.map(nameOf);
      const [prefix] = /^[A-Za-z0-9]+[_.-]/.exec(names[0] ?? "") ?? [];
      if (prefix === undefined || names.length < 4 || !names.every((name) => name.startsWith(prefix))) return [];
      return [
        {
          message: `All ${names.length} names begin with "${prefix}"; most hosts put the server's name before them as well.`,
        },
      ];
    }),
  },
  {
    ...usual,
    id: "tools/count",
    title: "There are not more tools than models can choose from",
    looksAt: "the number of tools",
    severity: "warning",
    remedy: "Make fewer tools that do more each, or several servers for several tasks.",
    run: overTools(({ length }) => {
      if (length > 128) return [{ message: `${length} tools: OpenAI's API takes 128 at most.`, severity: "error" }];
      if (length > 40)
        return [
          { message: `${length} tools: models choose worse among so many, and some hosts take no more than 40.` },
        ];
      return [];
    }),
  },
  {
    ...usual,
    id: "tools/descriptions",
    title: "Every tool has a description",
    looksAt: "whether there is one, and its length",
    severity: "warning",
    remedy: "Say in one to four sentences what it does, when to use it, and what it returns.",
    run: eachTool((tool) => {
      const { length } = textOf(tool.description);
      if (length === 0) return { message: "It has no description: a model can only guess what it does." };
      if (length < minDescription)
        return { message: `Its description has ${length} characters: too few to choose by.`, severity: "note" };
      if (length <= maxDescription) return undefined;
      return {
        message: `Its description has ${length} characters. OpenAI's API refuses more than ${maxDescription} for a function.`,
      };
    }),
  },
  {
    ...usual,
    id: "tools/parameter-descriptions",
    title: "Every parameter has a description",
    looksAt: "the properties of inputSchema",
    severity: "note",
    remedy: "Describe each: what it means, its unit or form, and an example where that helps.",
    run: eachTool((tool) => {
      const names = describeParameters(tool);
      if (names.length === 0) return undefined;
      const shown = names.slice(0, 8).join(", ");
      const more = names.length > 8 ? ` and ${names.length - 8} more` : "";
      return { message: `${countOf(names.length, "parameter")} without a description: ${shown}${more}.` };
    }),
  },
  {
    ...usual,
    id: "tools/hidden-text",
    title: "Nothing that models read is hidden from people",
    looksAt: "characters in names, descriptions and schemas that are not shown",
    remedy:
      "Remove them. If you did not write them, do not use this server: hidden text is how models are given secret orders.",
    run: eachTool((tool) => {
      for (const [path, text] of textsOf(tool, "")) {
        const [bad] = hidden.exec(text) ?? [];
        if (bad === undefined) continue;
        const code = bad.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
        return { message: `The character U+${code}, which is not shown, stands in ${path}.` };
      }
      return undefined;
    }),
  },
  {
    ...usual,
    id: "tools/annotations",
    title: "Annotations say what tools do",
    looksAt: "readOnlyHint, destructiveHint and their like",
    severity: "note",
    remedy:
      "Set readOnlyHint on tools that change nothing, and destructiveHint: false on those that only add. Hosts ask the user less often.",
    run: overTools(judgeAnnotations),
  },
  {
    ...usual,
    id: "tools/titles",
    title: "Tools have titles",
    looksAt: "title, or annotations.title",
    severity: "note",
    remedy: "Give each a title of a few words: hosts show it to people in place of the name.",
    run: overTools((tools, { main }) => {
      // The first revisions have none.
      if (main.revision < "2025-06-18") return [];
      const bare = tools.filter(({ title, annotations }) => !textOf(title) && !textOf(toObject(annotations).title));
      if (bare.length === 0) return [];
      return [
        { message: `${countOf(bare.length, "tool")} without a title.`, where: bare.slice(0, 5).map(nameOf).join(", ") },
      ];
    }),
  },
];
