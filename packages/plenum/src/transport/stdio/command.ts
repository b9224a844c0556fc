// A command line as a person writes it, taken apart into a program and its arguments, and put together again for
// messages. There is no shell: nothing is expanded, joined or redirected, and what asks for a shell is refused.
import { quote } from "../../util/quote.ts";
import { maskText, maskWords } from "./mask.ts";

export interface Command {
  readonly command: string;
  readonly args: string[];
}

const maxShown = 200;
const quotes = `"'`;
/** Special to a shell wherever they stand unquoted. */
const operators = "|&;<>()`";
/** As shells have it: a space of another kind belongs to a word. */
const blank = /[ \t\v\f]/;
const escapable = /["'\\ \t\v\f|&;<>()`$~=]/;
const escapableInQuotes = /["\\$`]/;
const variable = /^\$(?:[A-Za-z_0-9@*#?$!-]|\{|\()/;
/** `$'…'` and `$"…"`, which a shell reads in its own ways; inside quotes they are plain. */
const shellQuote = /^\$["']/;
const windowsVariable = /^%[A-Za-z_][\w()]*%/;
const assignment = /^[A-Za-z_]\w*=/;

/**
 * The words of a command line: blanks and tabs separate, single and double quotes group. No shell is used:
 *
 * - `| & ; < > ( )` and backticks, unquoted, are refused.
 * - `$NAME`, `${…}` and `$(…)`, unquoted or in double quotes, and `$'…'` and `$"…"` are refused: a shell would replace them, and a server that
 *   is handed the name in place of the value fails far from here. Likewise a word that begins with `~`, and on
 *   Windows `%NAME%`. In single quotes all of them are plain text.
 * - `NAME=value` before the program is refused: variables are given as `env`.
 * - `*`, `?`, `[…]`, `{…}` and `#` are plain text everywhere.
 *
 * A backslash takes away the meaning of a quote, a backslash, whitespace or one of the above that follows it, outside
 * single quotes; before anything else it stands for itself. On Windows it always stands for itself, so that paths
 * survive; a double quote is written inside single quotes there.
 *
 * Throws a TypeError that says what to do.
 */
export function parseCommand(line: string, platform: string = process.platform): Command {
  assertOneLine(line);
  const [command, ...args] = splitWords(line, platform === "win32");
  if (!command) {
    throw new TypeError('The command line is empty: name a program and its arguments, such as "npx -y some-server"');
  }
  return { command, args };
}

function splitWords(line: string, isWindows: boolean): string[] {
  const words: string[] = [];
  /** Undefined between words; a pair of quotes alone makes an empty word. */
  let word: string | undefined;
  let open = "";
  let openedAt = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    const next = line[at + 1] ?? "";
    const isSingle = open === "'";
    if (char === "\\" && !isWindows && !isSingle && (open ? escapableInQuotes : escapable).test(next)) {
      word = (word ?? "") + next;
      at++;
    } else if (open && char === open) {
      if (isWindows) assertNoEscape(line, at, open);
      open = "";
    } else if (isSingle) {
      word += char;
    } else if (!open && quotes.includes(char)) {
      open = char;
      openedAt = at;
      word ??= "";
    } else if (!open && blank.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      const atStart = word === undefined;
      assertPlain(line.slice(at), { isQuoted: open !== "", isWindows, atStart, isFirst: words.length === 0 });
      word = (word ?? "") + char;
    }
  }
  if (open) {
    throw new TypeError(
      `The command line has a ${open} that is never closed, at character ${openedAt + 1}: close it, or write it ${
        open === "'" || isWindows ? "inside quotes of the other kind" : `as \\"`
      }`,
    );
  }
  if (word !== undefined) words.push(word);
  return words;
}

interface Place {
  readonly isQuoted: boolean;
  readonly isWindows: boolean;
  /** The first character of a word, and of the first word. */
  readonly atStart: boolean;
  readonly isFirst: boolean;
}

/** Throws when what begins here means something to a shell. */
function assertPlain(rest: string, { isQuoted, isWindows, atStart, isFirst }: Place): void {
  const char = rest[0] as string;
  const reference = variable.exec(rest)?.[0] ?? (isWindows ? windowsVariable.exec(rest)?.[0] : undefined);
  if (reference || char === "`" || (!isQuoted && !isWindows && shellQuote.test(rest))) {
    throw new TypeError(
      `The command line holds ${quote(rest, 20)}, but no shell is used and nothing is replaced: write the value itself, ` +
        "give it to the server in env, or put it in single quotes to pass it as it stands",
    );
  }
  if (isQuoted) return;
  if (operators.includes(char)) {
    throw new TypeError(
      `The command line holds ${quote(rest, 20)}, but no shell is used: put it in quotes to pass it as it stands, or run ` +
        `a shell yourself, such as ${isWindows ? 'cmd /c "…"' : "sh -c '…'"}`,
    );
  }
  if (atStart && char === "~" && !isWindows) {
    throw new TypeError(
      `The command line holds ${quote(rest, 20)}, but no shell is used and ~ is not replaced: write the whole path, or put ` +
        "it in single quotes to pass it as it stands",
    );
  }
  if (atStart && isFirst && assignment.test(rest)) {
    throw new TypeError(
      `The command line begins with ${quote(assignment.exec(rest)?.[0] ?? "")}, but no shell is used: give the variable in env`,
    );
  }
}

/** On Windows `"C:\dir\"` is a folder, and `"{\"a\":1}"` an escape as other systems have it: neither is to be guessed wrong. */
function assertNoEscape(line: string, at: number, open: string): void {
  const next = line[at + 1] ?? " ";
  if (open !== '"' || line[at - 1] !== "\\" || blank.test(next)) return;
  throw new TypeError(
    `The command line holds \\" inside a word, at character ${at}, but on Windows a backslash is only a backslash: put the word in single quotes, such as '{"a":1}'`,
  );
}

function assertOneLine(line: string): void {
  if (typeof line !== "string") throw new TypeError(`A command line is a string, not ${typeof line}`);
  if (line.includes("\0")) {
    throw new TypeError("The command line holds a NUL character, which no program can be given: remove it");
  }
  if (/[\r\n]/.test(line)) {
    throw new TypeError(
      "The command line holds a line break: write it on one line, or give command and args apart, where any text is allowed",
    );
  }
}

/**
 * The command line for messages: one line, quoted where a person would quote it, at most 200 characters. What looks like
 * a secret is `***` in it: the user info of URLs, what follows a flag or a name such as `--api-key`, `TOKEN=` or
 * `Authorization:`, and long strings of letters and digits. That is a guess: secrets belong in `env`, which is never shown.
 * Where nothing had to be cut, removed or masked, `parseCommand` gives the same words back.
 */
export function formatCommand(
  command: string,
  args: readonly string[] = [],
  platform: string = process.platform,
): string {
  const isWindows = platform === "win32";
  // The path of a program may well have a long name in it; only who wrote a whole line there has secrets in it.
  const program = blank.test(command) ? maskText(command) : command;
  const line = [program, ...maskWords(args.slice(0, maxShown))]
    .map((word, at) => formatWord(word, isWindows, at === 0))
    .join(" ");
  return line.length > maxShown ? `${line.slice(0, maxShown - 1)}…` : line;
}

const plain = /^[\p{L}\p{N}_@%+=:,./*?[\]{}#^!-]+$/u;
const plainOnWindows = /^[\p{L}\p{N}_@+=:,./*?[\]{}#^!~\\-]+$/u;

function formatWord(given: string, isWindows: boolean, isFirst: boolean): string {
  const word = given.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
  const isPlain = (isWindows ? plainOnWindows : plain).test(word) && !(isFirst && assignment.test(word));
  if (isPlain) return word;
  if (!word.includes("'")) return `'${word}'`;
  if (!isWindows) return `"${word.replace(/["\\$`]/g, "\\$&")}"`;
  const parts = word.split("'").map((part) => (part ? `'${part}'` : ""));
  return parts.join(`"'"`);
}
