// A place in a file, for messages: file:line:column, the line itself, and a mark below it.

const widest = 160;

/** @param offset in UTF-16 units */
export function formatPlace(path: string, text: string, offset: number, problem: string): string {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  const column = (before.at(-1) ?? "").length;
  const line = text.split(/\r\n|\r|\n/, before.length)[before.length - 1] ?? "";
  // Bundled code has lines of thousands.
  const from = column > widest - 20 ? column - 60 : 0;
  const shown = line.slice(from, from + widest);
  const indent = line.slice(from, column).replace(/[^\t]/g, " ");
  return `${path}:${before.length}:${column + 1}: ${problem}\n  ${shown}\n  ${indent}^`;
}
