// The seam between the HTTP core and what feeds it: one HTTP request, and the way to answer it. `node.ts` makes them of
// node:http's objects, `server.ts` of Request and Response; the core sees neither.
import type { AuthInfo } from "../../protocol/endpoint.ts";

export type Headers = { readonly [name: string]: string };

/** What of a request can be looked at before its body. */
export interface HttpHead {
  /** In upper case. */
  readonly method: string;
  /** Without the query, as it was sent: not decoded. */
  readonly path: string;
  /** What was in front of `path` before whoever mounted the handler took it off. */
  readonly base?: string | undefined;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
  /**
   * By its name in lower case. Several of one name are joined by ", ", so that a header that is to stand once is not found
   * valid; those of MCP by a line break, where the runtime shows them one by one.
   */
  header(name: string): string | undefined;
  /** The address of who sent it, where the runtime tells. */
  readonly peer?: string | undefined;
}

export interface HttpRequest extends HttpHead {
  /**
   * The body, which must be UTF-8. Rejects with an HttpFault: longer than `maxBytes` (413), not here in time (408), cut off or
   * no UTF-8 (400).
   */
  body(maxBytes: number, timeoutMs: number): Promise<string>;
}

/** The way back. Exactly one of `answer` and `stream` is called, once. */
export interface Outlet {
  /**
   * The whole answer at once. Throws for a header that cannot be sent: then nothing was, and another answer can follow.
   * Where somebody else has answered it is as if the client were gone.
   */
  answer(status: number, headers: Headers, body?: string, told?: Told): void;
  /** An answer that goes on: status 200, and events follow. */
  stream(headers: Headers): EventSink;
  /** Told, once, if the client is gone before the answer is complete. In place of whoever was to be told before. */
  onGone(listener: GoneListener): void;
}

/** An object, not a function: whoever answers is one already, and each request has one. */
export interface GoneListener {
  gone(): void;
}

/** Told once, as far as the runtime knows: the reader has all of it; or was cut off before. */
export type Told = (isWhole: boolean) => void;

export interface EventSink {
  /** One or more whole events. Nothing once it is over. */
  write(text: string): void;
  /** Ends the stream in order: what was written arrives. */
  end(told?: Told): void;
  /** Ends it at once; what waits is dropped. */
  abort(): void;
  /** Bytes that were written and not taken yet: how far behind the reader is. */
  readonly waitingBytes: number;
}

/** Where nobody reads. */
export const noSink: EventSink = { write() {}, end() {}, abort() {}, waitingBytes: 0 };

/** A request that ends with this answer, and goes no further. */
export class HttpFault extends Error {
  override readonly name = "HttpFault";
  readonly status: number;
  readonly headers: Headers;
  /** The JSON-RPC code of the answer's body. */
  readonly rpcCode: number;

  constructor(status: number, message: string, rpcCode = -32600, headers: Headers = {}) {
    super(message);
    this.status = status;
    this.rpcCode = rpcCode;
    this.headers = headers;
  }
}

/** Why a request is not let in: 401 or 403, with what the client is to be told (`WWW-Authenticate`). */
export interface Refusal {
  readonly status: number;
  readonly headers?: Headers;
  readonly message?: string;
}

/** Says who sent a request, by its headers alone; or why it is not let in. What it throws is a 500, and reported. */
export interface Authenticate {
  (request: HttpHead): Admission | Promise<Admission>;
  /** Pages that tell where leave is given. For everybody. */
  readonly routes?: { readonly [path: string]: Route };
  /** What is said to who is let in, but not to what takes these scopes. Default: 403 alone. */
  challenge?(scopes: readonly string[]): Refusal;
}

/** Nothing at all, or false, is 401. */
export type Admission = AuthInfo | Refusal | undefined | null | false;

/** A page beside the MCP endpoint. */
export interface RouteAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Headers;
  /** Text as it is; any other value as JSON. */
  readonly body?: unknown;
}

export type Route = (request: HttpRequest) => RouteAnswer | Promise<RouteAnswer>;
