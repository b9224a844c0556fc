// A request of the client that does not get to its server at once: what is said where it cannot be reached, and where a
// redirect may lead. Loaded by the first of either.
import { McpError } from "../../protocol/errors.ts";
import { networkReasonOf } from "../../util/network-reason.ts";
import type { HttpAnswer, Sent } from "./client-carrier.ts";
import { nameOfUrl } from "./client-options.ts";
import { redact, secretsIn } from "./client-secrets.ts";

/** @param name the server, as people may see it */
export function toUnreached(error: unknown, name: string, sent: Sent): Error {
  // The URL itself may name a session.
  const why = redact(networkReasonOf(error), secretsIn(sent));
  return new Error(`${name} could not be reached: ${why}`, { cause: error });
}

const maxRedirects = 5;

/** Where a redirect leads. Throws McpError `peer_error` where it is not to be followed. */
export function toNext(answer: HttpAnswer, at: URL, first: URL, redirects: number): URL {
  const from = nameOfUrl(first);
  const { status } = answer;
  const location = answer.header("location");
  if (status === 0 || location === undefined)
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
      { data: { status } },
    );
  }
  if (status !== 307 && status !== 308)
    throw new McpError(
      "peer_error",
      `${from} redirects with HTTP ${status}, which would change the request; only 307 and 308 are followed`,
      { data: { status } },
    );
  if (redirects >= maxRedirects) throw new McpError("peer_error", `${from} redirects more than ${maxRedirects} times`);
  return next;
}
