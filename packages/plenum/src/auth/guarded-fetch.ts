// Requests that a client makes because a server told it to: metadata, registration, tokens. The address is somebody else's
// word, so each is looked at first, bounded in size and time, and led nowhere else. Specification: security best practices § SSRF.
import { createLimit, untilAborted } from "../util/abort.ts";
import { networkReasonOf } from "../util/network-reason.ts";
import { OAuthError } from "./oauth-error.ts";

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

export interface GuardOptions {
  readonly fetch?: Fetch | undefined;
  /** For a client that runs as a service: names and addresses of its own network are not asked, loopback included. */
  readonly blockPrivateAddresses?: boolean | undefined;
  /** The addresses of a host name, where the runtime can tell: with it names are looked up before they are asked. */
  readonly lookup?: ((host: string) => Promise<readonly string[]>) | undefined;
  /** Default 10 000. */
  readonly timeoutMs?: number | undefined;
  /** Default 256 KiB. */
  readonly maxBytes?: number | undefined;
}

export const defaultTimeoutMs = 10_000;

const maxRedirects = 3;
/** Of an address: longer ones are nobody's. */
const maxLength = 8192;

/** A fetch for what others tell it to fetch. Rejects with an OAuthError, `unsafe_url` or `timeout`; with an Error that says why where nobody answers. */
export function createGuardedFetch(options: GuardOptions = {}): Fetch {
  const { timeoutMs = defaultTimeoutMs, maxBytes = 262_144 } = options;
  const send = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  return async (given, init = {}) => {
    let url = toSafeUrl(given, options);
    // One that is taken back: AbortSignal.timeout keeps some runtimes from ending.
    const limit = createLimit(timeoutMs, init.signal ?? undefined);
    const { signal } = limit;
    // Not everybody's fetch heeds its signal.
    const wait = <T>(promise: Promise<T>): Promise<T> => untilAborted(promise, signal, (reason) => reason);
    try {
      for (let i = 0; ; i++) {
        await wait(assertPublic(url, options));
        const response = await wait(send(url.href, { ...init, redirect: "manual", signal }));
        const target = redirectOf(response, url);
        if (!target) return await wait(bounded(response, maxBytes));
        await response.body?.cancel();
        const isRead = (init.method ?? "GET") === "GET";
        if (!isRead || target.origin !== url.origin || i >= maxRedirects)
          throw new OAuthError(
            "unsafe_url",
            `${nameOf(url)} leads elsewhere, to ${nameOf(target)}, and is not followed`,
          );
        url = toSafeUrl(target.href, options);
      }
    } catch (error) {
      if (limit.isOver && !init.signal?.aborted)
        throw new OAuthError("timeout", `${nameOf(url)} gave no answer in ${timeoutMs} ms`);
      if (error instanceof OAuthError || init.signal?.aborted) throw error;
      throw new Error(`${nameOf(url)} could not be reached: ${networkReasonOf(error)}`, { cause: error });
    } finally {
      limit.release();
    }
  };
}

/** Without the query, which may hold a secret. */
export function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

/** Throws an OAuthError, `unsafe_url`, for what is not https, or http on this machine. */
export function toSafeUrl(given: string, { blockPrivateAddresses }: GuardOptions = {}): URL {
  // As it was written it may be shown: URLs are read as if what is not to be seen in them were not there.
  const isPlainText = given.length <= maxLength && !/[\p{Cc}\p{Cf}\p{Z}]/u.test(given);
  const url = isPlainText && URL.canParse(given) ? new URL(given) : undefined;
  if (!url) throw new OAuthError("unsafe_url", "The server names a URL that is none");
  // A name of which everybody knows where it leads, however it is written.
  const isLocal = isLoopbackHost(url.hostname) || /^(?:.+\.)?localhost\.?$/.test(url.hostname);
  const isPlain = url.protocol === "http:" && isLoopbackHost(url.hostname) && !blockPrivateAddresses;
  if (url.protocol !== "https:" && !isPlain)
    throw new OAuthError(
      "unsafe_url",
      `${url.protocol}//${url.host} is not used for authorization: it must be https, or http on this machine`,
    );
  if (url.username || url.password)
    throw new OAuthError("unsafe_url", `The URL of ${url.host} has a user name or a password in it`);
  if (blockPrivateAddresses && (isLocal || isPrivateAddress(toAddress(url.hostname))))
    throw new OAuthError("unsafe_url", `${url.host} is an address of this network, where this client must not go`);
  return url;
}

