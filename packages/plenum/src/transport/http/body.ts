// Reads the body of a request: bounded in size and time, and UTF-8 to the letter.
import { Pieces } from "../../util/pieces.ts";
import { HttpFault } from "./exchange.ts";

/** Rejects with an HttpFault: 413, 408, or 400 for what is no UTF-8 or was cut off. */
export async function readUtf8(reader: ChunkReader, maxBytes: number, timeoutMs: number): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new HttpFault(408, `The body did not come in ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([collect(reader, maxBytes), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What of a stream's reader is needed here. */
export interface ChunkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

async function collect(reader: ChunkReader, maxBytes: number): Promise<string> {
  const pieces = new Pieces();
  for (;;) {
    const { value } = await reader.read().catch(() => {
      throw new HttpFault(400, "The body was cut off");
    });
    if (!value) return decodeUtf8(pieces.whole());
    if (pieces.size + value.byteLength > maxBytes) throw tooLarge(maxBytes);
    pieces.add(value);
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    // One for each: a decoder that failed may keep what it had.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw notUtf8();
  }
}

export function notUtf8(): HttpFault {
  return new HttpFault(400, "The body is not valid UTF-8", -32700);
}

/** The application has read the body and kept it to itself. */
export function bodyIsRead(): HttpFault {
  const remedy = "Give the handler the request before its body is read, or a clone of it";
  return new HttpFault(500, `The body was read before this server was given the request. ${remedy}`, -32603);
}

export function tooLarge(maxBytes: number): HttpFault {
  return new HttpFault(413, `The body has more than ${maxBytes} bytes`);
}
