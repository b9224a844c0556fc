// JSON-RPC 2.0 messages: their types, and the one function that turns text into them. It knows nothing of MCP.
// Ids are strings or integers and are kept as they came: `""`, `"0"` and `0` are three ids.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: unknown };

export type RequestId = string | number;

export interface Request {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

export interface Notification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: JsonObject;
}

export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface SuccessResponse {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: JsonObject | PreparedJson;
}

/** The id is absent, or undefined, when the request's own could not be read; it is never null. */
export interface ErrorResponse {
  readonly jsonrpc: "2.0";
  readonly id?: RequestId | undefined;
  readonly error: ErrorObject;
}

export type Response = SuccessResponse | ErrorResponse;
export type Message = Request | Notification | Response;

/**
 * One message that a peer sent, sorted. `invalid` holds the answer it deserves, if any; the request of ours that it is a
 * broken response to; the text, where that is no JSON; why it was not even read, where it was not.
 */
export type Single =
  | { readonly kind: "request"; readonly message: Request }
  | { readonly kind: "notification"; readonly message: Notification }
  | { readonly kind: "response"; readonly message: Response }
  | Invalid;

export interface Invalid {
  readonly kind: "invalid";
  readonly answer: ErrorResponse | undefined;
  readonly id?: RequestId | undefined;
  readonly text?: string;
  readonly why?: string;
}

export type Incoming = Single | { readonly kind: "batch"; readonly members: readonly Single[] };

/** A result whose JSON text was made ahead, to be spliced into the reply. */
export class PreparedJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

/** Nesting beyond this is refused before anything walks the value: recursion elsewhere relies on it. */
export const maxJsonDepth = 128;

/** Messages in one batch; more is refused whole. */
export const maxBatchLength = 1000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A string, or an integer that JSON numbers carry without loss (a rounded id would be another id). */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** Never throws: what cannot be read comes back as `invalid` with its answer. */
export function parseMessage(text: string): Incoming {
  if (exceedsDepth(text)) {
    const why = `JSON nested deeper than ${maxJsonDepth} levels`;
    // Without an id at its edges it may have one inside: it is answered all the same.
    return { ...refuse({ id: null, ...readEdges(text.trim()) }, why), why };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const error = { code: rpcCodes.parseError, message: "Parse error: the message is not valid JSON" };
    return { kind: "invalid", answer: { jsonrpc: "2.0", error }, text };
  }
  return toIncoming(value);
}

/**
 * A message that was not read to its end, of which this is the beginning: who waits for it hears of it where that tells its id.
 */
export function refuseUnread(head: string, why: string): Invalid {
  // The quote keeps members of something inside, where it was cut, from being taken for its last ones.
  return { ...refuse({ id: null, ...readEdges(`${head.trim()}"}`) }, why), why };
}

/** Sorts a value that is parsed already. */
export function toIncoming(value: unknown): Incoming {
  if (!Array.isArray(value)) return sort(value);
  if (value.length === 0) return invalid("a batch must not be empty");
  if (value.length > maxBatchLength) return invalid(`a batch holds at most ${maxBatchLength} messages`);
  return { kind: "batch", members: value.map(sort) };
}

