// Cross-origin resource sharing: tells a browser that pages of allowed origins may call this server and read its answers.
// It knows every header that MCP uses. Credentials are never allowed: a token travels in Authorization, not in a cookie.
import type { Headers, HttpHead } from "./exchange.ts";
import { headerNames } from "./headers.ts";
import type { HttpSettings } from "./options.ts";
import type { Guard } from "./origin.ts";

export interface Cors {
  /** The whole answer to a preflight; undefined for a request that is none. 403 for an origin that is not allowed. */
  preflight(head: HttpHead): { status: number; headers: Headers } | undefined;
  /** What is added to every other answer, errors too. */
  headers(head: HttpHead): Headers;
}

const methods = "GET, POST, DELETE, OPTIONS";

const requestHeaders = [
  ...["content-type", "accept", "authorization"],
  ...[headerNames.revision, headerNames.session, headerNames.method, headerNames.name, headerNames.lastEvent],
  ...["traceparent", "tracestate", "baggage"],
];

const responseHeaders = [headerNames.session, headerNames.revision, "www-authenticate", "retry-after"];

// What a page asks for is looked at within these; a tool has few parameters that are mirrored.
const maxAskedLength = 8192;
const maxAskedHeaders = 128;

/** Undefined where the option is off. */
export function createCors(option: HttpSettings["cors"], guard: Guard): Cors | undefined {
  if (!option) return undefined;
  const { maxAgeSeconds, exposedHeaders, allowedHeaders } = option;
  const exposed = [...new Set([...responseHeaders, ...exposedHeaders])].join(", ");
  const allowed = [...new Set([...requestHeaders, ...allowedHeaders])];
  const isAllowed = (head: HttpHead, origin: string): boolean => guard.isAllowedOrigin(origin, head.header("host"));

  return {
    preflight(head) {
      const origin = head.header("origin");
      const isPreflight = head.method === "OPTIONS" && head.header("access-control-request-method") !== undefined;
      if (!isPreflight || origin === undefined) return undefined;
      const headers: Record<string, string> = { vary: preflightVary };
      if (!isAllowed(head, origin)) return { status: 403, headers };
      headers["access-control-allow-origin"] = origin;
      headers["access-control-allow-methods"] = methods;
      const asked = toMirrored(head.header("access-control-request-headers"));
      headers["access-control-allow-headers"] = [...new Set([...allowed, ...asked])].join(", ");
      headers["access-control-max-age"] = String(maxAgeSeconds);
      // A page of the internet that calls a server in a private network asks for this first.
      if (head.header("access-control-request-private-network") === "true")
        headers["access-control-allow-private-network"] = "true";
      return { status: 204, headers };
    },
    headers(head) {
      const origin = head.header("origin");
      // Whether or not it has an origin: a cache must not give the one answer for the other.
      if (origin === undefined || !isAllowed(head, origin)) return { vary: "origin" };
      return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": exposed,
        vary: "origin",
      };
    },
  };
}

const preflightVary = [
  "origin",
  "access-control-request-method",
  "access-control-request-headers",
  "access-control-request-private-network",
].join(", ");

/** The headers of mirrored parameters that a page asks for: their names are the tools', so that no list can have them. */
function toMirrored(asked: string | undefined): string[] {
  if (asked === undefined || asked.length > maxAskedLength) return [];
  return (
    asked
      .split(",", maxAskedHeaders)
      .map((name) => name.trim())
      // Before the case is changed: some letters of other alphabets become ASCII by it.
      .filter((name) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]{11,128}$/.test(name))
      .map((name) => name.toLowerCase())
      .filter((name) => name.startsWith(headerNames.paramPrefix))
  );
}
