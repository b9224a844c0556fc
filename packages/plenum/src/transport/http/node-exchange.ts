// One exchange of node:http as the HTTP core sees it. No streams are piped and no objects made that an answer does not need:
// this is the path that every request takes.
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { nextTick } from "node:process";
import {
  type EventSink,
  type GoneListener,
  type Headers,
  type HttpRequest,
  noSink,
  type Outlet,
  type Told,
} from "./exchange.ts";
import { jsonHeaders, toJsonHeaders } from "./headers.ts";
import { type Bodies, type Mounted, readBody } from "./node-body.ts";
import { Feed, onClose, settle, smallLength } from "./node-feed.ts";

/** What the exchanges of one handler have in common. */
export interface NodeGround {
  readonly readerTimeoutMs: number;
  readonly bodies: Bodies;
}

/** Of these Node keeps the first and drops the rest; which one an intermediary has looked at is not known. */
const singular: ReadonlySet<string> = new Set(["host", "content-type", "authorization"]);

/** Between two headers of MCP that have one name: a value may have a comma, and never this. */
const doubled = "\n";

/** How long a client whose request was not read to its end may take to read the answer. */
const lingerMs = 1000;

const ignore = (): void => {};

export class NodeExchange implements HttpRequest, Outlet {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #request: Mounted;
  readonly #response: ServerResponse;
  readonly #ground: NodeGround;
  /** The host, where the target is a whole URL. */
  readonly #authority: string | undefined;
  #listener: GoneListener | undefined;
  #isOver = false;
  /** A header of the request stands there twice; looked for once. */
  #hasDoubles: boolean | undefined;

