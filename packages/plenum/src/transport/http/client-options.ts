// What an application gives to reach a server over HTTP, checked and with what it leaves out filled in.
import type { JsonObject } from "../../jsonrpc/message.ts";
import { quote } from "../../util/quote.ts";
import type { Carrier, HeaderRecord } from "./client-carrier.ts";
import { createFetchCarrier, type Fetch } from "./client-fetch.ts";

export interface ReconnectOptions {
  /** Before the first try, where the server names no time; doubled for each further one, with jitter. Default 1000. */
  readonly delayMs?: number;
  /** Default 30 000. */
  readonly maxDelayMs?: number;
  /** Tries in a row before a stream is given up. Default: without end. */
  readonly maxAttempts?: number;
}

/** What gives leave to a client, such as `oauth` of plenum/auth/client. */
export interface HttpAuth {
  /** The extensions of MCP that it takes part in: `connect` names them to the server. */
  readonly extensions?: { readonly [id: string]: JsonObject };
  /** Headers for one request. */
  authorize(request: HttpAuthRequest): Promise<HeaderRecord>;
  /**
   * Whether to send it again, with new headers, after 401 or 403.
   * @param sent what `authorize` gave for it
   */
  refused(
    request: HttpAuthRequest,
    answer: { readonly status: number; header(name: string): string | undefined },
    sent: HeaderRecord,
  ): Promise<boolean>;
}

export interface HttpAuthRequest {
  readonly method: string;
  readonly url: URL;
  /** The server that it is for. */
  readonly server: URL;
  readonly signal: AbortSignal;
  /** Nobody waits for it: a stream that is taken up again, the end of a session. No user is to be asked for its sake. */
  readonly isUnattended: boolean;
}

export interface HttpTargetOptions {
  /** http or https, without credentials. */
  readonly url: string | URL;
  /** In place of what the runtime has: with authorization, a proxy, certificates of your own. */
  readonly fetch?: Fetch;
  /** Gives leave, where the server wants to see some: `oauth` of plenum/auth/client, or your own. */
  readonly auth?: HttpAuth;
  /** Sent with every request; a function is asked each time. Those that MCP itself uses cannot be replaced. */
  readonly headers?: HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>);
  /** Bytes that one answer in JSON may have. Default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Bytes that one event of a stream may have. Default 64 MiB. */
  readonly maxEventBytes?: number;
  /** How streams of a session are taken up again when they break. */
  readonly reconnect?: ReconnectOptions;
}

export interface TargetSettings {
  readonly url: URL;
  /** What speaks HTTP, for one channel. */
  readonly carry: () => Carrier;
  readonly auth: HttpAuth | undefined;
  /** Their names in lower case. */
  readonly headers: () => HeaderRecord | Promise<HeaderRecord>;
  readonly maxResponseBytes: number;
  readonly maxEventBytes: number;
  readonly reconnect: Required<ReconnectOptions>;
}

const defaultMaxBytes = 64 * 1024 * 1024;

// Every option, and no other: who misspells one must hear of it.
const optionNames: { readonly [K in keyof Required<HttpTargetOptions>]: true } = {
  url: true,
  fetch: true,
  auth: true,
  headers: true,
  maxResponseBytes: true,
  maxEventBytes: true,
  reconnect: true,
};

/**
 * Throws a TypeError for what cannot be right.
 * @param native what is leaner than fetch, where the runtime has it
 */
export function toTargetSettings(
  options: HttpTargetOptions,
  native: () => Carrier | undefined = () => undefined,
): TargetSettings {
  const stray = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name));
  if (stray !== undefined)
    throw new TypeError(
      `httpTarget: there is no option ${quote(stray)}; there are ${Object.keys(optionNames).join(", ")}`,
    );
  const { headers = {}, maxResponseBytes = defaultMaxBytes, maxEventBytes = defaultMaxBytes } = options;
  const given = options.fetch ?? globalThis.fetch;
  if (typeof given !== "function") throw new TypeError("httpTarget: there is no fetch here; give one as `fetch`");
  const { delayMs = 1000, maxDelayMs = 30_000, maxAttempts = Number.POSITIVE_INFINITY } = options.reconnect ?? {};
  for (const [name, value] of Object.entries({ maxResponseBytes, maxEventBytes, delayMs, maxDelayMs, maxAttempts }))
    if (!(typeof value === "number" && (value > 0 || (name === "maxAttempts" && value === 0))))
      throw new TypeError(`httpTarget: ${name} must be a number above 0, not ${value}`);
  const { auth } = options;
  if (auth !== undefined && (typeof auth?.authorize !== "function" || typeof auth.refused !== "function"))
    throw new TypeError("httpTarget: auth must have authorize and refused, such as oauth() of plenum/auth/client");
  return {
    url: toUrl(options.url),
    carry: () => (options.fetch === undefined && native()) || createFetchCarrier(toPlain(given)),
    auth,
    headers: toHeaders(headers),
    maxResponseBytes,
    maxEventBytes,
    reconnect: { delayMs, maxDelayMs, maxAttempts },
  };
}

/** In browsers it must not be called as a method of anything. */
function toPlain(given: Fetch): Fetch {
  return (url, init) => given(url, init);
}

function toUrl(given: string | URL): URL {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new TypeError("httpTarget: the url is none. Write it whole, such as https://example.com/mcp");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new TypeError(`httpTarget: only http and https are spoken, not ${quote(url.protocol)}`);
  if (url.username || url.password)
    throw new TypeError(
      `httpTarget: a user name or password must not stand in the url, where logs and errors show it. Give { url: ${quote(nameOfUrl(url), 200)}, headers: { authorization: … } }`,
    );
  url.hash = "";
  return url;
}

/** A URL as people may see it: without the query, which may hold a secret. */
export function nameOfUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

function toHeaders(headers: NonNullable<HttpTargetOptions["headers"]>): TargetSettings["headers"] {
  if (typeof headers === "function") return async () => assertHeaders(await headers());
  const fixed = assertHeaders(headers);
  return () => fixed;
}

export const noHeaders: HeaderRecord = {};

const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
// Line ends would make two of it, and what is no byte cannot be sent.
const headerValue = /^[^\0\r\n\u0100-\uffff]*$/;

/**
 * With names in lower case and without spaces around the values. The values may be secrets: an error names the header alone.
 * The runtime's `Headers` would do the same, but Node loads all of fetch for it.
 */
function assertHeaders(given: HeaderRecord): HeaderRecord {
  const entries = Object.entries(given);
  if (entries.length === 0) return noHeaders;
  const headers: { [name: string]: string } = {};
  for (const [written, value] of entries) {
    const name = written.toLowerCase();
    const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
    if (!headerName.test(name) || !headerValue.test(text))
      throw new TypeError(`httpTarget: the header ${quote(written)} has a name or a value that HTTP cannot carry`);
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${text}` : text;
  }
  return headers;
}
