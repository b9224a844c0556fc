// HTTP by node:http, which takes a sixth of what fetch does on Node. Connections are kept alive and belong to one channel.
import { Buffer } from "node:buffer";
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { pipeline, Readable } from "node:stream";
import { setImmediate } from "node:timers";
import { quote } from "../../util/quote.ts";
import type { Stop } from "../../util/stop.ts";
import { unref } from "../../util/unref.ts";
import type { Asked, Carrier, HttpAnswer } from "./client-carrier.ts";

/** How long a connection that nobody uses is kept. Most servers end theirs after five seconds. */
const idleMs = 4000;
/** How long none is kept for a server that has closed one behind an answer without having said so. */
const distrustMs = 60_000;
/** How long a server may take to be reached. */
const connectMs = 10_000;
/** How long it may take to begin a stream that is asked for. Whoever waits for an answer has a clock of its own. */
const streamMs = 300_000;
/** What is read of an answer that nobody wants, and for how long, so that its connection can be used again. */
const maxDrained = 64 * 1024;
const drainMs = 1000;
/** With which what zlib and gzip make begins. */
const zlibHead = 0x78;
const gzipHead = 0x1f;
/** As many encodings as fetch takes. */
const maxEncodings = 5;

// They say how a message is framed and what becomes of its connection, which is not for an application to say.
const framing = /^(?:connection|content-length|expect|keep-alive|transfer-encoding|upgrade)$/;

const wide = /[^\0-\x7f]/;
const isWide = (text: string): boolean => wide.test(text);

const proxyFlag = /(?<!\S)"?--use[-_]env[-_]proxy(?!\S*[^\s"])/;

/** Where a URL leads. */
interface Place {
  readonly host: string;
  readonly port: string;
  readonly path: string;
  /** The header. */
  readonly name: string;
}

/** Undefined where the environment names a proxy to Node: fetch knows about it. */
export function createNodeCarrier(): Carrier | undefined {
  const { NODE_USE_ENV_PROXY, NODE_OPTIONS = "" } = process.env;
  if (NODE_USE_ENV_PROXY === "1" || [...process.execArgv, NODE_OPTIONS].some((text) => proxyFlag.test(text)))
    return undefined;
  const places = new WeakMap<URL, Place>();
  /** How many connections rest, and the requests that wait for one of them. */
  let resting = 0;
  const waiting: (() => void)[] = [];
  /** When the server last closed one that it should have kept. */
  let closedAt = Number.NEGATIVE_INFINITY;
  let agent: HttpAgent | undefined;
  let usedAt = 0;

  function placeOf(url: URL): Place {
    const known = places.get(url);
    if (known) return known;
    const { hostname, port, pathname, search, host: name } = url;
    const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    const place = { host, port, path: pathname + search, name };
    places.set(url, place);
    return place;
  }

  /** All requests of a channel go to one origin. */
  function agentOf(url: URL): HttpAgent {
    agent ??= createAgent(url.protocol === "https:", rest);
    const now = Date.now();
    // In a process that was busy for long no timer has ended them.
    if (now - usedAt > idleMs)
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    usedAt = now;
    return agent;
  }

  const rest: Rest = {
    begin() {
      if (Date.now() - closedAt < distrustMs) return false;
      resting++;
      return true;
    },
    end(isClosed) {
      resting--;
      if (isClosed) closedAt = Date.now();
      waiting.shift()?.();
    },
  };

  /** A request does not open a connection while there is one that rests for it. */
  function send(asked: Asked, resolve: (answer: HttpAnswer) => void, reject: (error: unknown) => void): void {
    if (resting <= waiting.length || hasFree(agent)) start(asked, resolve, reject);
    else
      waiting.push(() => {
        try {
          start(asked, resolve, reject);
        } catch (error) {
          reject(error);
        }
      });
  }

  function start(asked: Asked, resolve: (answer: HttpAnswer) => void, reject: (error: unknown) => void): void {
    const { method, url, body, stop } = asked;
    stop.throwIfStopped();
    const isSecure = url.protocol === "https:";
    const { host, port, path, name } = placeOf(url);
    const headers = toRaw(asked, name, isSecure);
    const options = { agent: agentOf(url), host, port, path, method, headers };
    const request = isSecure ? httpsRequest(options) : httpRequest(options);
    let isAnswered = false;
    const timer = method === "GET" ? unref(setTimeout(() => request.destroy(lateStream()), streamMs)) : undefined;
    const end = stop.onStop(() => {
      request.destroy();
      over(stop.reason);
    });
    const over = (error: unknown): void => {
      clearTimeout(timer);
      end();
      reject(error);
    };
    /** An answer by which the connection would become one of another protocol, which nobody asked for. */
    const switched = ({ socket, statusMessage = "" }: IncomingMessage): void => {
      isAnswered = true;
      clearTimeout(timer);
      end();
      resolve({ status: 101, statusText: statusMessage, header: () => undefined, read: async () => {}, discard() {} });
      socket.destroy();
    };
    request.on("upgrade", switched);
    request.on("response", (response) => {
      if (response.statusCode === 101) return switched(response);
      // It would be a redirect that is hidden.
      if (!response.statusCode) return void request.destroy(new Error("HTTP 000 is no status"));
      isAnswered = true;
      clearTimeout(timer);
      const done = (): void => {
        usedAt = Date.now();
        end();
      };
      resolve(toAnswer(response, stop, done));
    });
    request.on("error", (error) => {
      if (!isAnswered && request.reusedSocket && isGone(error)) closedAt = Date.now();
      if (isAnswered || stop.isStopped || !isUnheard(request, error)) return over(error);
      end();
      clearTimeout(timer);
      start(asked, resolve, reject);
    });
    // Node writes a head and a text as one text of UTF-8, in which a header that is not ASCII would be another one.
    request.end(body !== undefined && headers.some(isWide) ? Buffer.from(body) : body);
  }

  return {
    send: (asked) => new Promise((resolve, reject) => send(asked, resolve, reject)),
    close: () => agent?.destroy(),
  };
}

