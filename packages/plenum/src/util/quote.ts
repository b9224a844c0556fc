// Foreign text inside our sentences: one line, bounded, visibly quoted.

/** The text in double quotes, control characters escaped, cut after `max` characters. */
export function quote(text: string, max = 80): string {
  return JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
}
