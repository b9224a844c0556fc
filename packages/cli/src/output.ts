// Where a command's words go: results to stdout, everything else that people read to stderr. With --json stdout has envelopes,
// one a line: { "ok": true, "result": … }, { "ok": false, "error": … } or, of commands that go on, { "event": … }.
import { styleText } from "node:util";
import { isTerminal, print, printNote } from "./streams.ts";

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Text in a style where the stream is a terminal that shows colours; as it is elsewhere. */
export type Paint = (style: Style, text: string) => string;

export interface Output {
  readonly isJson: boolean;
  /** People see stderr at a terminal: there may be progress lines. */
  readonly isTerminal: boolean;
  /** Somebody can be asked: stdin and stderr are a terminal's, and --json was not given. */
  readonly canAsk: boolean;
  /** For text on stdout. */
  readonly paint: Paint;
  /** For text on stderr. */
  readonly paintNote: Paint;
  /** The result, once: its JSON in an envelope, or its text. Nothing is printed for an empty text. */
  result(value: unknown, text: string): void;
  /** The result of what went wrong all the same, such as a tool that reports an error. */
  badResult(
    value: unknown,
    text: string,
    error: { readonly code: string; readonly exitCode: number; readonly message: string },
  ): void;
  /** One of many, as it happens. */
  event(value: unknown, text: string): void;
  /** Words for people: nothing with --quiet. */
  note(text: string): void;
  /** Something that should not be, and that the command coped with. */
  warn(text: string): void;
  /** Text to stdout as it is, whatever --json says: for what is a file's content or a script. */
  raw(text: string | Uint8Array): void;
  /** One line on stderr that is written over by the next; undefined takes it away. Nothing where stderr is no terminal. */
  status(text: string | undefined): void;
  /**
   * Runs with the terminal to itself, for prompts: one after another, since two would fight for the keys. There is no status
   * line meanwhile, and other words for people wait.
   */
  alone<T>(run: () => Promise<T>): Promise<T>;
}

export interface OutputOptions {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** --no-color, or --color. Default: as the terminal and NO_COLOR, FORCE_COLOR have it. */
  readonly color: boolean | undefined;
}

/** Colours as asked for, else by the environment, else on terminals alone. NO_COLOR counts when it is not empty. */
function hasColors(name: "stdout" | "stderr", color: boolean | undefined): boolean {
  if (color !== undefined) return color;
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return TERM !== "dumb" && isTerminal(name);
}

function createPaint(name: "stdout" | "stderr", color: boolean | undefined): Paint {
  const isPainted = hasColors(name, color);
  // It looks at the environment by itself, in its own way.
  return (style, text) => (isPainted && text ? styleText(style, text, { validateStream: false }) : text);
}

// What a server says may hold sequences that move the cursor, change the title or worse.
// Others turn the order of what is seen around, so that it reads as something else, or end a line.
const controls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are taken out
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text of somebody else's, harmless to a terminal: control characters but tab and line feed are made visible. */
export function toHarmless(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(controls, (one) => {
    const code = one.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });
}

/** The same for what stands on one line, such as a name: it must not look like a line of ours. */
export function toLine(text: string): string {
  return toHarmless(text).replaceAll("\n", "\\n");
}

/** JSON that a terminal does not obey: JSON itself leaves these control characters as they are. */
export function escapeControls(json: string): string {
  return json.replace(/[\u007f-\u009f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
}

/** A value as one line of such JSON. */
export function formatJson(value: object): string {
  return escapeControls(JSON.stringify(value));
}

export function createOutput({ isJson, isQuiet, color }: OutputOptions): Output {
  const isTerminalNote = isTerminal("stderr");
  let statusLength = 0;
  const clearStatus = (): void => {
    if (statusLength > 0) printNote(`\r${" ".repeat(statusLength)}\r`);
    statusLength = 0;
  };
  const line = (text: string): void => {
    clearStatus();
    if (text) print(text.endsWith("\n") ? text : `${text}\n`);
  };
  const envelope = (value: object): void => line(formatJson(value));
  /** What is kept back while somebody is asked; undefined while nobody is. */
  let waiting: string[] | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const people = (text: string): void => {
    clearStatus();
    if (waiting) waiting.push(text);
    else printNote(`${text}\n`);
  };
  const paintNote = createPaint("stderr", color);
  return {
    isJson,
    isTerminal: isTerminalNote,
    // Looked at when it is asked for: making stdin takes time that most runs need not spend.
    get canAsk() {
      return isTerminalNote && !isJson && process.stdin.isTTY === true;
    },
    paint: createPaint("stdout", color),
    paintNote,
    result: (value, text) => (isJson ? envelope({ ok: true, result: value ?? null }) : line(text)),
    badResult: (value, text, error) => (isJson ? envelope({ ok: false, result: value, error }) : line(text)),
    event: (value, text) => (isJson ? envelope({ event: value }) : line(text)),
    note: (text) => {
      if (!isQuiet) people(text);
    },
    warn: (text) => people(`${paintNote("yellow", "warning:")} ${text}`),
    raw: (text) => {
      clearStatus();
      print(text);
    },
    status(text) {
      if (!isTerminalNote || isQuiet || isJson) return;
      clearStatus();
      if (text === undefined || waiting) return;
      const room = Math.max(20, process.stderr.columns || 80) - 1;
      const shown = text.length > room ? `${text.slice(0, room - 1)}…` : text;
      printNote(shown);
      statusLength = shown.length;
    },
    alone(run) {
      const turn = last.then(async () => {
        clearStatus();
        waiting = [];
        try {
          return await run();
        } finally {
          const kept = waiting;
          waiting = undefined;
          for (const text of kept) people(text);
        }
      });
      last = turn.catch(() => {});
      return turn;
    },
  };
}