  constructor(request: Mounted, response: ServerResponse, ground: NodeGround) {
    const { path, query, authority } = splitUrl(request.url ?? "/");
    this.method = request.method ?? "GET";
    this.path = path;
    this.query = query;
    this.#authority = authority;
    this.#request = request;
    this.#response = response;
    this.#ground = ground;
    // Also where the socket breaks while something is written: nobody else listens.
    response.on("error", ignore);
    response.on("close", this.#lose);
    // Its turn is still to come: Node would not tell it that the connection has ended.
    if (response.socket === null) response.once("close", onClose(request.socket, this.#lose));
  }

  get base(): string {
    const { originalUrl, url } = this.#request;
    const whole = splitUrl(originalUrl ?? url ?? "/").path;
    return whole.endsWith(this.path) ? whole.slice(0, whole.length - this.path.length) : "";
  }

  get peer(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    const request = this.#request;
    if (name === "host" && (this.#authority !== undefined || request.httpVersionMajor > 1)) return this.#host();
    this.#hasDoubles ??= hasDoubles(request.rawHeaders);
    if (this.#hasDoubles && name.startsWith("mcp-")) return joined(request, name, doubled);
    const value = this.#hasDoubles && singular.has(name) ? joined(request, name, ", ") : request.headers[name];
    return typeof value === "object" ? value.join(", ") : value;
  }

  /** Its time is that of all bodies here. */
  body(maxBytes: number): Promise<string> {
    return readBody(this.#request, maxBytes, this.#ground.bodies);
  }

  onGone(listener: GoneListener): void {
    this.#listener = listener;
  }

  answer(status: number, headers: Headers, body = "", told?: Told): void {
    if (this.#isOver) return;
    const response = this.#response;
    if (this.#isTaken) {
      this.#lose();
      return;
    }
    const request = this.#request;
    const isCut = !request.complete;
    // Of what is long the bytes are made once, for their number and to be sent.
    const data = body.length < smallLength ? body : Buffer.from(body);
    const bytes = Buffer.byteLength(data);
    response.writeHead(status, this.#toSent(headers, status === 204 ? undefined : bytes, isCut));
    this.#isOver = true;
    const feed = typeof data === "string" ? undefined : new Feed(response);
    if (feed) feed.end(data);
    // Behind others node:http2 would send an empty text, which is no part of them.
    else if (body === "") response.end();
    else this.finishWith(body, bytes);
    settle(request, response, feed, isCut ? lingerMs : this.#ground.readerTimeoutMs, told);
  }

  stream(headers: Headers): EventSink {
    if (this.#isOver) return noSink;
    if (this.#isTaken) {
      this.#lose();
      return noSink;
    }
    // A body that nobody wants would stand in front of the news that the client is gone.
    if (!this.#request.complete) this.#request.on("error", ignore).resume();
    return new NodeSink(this, headers);
  }

  /** For its stream: the head, now at the latest. False where the client is gone, or somebody else's by now. */
  begin(headers: Headers, wholeBytes?: number): boolean {
    if (this.#isTaken) {
      this.#lose();
      return false;
    }
    this.#response.writeHead(200, wholeBytes === undefined ? { ...headers } : this.#toSent(headers, wholeBytes, false));
    return true;
  }

  /** What is short, as the whole answer. Of `end` alone Node makes two pieces, the second empty, which is dearer to write. */
  finishWith(text: string, bytes: number): void {
    const response = this.#response;
    // Plain ASCII, which nearly all is, need not be looked at letter by letter.
    const encoding = bytes === text.length ? "latin1" : "utf8";
    if (this.#request.httpVersionMajor > 1) {
      response.end(text, encoding);
      return;
    }
    response.cork();
    response.write(text, encoding);
    response.uncork();
    response.end();
  }

  /** For its stream: no more is to come of it. */
  finish(feed: Feed | undefined, told: Told | undefined): void {
    settle(this.#request, this.#response, feed, this.#ground.readerTimeoutMs, told);
  }

  /** For its stream. */
  get response(): ServerResponse {
    return this.#response;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  over(): void {
    this.#isOver = true;
  }

  readonly #lose = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener?.gone();
  };

  /** Whoever else has begun to answer, such as a time limit of the application's, has the client from then on. */
  get #isTaken(): boolean {
    return this.#response.destroyed || this.#response.headersSent;
  }

  /** An object, not a list of names and values: what applications put around `writeHead` knows no lists. */
  #toSent(headers: Headers, bytes: number | undefined, isCut: boolean): { [name: string]: string | number } {
    const isHttp2 = this.#request.httpVersionMajor > 1;
    const sent: { [name: string]: string | number } = headers === jsonHeaders ? toJsonHeaders() : {};
    // Not spread: an answer was dearer with it (bench, case `http`).
    if (headers !== jsonHeaders) for (const name in headers) sent[name] = headers[name] as string;
    if (bytes !== undefined) sent["content-length"] = bytes;
    // One connection has many of them in HTTP/2, and no such header.
    if (isHttp2) delete sent.connection;
    else if (isCut) sent.connection = "close";
    return sent;
  }

  /** Two names for one server are none: which of them somebody on the way has looked at is not known. */
  #host(): string | undefined {
    const request = this.#request;
    // What HTTP/2 has in place of the header, or beside it.
    const pseudo = request.headers[":authority"] as string | undefined;
    const host = joined(request, "host", ", ");
    if (pseudo === undefined && this.#authority === undefined) return host;
    const names = new Set([this.#authority, pseudo, host].filter((name) => name !== undefined));
    return names.size > 0 ? [...names].join(", ") : undefined;
  }
}

function flush(sink: NodeSink): void {
  try {
    sink.flush();
  } catch {
    // What an application has put around the response does not work: its client is gone, as everybody hears then.
    sink.break();
  }
}

/** Events. What is written in one turn travels together, and with the head of the answer; where all is said by then, alone. */
class NodeSink implements EventSink {
  readonly #exchange: NodeExchange;
  readonly #headers: Headers;
  /** Once there is more than a short text. */
  #feed: Feed | undefined;
  /** Bytes of what is long, or else text. */
  #held: string | Buffer = "";
  #heldBytes = 0;
  #hasBegun = false;

  constructor(exchange: NodeExchange, headers: Headers) {
    this.#exchange = exchange;
    this.#headers = headers;
    nextTick(flush, this);
  }

  write(text: string): void {
    if (this.#exchange.isOver) return;
    if (typeof this.#held !== "string") this.flush();
    if (this.#hasBegun && this.#held === "") nextTick(flush, this);
    const bytes = Buffer.byteLength(text);
    const isLong = text.length >= smallLength;
    this.#held = isLong ? joinBytes(this.#held as string, this.#heldBytes, text, bytes) : `${this.#held}${text}`;
    this.#heldBytes += bytes;
    // What is long waits for its end alone, which makes it a whole: there is nothing else to gain.
    if (this.#heldBytes >= smallLength && (this.#hasBegun || !isLong)) this.flush();
  }

  end(told?: Told): void {
    const exchange = this.#exchange;
    if (exchange.isOver) return;
    const bytes = this.#heldBytes;
    const held = this.#take();
    const isWhole = !this.#hasBegun && bytes > 0;
    if (!this.#hasBegun && !exchange.begin(this.#headers, isWhole ? bytes : undefined)) return;
    this.#hasBegun = true;
    exchange.over();
    if (this.#feed || bytes === 0 || held.length >= smallLength) this.#toFeed().end(held);
    else if (isWhole) exchange.finishWith(held as string, bytes);
    else exchange.response.end(held);
    exchange.finish(this.#feed, told);
  }

  abort(): void {
    if (typeof this.#held !== "string") this.flush();
    if (this.#exchange.isOver) return;
    this.#exchange.over();
    this.#exchange.response.destroy();
  }

  break(): void {
    this.#exchange.response.destroy();
  }

  get waitingBytes(): number {
    if (this.#exchange.isOver) return 0;
    if (!this.#hasBegun) return this.#heldBytes;
    return this.#heldBytes + (this.#feed?.waitingBytes ?? this.#exchange.response.writableLength);
  }

  flush(): void {
    if (this.#exchange.isOver) return;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      if (!this.#exchange.begin(this.#headers)) return;
      // Who is cut off while it reads has seen at least that it was answered.
      if (this.#held === "" || this.#heldBytes >= smallLength) this.#exchange.response.flushHeaders();
    }
    if (this.#held !== "") this.#toFeed().write(this.#take());
  }

  #toFeed(): Feed {
    this.#feed ??= new Feed(this.#exchange.response);
    return this.#feed;
  }

  #take(): string | Buffer {
    const held = this.#held;
    this.#held = "";
    this.#heldBytes = 0;
    return held;
  }
}

/** Not by way of one text: that would be one more copy of what is long. */
function joinBytes(head: string, headBytes: number, text: string, bytes: number): Buffer {
  const both = Buffer.allocUnsafeSlow(headBytes + bytes);
  both.write(head);
  both.write(text, headBytes);
  return both;
}

/** Most requests have so many headers at most; of others it is not asked whether any stands there twice. */
const fewHeaders = 32;

function hasDoubles(raw: readonly string[]): boolean {
  if (raw.length > 2 * fewHeaders) return true;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    for (let k = i + 2; k < raw.length; k += 2) if (isSameName(name, raw[k] as string)) return true;
  }
  return false;
}

/** The first letters tell nearly all apart. */
function isSameName(one: string, other: string): boolean {
  return (
    one.length === other.length &&
    (one.charCodeAt(0) | 0x20) === (other.charCodeAt(0) | 0x20) &&
    one.toLowerCase() === other.toLowerCase()
  );
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
  readonly authority: string | undefined;
}

function splitUrl(url: string): Target {
  const at = url.indexOf("?");
  let path = at < 0 ? url : url.slice(0, at);
  let authority: string | undefined;
  // The absolute form, which clients send to proxies.
  if (!path.startsWith("/")) {
    const [start = "", host] = /^https?:\/\/([^/]*)/i.exec(path) ?? [];
    if (start) path = path.slice(start.length) || "/";
    authority = host;
  }
  return { path, query: at < 0 ? "" : url.slice(at + 1), authority };
}
