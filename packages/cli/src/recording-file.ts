// The files that conversations are kept in: made for their owner alone, never written over unasked, and read with words for people
// where they are none.
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Conversation } from "plenum/testing";
import { Failure } from "./failure.ts";

export interface RecordingFile {
  readonly path: string;
  readonly lines: number;
  write(line: string): void;
  close(): void;
}

/** A folder gets a file of its own for each conversation. Throws a Failure where it cannot be made. */
export function createRecordingFile(given: string, isForced: boolean): RecordingFile {
  const path = isFolder(given) ? join(given, toName()) : given;
  const file = open(path, isForced);
  let lines = 0;
  return {
    path,
    get lines() {
      return lines;
    },
    write(line) {
      // At once: whoever started this may end it at any time.
      writeSync(file, `${line}\n`);
      lines++;
    },
    close: () => closeSync(file),
  };
}

function isFolder(path: string): boolean {
  if (/[\\/]$/.test(path)) mkdirSync(path, { recursive: true });
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function toName(): string {
  return `${new Date().toISOString().replace(/[:.]/g, "-")}-${process.pid}.jsonl`;
}

function open(path: string, isForced: boolean): number {
  try {
    return openSync(path, isForced ? "w" : "wx", 0o600);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") {
      throw new Failure("usage", `${path} is there already`, {
        code: "file_exists",
        hint: "Give another name, a folder, or --force to write over it.",
        cause,
      });
    }
    throw new Failure("usage", `${path} cannot be written: ${(cause as Error).message}`, {
      code: "file_unwritable",
      hint: "Give -o a file in a folder that is there and may be written to.",
      cause,
    });
  }
}

/**
 * Throws a Failure for what cannot be read, or is no conversation.
 * @param warn told of a last line that was cut off, and is left out
 */
export async function readRecording(path: string, warn: (text: string) => void): Promise<Conversation> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new Failure("usage", `${path} cannot be read: ${(cause as Error).message}`, {
      code: "file_unreadable",
      hint: "plenum record makes such files.",
      cause,
    });
  }
  const { parseConversation } = await import("plenum/testing");
  try {
    const conversation = parseConversation(text);
    const lines = text.trimEnd().split("\n").length;
    if (lines > conversation.events.length + 1)
      warn(`The last line of ${path} was cut off, and is left out: the recording may have been ended in the middle.`);
    return conversation;
  } catch (cause) {
    throw new Failure("usage", `${path}: ${(cause as Error).message}`, {
      code: "invalid_recording",
      hint: "plenum record makes such files; docs/testing.md describes them.",
      cause,
    });
  }
}
