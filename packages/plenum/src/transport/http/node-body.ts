// Reads the body of a node:http request: bounded in size and time, and UTF-8 to the letter.
import { Buffer, isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { Deadlines, type Timed } from "../../util/deadlines.ts";
import { Pieces } from "../../util/pieces.ts";
import { bodyIsRead, notUtf8, tooLarge } from "./body.ts";
import { HttpFault } from "./exchange.ts";

/** What frameworks add to a request. */
export type Mounted = IncomingMessage & {
  readonly originalUrl?: string;
  /** The body, where something in front has read it. */
  readonly body?: unknown;
};

/** Those that are being read. */
export type Bodies = Deadlines<BodyReader>;

/** @param timeoutMs how long each of them may take */
export function createBodies(timeoutMs: number): Bodies {
  return new Deadlines(timeoutMs, (one) => one.fail(new HttpFault(408, `The body did not come in ${timeoutMs} ms`)));
}

/** See `HttpRequest.body`. */
export function readBody(request: Mounted, maxBytes: number, bodies: Bodies): Promise<string> {
  if (request.readableEnded) {
    if (request.body === undefined) return Promise.reject(bodyIsRead());
    return parsedBody(request.body, maxBytes);
  }
  return new Promise((resolve, reject) => new BodyReader(request, bodies, maxBytes, resolve, reject).begin());
}

const ignore = (): void => {};

/** Where a request has its reader: with it, listeners need not be made for each. */
const own: unique symbol = Symbol("plenum.body");

type Read = Mounted & { [own]?: BodyReader | undefined };

function onData(this: Read, chunk: Buffer): void {
  this[own]?.take(chunk);
}

function onEnd(this: Read): void {
  this[own]?.end();
}

function onCut(this: Read): void {
  this[own]?.cut();
}

class BodyReader implements Timed {
  lateAt = 0;
  readonly #request: Read;
  readonly #bodies: Bodies;
  readonly #maxBytes: number;
  readonly #resolve: (text: string) => void;
  readonly #reject: (fault: unknown) => void;
  /** Nearly all come in one piece. */
  #first: Buffer | undefined;
  #all: Pieces | undefined;
  #length = 0;
  #isOver = false;

  constructor(
    request: Read,
    bodies: Bodies,
    maxBytes: number,
    resolve: (text: string) => void,
    reject: (fault: unknown) => void,
  ) {
    this.#request = request;
    this.#bodies = bodies;
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const request = this.#request;
    if (Number(request.headers["content-length"] ?? 0) > this.#maxBytes) this.fail(tooLarge(this.#maxBytes));
    else if (request.destroyed) this.cut();
    else {
      this.#bodies.add(this);
      request[own] = this;
      request.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut);
    }
  }

  fail(fault: HttpFault): void {
    if (this.#isOver) return;
    this.#over();
    // What comes still is read and dropped: the answer gives the connection its end.
    this.#request.off("data", onData);
    this.#request.on("error", ignore).resume();
    this.#reject(fault);
  }

  take(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) this.fail(tooLarge(this.#maxBytes));
    else if (!this.#first) this.#first = chunk;
    else {
      if (!this.#all) {
        this.#all = new Pieces();
        this.#all.add(this.#first);
      }
      this.#all.add(chunk);
    }
  }

  end(): void {
    if (this.#isOver) return;
    this.#over();
    const bytes = this.#all ? toBuffer(this.#all.whole()) : (this.#first ?? Buffer.alloc(0));
    if (isUtf8(bytes)) this.#resolve(decode(bytes));
    else this.#reject(notUtf8());
  }

  cut(): void {
    // Nearly always it has come whole by then: a fault is dear.
    if (!this.#isOver) this.fail(new HttpFault(400, "The body was cut off"));
  }

  #over(): void {
    this.#isOver = true;
    this.#bodies.delete(this);
    // A stream keeps its request for days, maybe: what was in the body must not stay with it.
    this.#request[own] = undefined;
  }
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Of bytes that are UTF-8. A byte order mark in front is none of the text. */
function decode(bytes: Buffer): string {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString("utf8", isMarked ? 3 : 0);
}

/** What a framework has parsed is written out again: its depth and size are not known. */
async function parsedBody(body: unknown, maxBytes: number): Promise<string> {
  let text: string | undefined;
  try {
    if (Buffer.isBuffer(body) && !isUtf8(body)) throw notUtf8();
    text = typeof body === "string" ? body : Buffer.isBuffer(body) ? decode(body) : JSON.stringify(body);
  } catch {
    throw new HttpFault(400, "The body is nested too deep, or not valid UTF-8", -32700);
  }
  if (Buffer.byteLength(text ?? "") > maxBytes) throw tooLarge(maxBytes);
  return text ?? "";
}