async function assertPublic(url: URL, { blockPrivateAddresses, lookup }: GuardOptions): Promise<void> {
  if (!blockPrivateAddresses || !lookup || isAddress(url.hostname)) return;
  const addresses = await lookup(url.hostname);
  if (addresses.length === 0 || addresses.some(isInside))
    throw new OAuthError("unsafe_url", `${url.host} is a name of this network, where this client must not go`);
}

/** Whoever looks names up may write addresses in another way than URLs do. What is none leads nowhere that is known. */
function isInside(address: string): boolean {
  const [plain = ""] = address.split("%");
  const written = `http://${plain.includes(":") ? `[${plain}]` : plain}/`;
  const host = URL.canParse(written) ? new URL(written).hostname : "";
  return !isAddress(host) || isPrivateAddress(toAddress(host));
}

function redirectOf({ status, headers, type }: Response, base: URL): URL | undefined {
  if (type === "opaqueredirect")
    throw new OAuthError("unsafe_url", `${nameOf(base)} leads where this runtime does not tell, and is not followed`);
  if (status < 300 || status > 399 || status === 304) return undefined;
  const location = headers.get("location");
  return location !== null && URL.canParse(location, base) ? new URL(location, base) : undefined;
}

/** The whole of it, in memory: what is longer than anything that may be said here is cut off. */
async function bounded(response: Response, maxBytes: number): Promise<Response> {
  const { status, statusText, headers } = response;
  const reader = response.body?.getReader();
  if (!reader) return new Response(null, { status, statusText, headers });
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      throw new OAuthError("unsafe_url", `An answer has more than ${maxBytes} bytes`);
    }
    parts.push(value);
  }
  const own = new Headers(headers);
  // It is decoded by now.
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) own.delete(name);
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : new Blob(parts as BlobPart[]), { status, statusText, headers: own });
}

/** localhost, 127.0.0.0/8 and ::1. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function toAddress(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host;
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}

/** Of an address as URLs write it: not for the whole world. Names are none of them. */
export function isPrivateAddress(address: string): boolean {
  if (address.includes(":")) return isPrivate6(address.toLowerCase());
  const parts = address.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return false;
  const [a = 0, b = 0] = parts;
  return (
    a === 0 ||
    a === 10 ||
    a === 127 ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && (b === 168 || (b === 0 && (parts[2] === 0 || parts[2] === 2)))) ||
    (a === 198 && (b === 18 || b === 19 || (b === 51 && parts[2] === 100))) ||
    (a === 203 && b === 0 && parts[2] === 113) ||
    a >= 224
  );
}

function isPrivate6(address: string): boolean {
  // As URLs write it, the last four bytes of such an address may be two groups in base 16.
  const mapped = /^(?:::(?:ffff:(?:0:)?)?|64:ff9b::)(?:(\d+\.[0-9.]+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/.exec(address);
  if (mapped) {
    const [, dotted, high, low] = mapped;
    if (dotted) return isPrivateAddress(dotted);
    const [h, l] = [Number.parseInt(high as string, 16), Number.parseInt(low as string, 16)];
    return isPrivateAddress([h >> 8, h & 255, l >> 8, l & 255].join("."));
  }
  return (
    address === "::" ||
    address === "::1" ||
    /^(?:f[cd]|fe[89a-f]|ff|2001:(?:0|db8|):|2002:|100:|64:ff9b:1:)/.test(address)
  );
}
