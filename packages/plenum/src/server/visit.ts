// Pages that a user must visit before a call can be made at all. A room of its own, since few servers have such.
// Specification: client/elicitation of 2025-11-25 § URL Elicitation Required Error.
import { McpError } from "../protocol/errors.ts";
import { toPage } from "../protocol/visit.ts";
import type { PageOptions } from "./input.ts";

/**
 * To be thrown by a handler that cannot go on before the user has visited these pages: the call fails, and may be made
 * again afterwards. `ctx.elicitUrl` asks instead, and goes on; it is what most want. In 2025-11-25 the client is told the
 * pages as the protocol has it (-32042); elsewhere they stand in the message. Throws a TypeError for a page that is neither
 * https nor on this machine.
 */
export function elicitationRequired(
  pages: readonly ({ readonly message: string; readonly url: string } & PageOptions)[],
): McpError {
  if (pages.length === 0) throw new TypeError("elicitationRequired takes one page or more");
  const elicitations = pages.map(({ message, url, id = crypto.randomUUID() }) => ({
    mode: "url",
    message,
    url: toPage(url),
    elicitationId: id,
  }));
  const list = elicitations.map(({ message, url }) => `${message} (${url})`).join(", ");
  return new McpError("elicitation_required", `The user must visit a page first: ${list}`, { data: { elicitations } });
}
