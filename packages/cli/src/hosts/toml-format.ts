// TOML: an entry is a table of its own, keys on lines, or a table in one line, and each is edited as it is. Positions come from
// toml-eslint-parser.
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import {
  eolOf,
  type Format,
  type KeyPath,
  type Leaf,
  lineStart,
  nextLine,
  rememberTexts,
  SyntaxProblem,
  splice,
} from "./format.ts";

/** A `key = value`, wherever it stands, with its whole path. */
interface Pair {
  readonly path: KeyPath;
  readonly node: AST.TOMLKeyValue;
  readonly parent: AST.TOMLTopLevelTable | AST.TOMLTable | AST.TOMLInlineTable;
}

interface Layout {
  readonly tables: readonly { readonly path: KeyPath; readonly node: AST.TOMLTable }[];
  readonly pairs: readonly Pair[];
}

const parseTree = rememberTexts((text: string): AST.TOMLProgram => {
  try {
    return parseTOML(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new SyntaxProblem(error.message, error.lineNumber, error.column + 1);
  }
});

function toLayout(text: string): Layout {
  const [top] = parseTree(text).body;
  const tables: { path: KeyPath; node: AST.TOMLTable }[] = [];
  const pairs: Pair[] = [];
  const addPairs = (parent: Pair["parent"], base: KeyPath): void => {
    for (const node of parent.body) {
      if (node.type === "TOMLTable") {
        const path = node.resolvedKey.map(String);
        tables.push({ path, node });
        addPairs(node, path);
        continue;
      }
      const path = [...base, ...node.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value))];
      pairs.push({ path, node, parent });
      if (node.value.type === "TOMLInlineTable") addPairs(node.value, path);
    }
  };
  addPairs(top, []);
  return { tables, pairs };
}

const startsWith = (path: KeyPath, prefix: KeyPath): boolean => prefix.every((name, index) => path[index] === name);
const isSame = (path: KeyPath, other: KeyPath): boolean => path.length === other.length && startsWith(path, other);

export const tomlFormat: Format = {
  parse: (text) => getStaticTOMLValue(parseTree(text)),
  change(text, path, value) {
    if (value === undefined) return remove(text, path);
    const { pairs, tables } = toLayout(text);
    const exact = pairs.find((pair) => isSame(pair.path, path));
    if (exact) return splice(text, ...exact.node.value.range, toText(value));
    const isThere = [...pairs, ...tables].some((one) => startsWith(one.path, path));
    return insert(isThere ? remove(text, path) : text, path, value);
  },
  leaves(text) {
    const found: Leaf[] = [];
    const visit = (node: AST.TOMLContentNode, path: KeyPath): void => {
      if (node.type === "TOMLArray") {
        node.elements.forEach((element, index) => void visit(element, [...path, String(index)]));
      } else if (node.type === "TOMLValue" && node.kind !== "boolean") {
        found.push({ path, start: node.range[0], end: node.range[1] });
      }
    };
    for (const { node, path } of toLayout(text).pairs) visit(node.value, path);
    return found.sort((one, other) => one.start - other.start);
  },
  quote: toText,
};

const toKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : toText(name));

function toText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toText).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const inside = Object.entries(value).map(([name, one]) => `${toKey(name)} = ${toText(one)}`);
    return inside.length > 0 ? `{ ${inside.join(", ")} }` : "{}";
  }
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  if (typeof value === "boolean" || Number.isFinite(value)) return String(value);
  throw new Error(`TOML has no word for ${value}`);
}

/** A table with a header, tables within it after its own keys. */
function toTable(path: KeyPath, value: object, eol: string): string {
  const isTable = (one: unknown): one is object => typeof one === "object" && one !== null && !Array.isArray(one);
  const own = Object.entries(value).filter(([, one]) => !isTable(one));
  const inner = Object.entries(value).filter((pair): pair is [string, object] => isTable(pair[1]));
  const header = `[${path.map(toKey).join(".")}]`;
  const lines = own.map(([name, one]) => `${toKey(name)} = ${toText(one)}`);
  const tables = inner.map(([name, one]) => toTable([...path, name], one, eol));
  // A header that nothing stands under is left out where a table within says it.
  const first = lines.length > 0 || tables.length === 0 ? [`${[header, ...lines].join(eol)}${eol}`] : [];
  return [...first, ...tables].join(eol);
}

