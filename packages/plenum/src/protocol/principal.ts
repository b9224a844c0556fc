// Who a caller is, from one request to the next, as the transport's authorization has it: what is kept for one is for nobody
// else.
import { toCanonicalJson } from "../util/digest.ts";
import type { AuthInfo } from "./endpoint.ts";

/** Members of a token that change when it is renewed. */
const passing: ReadonlySet<string> = new Set(["exp", "iat", "nbf", "jti"]);

/** The same text for the same caller. One without a name is known by what is claimed of it. */
export function toPrincipal(auth: AuthInfo | undefined): string {
  if (!auth) return "nobody";
  const { subject, clientId, claims = {} } = auth;
  if (subject !== undefined || clientId !== undefined)
    return JSON.stringify([claims.iss ?? null, subject ?? null, clientId ?? null]);
  const lasting = Object.entries(claims).filter(([name]) => !passing.has(name));
  return `claims ${toCanonicalJson(Object.fromEntries(lasting))}`;
}
