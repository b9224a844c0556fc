// Texts of a server's in TypeScript source: as literals and as comments that nothing in them can end.

/** Characters that a literal holds as escapes: what ends a line, what nobody sees, what turns the order of what is seen around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are among them
const special = /[\u0000-\u001f\u007f-\u00a0\u2028-\u202e]|\p{Default_Ignorable_Code_Point}|\p{Cs}/gu;

function escapeOne(one: string): string {
  return Array.from({ length: one.length }, (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
    "",
  );
}

/** A string literal of the same value. */
export function toLiteral(text: string): string {
  return JSON.stringify(text).replace(special, escapeOne);
}

/** The name of a member: bare where it is an ordinary one. */
export function toMemberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" && name !== "constructor" ? name : toLiteral(name);
}

/** In one line, for a comment of two slashes. */
export function toLine(text: string): string {
  return toCommentText(text).replaceAll("\n", " ").trim();
}

/** Harmless within a block comment: it cannot end it, and no tool takes it for a directive. */
function toCommentText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(special, (one) => (one === "\n" ? one : one === "\t" ? " " : escapeOne(one)))
    .replaceAll("*/", "*\\/")
    .replace(/@(?=ts-)/gi, "@ ");
}

/** A JSDoc comment with a line feed at its end; empty where there is nothing to say. */
export function toDoc(parts: readonly (string | undefined)[], indent: string): string {
  const lines = parts
    .filter((part) => part !== undefined && part.trim() !== "")
    .flatMap((part) =>
      toCommentText(part as string)
        .trim()
        .split("\n"),
    )
    .map((line) => line.trimEnd());
  if (lines.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line ? ` ${line}` : ""}\n`).join("")}${indent} */\n`;
}