function insert(text: string, path: KeyPath, value: unknown): string {
  const { pairs, tables } = toLayout(text);
  const eol = eolOf(text);
  const parent = path.slice(0, -1);
  const name = path.at(-1) as string;
  const inline = pairs.find((pair) => isSame(pair.path, parent))?.node.value;
  if (inline?.type === "TOMLInlineTable") return insertInline(text, inline, `${toKey(name)} = ${toText(value)}`);
  const table = tables.find((one) => isSame(one.path, parent));
  const isOfServers = path.length <= 2;
  if (typeof value === "object" && value !== null && !Array.isArray(value) && isOfServers) {
    return append(text, toTable(path, value, eol), eol);
  }
  // Keys of the same table that are written out: `weather.command = "node"`.
  const sibling = pairs.findLast((pair) => startsWith(pair.path, parent) && depthOf(pair) < parent.length);
  if (sibling) {
    const line = `${path.slice(depthOf(sibling)).map(toKey).join(".")} = ${toText(value)}`;
    return insertLine(text, sibling.node.range[1], line, eol);
  }
  if (!table) return append(text, toTable(parent, { [name]: value }, eol), eol);
  const after = table.node.body.at(-1)?.range[1] ?? table.node.key.range[1];
  return insertLine(text, after, `${toKey(name)} = ${toText(value)}`, eol);
}

/** How long the path is of what a pair stands under; one in a table of one line stands under nothing that has lines. */
function depthOf({ parent }: Pair): number {
  if (parent.type === "TOMLInlineTable") return Number.POSITIVE_INFINITY;
  return parent.type === "TOMLTable" ? parent.resolvedKey.length : 0;
}

function insertInline(text: string, { body, range }: AST.TOMLInlineTable, pair: string): string {
  const last = body.at(-1);
  if (last) return splice(text, last.range[1], last.range[1], `, ${pair}`);
  return splice(text, range[0], range[1], `{ ${pair} }`);
}

/** A line after the one that this offset is on. */
function insertLine(text: string, offset: number, line: string, eol: string): string {
  const at = nextLine(text, offset);
  const isOpen = at > 0 && text[at - 1] !== "\n";
  return splice(text, at, at, isOpen ? `${eol}${line}` : `${line}${eol}`);
}

/** At the end, where it comes between nobody and his comments. */
function append(text: string, table: string, eol: string): string {
  if (text.trim() === "") return table;
  const ended = text.endsWith("\n") ? text : text + eol;
  return ended + eol + table;
}

function remove(text: string, path: KeyPath): string {
  const { pairs, tables } = toLayout(text);
  const spans: [start: number, end: number][] = [];
  for (const { path: own, node } of tables) {
    if (!startsWith(own, path)) continue;
    const last = node.body.at(-1)?.range[1] ?? node.key.range[1];
    const start = lineStart(text, node.range[0]);
    // With the empty line that sets it off.
    const before = lineStart(text, start - 1);
    const isSetOff = start > 0 && text.slice(before, start).trim() === "";
    spans.push([isSetOff ? before : start, nextLine(text, last)]);
  }
  for (const { path: own, node, parent } of pairs) {
    const isInside = spans.some(([start, end]) => node.range[0] >= start && node.range[1] <= end);
    if (isInside || !startsWith(own, path)) continue;
    if (parent.type !== "TOMLInlineTable") spans.push([lineStart(text, node.range[0]), nextLine(text, node.range[1])]);
    else spans.push(spanInline(parent, node));
  }
  return spans.sort(([one], [other]) => other - one).reduce((rest, [start, end]) => splice(rest, start, end, ""), text);
}

/** A pair of a table in one line, with the comma that belongs to it. */
function spanInline({ body }: AST.TOMLInlineTable, node: AST.TOMLKeyValue): [number, number] {
  const index = body.indexOf(node);
  const next = body[index + 1];
  if (next) return [node.range[0], next.range[0]];
  const previous = body[index - 1];
  return [previous ? previous.range[1] : node.range[0], node.range[1]];
}
