// The progress of a call on the status line: a bar where the end is known, else a sign that turns. Nothing where stderr is no terminal.
import type { ProgressUpdate } from "plenum";
import { type Output, toHarmless } from "./output.ts";

export interface Progress {
  readonly update: (update: ProgressUpdate) => void;
  /** Takes the line away. */
  readonly end: () => void;
}

export interface ProgressLook {
  /** Of the terminal. */
  readonly columns: number;
  /** Whether it shows more than ASCII. */
  readonly isUnicode: boolean;
}

export function createProgress(output: Output): Progress {
  const isUnicode = hasUnicode(process.env, process.platform);
  let turns = 0;
  return {
    update(update) {
      if (!output.isTerminal) return;
      const columns = process.stderr.columns || 80;
      output.status(formatProgress(update, turns++, { columns, isUnicode }));
    },
    end: () => output.status(undefined),
  };
}

/** By the locale, as programs of Unix do; Windows has shown it all for long. */
export function hasUnicode(env: NodeJS.ProcessEnv, system: string): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  return system === "win32" || system === "darwin" || /utf-?8/i.test(locale);
}

const spinners = { unicode: [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"], ascii: [..."|/-\\"] } as const;
const maxBar = 30;

/**
 * One line that fits the terminal: `█████░░░░░  50% step 3`.
 * @param turns how many updates came before: turns the sign
 */
export function formatProgress(
  { progress, total, message }: ProgressUpdate,
  turns: number,
  { columns, isUnicode }: ProgressLook,
): string {
  // The last column is left: some terminals begin a new line in it.
  const room = Math.max(10, columns - 1);
  const words = message === undefined ? "" : ` ${toHarmless(message).replaceAll(/\s+/g, " ")}`;
  if (total === undefined || !(total > 0)) {
    const signs = isUnicode ? spinners.unicode : spinners.ascii;
    return cut(`${signs[turns % signs.length]} ${formatNumber(progress)}${words}`, room, isUnicode);
  }
  const part = Math.min(1, Math.max(0, progress / total));
  const width = Math.min(maxBar, Math.floor(room / 3));
  const full = Math.round(part * width);
  const [done, left] = isUnicode ? ["█", "░"] : ["#", "."];
  const percent = `${Math.floor(part * 100)}%`.padStart(4);
  return cut(`${done.repeat(full)}${left.repeat(width - full)} ${percent}${words}`, room, isUnicode);
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

function cut(text: string, room: number, isUnicode: boolean): string {
  const letters = [...text];
  if (letters.length <= room) return text;
  const end = isUnicode ? "…" : "...";
  return `${letters.slice(0, room - end.length).join("")}${end}`;
}
