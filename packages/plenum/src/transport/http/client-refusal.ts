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
import { type HttpAnswer, readText, typeOf } from "./client-carrier.ts";
import { redact, secretsIn } from "./client-secrets.ts";

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

/** Without what only the server may know: it may send back what it was given. */
export async function readRefusal(answer: HttpAnswer): Promise<HttpRefusal> {
  // A body that breaks off says as much as one that is not there.
  const text = await readText(answer, maxBodyBytes, true).catch(() => "");
  const secrets = answer.sent ? secretsIn(answer.sent) : [];
  const type = typeOf(answer);
  const found = isMarkup(type, text) ? undefined : errorIn(parseMessage(text));
  const error = found && { ...found.error, message: redact(found.error.message, secrets) };
  const realm = /\brealm="([^"]{1,100})"/i.exec(answer.header("www-authenticate") ?? "")?.[1];
  return {
    status: answer.status,
    statusText: toLine(redact(answer.statusText, secrets), 40),
    error,
    // Many write null where they could not read one.
    id: found?.id ?? undefined,
    excerpt: toExcerpt(error, isMarkup(type, text) ? "" : redact(text, secrets)),
    realm: realm && redact(realm, secrets),
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

function toExcerpt(error: ErrorObject | undefined, text: string): string {
  const words = error ? error.message : text.trim();
  return words === "" ? "" : `: ${quote(words, maxExcerpt)}`;
}

// What a server of the stateless era says to a handshake.
const modernCodes: readonly number[] = [-32601, -32020, -32021, -32022];

/** A proper answer of the protocol to `initialize`, which says no: there is no older transport to look for. */
export function isAnswer({ error }: HttpRefusal): boolean {
  if (error === undefined) return false;
  return modernCodes.includes(error.code) || (isObject(error.data) && error.data.supported !== undefined);
}

const missing = "unknown|invalid|expired|missing";
// What is wrong with it stands behind the word or before it, with little between: other things have sessions too.
const behind = `not (?:\\S+ )?(?:found|known|valid|exists?|recogni[sz]ed)|terminated|${missing}`;
const goneSession = new RegExp(
  `\\bsession(?:[-_ ]?id)?\\b[\\W_]{0,3}(?:\\S{1,80} ){0,4}(?:${behind})\\b|` +
    `\\b(?:no|${missing})(?: (?:or|valid|such|active|mcp|${missing}))*[ -]session`,
  "i",
);

/**
 * Whether the server says that the session is gone: by 404, unless that is its answer to what was asked; or, as many do, by
 * 400 and words.
 */
export function isForgotten({ status, error, id }: HttpRefusal, asked: RequestId | undefined): boolean {
  const isSaid = error !== undefined && goneSession.test(error.message);
  if (status === 400) return id === undefined && isSaid;
  if (status !== 404) return false;
  const isAnswer = error !== undefined && id !== undefined && id === asked;
  return !isAnswer || error.code === -32001 || isSaid;
}

const passingStatuses: readonly number[] = [408, 409, 425, 429];

/** The same request may well be answered another time. */
export function isPassing(status: number): boolean {
  return (status >= 500 && status !== 501) || passingStatuses.includes(status);
}

/** An error that tells of an answer which will be the same the next time. */
export function isRefusal(error: unknown): boolean {
  return error instanceof McpError && !isPassing(statusIn(error) ?? 0);
}

/**
 * @param what the request in words
 * @param old why the older transport cannot be used in its place, where that is of interest
 */
export function toRefused(refusal: HttpRefusal, what: string, old?: string): McpError {
  const { status, statusText, excerpt } = refusal;
  const besides = old === undefined ? "" : `. HTTP+SSE was tried as well: ${old}`;
  const said = `${what} was answered with HTTP ${status}${statusText && ` ${statusText}`}${excerpt}${besides}`;
  return new McpError("peer_error", said + toAdvice(refusal), { data: { status } });
}

/** What can be done about it, as a sentence behind what was said. */
export function toAdvice({ status, excerpt, realm }: HttpRefusal): string {
  const where = realm === undefined ? "" : ` for ${quote(realm)}`;
  if (status === 401)
    return `. The server wants to know who you are${where}: give { url, auth: oauth({ … }) } (plenum/auth/client), or { url, headers: { authorization: … } }`;
  // Who is refused for where he calls, or from where, can do nothing by saying who he is.
  if (status === 403 && !/\b(?:host|origin)\b/i.test(excerpt))
    return `. The server does not let you do this${where}: another authorization may help, or its owner`;
  if (status === 404) return ". Is the path of the URL right? Many servers are at /mcp";
  if (status === 429) return ". Send less, or later";
  return "";
}

/** The HTTP status that an error tells of. */
export function statusIn(error: unknown): number | undefined {
  const data = error instanceof McpError ? (error.data as { status?: unknown } | undefined) : undefined;
  return typeof data?.status === "number" ? data.status : undefined;
}
