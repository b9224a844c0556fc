// What the endpoints that programs call have in common: forms that are read strictly, faults as OAuth writes them, answers that no
// cache keeps, and pages of any origin that may call them, since nothing here hangs on a cookie.
import type { Route, RouteAnswer, RouteRequest } from "../route.ts";
import { AuthFault } from "./fault.ts";

/** Whatever is told here is for who asked, once. */
export const uncached: { readonly [name: string]: string } = { "cache-control": "no-store", pragma: "no-cache" };

const maxBytes = 16_384;
const timeoutMs = 10_000;

/**
 * The form of a POST. What stands there without a value does not stand there (RFC 6749 § 3.1). Throws an AuthFault where
 * something stands twice: who reads the first sees another request than who reads the last.
 */
export async function readForm(request: RouteRequest): Promise<URLSearchParams> {
  assertType(request, "application/x-www-form-urlencoded");
  const all = [...new URLSearchParams(await request.body(maxBytes, timeoutMs))];
  if (new Set(all.map(([name]) => name)).size < all.length)
    throw new AuthFault("invalid_request", "A parameter is there twice");
  return new URLSearchParams(all.filter(([, value]) => value !== ""));
}

/** The object that a POST brings. */
export async function readJson(request: RouteRequest): Promise<{ readonly [name: string]: unknown }> {
  assertType(request, "application/json");
  const text = await request.body(maxBytes, timeoutMs);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Told below: what JSON.parse says shows a part of the text.
  }
  throw new AuthFault("invalid_client_metadata", "The body is no JSON object");
}

function assertType(request: RouteRequest, type: string): void {
  const [given = ""] = (request.header("content-type") ?? "").split(";");
  if (given.trim().toLowerCase() !== type) throw new AuthFault("invalid_request", `The content type must be ${type}`);
}

/** RFC 6749 § 5.2. */
export function toFaultAnswer({ error, message, status, headers }: AuthFault): RouteAnswer {
  return { status, headers: { ...uncached, ...headers }, body: { error, error_description: message } };
}

export interface EndpointOptions {
  readonly method: "GET" | "POST";
  /** Pages of any origin may call it, without cookies. Default true. */
  readonly isOpen?: boolean;
}

/** An endpoint for programs: one method, faults as OAuth has them, and what browsers ask before they let a page call it. */
export function endpoint({ method, isOpen = true }: EndpointOptions, route: Route): Route {
  const open: { readonly [name: string]: string } = isOpen ? { "access-control-allow-origin": "*" } : {};
  const methods = method === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
  const preflight: RouteAnswer = {
    status: 204,
    headers: {
      allow: methods,
      ...(isOpen && {
        ...open,
        "access-control-allow-methods": methods,
        "access-control-allow-headers": "authorization, content-type, accept, mcp-protocol-version",
        "access-control-max-age": "600",
      }),
    },
  };
  const answer = async (request: RouteRequest): Promise<RouteAnswer> => {
    if (request.method === "OPTIONS") return preflight;
    const isRead = method === "GET" && (request.method === "GET" || request.method === "HEAD");
    if (!isRead && request.method !== method)
      return toFaultAnswer(new AuthFault("invalid_request", `The method must be ${method}`, 405, { allow: methods }));
    try {
      return await route(request);
    } catch (error) {
      if (error instanceof AuthFault) return toFaultAnswer(error);
      throw error;
    }
  };
  return async (request) => {
    const { headers, ...rest } = await answer(request);
    return { ...rest, headers: { "x-content-type-options": "nosniff", ...headers, ...open } };
  };
}
