// Words of a shell's line as they were typed, quotes and all, and words that are put there: quoted, so that whatever a server
// calls its tools is text to the shell and nothing else.

export interface Unquoted {
  readonly text: string;
  /** The quote that is still open at the end. */
  readonly open: "'" | '"' | undefined;
}

/** What a shell would make of a word, without expanding anything. */
export function unquote(word: string): Unquoted {
  let text = "";
  let open: Unquoted["open"];
  for (let at = 0; at < word.length; at++) {
    const one = word[at] as string;
    const next = word[at + 1];
    if (open === "'") {
      if (one === "'") open = undefined;
      else text += one;
    } else if (one === "\\" && next !== undefined && (open === undefined || '"\\$`'.includes(next))) {
      text += next;
      at++;
    } else if (one === open) open = undefined;
    else if (open === undefined && (one === "'" || one === '"')) open = one;
    else if (one !== "\\" || next !== undefined) text += one;
  }
  return { text, open };
}

/** Text as a part of a word of bash. Behind an open quote it must hold neither quotes nor what bash looks for between them. */
export function quote(text: string, open: Unquoted["open"]): string {
  if (open) return open === "'" ? text : text.replace(/[$`]/g, "\\$&");
  return text.replace(/[^\p{L}\p{N}_./:=@%+,-]/gu, "\\$&");
}

export interface BashLine {
  /** What follows the program's name, unquoted; the last is being typed. */
  readonly words: readonly string[];
  /** What is put in the place of what is typed, for a value of the last word: nothing for one that does not fit there. */
  toReply(value: string, isOpen: boolean): string | undefined;
}

/**
 * Bash splits words at `=` and `:` too, and replaces only what is behind the last of them: they are joined again where no blank
 * stands between them.
 * @param line COMP_LINE up to the cursor
 * @param given COMP_WORDS up to the one that the cursor is in
 */
export function fromBash(line: string, given: readonly string[]): BashLine {
  const joined: string[] = [];
  let rest = line;
  let part = "";
  for (const word of given) {
    const left = rest.trimStart();
    const isNew = joined.length === 0 || left.length < rest.length;
    // The last may go on behind the cursor.
    part = left.startsWith(word) ? word : left;
    rest = left.slice(part.length);
    if (isNew) joined.push(part);
    else joined[joined.length - 1] += part;
  }
  // What splits words is no part of one.
  if (/^[=:@<>]+$/.test(part)) part = "";
  const last = joined.at(-1) ?? "";
  const lead = unquote(last.slice(0, last.length - part.length)).text;
  const { open } = unquote(part);
  return {
    words: joined.slice(1).map((word) => unquote(word).text),
    toReply(value, isOpen) {
      const own = value.slice(lead.length);
      // The shell closes a quote itself, but not where the text looks as if it did.
      if (open && /["'!\\]/.test(own)) return undefined;
      const home = lead === "" && !open && own.startsWith("~/") ? "~/" : "";
      return home + quote(own.slice(home.length), open) + (isOpen || open ? "" : " ");
    },
  };
}
