// Foreign text inside our sentences: one line, bounded, visibly quoted.

/** The text in double quotes, control characters escaped, cut after `max` characters. */
export function quote(text: string, max = 80): string {
  return JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
}

/** The text on one line and bounded: for foreign text that is to be read in a log, where a line break could forge one. */
export function toLine(text: string, max = 500): string {
  return text.slice(0, max).replace(/\p{Cc}+/gu, " ");
}
