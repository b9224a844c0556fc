// The seam between a client's channel and what speaks HTTP for it: node:http on Node (client-node.ts), fetch elsewhere and
// wherever one is given (client-fetch.ts). And what can be done with an answer, whoever brought it.
import { Pieces } from "../../util/pieces.ts";
import type { Stop } from "../../util/stop.ts";

export type HeaderRecord = { readonly [name: string]: string };

/** One HTTP request. */
export interface Asked {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  /** Their names in lower case. */
  readonly headers: HeaderRecord;
  readonly body?: string | undefined;
  /** Ends the request, and the reading of its answer. */
  readonly stop: Stop;
  /** Sent by the channel itself, while nobody waits for it: no user is to be asked for its sake. */
  readonly isUnattended?: boolean;
}

/** What a request was sent with. Some of it only its server may see. */
export interface Sent {
  readonly url: URL;
  /** Headers that the application gave, whatever they are for. */
  readonly given: HeaderRecord;
  /** Those that we add. */
  readonly own: HeaderRecord;
}

/** An answer whose head is there. Its body is to be read or discarded. */
export interface HttpAnswer {
  /** 0 for a redirect that the runtime hides. */
  readonly status: number;
  readonly statusText: string;
  /** Set where the status says no: what the request said may come back in the answer's words, and those are shown. */
  sent?: Sent;
  /** @param name in lower case */
  header(name: string): string | undefined;
  /** Gives the body as it comes, decoded. Rejects when it breaks off, with what `onBytes` throws, or when it is stopped. */
  read(onBytes: (bytes: Uint8Array) => void): Promise<void>;
  /** Nothing more of this answer is wanted. */
  discard(): void;
}

export interface Carrier {
  /** Follows no redirect. Rejects when the server cannot be reached, or when it is stopped. */
  send(asked: Asked): Promise<HttpAnswer>;
  /** Ends all connections. */
  close(): void;
}

export function isOk({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

/** The media type alone, in lower case. */
export function typeOf(answer: HttpAnswer): string {
  const type = answer.header("content-type") ?? "";
  const end = type.indexOf(";");
  return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase();
}

const decoder = new TextDecoder();

/** What ends a reading that has enough. */
const enough = new Error("enough");

/**
 * The body as text.
 * @param isCut a longer one is cut off instead of refused
 */
export async function readText(answer: HttpAnswer, maxBytes: number, isCut = false): Promise<string> {
  const pieces = new Pieces();
  const reading = answer.read((bytes) => {
    pieces.add(bytes);
    if (pieces.size <= maxBytes) return;
    throw isCut ? enough : new Error(`the server's answer has more than ${maxBytes} bytes (maxResponseBytes)`);
  });
  await (isCut ? reading.catch((error) => error !== enough && Promise.reject(error)) : reading);
  return decoder.decode(pieces.whole());
}
