// One exchange of node:http as the HTTP core sees it. No streams are piped and no objects made that an answer does not need:
// this is the path that every request takes.
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { bodyIsRead, decodeUtf8, tooLarge } from "./body.ts";
import { type EventSink, HttpFault, type HttpRequest, noSink, type Outlet } from "./exchange.ts";

/** What frameworks add to a request. */
type Mounted = IncomingMessage & {
  readonly originalUrl?: string;
  /** The body, where something in front has read it. */
  readonly body?: unknown;
};

/** Of these Node keeps the first and drops the rest; which one an intermediary has looked at is not known. */
const singular: ReadonlySet<string> = new Set(["host", "content-type", "authorization"]);

/** Between two headers of MCP that have one name: a value may have a comma, and never this. */
const doubled = "\n";

export function toHttpRequest(request: Mounted): HttpRequest {
  const { path, query, authority } = splitUrl(request.url ?? "/");
  return {
    method: request.method ?? "GET",
    path,
    query,
    get base() {
      const whole = splitUrl(request.originalUrl ?? request.url ?? "/").path;
      return whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : "";
    },
    header(name) {
      if (name === "host") return hostOf(request, authority);
      if (name.startsWith("mcp-")) return joined(request, name, doubled);
      const value = singular.has(name) ? joined(request, name, ", ") : request.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: (maxBytes, timeoutMs) => readBody(request, maxBytes, timeoutMs),
    get peer() {
      return request.socket.remoteAddress;
    },
  };
}

/** Two names for one server are none: which of them somebody on the way has looked at is not known. */
function hostOf(request: IncomingMessage, authority: string | undefined): string | undefined {
  const host = joined(request, "host", ", ");
  // What HTTP/2 has in place of the header, or beside it.
  const pseudo = request.headers[":authority"] as string | undefined;
  const names = new Set([authority, pseudo, host].filter((name) => name !== undefined));
  return names.size > 0 ? [...names].join(", ") : undefined;
}

/** All values of a header, joined, so that one which is there twice is not taken for one. */
function joined({ rawHeaders, headers }: IncomingMessage, name: string, by: string): string | undefined {
  const first = headers[name];
  if (typeof first !== "string") return undefined;
  let all: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i] as string;
    if (raw.length === name.length && raw.toLowerCase() === name)
      all = all === undefined ? (rawHeaders[i + 1] as string) : `${all}${by}${rawHeaders[i + 1]}`;
  }
  return all ?? first;
}

interface Target {
  readonly path: string;
  readonly query: string;
  /** The host, where the target is a whole URL. */
  readonly authority?: string;
}

function splitUrl(url: string): Target {
  const at = url.indexOf("?");
  let path = at < 0 ? url : url.slice(0, at);
  // The absolute form, which clients send to proxies.
  const [start = "", authority] = /^https?:\/\/([^/]*)/i.exec(path) ?? [];
  if (start) path = path.slice(start.length) || "/";
  return { path, query: at < 0 ? "" : url.slice(at + 1), ...(authority !== undefined && { authority }) };
}

function readBody(request: Mounted, maxBytes: number, timeoutMs: number): Promise<string> {
  if (request.readableEnded) {
    if (request.body === undefined) return Promise.reject(bodyIsRead());
    return parsedBody(request.body, maxBytes);
  }
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const stop = (): void => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
    };
    const fail = (fault: HttpFault): void => {
      stop();
      // What comes still is read and dropped: the answer gives the connection its end.
      request.on("error", () => {}).resume();
      reject(fault);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBytes) fail(tooLarge(maxBytes));
      else parts.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      try {
        resolve(decodeUtf8(parts, length));
      } catch (error) {
        reject(error);
      }
    };
    const onCut = (): void => fail(new HttpFault(400, "The body was cut off"));
    const timer = setTimeout(() => fail(new HttpFault(408, `The body did not come in ${timeoutMs} ms`)), timeoutMs);
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) return fail(tooLarge(maxBytes));
    if (request.destroyed) return onCut();
    request.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut);
  });
}

/** What a framework has parsed is written out again: its depth and size are not known. */
async function parsedBody(body: unknown, maxBytes: number): Promise<string> {
  let text: string | undefined;
  try {
    text =
      typeof body === "string" ? body : Buffer.isBuffer(body) ? decodeUtf8([body], body.length) : JSON.stringify(body);
  } catch {
    throw new HttpFault(400, "The body is nested too deep, or not valid UTF-8", -32700);
  }
  if (Buffer.byteLength(text ?? "") > maxBytes) throw tooLarge(maxBytes);
  return text ?? "";
}

/** How long a client whose request was not read to its end may take to read the answer. */
const lingerMs = 1000;

