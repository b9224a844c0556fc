// The newline framing of the stdio transport, without I/O: chunks of bytes in, lines of text out. The time it takes is
// linear in the bytes, however they are chunked: each byte is scanned once and copied a fixed number of times.
// Specification: basic/transports/stdio.
import { Buffer, constants } from "node:buffer";

export interface LinesOptions {
  /** Bytes that a line may have; its newline is not counted. Whatever is given, no more than a string can hold. */
  readonly maxBytes: number;
  /**
   * Told of every line that is not blank, without its line end, the first one without a byte order mark. Bytes that are
   * not UTF-8 are U+FFFD in it.
   */
  readonly onLine: (text: string) => void;
  /** Told once of a line that is too long, as soon as it is, with how it begins. The line is dropped up to its newline. */
  readonly onTooLong: (bytesSoFar: number, head: string) => void;
}

export interface Lines {
  push(chunk: Uint8Array): void;
  /** Nothing more comes: a last line that has no newline is delivered. */
  end(): void;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Pieces shorter than this are copied into blocks. A buffer of its own costs more than the bytes in it: a peer that sends
 * byte by byte could otherwise take a hundred times the memory that the limit allows.
 */
const smallPiece = 2048;
const blockSize = 16_384;
/** Characters of a line that is too long, enough to tell whose it is. Ids that are not ASCII are not looked for. */
const headLength = 500;
const noBlock = Buffer.alloc(0);

export function createLines({ maxBytes, onLine, onTooLong }: LinesOptions): Lines {
  const limit = Math.min(maxBytes, constants.MAX_STRING_LENGTH);
  /** The unfinished line: pieces in order, then what is in the block between `sealed` and `used`. */
  let pieces: Buffer[] = [];
  let block = noBlock;
  let sealed = 0;
  let used = 0;
  let held = 0;
  /** Inside a line that is too long. */
  let isSkipping = false;
  let isFirst = true;

  function forget(): void {
    pieces = [];
    // Nothing refers to the block any more: joining a line copies it.
    sealed = used = held = 0;
  }

  function seal(): void {
    if (used > sealed) pieces.push(block.subarray(sealed, used));
    sealed = used;
  }

  /** @param last of the line, not kept any more */
  function tellTooLong(size: number, last: Buffer): void {
    seal();
    let head = "";
    for (const piece of [...pieces, last]) {
      if (head.length >= headLength) break;
      head += piece.toString("latin1", 0, headLength - head.length);
    }
    forget();
    onTooLong(size, head);
  }

  function keep(piece: Buffer): void {
    held += piece.length;
    if (held > limit) {
      isSkipping = true;
      tellTooLong(held, piece);
    } else if (piece.length >= smallPiece) {
      seal();
      pieces.push(piece);
    } else {
      if (used + piece.length > block.length) {
        seal();
        block = Buffer.allocUnsafeSlow(blockSize);
        sealed = used = 0;
      }
      used += piece.copy(block, used);
    }
  }

  function deliver(bytes: Buffer, begin: number, to: number): void {
    // Some programs put the mark in front of all that they write; in JSON it has no place.
    const isMarked = isFirst && bytes.subarray(begin, Math.min(begin + 3, to)).equals(byteOrderMark);
    const from = isMarked ? begin + 3 : begin;
    isFirst = false;
    const end = to > from && bytes[to - 1] === carriageReturn ? to - 1 : to;
    if (end === from) return;
    const text = bytes.toString("utf8", from, end);
    if ((bytes[from] as number) <= space && text.trim() === "") return;
    onLine(text);
  }

  /** The line ends at `to`. */
  function finish(bytes: Buffer, from: number, to: number): void {
    if (isSkipping) {
      isSkipping = isFirst = false;
      return;
    }
    const size = held + to - from;
    if (size > limit) {
      isFirst = false;
      tellTooLong(size, bytes.subarray(from, to));
    } else if (held === 0) {
      deliver(bytes, from, to);
    } else {
      seal();
      pieces.push(bytes.subarray(from, to));
      const line = Buffer.concat(pieces, size);
      forget();
      deliver(line, 0, size);
    }
  }

  return {
    push(chunk) {
      // The search of a Buffer is many times faster than that of other byte arrays.
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let start = 0;
      for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
        finish(bytes, start, end);
        start = end + 1;
      }
      if (start < bytes.length && !isSkipping) keep(start === 0 ? bytes : bytes.subarray(start));
    },
    end() {
      finish(noBlock, 0, 0);
    },
  };
}
