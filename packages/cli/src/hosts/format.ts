// The seam between what is to be changed in a host's file and how its language is written: JSON with comments, TOML, YAML. Each edits
// the text itself, in the place that it is about, so that all the rest stays as it was, byte for byte.

export type KeyPath = readonly string[];

/** A string or number of the text, as a value, and where it stands. */
export interface Leaf {
  readonly path: KeyPath;
  readonly start: number;
  readonly end: number;
}

export interface Format {
  /** The value of the text; an empty one is {}. Throws a SyntaxProblem. */
  parse(text: string): unknown;
  /**
   * The text with this value under the path; undefined takes it away. What the path leads through is there, and is a table, except
   * that the text may be empty. Throws for what it cannot edit.
   */
  change(text: string, path: KeyPath, value: unknown): string;
  /** The strings and numbers that are values, in the order of the text. */
  leaves(text: string): readonly Leaf[];
  /** A string as the language has it. */
  quote(text: string): string;
}

/** The text is not of its language. */
export class SyntaxProblem extends Error {
  override readonly name = "SyntaxProblem";
  /** From 1. */
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/** The same function, which remembers the last two texts: a change reads the one before it and the one after it several times. */
export function rememberTexts<T>(parse: (text: string) => T): (text: string) => T {
  let known: readonly { readonly text: string; readonly tree: T }[] = [];
  return (text) => {
    const found = known.find((one) => one.text === text) ?? { text, tree: parse(text) };
    known = [found, ...known.filter((one) => one !== found)].slice(0, 2);
    return found.tree;
  };
}

/** Where an offset is, from 1. */
export function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - start + 1 };
}

/** The end of a line as the text has it; a text without any gets "\n". */
export function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? "\n";
}

/** The text with another one in place of [start, end). */
export function splice(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

/** Where the line of an offset begins. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Where the line after that of an offset begins, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** The whitespace that the line of an offset begins with. */
export function indentOf(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

/** What one level is indented by: as in the first line that is, else two spaces. */
export function indentUnit(text: string): string {
  return /^(\t|[ ]+)\S/m.exec(text)?.[1] ?? "  ";
}
