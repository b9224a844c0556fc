// JSON, with comments and trailing commas where the file has them. A comment outside of what is changed is never lost, nor moved to
// another line.
import jsonc, { type JSONScanner, type Node, type ParseError } from "jsonc-parser";
import {
  eolOf,
  type Format,
  indentOf,
  indentUnit,
  type KeyPath,
  type Leaf,
  lineStart,
  nextLine,
  positionOf,
  rememberTexts,
  SyntaxProblem,
  splice,
} from "./format.ts";

/** Of the kinds of tokens, those that are looked for. The package has them in its types alone. */
const kinds = { comma: 5, lineBreak: 14 } as const;

const parseTree = rememberTexts((text: string): Node | undefined => {
  const errors: ParseError[] = [];
  const tree = jsonc.parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (!error) return tree;
  const { line, column } = positionOf(text, error.offset);
  throw new SyntaxProblem(toWords(jsonc.printParseErrorCode(error.error)), line, column);
});

/** `CommaExpected` → "comma expected". */
function toWords(code: string): string {
  return code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

const childrenOf = (node: Node | undefined): readonly Node[] => node?.children ?? [];
const endOf = ({ offset, length }: Node): number => offset + length;
const keyOf = (property: Node): string => property.children?.[0]?.value as string;
const childOf = (property: Node): Node | undefined => property.children?.[1];

function toValue(text: string, node: Node): unknown {
  if (node.type === "array") return childrenOf(node).map((child) => toValue(text, child));
  if (node.type !== "object") return node.value;
  const value: { [name: string]: unknown } = {};
  for (const property of childrenOf(node)) {
    const name = keyOf(property);
    if (Object.hasOwn(value, name)) {
      const { line, column } = positionOf(text, property.offset);
      throw new SyntaxProblem(`the key ${JSON.stringify(name)} is there twice`, line, column);
    }
    const child = childOf(property);
    // `__proto__` is a key like any other.
    Object.defineProperty(value, name, {
      value: child && toValue(text, child),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return value;
}

function findProperty(node: Node | undefined, name: string): Node | undefined {
  return node?.type === "object" ? childrenOf(node).find((one) => keyOf(one) === name) : undefined;
}

function findNode(tree: Node | undefined, path: KeyPath): Node | undefined {
  let node = tree;
  for (const name of path) {
    const property = findProperty(node, name);
    node = property && childOf(property);
  }
  return node;
}

function toText(value: unknown, text: string, indent: string): string {
  const eol = eolOf(text);
  return JSON.stringify(value, null, indentUnit(text)).replaceAll("\n", eol + indent);
}

export const jsonFormat: Format = {
  parse(text) {
    const tree = parseTree(text);
    return tree ? toValue(text, tree) : {};
  },
  change(text, path, value) {
    const tree = parseTree(text);
    const [name = "", parentPath] = [path.at(-1), path.slice(0, -1)];
    if (!tree) return toFresh(text, path, value);
    const parent = findNode(tree, parentPath);
    if (parent?.type !== "object") throw new Error(`there is no object at ${parentPath.join(".") || "the top"}`);
    const property = findProperty(parent, name);
    if (value === undefined) return property ? remove(text, parent, property) : text;
    const old = property && childOf(property);
    if (!old) return insert(text, parent, name, value);
    return splice(text, old.offset, endOf(old), toText(value, text, indentOf(text, old.offset)));
  },
  leaves(text) {
    const found: Leaf[] = [];
    const visit = (node: Node, path: KeyPath): void => {
      if (node.type === "string" || node.type === "number") found.push({ path, start: node.offset, end: endOf(node) });
      else if (node.type === "array")
        childrenOf(node).forEach((child, index) => void visit(child, [...path, String(index)]));
      else if (node.type === "object") {
        for (const property of childrenOf(node)) {
          const value = childOf(property);
          if (value) visit(value, [...path, keyOf(property)]);
        }
      }
    };
    const tree = parseTree(text);
    if (tree) visit(tree, []);
    return found;
  },
  quote: (text) => JSON.stringify(text),
};

/** A text without a value: nothing, or comments, which stay. */
function toFresh(text: string, path: KeyPath, value: unknown): string {
  const whole = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const eol = eolOf(text);
  const before = text.trim() === "" ? "" : text.trimEnd() + eol;
  return `${before}${toText(whole, text, "")}${eol}`;
}

function insert(text: string, parent: Node, name: string, value: unknown): string {
  const eol = eolOf(text);
  const last = childrenOf(parent).at(-1);
  const outer = indentOf(text, parent.offset);
  const close = endOf(parent) - 1;
  const comma = last && findComma(text, endOf(last), close);
  const from = comma === undefined ? last && endOf(last) : comma + 1;
  if (from !== undefined && !text.slice(from, close).includes("\n")) {
    const pair = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    return splice(text, from, from, comma === undefined ? `, ${pair}` : ` ${pair},`);
  }
  const indent = last && isFirstOnLine(text, last.offset) ? indentOf(text, last.offset) : outer + indentUnit(text);
  const line = `${indent}${JSON.stringify(name)}: ${toText(value, text, indent)}`;
  if (!last || from === undefined) {
    const inside = text.slice(parent.offset + 1, close);
    // Comments stay where they are, above what is new.
    const kept = inside.trim() === "" ? "" : inside.trimEnd();
    return splice(text, parent.offset + 1, close, `${kept}${eol}${line}${eol}${outer}`);
  }
  const lineEnd = findLineEnd(text, from, close);
  const added = splice(text, lineEnd, lineEnd, `${eol}${line}${comma === undefined ? "" : ","}`);
  return comma === undefined ? splice(added, from, from, ",") : added;
}

function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === "";
}

/** Where the line of an offset ends, with the comments that stand there. */
function findLineEnd(text: string, from: number, close: number): number {
  const scanner: JSONScanner = jsonc.createScanner(text, false);
  scanner.setPosition(from);
  for (;;) {
    const kind = scanner.scan();
    const at = scanner.getTokenOffset();
    if (at >= close || kind === kinds.lineBreak) return Math.min(at, close);
  }
}

/** The comma between two offsets that stands outside of comments. */
function findComma(text: string, from: number, to: number): number | undefined {
  const scanner = jsonc.createScanner(text, true);
  scanner.setPosition(from);
  const kind = scanner.scan();
  const at = scanner.getTokenOffset();
  return kind === kinds.comma && at < to ? at : undefined;
}

function remove(text: string, parent: Node, property: Node): string {
  const siblings = childrenOf(parent);
  const previous = siblings[siblings.indexOf(property) - 1];
  const close = endOf(parent) - 1;
  const own = findComma(text, endOf(property), close);
  const without = removeSpan(text, property.offset, own === undefined ? endOf(property) : own + 1, endOf(property));
  if (siblings.length === 1) {
    const rest = without.slice(parent.offset + 1, close - (text.length - without.length));
    return rest.trim() === "" ? splice(without, parent.offset + 1, parent.offset + 1 + rest.length, "") : without;
  }
  // The last one leaves the comma of the one before it behind.
  const behind = own === undefined && previous ? findComma(text, endOf(previous), property.offset) : undefined;
  return behind === undefined ? without : splice(without, behind, behind + 1, "");
}

/** Takes out the property and its comma; whole lines where nothing else is on them. A comment between the two stays. */
function removeSpan(text: string, start: number, end: number, valueEnd: number): string {
  const between = text.slice(valueEnd, end).replace(/,$/, "");
  if (between.trim() !== "") return splice(text, start, end, between);
  const next = nextLine(text, end);
  const isWholeLines = isFirstOnLine(text, start) && text.slice(end, next).trim() === "";
  if (isWholeLines && next > end) return splice(text, lineStart(text, start), next, "");
  // On a line with others: with the space in front of it.
  const before = /[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0;
  return splice(text, isFirstOnLine(text, start) ? start : start - before, end, "");
}
