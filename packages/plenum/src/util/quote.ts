// Foreign text inside our sentences: one line, bounded, visibly quoted.

/** What a terminal obeys, or what changes how the text around it is shown or read: controls, directions, line breaks. */
const unseen = "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]"; // as text: a literal costs every start the reading of Unicode's tables

/** The text in double quotes, characters that are not to be seen escaped, cut after `max` characters. */
export function quote(text: string, max = 80): string {
  const quoted = JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
  return quoted.replace(new RegExp(unseen, "gu"), (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);
}

/** The text on one line and bounded: for foreign text that is to be read in a log, where a line break could forge one. */
export function toLine(text: string, max = 500): string {
  return text.slice(0, max).replace(new RegExp(`${unseen}+`, "gu"), " ");
}
