// A raw HTTP/1.1 connection on node:net: one socket that is kept, one request in flight. Made by hand so that the driver costs
// far less CPU than any server under test.
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly isStream: boolean;
  /** The `Mcp-Session-Id`, if there was one. */
  readonly session: string | undefined;
  readonly body: string;
  readonly bytes: number;
}

interface Partial {
  readonly status: number;
  readonly isStream: boolean;
  readonly session: string | undefined;
  readonly closes: boolean;
  readonly parts: Buffer[];
}

type State = "head" | "fixed" | "size" | "chunk" | "chunk-end" | "trailer" | "until-close";

const blankLine = Buffer.from("\r\n\r\n");
const lineFeed = 10;
/** No answer for this long is a failure, never a run without end. */
const maxSilenceMs = 60_000;

function headerOf(head: string, lower: string, name: string): string | undefined {
  const start = lower.indexOf(`\r\n${name}:`);
  if (start < 0) return undefined;
  const end = head.indexOf("\r\n", start + 2);
  return head.slice(start + name.length + 3, end < 0 ? undefined : end).trim();
}

export class HttpConnection {
  readonly #port: number;
  readonly #path: string;
  #socket: Socket | undefined;
  #pending: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  #state: State = "head";
  #rest: Buffer | undefined;
  #left = 0;
  #partial: Partial | undefined;
  #onPart: ((part: Buffer) => void) | undefined;

  constructor(port: number, path: string) {
    this.#port = port;
    this.#path = path;
  }

  /** `headers` are whole lines, each with its line end. `onPart` is given a stream as it comes. */
  post(headers: string, body: string, onPart?: (part: Buffer) => void): Promise<Answer> {
    return this.#send("POST", `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, onPart);
  }

  /** Resolves when the stream ends; `close` leaves it. */
  get(headers: string, onPart?: (part: Buffer) => void): Promise<Answer> {
    return this.#send("GET", `${headers}\r\n`, onPart);
  }

  #send(method: string, rest: string, onPart: ((part: Buffer) => void) | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#onPart = onPart;
      this.#socket ??= this.#open();
      this.#socket.write(`${method} ${this.#path} HTTP/1.1\r\nHost: 127.0.0.1:${this.#port}\r\n${rest}`);
    });
  }

  close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    socket.setTimeout(maxSilenceMs, () => this.#fail(new Error(`no answer for ${maxSilenceMs} ms`)));
    socket.on("data", (data) => this.#read(data));
    socket.on("error", (error) => {
      if (this.#socket === socket) this.#fail(error);
    });
    socket.on("close", () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      if (this.#state === "until-close") this.#finish();
      else this.#fail(new Error("the connection was closed before the answer was whole"));
    });
    this.#rest = undefined;
    this.#state = "head";
    return socket;
  }

  #fail(error: Error): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.close();
    pending?.reject(error);
  }

  #finish(): void {
    const partial = this.#partial;
    this.#partial = undefined;
    this.#state = "head";
    if (!partial) return;
    const { status, isStream, session, parts } = partial;
    const whole = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    if (partial.closes) this.close();
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ status, isStream, session, body: whole.toString("utf8"), bytes: whole.length });
  }

  #begin(head: string): void {
    const lower = head.toLowerCase();
    const status = Number(head.slice(9, 12));
    this.#partial = {
      status,
      isStream: lower.includes("text/event-stream"),
      session: headerOf(head, lower, "mcp-session-id"),
      closes: lower.includes("\r\nconnection: close"),
      parts: [],
    };
    const length = headerOf(head, lower, "content-length");
    if (lower.includes("\r\ntransfer-encoding: chunked")) this.#state = "size";
    else if (length !== undefined) {
      this.#left = Number(length);
      this.#state = "fixed";
      if (this.#left === 0) this.#finish();
    } else if (status === 202 || status === 204 || status === 304) this.#finish();
    else this.#state = "until-close";
  }

  #take(part: Buffer): void {
    this.#partial?.parts.push(part);
    this.#onPart?.(part);
  }

  #read(data: Buffer): void {
    const buffer = this.#rest ? Buffer.concat([this.#rest, data]) : data;
    this.#rest = undefined;
    let at = 0;
    while (at < buffer.length) {
      const next = this.#step(buffer, at);
      if (next === undefined) {
        this.#rest = buffer.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** Reads on from here; gives where it stopped, or nothing if what comes next is not there as a whole. */
  #step(buffer: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case "head": {
        const end = buffer.indexOf(blankLine, at);
        if (end < 0) return undefined;
        this.#begin(buffer.toString("latin1", at, end));
        return end + 4;
      }
      case "fixed":
      case "chunk": {
        const count = Math.min(this.#left, buffer.length - at);
        this.#take(buffer.subarray(at, at + count));
        this.#left -= count;
        if (this.#left > 0) return at + count;
        if (this.#state === "fixed") this.#finish();
        else {
          this.#state = "chunk-end";
          this.#left = 2;
        }
        return at + count;
      }
      case "chunk-end": {
        const count = Math.min(this.#left, buffer.length - at);
        this.#left -= count;
        if (this.#left === 0) this.#state = "size";
        return at + count;
      }
      case "size":
      case "trailer": {
        const end = buffer.indexOf(lineFeed, at);
        if (end < 0) return undefined;
        if (this.#state === "trailer") {
          if (end - at <= 1) this.#finish();
        } else {
          this.#left = Number.parseInt(buffer.toString("latin1", at, end), 16);
          this.#state = this.#left === 0 ? "trailer" : "chunk";
        }
        return end + 1;
      }
      case "until-close":
        this.#take(buffer.subarray(at));
        return buffer.length;
    }
  }
}
