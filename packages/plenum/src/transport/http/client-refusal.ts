// An answer whose status says no: what it means to the protocol, and to people.
import {
  type ErrorObject,
  type ErrorResponse,
  type Incoming,
  isObject,
  parseMessage,
  type RequestId,
} from "../../jsonrpc/message.ts";
import { McpError } from "../../protocol/errors.ts";
import { quote, toLine } from "../../util/quote.ts";
import { readText, typeOf } from "./client-fetch.ts";

export interface HttpRefusal {
  readonly status: number;
  readonly statusText: string;
  /** The error of the body, where that is one of JSON-RPC. */
  readonly error: ErrorObject | undefined;
  /** Whose error it is; undefined where it does not say. */
  readonly id: RequestId | undefined;
  /** What the body says to people, bounded, on one line. */
  readonly excerpt: string;
  readonly realm: string | undefined;
}

/** An error message needs no more, and nobody reads more. */
const maxBodyBytes = 64 * 1024;
const maxExcerpt = 200;

/** @param secrets are taken out of what the server says: it may send back what it was given */
export async function readRefusal(
  response: Response,
  signal: AbortSignal,
  secrets: readonly string[],
): Promise<HttpRefusal> {
  // A body that breaks off says as much as one that is not there.
  const whole = await readText(response, maxBodyBytes, signal, true).catch(() => "");
  const text = secrets.reduce((rest, secret) => (secret ? rest.replaceAll(secret, "***") : rest), whole);
  const type = typeOf(response);
  const found = isMarkup(type, text) ? undefined : errorIn(parseMessage(text));
  const realm = /\brealm="([^"]{1,100})"/i.exec(response.headers.get("www-authenticate") ?? "")?.[1];
  return {
    status: response.status,
    statusText: toLine(response.statusText, 40),
    error: found?.error,
    // Many write null where they could not read one.
    id: found?.id ?? undefined,
    excerpt: toExcerpt(found, isMarkup(type, text) ? "" : text),
    realm,
  };
}

/** A page is for a browser. */
function isMarkup(type: string, text: string): boolean {
  return type.includes("html") || type.includes("xml") || /^\s*</.test(text);
}

function errorIn(incoming: Incoming): ErrorResponse | undefined {
  if (incoming.kind !== "response" || !("error" in incoming.message)) return undefined;
  return incoming.message;
}

function toExcerpt(found: ErrorResponse | undefined, text: string): string {
  const words = found ? found.error.message : text.trim();
  return words === "" ? "" : `: ${quote(words, maxExcerpt)}`;
}

// What a server of the stateless era says to a handshake.
const modernCodes: readonly number[] = [-32601, -32020, -32021, -32022];

/** A proper answer of the protocol to `initialize`, which says no: there is no older transport to look for. */
export function isAnswer({ error }: HttpRefusal): boolean {
  if (error === undefined) return false;
  return modernCodes.includes(error.code) || (isObject(error.data) && error.data.supported !== undefined);
}

/**
 * Whether the server says that the session is gone: by 404, but for a method that it does not know; or, as many do, by 400
 * and words.
 */
export function isForgotten({ status, error, id }: HttpRefusal, asked: RequestId | undefined): boolean {
  if (status === 404) return !(error?.code === -32601 && id !== undefined && id === asked);
  return status === 400 && id === undefined && error !== undefined && /\bsession\b/i.test(error.message);
}

const passingStatuses: readonly number[] = [408, 409, 425, 429];

/** The same request may well be answered another time. */
export function isPassing(status: number): boolean {
  return (status >= 500 && status !== 501) || passingStatuses.includes(status);
}

/** @param what the request in words */
export function toRefused(refusal: HttpRefusal, what: string): McpError {
  const { status, statusText, excerpt, realm } = refusal;
  const said = `${what} was answered with HTTP ${status}${statusText && ` ${statusText}`}${excerpt}`;
  return new McpError("peer_error", said + toAdvice(status, realm), { data: { status } });
}

function toAdvice(status: number, realm: string | undefined): string {
  const where = realm === undefined ? "" : ` for ${quote(realm)}`;
  if (status === 401)
    return `. The server wants to know who you are${where}: give { url, headers: { authorization: … } }, or a fetch that authorizes`;
  if (status === 403)
    return `. Who you are${where} is not allowed to do this: use another authorization, or ask the server's owner`;
  if (status === 429) return ". Send less, or later";
  return "";
}

/** The HTTP status that an error tells of. */
export function statusIn(error: unknown): number | undefined {
  const data = error instanceof McpError ? (error.data as { status?: unknown } | undefined) : undefined;
  return typeof data?.status === "number" ? data.status : undefined;
}