function lateStream(): Error {
  return new Error(`there was no answer in ${streamMs} ms`);
}

/** Is told of connections that rest. */
interface Rest {
  /** @returns false: it is not to be kept */
  begin(): boolean;
  end(isClosed: boolean): void;
}

function hasFree(agent: HttpAgent | undefined): boolean {
  for (const _ in agent?.freeSockets) return true;
  return false;
}

/**
 * A server may close its connection behind an answer without having said so, and the next request on it would be lost. So a
 * connection rests until the loop has looked at it once more: an immediate comes before that, and one made there behind it.
 */
function letRest(agent: HttpAgent, rest: Rest): void {
  const [free] = agent.listeners("free");
  const last = (socket: Socket, options: unknown): void => {
    const isClosed = !socket.writable;
    free?.call(agent, socket, options);
    rest.end(isClosed);
  };
  const first = (socket: Socket, options: unknown): void => void setImmediate(last, socket, options);
  agent.removeAllListeners("free").on("free", (socket: Socket, options: unknown) => {
    if (rest.begin()) setImmediate(first, socket, options);
    else socket.destroy();
  });
}

function createAgent(isSecure: boolean, rest: Rest): HttpAgent {
  const options = { keepAlive: true, timeout: idleMs };
  const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
  letRest(agent, rest);
  const connect = (agent as unknown as { createConnection(...given: unknown[]): Socket | undefined }).createConnection;
  return Object.assign(agent, {
    createConnection(...given: unknown[]) {
      const socket = connect.apply(agent, given);
      const late = (): void => void socket?.destroy(new Error(`there was no connection in ${connectMs} ms`));
      const timer = unref(setTimeout(late, connectMs));
      const done = (): void => clearTimeout(timer);
      socket?.once(isSecure ? "secureConnect" : "connect", done).once("close", done);
      // While it rests nobody else listens.
      socket?.on("error", () => {});
      return socket;
    },
  });
}

/** Names and values in turns: node:http sends such a list as it is, and looks at each only once. */
function toRaw({ headers, body }: Asked, host: string, isSecure: boolean): string[] {
  const raw = headers.host === undefined ? ["host", host] : [];
  for (const name in headers) {
    if (framing.test(name)) throw new Error(`the header ${name} is not for an application to give`);
    raw.push(name, headers[name] as string);
  }
  if (headers["user-agent"] === undefined) raw.push("user-agent", "node");
  if (headers["accept-encoding"] === undefined)
    raw.push("accept-encoding", isSecure ? "br, gzip, deflate" : "gzip, deflate");
  if (body !== undefined) raw.push("content-length", `${Buffer.byteLength(body)}`);
  return raw;
}

/**
 * The server had closed a connection that was kept for it, and cannot have acted on the request, which was not written whole: it
 * may go on another. What was written is not sent again: its server may have ended while it was at work.
 */