/** The text of a message, or of a batch of them. */
export function formatMessage(message: Message | readonly Message[]): string {
  if (isBatch(message)) return `[${message.map(formatMessage).join(",")}]`;
  if ("result" in message && message.result instanceof PreparedJson) {
    return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${message.result.text}}`;
  }
  return JSON.stringify(message);
}

function isBatch(message: Message | readonly Message[]): message is readonly Message[] {
  return Array.isArray(message);
}

/** The error for what is no message that may come now. */
export function refusal(why: string, id?: RequestId): ErrorResponse {
  return { jsonrpc: "2.0", id, error: { code: rpcCodes.invalidRequest, message: `Invalid request: ${why}` } };
}

function sort(value: unknown): Single {
  if (!isObject(value)) return invalid("a message must be a JSON object");
  const hasId = Object.hasOwn(value, "id");
  if (value.jsonrpc !== "2.0") return refuse(value, '"jsonrpc" must be "2.0"');
  if (!Object.hasOwn(value, "method")) return sortResponse(value);
  if (hasId && !isRequestId(value.id)) return refuse(value, '"id" must be a string or an integer');
  if (typeof value.method !== "string") return refuse(value, '"method" must be a string');
  if (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"))
    return refuse(value, 'a request has no "result" or "error"');
  if (value.params !== undefined && !isObject(value.params)) return refuse(value, '"params" must be an object');
  return hasId
    ? { kind: "request", message: value as unknown as Request }
    : { kind: "notification", message: value as unknown as Notification };
}

/**
 * What is wrong with a request gets an answer. A malformed notification gets none, since nobody waits for it; nor does a
 * broken response: two peers that correct each other would never stop.
 */
function refuse(value: JsonObject, why: string): Invalid {
  const isAnswered = Object.hasOwn(value, "method")
    ? Object.hasOwn(value, "id")
    : !("result" in value || "error" in value);
  return isAnswered ? invalid(why, idOf(value)) : broken(value);
}

function broken(value: JsonObject): Invalid {
  return { kind: "invalid", answer: undefined, id: idOf(value) };
}

function idOf({ id }: JsonObject): RequestId | undefined {
  return isRequestId(id) ? id : undefined;
}

function sortResponse(value: JsonObject): Single {
  const hasResult = Object.hasOwn(value, "result");
  const hasError = Object.hasOwn(value, "error");
  if (!hasResult && !hasError) return refuse(value, '"method" is missing');
  const { id, error } = value;
  const isWhole = hasResult
    ? !hasError && isRequestId(id) && isObject(value.result)
    : isObject(error) &&
      Number.isInteger(error.code) &&
      typeof error.message === "string" &&
      // Peers that follow JSON-RPC to the letter write `id: null` where they could not read ours.
      (isRequestId(id) || id === undefined || id === null);
  return isWhole ? { kind: "response", message: value as unknown as Response } : broken(value);
}

function invalid(why: string, id?: RequestId): Invalid {
  return { kind: "invalid", answer: refusal(why, id) };
}

/**
 * What a message that is too deep says of itself before its first member that may be deep, and behind its last: those who
 * wait for an answer hear that there is none. Nothing inside is looked at, so no other id is taken for its own.
 */
function readEdges(text: string): JsonObject {
  const [, first, last] =
    /^({ ?(?:"(?:jsonrpc|id|method)": ?(?:"[\w./:-]*"|0|-?[1-9]\d*), ?)*"\w*").*?((?:, ?"(?:jsonrpc|id|method)": ?(?:"[\w./:-]*"|0|-?[1-9]\d*))* ?})$/s.exec(
      `${text.slice(0, 500)}\n${text.slice(-500)}`,
    ) ?? [];
  return first ? JSON.parse(`${first}:null${last}`) : {};
}

/** Whether JSON text is nested beyond `maxJsonDepth`: counts brackets outside strings, so that nothing deep is ever built. */
export function exceedsDepth(text: string): boolean {
  // What has few brackets cannot be too deep, wherever they stand; most messages end here.
  if (text.length <= maxJsonDepth || !hasMany(text)) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      // indexOf keeps long strings cheap: a megabyte of argument is one jump.
      i = endOfString(text, i);
      if (i < 0) return false; // not JSON: the parser will say so
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > maxJsonDepth) return true;
    } else if (c === 0x7d || c === 0x5d) {
      depth--;
    }
  }
  return false;
}

/** Whether there are more opening brackets than the limit. */
function hasMany(text: string): boolean {
  let left = maxJsonDepth;
  for (const bracket of ["{", "["])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (left-- === 0) return true;
  return false;
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote;
  }
  return -1;
}
