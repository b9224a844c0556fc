// The HTTP headers that MCP uses, and what their values mean. Specification: basic/transports/streamable-http.
import { remember } from "../../util/remember.ts";
import type { Headers } from "./exchange.ts";

/** In lower case, as `HttpHead.header` takes them. */
export const headerNames = {
  revision: "mcp-protocol-version",
  session: "mcp-session-id",
  method: "mcp-method",
  name: "mcp-name",
  /** The name of a mirrored parameter follows. */
  paramPrefix: "mcp-param-",
  lastEvent: "last-event-id",
} as const;

/** For an answer that is a stream of events. No proxy on the way is to keep, change or hold back any of it. */
export const eventHeaders: Headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

/**
 * For an answer that is JSON. A browser must not take it for a page, whatever it contains. Every answer has them: a literal is
 * made in a fraction of the time that a copy takes.
 */
export function toJsonHeaders(others?: Headers): { [name: string]: string | number } {
  const headers: { [name: string]: string } = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  for (const name in others) headers[name] = others[name] as string;
  return headers;
}

/** The same, with nothing else. */
export const jsonHeaders: Headers = toJsonHeaders() as Headers;

/** What a client sends is short; what is longer is not read. */
const maxLength = 8192;

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/**
 * Exactly application/json. Parameters may follow; a charset must be utf-8. A form or text of another site's page is
 * never taken for it.
 */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && isJson(contentType);
}

const isJson = remember((contentType: string): boolean => {
  if (contentType.length > maxLength) return false;
  const [type, ...parameters] = contentType.toLowerCase().split(";");
  if (trim(type as string) !== "application/json") return false;
  let charsets = 0;
  for (const parameter of parameters) {
    const [name = "", value, ...more] = trim(parameter).split("=");
    // A semicolon with nothing behind it is a slip of many clients.
    if (name === "" && value === undefined) continue;
    if (value === undefined || more.length > 0 || !token.test(name)) return false;
    const isQuoted = /^"[^"\\,]*"$/.test(value);
    if (!isQuoted && !token.test(value)) return false;
    const plain = isQuoted ? value.slice(1, -1) : value;
    if (name === "charset" && (plain !== "utf-8" || ++charsets > 1)) return false;
  }
  return true;
});

/**
 * Whether an answer of this type is welcome: the most exact media range that fits decides, and q=0 refuses. No header at
 * all welcomes everything.
 */
export function accepts(accept: string | undefined, type: "application/json" | "text/event-stream"): boolean {
  return accept === undefined || (type === "application/json" ? acceptsJson(accept) : acceptsEvents(accept));
}

const acceptsJson = remember((accept) => isWelcome(accept, "application/json"));
const acceptsEvents = remember((accept) => isWelcome(accept, "text/event-stream"));

function isWelcome(accept: string, type: string): boolean {
  if (accept.length > maxLength) return false;
  const wide = `${type.slice(0, type.indexOf("/"))}/*`;
  let exactness = 0;
  let answer = false;
  for (const entry of accept.toLowerCase().split(",")) {
    const [range = "", ...parameters] = entry.split(";").map(trim);
    const fit = range === type ? 3 : range === wide ? 2 : range === "*/*" ? 1 : 0;
    if (fit === 0 || fit < exactness) continue;
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    const welcome = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) && Number(quality) > 0;
    // Of two equally exact ones either will do.
    answer = fit > exactness ? welcome : answer || welcome;
    exactness = fit;
  }
  return answer;
}

/** Without the white space that HTTP allows around parts of a value: no other, as String.trim would. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
