// What is written to a node:http response, and when its reader has it.
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";

/** What a socket is given at a time: how much of that has gone out it does not tell. */
const portionBytes = 65_536;

/** Four times as much each time that a portion was taken in a moment, and no more than this: each has its price. */
const mostPortionBytes = 8 * portionBytes;
const momentMs = 100;

/** What is shorter is given to the socket in one piece. */
export const smallLength: number = portionBytes;

/** Writes in portions, as they are taken, so that it can be seen whether a slow reader reads. */
export class Feed {
  readonly #response: ServerResponse;
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #portionBytes = portionBytes;
  #isFull = false;
  #isEnding = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get waitingBytes(): number {
    return this.#bytes + this.#response.writableLength;
  }

  write(data: string | Buffer): void {
    if (!this.#isFull && data.length < smallLength) {
      this.#give(data);
      return;
    }
    const part = typeof data === "string" ? Buffer.from(data) : data;
    this.#parts.push(part);
    this.#bytes += part.length;
    this.#pump();
  }

  end(data: string | Buffer = ""): void {
    this.#isEnding = true;
    // Never with an empty text: behind others, node:http2 would send what is no part of them.
    if (data.length === 0) this.#pump();
    else if (this.#bytes === 0 && data.length < smallLength) this.#response.end(data);
    else this.write(data);
  }

  #pump(): void {
    while (this.#bytes > 0 && !this.#isFull) this.#give(this.#take());
    if (this.#isEnding && this.#bytes === 0) this.#response.end();
  }

  #give(data: string | Buffer): void {
    const response = this.#response;
    if (response.write(data)) return;
    this.#isFull = true;
    const givenAt = Date.now();
    response.once("drain", () => {
      this.#isFull = false;
      const isQuick = Date.now() - givenAt < momentMs;
      this.#portionBytes = isQuick ? Math.min(4 * this.#portionBytes, mostPortionBytes) : portionBytes;
      this.#pump();
    });
  }

  #take(): Buffer {
    const parts = this.#parts;
    const limit = this.#portionBytes;
    let count = 0;
    let length = 0;
    for (const part of parts) {
      if (length + part.length > limit) break;
      length += part.length;
      count++;
    }
    const [first] = parts as [Buffer, ...Buffer[]];
    const portion =
      count === 0 ? first.subarray(0, limit) : count === 1 ? first : Buffer.concat(parts.slice(0, count), length);
    if (count === 0) parts[0] = first.subarray(limit);
    else parts.splice(0, count);
    this.#bytes -= portion.length;
    return portion;
  }
}

/** What is to run when a connection ends: one listener for all requests that wait on it. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/** The returned function takes it back. */
export function onClose(socket: Socket, run: () => void): () => void {
  const runs = waiting.get(socket) ?? new Set();
  if (!waiting.has(socket)) {
    waiting.set(socket, runs);
    socket.once("close", () => {
      for (const one of runs) one();
    });
  }
  runs.add(run);
  return () => runs.delete(run);
}

/**
 * Tells when the reader of an answer has all of it, or none will. Ends the connection of one that takes nothing of it for so
 * long.
 * @param feed where the answer was given to one
 */
export function settle(
  request: IncomingMessage,
  response: ServerResponse,
  feed: Feed | undefined,
  ms: number,
  told: ((isWhole: boolean) => void) | undefined,
): void {
  // So it is with nearly all of them: the system has taken it in one go.
  if ((feed?.waitingBytes ?? response.writableLength) === 0 && request.complete) told?.(true);
  else watch(request, response, feed, ms, told);
}

function watch(
  request: IncomingMessage,
  response: ServerResponse,
  feed: Feed | undefined,
  ms: number,
  told: ((isWhole: boolean) => void) | undefined,
): void {
  const waitingBytes = (): number => feed?.waitingBytes ?? response.writableLength;
  let least = waitingBytes();
  // Of HTTP/2 a connection has many.
  const carrier = (response as { readonly stream?: Writable }).stream ?? request.socket;
  const look = (): void => {
    const waiting = waitingBytes();
    // Others before it on the same connection are not its reader's fault.
    if (response.socket !== null && (waiting === 0 || waiting >= least)) response.destroy();
    else arm();
    least = waiting;
  };
  const arm = (): void => {
    timer = setTimeout(look, ms);
    timer.unref();
  };
  let timer: NodeJS.Timeout;
  arm();
  const over = (isWhole: boolean): void => {
    clearTimeout(timer);
    told?.(isWhole);
    told = undefined;
  };
  response.once("finish", () => over(!carrier.destroyed));
  response.once("close", () => over(false));
  if (response.socket === null)
    response.once(
      "close",
      onClose(request.socket, () => over(false)),
    );
}
