// Documents that nobody thought of: whatever the file looks like, an entry goes in and out again, and the rest stays.
import fc from "fast-check";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { editText } from "./document.ts";
import type { Format } from "./format.ts";
import { jsonFormat } from "./json-format.ts";
import type { JsonObject } from "./record.ts";
import { tomlFormat } from "./toml-format.ts";
import { yamlFormat } from "./yaml-format.ts";

type Table = { [name: string]: unknown };

interface Sample {
  readonly text: string;
  readonly value: Table;
}

/** Comments have a number each, after a sign that nothing else has. */
const commentsOf = (text: string): readonly string[] => (text.match(/§\d+/g) ?? []).toSorted();

const withoutSpaces = (text: string): string => text.replace(/[ \t]+/g, "").trimEnd();

/** Words that languages have their own ideas of are among them. */
const words = fc.oneof(
  fc.string({ maxLength: 8 }).filter((one) => !one.includes("§")),
  fc.constantFrom(
    "null",
    "true",
    "1",
    "-",
    "a: b",
    "# no",
    "// no",
    "/* no",
    "'",
    '"',
    "\\",
    "{}",
    "[]",
    "C:\\x",
    "ä",
    "@env:X",
    " x ",
  ),
);
const names = fc.oneof(
  fc.constantFrom("a", "weather", "two words", "x.y", "x/y", "0", "ä", "#", 'quote"d'),
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,6}$/),
);
const entries: fc.Arbitrary<JsonObject> = fc.record(
  {
    command: words,
    args: fc.array(words, { maxLength: 3 }),
    env: fc.dictionary(names, words, { maxKeys: 3, noNullPrototype: true }),
    timeout: fc.integer(),
    isOn: fc.boolean(),
  },
  { requiredKeys: ["command", "args"], noNullPrototype: true },
);
const servers = fc.dictionary(names, entries, { maxKeys: 3, noNullPrototype: true });
const others = fc.dictionary(
  names.map((name) => `o-${name}`),
  fc.oneof(
    words,
    fc.integer(),
    fc.boolean(),
    fc.array(words, { maxLength: 3 }),
    fc.dictionary(names, words, { maxKeys: 2, noNullPrototype: true }),
  ),
  { maxKeys: 3, noNullPrototype: true },
);

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Draws as it goes: how a value is written is as random as the value. */
function createScribe(draw: (max: number) => number) {
  let count = 0;
  return { pick: <T>(...of: readonly T[]): T => of[draw(of.length)] as T, comment: () => `§${count++}` };
}
type Scribe = ReturnType<typeof createScribe>;

