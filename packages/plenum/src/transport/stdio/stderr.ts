// What a server writes to stderr: always read, so that it never blocks, and its end kept for the message that says why
// the server went away. Text on stderr is no error by itself.
// Specification: basic/transports/stdio.
import { StringDecoder } from "node:string_decoder";
import { quote, toLine } from "../../util/quote.ts";

/**
 * - `capture`: the last 8 kB are kept for messages.
 * - `inherit`: as `capture`, and all of it is passed on to our own stderr, at its speed, as long as that takes it.
 * - `ignore`: it is thrown away unread; messages have no last words.
 * - a function: as `capture`, and it is told every piece, as text. What it throws or rejects with is ignored.
 */
export type StderrMode = "inherit" | "ignore" | "capture" | ((text: string) => void);

export interface Stderr {
  /** Settles when nothing more comes. */
  readonly ended: Promise<void>;
  /** What it said last, quoted, on one line; undefined when that is nothing. */
  lastWords(): string | undefined;
}

/** What is needed of a Readable: the types of Node are not asked of those who only use a mode. */
interface ByteStream {
  on(event: string, listener: (chunk: Uint8Array) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

const maxKept = 8192;
const maxShown = 300;

/** @param stream null where stderr is ignored */
export function readStderr(stream: ByteStream | null, mode: StderrMode): Stderr {
  if (!stream) return { ended: Promise.resolve(), lastWords: () => undefined };
  const decoder = new StringDecoder("utf8");
  let kept = "";
  const take = (text: string): void => {
    if (text === "") return;
    kept = text.length >= maxKept ? text.slice(-maxKept) : (kept + text).slice(-maxKept);
    if (typeof mode !== "function") return;
    try {
      const told: unknown = mode(text);
      // An async function fits the type; its rejection would end the process.
      if (told !== undefined) Promise.resolve(told).catch(() => {});
    } catch {
      // A fault of the listener must not take the connection down.
    }
  };
  stream.on("data", (chunk) => {
    if (mode === "inherit") passOn(chunk, stream);
    take(decoder.write(chunk));
  });
  stream.on("end", () => take(decoder.end()));
  // A broken pipe ends it like any other end.
  stream.on("error", () => {});
  const ended = new Promise<void>((resolve) => {
    stream.on("close", () => {
      waiting.delete(stream);
      resolve();
    });
  });
  return { ended, lastWords: () => findLastWords(kept) };
}

/** Paused until our own stderr has drained. */
const waiting = new Set<ByteStream>();
let isListening = false;
let isBroken = false;

function passOn(chunk: Uint8Array, from: ByteStream): void {
  if (isBroken) return;
  if (!isListening) {
    isListening = true;
    // For good, and once for all servers: a failure can be told long after the write, and who has no listener ends.
    process.stderr.on("error", () => {
      isBroken = true;
      resumeAll();
    });
    process.stderr.on("drain", resumeAll);
  }
  if (process.stderr.write(chunk)) return;
  waiting.add(from);
  from.pause();
}

function resumeAll(): void {
  for (const stream of waiting) stream.resume();
  waiting.clear();
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");
const telling = /\b(?:[A-Za-z]*(?:Error|Exception)\b.*:|(?:error|fatal|panic)\b)/i;

/** From the line that names the error on, where one near the end does; programs add much after it, and before. */
export function findLastWords(text: string): string | undefined {
  const lines = text
    .replace(colours, "")
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(?:at |Node\.js v\d|\^+$)/.test(line))
    .slice(-20);
  const first = lines.findIndex((line) => telling.test(line));
  const words = toLine(lines.slice(first >= 0 ? first : -3).join(" "), maxKept)
    .replace(/ {2,}/g, " ")
    .trim();
  if (words === "") return undefined;
  // What names the error stands in front; of anything else the end is the latest.
  return quote(first >= 0 || words.length <= maxShown ? words : `…${words.slice(1 - maxShown)}`, maxShown);
}
