// Batches of JSON-RPC messages over HTTP, which 2025-03-26 alone has: what is wrong with one is found before any of its
// members is looked at by anybody.
import type { Request, Single } from "../../jsonrpc/message.ts";
import { isStateless } from "../../protocol/era.ts";
import { HttpFault } from "./exchange.ts";

export function requestsOf(members: readonly Single[]): Request[] {
  return members.flatMap((member) => (member.kind === "request" ? [member.message] : []));
}

/** Throws an HttpFault, 400, for a batch that is refused as a whole. */
export function assertBatch(members: readonly Single[], isSpoken: boolean): void {
  const requests = requestsOf(members);
  const has = (kind: Single["kind"]): boolean => members.some((member) => member.kind === kind);
  if (!isSpoken || requests.some(isStateless)) throw refusal("batches exist only in 2025-03-26");
  if (has("response") && (requests.length > 0 || has("notification")))
    throw refusal("a batch holds either requests or responses, not both");
  if (requests.some(({ method }) => method === "initialize")) throw refusal("initialize stands alone");
  // Among the answers to requests there is a place to say so.
  if (requests.length === 0 && has("invalid")) throw refusal("a member of the batch is no message");
}

function refusal(why: string): HttpFault {
  return new HttpFault(400, `Invalid request: ${why}`);
}
