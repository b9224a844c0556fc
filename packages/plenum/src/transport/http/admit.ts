// Who sent a request, as the application's own check of it says; or why it goes no further.
import type { Incoming } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { type Authenticate, HttpFault, type HttpHead, type Refusal } from "./exchange.ts";

/**
 * Throws an HttpFault for who is not let in, and a TypeError for what is neither a caller nor a refusal: nobody is let in by
 * a slip.
 */
export async function admit(request: HttpHead, auth: Authenticate): Promise<AuthInfo> {
  const told = await auth(request);
  if (told === undefined || told === null || told === false) throw new HttpFault(401, "Unauthorized");
  if (isRefusal(told)) throw toFault(told);
  if (!Array.isArray(told?.scopes))
    throw new TypeError("auth must give who calls, with its scopes, or a refusal, with a status of 400 or more");
  const { expiresAt } = told;
  // Not the other way round: what is no number has no time left either.
  if (expiresAt !== undefined && !(expiresAt * 1000 > Date.now()))
    throw new HttpFault(401, "The authorization has expired", -32600, {
      "www-authenticate": 'Bearer error="invalid_token"',
    });
  return told;
}

/**
 * Throws an HttpFault for what takes scopes that the caller does not have, before anything of it is done: then it can still be
 * said with a status, in every revision, and a client that can get more does so.
 */
export function assertReach(
  incoming: Incoming,
  { scopes }: AuthInfo,
  endpoint: Endpoint,
  challenge: Authenticate["challenge"],
): void {
  const members = incoming.kind === "batch" ? incoming.members : [incoming];
  const needed = members.flatMap((member) =>
    member.kind === "request" ? (endpoint.scopesOf?.(member.message.method, member.message.params ?? {}) ?? []) : [],
  );
  if (needed.every((scope) => scopes.includes(scope))) return;
  throw toFault(challenge?.(needed) ?? { status: 403 });
}

function toFault({ status, message, headers }: Refusal): HttpFault {
  return new HttpFault(status, message ?? (status === 403 ? "Forbidden" : "Unauthorized"), -32600, headers);
}

function isRefusal(told: AuthInfo | Refusal): told is Refusal {
  return told && !("scopes" in told) && typeof told.status === "number" && told.status >= 400;
}