function writeJson(value: unknown, scribe: Scribe, eol: string, indent: string, depth = 0): string {
  const { pick, comment } = scribe;
  const space = (): string =>
    pick<() => string>(
      () => "",
      () => "",
      () => " ",
      () => ` /* ${comment()} */ `,
      () => ` // ${comment()}${eol}`,
      () => eol + indent.repeat(depth),
    )();
  if (!isTable(value) && !Array.isArray(value)) return JSON.stringify(value);
  const inner = Array.isArray(value)
    ? value.map((one) => writeJson(one, scribe, eol, indent, depth + 1))
    : Object.entries(value).map(
        ([name, one]) =>
          `${JSON.stringify(name)}${space()}:${space()}${writeJson(one, scribe, eol, indent, depth + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const isPretty = pick(true, true, false);
  const lead = (): string => (isPretty ? eol + indent.repeat(depth + 1) : "");
  const lines = inner.map((one, index) => {
    const comma = index < inner.length - 1 || pick(true, false, false) ? "," : "";
    return `${lead()}${pick("", "", `/* ${comment()} */ `)}${one}${space()}${comma}${pick("", "", ` // ${comment()}${eol}`)}`;
  });
  return `${open}${lines.join("")}${isPretty ? eol + indent.repeat(depth) : ""}${space()}${close}`;
}

const quoteToml = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
const keyToml = (name: string): string => (/^[\w-]+$/.test(name) ? name : quoteToml(name));
function inlineToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineToml).join(",")}]`;
  if (isTable(value))
    return `{${Object.entries(value)
      .map(([name, one]) => `${keyToml(name)}=${inlineToml(one)}`)
      .join(",")}}`;
  return typeof value === "string" ? quoteToml(value) : String(value);
}

function writeToml({ mcp_servers, ...rest }: Table, { pick, comment }: Scribe, eol: string): string {
  const note = (): string => pick("", "", ` # ${comment()}`);
  const lines: string[] = [];
  const between = (): void => {
    if (pick(true, false)) lines.push(pick("", `# ${comment()}`, `  # ${comment()}`));
  };
  const pairs = (base: string, table: Table): void => {
    for (const [name, value] of Object.entries(table)) {
      between();
      const isDotted = isTable(value) && Object.keys(value).length > 0 && pick(true, false);
      if (isDotted) pairs(`${base}${keyToml(name)}.`, value);
      else lines.push(`${pick("", "  ")}${base}${keyToml(name)} ${pick("=", " = ")} ${inlineToml(value)}${note()}`);
    }
  };
  const all = isTable(mcp_servers) ? mcp_servers : undefined;
  const style = pick("header", "inline", "dotted", "top");
  if (style === "top" && all) pairs("", { mcp_servers: Object.keys(all).length > 0 ? all : {} });
  pairs("", rest);
  if (!all || style === "top") return lines.map((line) => line + eol).join("");
  if (style !== "header" || Object.keys(all).length === 0) lines.push(`[mcp_servers]${note()}`);
  if (style === "inline")
    for (const [name, one] of Object.entries(all)) lines.push(`${keyToml(name)} = ${inlineToml(one)}${note()}`);
  if (style === "dotted") pairs("", all);
  if (style === "header") {
    for (const [name, one] of Object.entries(all)) {
      const { env, ...own } = one as Table;
      between();
      lines.push(`[mcp_servers.${keyToml(name)}]${note()}`);
      pairs("", own);
      if (env !== undefined) {
        lines.push(`[mcp_servers.${keyToml(name)}.env]${note()}`);
        pairs("", env as Table);
      }
    }
  }
  between();
  return lines.map((line) => line + eol).join("");
}

function writeYaml(value: Table, scribe: Scribe, eol: string, indent: string, depth = 0): string {
  const { pick, comment } = scribe;
  const lead = indent.repeat(depth);
  const note = (): string => pick("", "", ` # ${comment()}`);
  return Object.entries(value)
    .map(([name, one]) => {
      const above = pick("", "", eol, `${lead}# ${comment()}${eol}`);
      const key = `${lead}${JSON.stringify(name)}:`;
      if (isTable(one) && Object.keys(one).length > 0 && pick(true, true, false)) {
        return `${above}${key}${note()}${eol}${writeYaml(one, scribe, eol, indent, depth + 1)}`;
      }
      return `${above}${key} ${JSON.stringify(one)}${note()}${eol}`;
    })
    .join("");
}

interface Language {
  readonly format: Format;
  readonly rootKey: string;
  readonly write: (value: Table, scribe: Scribe, eol: string, indent: string) => string;
  /** Another parser than the one that is tested, where there is one. */
  readonly parse: (text: string) => unknown;
}

const languages: readonly (readonly [name: string, language: Language])[] = [
  ["JSON", { format: jsonFormat, rootKey: "mcpServers", write: writeJson, parse: (text) => jsonFormat.parse(text) }],
  ["TOML", { format: tomlFormat, rootKey: "mcp_servers", write: writeToml, parse: (text) => parseToml(text) }],
  ["YAML", { format: yamlFormat, rootKey: "extensions", write: writeYaml, parse: (text) => parseYaml(text) ?? {} }],
];

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.each(languages)("%s", (_, { format, rootKey, write, parse }) => {
  const samples: fc.Arbitrary<Sample> = fc
    .tuple(others, fc.option(servers), fc.boolean(), fc.boolean(), fc.boolean(), fc.nat(1_000_000))
    .map(([before, all, isLast, hasCr, hasTabs, seed]) => {
      let state = seed;
      const scribe = createScribe((max) => {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
        return Math.floor((state / 2 ** 31) * max);
      });
      const root = all ? { [rootKey]: all } : {};
      const value = isLast ? { ...before, ...root } : { ...root, ...before };
      const eol = hasCr ? "\r\n" : "\n";
      return { value, text: write(value, scribe, eol, hasTabs && format === jsonFormat ? "\t" : "   ") };
    });
  const edit = (text: string, name: string, entry: JsonObject | undefined): string =>
    editText(format, "file", text, [rootKey, name], entry);

  test("what was written is read", () => {
    fc.assert(
      fc.property(samples, ({ text, value }) => {
        expect(plain(format.parse(text))).toEqual(plain(value));
      }),
    );
  });

  test("a new entry goes in and out again, and the rest is as it was", () => {
    fc.assert(
      fc.property(samples, entries, ({ text, value }, entry) => {
        const withEntry = edit(text, "new one", entry);
        const all = (value[rootKey] as Table | undefined) ?? {};
        expect(plain(parse(withEntry))).toEqual(plain({ ...value, [rootKey]: { ...all, "new one": entry } }));
        expect(commentsOf(withEntry)).toEqual(commentsOf(text));
        const without = edit(withEntry, "new one", undefined);
        expect(commentsOf(without)).toEqual(commentsOf(text));
        const left = plain(parse(without)) as Table;
        if (Object.keys(all).length > 0) {
          expect(left).toEqual(plain(value));
          // A last line may have been ended, a space before a comma be gone. A map of YAML in braces is written anew.
          if (!/"extensions": \{/.test(text)) expect(withoutSpaces(without)).toBe(withoutSpaces(text));
        } else {
          const { [rootKey]: root = {}, ...rest } = left;
          expect([root, rest]).toEqual([
            {},
            plain(Object.fromEntries(Object.entries(value).filter(([key]) => key !== rootKey))),
          ]);
        }
        expect(without.includes("\r\n") && /[^\r]\n/.test(without)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  test("an entry becomes another one, and comments outside of it stay", () => {
    fc.assert(
      fc.property(samples, entries, fc.nat(), ({ text, value }, entry, index) => {
        const all = (value[rootKey] as Table | undefined) ?? {};
        const keys = Object.keys(all);
        fc.pre(keys.length > 0);
        const name = keys[index % keys.length] as string;
        const changed = edit(text, name, entry);
        expect(plain(parse(changed))).toEqual(plain({ ...value, [rootKey]: { ...all, [name]: entry } }));
        // Those that are left when the entry is gone were not in it.
        for (const comment of commentsOf(edit(text, name, undefined))) expect(changed).toContain(comment);
      }),
      { numRuns: 60 },
    );
  });

  test("the strings and numbers of a text are where they are said to be", () => {
    fc.assert(
      fc.property(samples, ({ text }) => {
        const hidden = format
          .leaves(text)
          .toReversed()
          .reduce((rest, { start, end }) => rest.slice(0, start) + format.quote("x") + rest.slice(end), text);
        const onlyX = (value: unknown): boolean =>
          typeof value === "object" && value !== null
            ? Object.values(value).every(onlyX)
            : value === "x" || typeof value === "boolean";
        expect(onlyX(format.parse(hidden))).toBe(true);
      }),
    );
  });
});
