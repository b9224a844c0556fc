// One HTTP request of the client: its headers, redirects within the server's origin, and a body that is bounded.
import { McpError } from "../../protocol/errors.ts";
import { onAbort } from "../../util/abort.ts";
import { reasonOf } from "../../util/call-back.ts";
import { type HeaderRecord, type HttpSettings, nameOfUrl } from "./client-options.ts";

export interface ClientRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers: HeaderRecord;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

const maxRedirects = 5;

/**
 * The answer, whatever its status, but for redirects. Rejects with a plain Error when the server cannot be reached, and
 * with McpError `peer_error` for a redirect that is not followed.
 */
export async function request(settings: HttpSettings, { url, ...asked }: ClientRequest): Promise<Response> {
  const headers = new Headers(await settings.headers());
  for (const [name, value] of Object.entries(asked.headers)) headers.set(name, value);
  let at = url;
  for (let redirects = 0; ; redirects++) {
    const response = await reach(settings, at, { ...asked, headers });
    const isRedirect = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
    if (!isRedirect || response.status === 304) return response;
    discard(response);
    at = toNext(response, at, settings.url, redirects);
  }
}

async function reach(
  settings: HttpSettings,
  url: URL,
  asked: Omit<ClientRequest, "url" | "headers"> & { readonly headers: Headers },
): Promise<Response> {
  const { method, headers, body, signal } = asked;
  try {
    return await settings.fetch(url.href, {
      method,
      headers,
      signal,
      // Where a request goes is never the server's choice alone: it carries what only this origin may see.
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    // What an application's fetch has to say (authorization, say) is for its caller.
    if (signal.aborted || error instanceof McpError) throw error;
    // The URL itself may name a session.
    throw new Error(`${nameOfUrl(settings.url)} could not be reached: ${whyOf(error)}`, { cause: error });
  }
}

/** Runtimes wrap the reason once or twice. */
function whyOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 3 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  const text = reasonOf(inner);
  const { code } = inner as { code?: unknown };
  return text || (typeof code === "string" ? code : reasonOf(error));
}

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
  if (!response.body) return "";
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
      if (size > maxBytes && !isCut)
        throw new Error(`the server's answer has more than ${maxBytes} bytes (maxResponseBytes)`);
      parts.push(decoder.decode(value, { stream: true }));
      if (size > maxBytes) break;
    }
    return parts.join("");
  } finally {
    end();
    cancel();
  }
}