function isUnheard(request: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return request.reusedSocket && isGone(error) && error.syscall === "write";
}

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === "ECONNRESET" || code === "EPIPE";
}

/** @param done to be called when nothing more comes of it */
function toAnswer(response: IncomingMessage, stop: Stop, done: () => void): HttpAnswer {
  const { statusCode = 0, statusMessage = "", headers } = response;
  // For as long as nobody reads.
  response.on("error", () => {});
  return {
    status: statusCode,
    statusText: statusMessage,
    header(name) {
      const value = headers[name];
      return typeof value === "object" ? value.join(", ") : value;
    },
    async read(onBytes) {
      const encoding = headers["content-encoding"];
      try {
        await (encoding === undefined
          ? drink(response, onBytes, stop)
          : drink(await decode(response, encoding), onBytes, stop));
      } catch (error) {
        response.destroy();
        throw stop.isStopped ? stop.reason : error;
      } finally {
        done();
      }
    },
    discard() {
      const over = (): void => void response.destroy();
      const timer = unref(setTimeout(over, drainMs));
      let size = 0;
      response.on("close", () => {
        clearTimeout(timer);
        done();
      });
      response.on("data", ({ length }: Buffer) => {
        size += length;
        if (size > maxDrained) over();
      });
    },
  };
}

/** Gives all bytes of a stream. */
function drink(body: Readable, onBytes: (bytes: Uint8Array) => void, stop: Stop): Promise<void> {
  return new Promise((resolve, reject) => {
    const broken = (cause?: object | null): void => {
      // A fault of zlib is none of the system.
      const isCode = cause && "errno" in cause && !("syscall" in cause);
      const what = isCode ? `cannot be decoded: ${(cause as unknown as Error).message}` : "broke off in the middle";
      reject(new Error(`the server's answer ${what}`, { cause }));
    };
    if (body.destroyed) return broken(body.errored);
    body.on("data", (bytes: Buffer) => {
      try {
        if (!stop.isStopped) onBytes(bytes);
      } catch (error) {
        reject(error);
        body.destroy();
      }
    });
    body.on("end", resolve);
    body.on("error", broken);
    body.on("close", () => body.readableEnded || broken());
  });
}

/** Codings that nobody asked for and that cannot be undone here. Other names (`none`, `utf-8`) are those of no coding at all. */
const foreign = /^(?:aes128gcm|bzip2|x-bzip2|compress|x-compress|dcb|dcz|exi|lzma|pack200-gzip|sdch|xz|zstd)$/;

/** The body without the encodings that its header names. */
async function decode(response: IncomingMessage, encoding: string): Promise<Readable> {
  const names = encoding.toLowerCase().split(",");
  if (names.length > maxEncodings)
    throw new Error(`the server's answer is encoded ${names.length} times over, and ${maxEncodings} is the most`);
  const { createBrotliDecompress, createInflateRaw, createUnzip, constants } = await import("node:zlib");
  // What there is comes out at once, and an end that is missing is no fault: the connection tells whether all came.
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  const flushBrotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };
  let body: Readable = response;
  for (const part of names.reverse()) {
    const name = part.trim();
    if (foreign.test(name))
      throw new Error(`the server's answer is encoded as ${quote(name)}, which it was not asked for`);
    if (!/^(?:br|deflate|(?:x-)?gzip)$/.test(name)) continue;
    const first = name === "deflate" ? await firstOf(body) : zlibHead;
    if (first === undefined) return body.readableEnded ? Readable.from([]) : body;
    // Under the name of deflate some servers send the bare thing. With these bits it cannot begin.
    const isBare = (first & 0x0f) !== 8 && first !== gzipHead;
    const toDecoder = isBare ? createInflateRaw : createUnzip;
    const decoder = name === "br" ? createBrotliDecompress(flushBrotli) : toDecoder(flush);
    // Who reads from the last one learns of what befalls any.
    body = pipeline(body, decoder, () => {});
  }
  return body;
}

/** The byte with which a body begins, which stays in it; undefined when it ends or breaks off before. */
function firstOf(body: Readable): Promise<number | undefined> {
  return new Promise((resolve) => {
    const none = (): void => resolve(undefined);
    body.on("error", none).on("close", none);
    body.once("data", (bytes: Buffer) => {
      body.pause();
      body.unshift(bytes);
      resolve(bytes[0]);
    });
  });
}
