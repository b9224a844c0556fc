// YAML: what is changed is one pair of a map, which is cut out with its lines, changed as a document of its own, and put back in its place.
// All other lines stay as they are.
import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  parseDocument,
  stringify,
  visit,
  type YAMLMap,
} from "yaml";
import { eolOf, type Format, type KeyPath, type Leaf, lineStart, nextLine, SyntaxProblem, splice } from "./format.ts";

/** Lines are not folded, and what looks like a number stays a string. */
const written = { lineWidth: 0 } as const;

function parseTree(text: string): Document.Parsed {
  const lines = new LineCounter();
  // Aliases may be nested until they fill the memory; maxAliasCount is 100 by default in toJS.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const [error] = document.errors;
  if (!error) return document as Document.Parsed;
  const { line, col } = lines.linePos(error.pos[0]);
  throw new SyntaxProblem(error.message, line, col);
}

function isMany(text: string): boolean {
  const all = parseAllDocuments(text);
  return Array.isArray(all) && all.length > 1;
}

const keyOf = (pair: Pair): string => String(isScalar(pair.key) ? pair.key.value : pair.key);

function findPair(map: unknown, name: string): Pair | undefined {
  return isMap(map) ? map.items.find((pair) => keyOf(pair) === name) : undefined;
}

const rangeOf = (node: unknown): readonly [number, number] | undefined => {
  const range = (node as Node | null | undefined)?.range;
  return range ? [range[0], range[1]] : undefined;
};

/** The lines of a pair of a block map: from that of its key to the end of its value, with what stands on that line behind it. */
function linesOf(text: string, pair: Pair): readonly [start: number, end: number] {
  const key = rangeOf(pair.key);
  if (!key) throw new Error("a key without a place");
  const start = lineStart(text, key[0]);
  if (text.slice(start, key[0]).trim() !== "") throw new Error("a key that does not begin its line");
  const last = Math.max(key[1], rangeOf(pair.value)?.[1] ?? 0);
  // A block of text ends with the line itself.
  return [start, last > 0 && text[last - 1] === "\n" ? last : nextLine(text, last)];
}

export const yamlFormat: Format = {
  parse: (text) => parseTree(text).toJS() ?? {},
  change(text, path, value) {
    if (isMany(text)) throw new Error("it holds several documents");
    const { contents } = parseTree(text);
    const [first = "", second, ...more] = path;
    const eol = eolOf(text);
    if (!isMap(contents)) {
      // Nothing, or comments alone.
      const before = text.trim() === "" ? "" : text.endsWith("\n") ? text : text + eol;
      return before + toLines({ [first]: nest(path.slice(1), value) }, "", eol);
    }
    if (contents.flow) return changeWithin(text, [0, text.length], path, value);
    const pair = findPair(contents, first);
    if (!pair) return value === undefined ? text : insert(text, contents, first, nest(path.slice(1), value));
    const { value: map } = pair;
    const inner = second === undefined ? undefined : findPair(map, second);
    const isBlock = isMap(map) && !map.flow && map.items.length > 0;
    if (second === undefined || !isBlock) return changeWithin(text, linesOf(text, pair), path, value);
    if (!inner) return value === undefined ? text : insert(text, map, second, nest(more, value));
    const span = linesOf(text, inner);
    if (value !== undefined || more.length > 0) return changeWithin(text, span, path.slice(1), value);
    if (map.items.length > 1) return splice(text, ...span, "");
    return changeWithin(text, linesOf(text, pair), path, undefined);
  },
  leaves(text) {
    const found: Leaf[] = [];
    visit(parseTree(text), {
      Scalar(key, node, ancestors) {
        const { value, range } = node;
        if (key === "key" || !range || (typeof value !== "string" && typeof value !== "number")) return;
        const path = [...ancestors].filter(
          (one): one is Pair => (one as Pair | undefined)?.constructor.name === "Pair",
        );
        found.push({ path: path.map(keyOf), start: range[0], end: range[1] });
      },
    });
    return found;
  },
  quote: (text) => JSON.stringify(text),
};

const nest = (path: KeyPath, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

function toLines(value: unknown, indent: string, eol: string): string {
  const lines = stringify(value, written).trimEnd().split("\n");
  return lines.map((line) => (line === "" ? "" : indent + line) + eol).join("");
}

/** After the last pair of the map, indented as its pairs are. */
function insert(text: string, map: YAMLMap, name: string, value: unknown): string {
  const eol = eolOf(text);
  const last = map.items.at(-1) as Pair;
  const [start, end] = linesOf(text, last);
  const indent = text.slice(start, rangeOf(last.key)?.[0]);
  const isOpen = end > 0 && text[end - 1] !== "\n";
  return splice(text, end, end, (isOpen ? eol : "") + toLines({ [name]: value }, indent, eol));
}

/** Changes the pair on these lines as a document of its own. */
function changeWithin(text: string, [start, end]: readonly [number, number], path: KeyPath, value: unknown): string {
  const eol = eolOf(text);
  const lines = text.slice(start, end).split(/\r?\n/);
  const indent = /^ */.exec(lines[0] ?? "")?.[0] ?? "";
  const own = lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart())).join("\n");
  const document = parseTree(own);
  if (value === undefined) document.deleteIn(path);
  else document.setIn(path, document.createNode(value));
  const fresh = document.toString(written).replace(/\n$/, "").split("\n");
  const isOpen = !text.slice(start, end).endsWith("\n");
  const again = fresh.map((line) => (line === "" ? "" : indent + line)).join(eol);
  return splice(text, start, end, isOpen ? again : again + eol);
}
