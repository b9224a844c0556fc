// One exchange of node:http as the HTTP core sees it. No streams are piped and no objects made that an answer does not need:
// this is the path that every request takes.
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { decodeUtf8 } from "./body.ts";
import { type EventSink, HttpFault, type HttpRequest, type Outlet } from "./exchange.ts";

/** What frameworks add to a request. */
type Mounted = IncomingMessage & {
  readonly originalUrl?: string;
  /** The body, where something in front has read it. */
  readonly body?: unknown;
};

/** Of these Node keeps the first and drops the rest; which one an intermediary has looked at is not known. */
const singular: ReadonlySet<string> = new Set(["host", "content-type", "authorization"]);

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
      const value = singular.has(name) ? joined(request, name) : request.headers[name];
      // Two names for one server are none: which of them somebody on the way has looked at is not known.
      if (name === "host" && authority !== undefined && authority !== value) return `${authority}, ${value}`;
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: (maxBytes, timeoutMs) => readBody(request, maxBytes, timeoutMs),
    get peer() {
      return request.socket.remoteAddress;
    },
  };
}

/** All values of a header, joined, so that one which is there twice is not taken for one. */
function joined({ rawHeaders, headers }: IncomingMessage, name: string): string | undefined {
  const first = headers[name];
  if (typeof first !== "string") return undefined;
  let all: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i] as string;
    if (raw.length === name.length && raw.toLowerCase() === name)
      all = all === undefined ? (rawHeaders[i + 1] as string) : `${all}, ${rawHeaders[i + 1]}`;
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
  if (request.body !== undefined && request.readableEnded) return parsedBody(request.body, maxBytes);
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
      if (length > maxBytes) fail(new HttpFault(413, `The body has more than ${maxBytes} bytes`));
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
    if (Number(request.headers["content-length"] ?? 0) > maxBytes)
      return fail(new HttpFault(413, `The body has more than ${maxBytes} bytes`));
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
  if ((text?.length ?? 0) > maxBytes) throw new HttpFault(413, `The body has more than ${maxBytes} bytes`);
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
  return {
    answer(status, headers, body) {
      if (isOver) return;
      if (response.destroyed) {
        isOver = true;
        return;
      }
      const text = body ?? "";
      const isCut = !request.complete;
      response.writeHead(status, {
        ...headers,
        ...(status !== 204 && { "content-length": Buffer.byteLength(text) }),
        ...(isCut && { connection: "close" }),
      });
      isOver = true;
      response.end(text);
      if (isCut) end(response, lingerMs);
      else if (response.writableLength > 0) end(response, readerTimeoutMs);
    },
    stream(headers) {
      const sink: EventSink = {
        write(text) {
          if (!isOver) response.write(text);
        },
        end() {
          if (isOver) return;
          isOver = true;
          response.end();
          if (response.writableLength > 0) end(response, readerTimeoutMs);
        },
        abort() {
          if (isOver) return;
          isOver = true;
          response.destroy();
        },
        get waitingBytes() {
          return isOver ? 0 : response.writableLength;
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

/** Ends the connection of a client that does not read to the end of its answer. */
function end(response: ServerResponse, ms: number): void {
  const timer = setTimeout(() => response.socket?.destroy(), ms);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
}
