// One HTTP request of the client: its headers, redirects within the server's origin, and a body that is bounded.
import { McpError } from "../../protocol/errors.ts";
import { onAbort, untilAborted } from "../../util/abort.ts";
import { reasonOf } from "../../util/call-back.ts";
import { type HeaderRecord, nameOfUrl, type TargetSettings } from "./client-options.ts";
import { keepSecrets, redact, secretsIn } from "./client-secrets.ts";

export interface ClientRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers: HeaderRecord;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

const maxRedirects = 5;

interface Asked {
  readonly method: ClientRequest["method"];
  readonly headers: Headers;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  readonly secrets: readonly string[];
}

/**
 * The answer, whatever its status, but for redirects. Rejects with a plain Error when the server cannot be reached, and
 * with McpError `peer_error` for a redirect that is not followed. The signal ends the request until the answer is there;
 * from then on whoever reads its body heeds it.
 */
export async function request(
  settings: TargetSettings,
  { url, method, body, ...asked }: ClientRequest,
): Promise<Response> {
  // One signal for each request: runtimes listen to the one that they are given for longer than the request lasts.
  const stop = new AbortController();
  const { signal } = stop;
  const end = onAbort(asked.signal, () => stop.abort(asked.signal.reason));
  try {
    const given = await untilAborted(headersOf(settings), signal, (reason) => reason);
    const headers = new Headers(given);
    for (const [name, value] of Object.entries(asked.headers)) headers.set(name, value);
    const secrets = secretsIn(url, given, asked.headers);
    let at = url;
    for (let redirects = 0; ; redirects++) {
      const response = await reach(settings, at, { method, headers, body, signal, secrets });
      keepSecrets(response, secrets);
      const isRedirect = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
      if (!isRedirect || response.status === 304) return response;
      discard(response);
      at = toNext(response, at, settings.url, redirects);
    }
  } finally {
    end();
  }
}

async function headersOf(settings: TargetSettings): Promise<HeaderRecord> {
  try {
    return await settings.headers();
  } catch (error) {
    // What an application has to say to its caller, and what it did wrong.
    if (error instanceof McpError || error instanceof TypeError) throw error;
    throw new Error(`the headers to send could not be had: ${reasonOf(error)}`, { cause: error });
  }
}

async function reach(settings: TargetSettings, url: URL, asked: Asked): Promise<Response> {
  const { method, headers, body, signal, secrets } = asked;
  try {
    signal.throwIfAborted();
    const fetching = settings.fetch(url.href, {
      method,
      headers,
      signal,
      // Where a request goes is never the server's choice alone: it carries what only this origin may see.
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
    // Not everybody's fetch heeds its signal.
    return assertResponse(
      await untilAborted(fetching, signal, (reason) => {
        fetching.then(discard).catch(() => {});
        return reason;
      }),
    );
  } catch (error) {
    // What an application's fetch has to say (authorization, say) is for its caller.
    if (signal.aborted || error instanceof McpError) throw error;
    // The URL itself may name a session.
    const why = redact(whyOf(error), secrets);
    throw new Error(`${nameOfUrl(settings.url)} could not be reached: ${why}`, { cause: error });
  }
}

/** An application's fetch may give anything. */
function assertResponse(response: Response | undefined): Response {
  if (typeof response?.status !== "number" || typeof response.headers?.get !== "function")
    throw new Error("fetch gave something else than a Response");
  if (response.type === "error") throw new Error("fetch gave a network error");
  return response;
}

/** Runtimes wrap the reason once or twice. */
function whyOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 3 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  const text = reasonOf(inner);
  const { code } = inner as { code?: unknown };
  // What the TLS library says is for those who know it from the inside.
  if (code === "EPROTO" || code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "what answers there does not speak TLS as it should. If it is a server of http, the URL begins with http://";
  const advice = typeof code === "string" ? advices[code] : undefined;
  return (text || (typeof code === "string" ? code : reasonOf(error))) + (advice ?? "");
}

const advices: { readonly [code: string]: string | undefined } = {
  ECONNREFUSED: ". Is the server running, and is this its port?",
  ENOTFOUND: ". Is the name of the host right?",
};

function toNext(response: Response, at: URL, first: URL, redirects: number): URL {
  const from = nameOfUrl(first);
  const location = response.headers.get("location");
  if (response.status === 0 || location === null)
    throw new McpError("peer_error", `${from} redirects to where this runtime does not tell: give the URL behind it`);
  let next: URL;
  try {
    next = new URL(location, at);
  } catch {
    throw new McpError("peer_error", `${from} redirects to what is no URL`);
  }
  if (next.origin !== first.origin || next.username || next.password) {
    const where = next.origin === "null" ? next.protocol : next.origin;
    throw new McpError(
      "peer_error",
      `${from} redirects to ${where}, which is another origin and is not followed. If you trust it, give its URL instead`,
      { data: { status: response.status } },
    );
  }
  if (response.status !== 307 && response.status !== 308)
    throw new McpError(
      "peer_error",
      `${from} redirects with HTTP ${response.status}, which would change the request; only 307 and 308 are followed`,
      { data: { status: response.status } },
    );
  if (redirects >= maxRedirects) throw new McpError("peer_error", `${from} redirects more than ${maxRedirects} times`);
  return next;
}

/** Nothing more of this answer is wanted. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/** The media type alone, in lower case. */
export function typeOf(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * The body as text.
 * @param isCut a longer one is cut off instead of refused
 */
export async function readText(
  response: Response,
  maxBytes: number,
  signal: AbortSignal,
  isCut = false,
): Promise<string> {
  const tooLong = `the server's answer has more than ${maxBytes} bytes (maxResponseBytes)`;
  if (!response.body) {
    // Some runtimes have no streams.
    const text = (await response.text?.()) ?? "";
    if (text.length > maxBytes && !isCut) throw new Error(tooLong);
    return text.slice(0, maxBytes);
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const cancel = (): void => void reader.cancel().catch(() => {});
  const end = onAbort(signal, cancel);
  const parts: string[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes && !isCut) throw new Error(tooLong);
      parts.push(decoder.decode(value, { stream: true }));
      if (size > maxBytes) break;
    }
    return parts.join("");
  } finally {
    end();
    cancel();
  }
}