export function toOutlet(request: IncomingMessage, response: ServerResponse, readerTimeoutMs: number): Outlet {
  let gone: (() => void) | undefined;
  let isOver = false;
  // Also where the socket breaks while something is written: nobody else listens.
  response.on("error", () => {});
  const lose = (): void => {
    if (isOver) return;
    isOver = true;
    gone?.();
  };
  response.on("close", lose);
  // Its turn is still to come: Node would not tell it that the connection has ended.
  if (response.socket === null) response.once("close", onClose(request.socket, lose));
  // Whoever else has begun to answer, such as a time limit of the application's, has the client from then on.
  const isTaken = (): boolean => response.destroyed || response.headersSent;
  return {
    answer(status, headers, body, told) {
      if (isOver) return;
      if (isTaken()) return lose();
      const text = body ?? "";
      const isCut = !request.complete;
      const { connection, ...rest } = { ...headers, ...(isCut && { connection: "close" }) };
      response.writeHead(status, {
        ...rest,
        ...(status !== 204 && { "content-length": Buffer.byteLength(text) }),
        // HTTP/2 has no such header.
        ...(connection !== undefined && request.httpVersionMajor < 2 && { connection }),
      });
      isOver = true;
      const feed = new Feed(response);
      feed.end(text);
      settle(request, response, feed, isCut ? lingerMs : readerTimeoutMs, told);
    },
    stream(headers) {
      if (isOver) return noSink;
      if (isTaken()) {
        lose();
        return noSink;
      }
      const feed = new Feed(response);
      const sink: EventSink = {
        write(text) {
          if (!isOver) feed.write(text);
        },
        end(told) {
          if (isOver) return;
          isOver = true;
          feed.end();
          settle(request, response, feed, readerTimeoutMs, told);
        },
        abort() {
          if (isOver) return;
          isOver = true;
          response.destroy();
        },
        get waitingBytes() {
          return isOver ? 0 : feed.waitingBytes;
        },
      };
      response.writeHead(200, headers);
      response.flushHeaders();
      // A body that nobody wants would stand in front of the news that the client is gone.
      if (!request.complete) request.on("error", () => {}).resume();
      return sink;
    },
    onGone(run) {
      gone = run;
    },
  };
}

/** What a socket is given at a time: how much of that has gone out it does not tell. */
const portionBytes = 65_536;

/** Writes in portions, as they are taken, so that it can be seen whether a slow reader reads. */
class Feed {
  readonly #response: ServerResponse;
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #isFull = false;
  #isEnding = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get waitingBytes(): number {
    return this.#bytes + this.#response.writableLength;
  }

  write(text: string): void {
    if (!this.#isFull && text.length < portionBytes) {
      this.#give(text);
      return;
    }
    const part = Buffer.from(text);
    this.#parts.push(part);
    this.#bytes += part.length;
    this.#pump();
  }

  end(text = ""): void {
    this.#isEnding = true;
    // Never with an empty text: behind others, node:http2 would send what is no part of them.
    if (text === "") this.#pump();
    else if (this.#bytes === 0 && text.length < portionBytes) this.#response.end(text);
    else this.write(text);
  }

  #pump(): void {
    while (this.#bytes > 0 && !this.#isFull) this.#give(this.#take());
    if (this.#isEnding && this.#bytes === 0) this.#response.end();
  }

  #give(data: string | Buffer): void {
    if (this.#response.write(data)) return;
    this.#isFull = true;
    this.#response.once("drain", () => {
      this.#isFull = false;
      this.#pump();
    });
  }

  #take(): Buffer {
    const parts = this.#parts;
    let count = 0;
    let length = 0;
    for (const part of parts) {
      if (length + part.length > portionBytes) break;
      length += part.length;
      count++;
    }
    const [first] = parts as [Buffer, ...Buffer[]];
    const portion = count > 0 ? Buffer.concat(parts.splice(0, count)) : first.subarray(0, portionBytes);
    if (count === 0) parts[0] = first.subarray(portionBytes);
    this.#bytes -= portion.length;
    return portion;
  }
}

/** What is to run when a connection ends: one listener for all requests that wait on it. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/** The returned function takes it back. */
function onClose(socket: Socket, run: () => void): () => void {
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
 */
function settle(
  request: IncomingMessage,
  response: ServerResponse,
  feed: Feed,
  ms: number,
  told: (isWhole: boolean) => void = () => {},
): void {
  let least = feed.waitingBytes;
  if (least === 0 && request.complete) {
    told(true);
    return;
  }
  // Of HTTP/2 a connection has many.
  const carrier = (response as { readonly stream?: Writable }).stream ?? request.socket;
  const look = (): void => {
    const waiting = feed.waitingBytes;
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
    told(isWhole);
    told = () => {};
  };
  response.once("finish", () => over(!carrier.destroyed));
  response.once("close", () => over(false));
  if (response.socket === null)
    response.once(
      "close",
      onClose(request.socket, () => over(false)),
    );
}
