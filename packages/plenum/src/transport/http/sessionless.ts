// Streamable HTTP of 2025-03-26 to 2025-11-25 without sessions: any process can answer any request. Nothing can be asked of
// the client, and nothing reaches it outside its requests.
import type { Incoming, Single } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { serveUnbound } from "../../protocol/negotiate.ts";
import { factsOf, type Revision } from "../../protocol/revisions.ts";
import { Answering, type AnsweringGround } from "./answering.ts";
import { assertBatch, requestsOf } from "./batch.ts";
import { HttpFault, type HttpHead } from "./exchange.ts";
import type { HttpSettings } from "./options.ts";
import type { Reply } from "./reply.ts";
import { readVersion, sessionedOf } from "./sessioned.ts";

/** What a client speaks that does not say so: the revision before there was a header for it. */
const unstated: Revision = "2025-03-26";

export type Sessionless = (incoming: Incoming, head: HttpHead, auth: AuthInfo | undefined, reply: Reply) => void;

export function createSessionless(endpoint: Endpoint, settings: HttpSettings, ground: AnsweringGround): Sessionless {
  const { maxSubscriptions, askTimeoutMs } = settings;
  const spoken = sessionedOf(settings.revisions);
  const options = { revisions: spoken, maxSubscriptions, askTimeoutMs };
  const servings = new Map(spoken.map((revision) => [revision, serveUnbound(endpoint, revision, options)]));

  return (incoming, head, auth, reply) => {
    const revision = readVersion(head, spoken) ?? (spoken.includes(unstated) ? unstated : spoken[0]);
    const serving = revision && servings.get(revision);
    if (!serving) throw new HttpFault(400, "No revision of this kind is spoken here");
    const isBatch = incoming.kind === "batch";
    const members: readonly Single[] = isBatch ? incoming.members : [incoming as Single];
    if (isBatch) assertBatch(members, factsOf(revision).batches);
    const requests = requestsOf(members);
    if (new Set(requests.map(({ id }) => id)).size < requests.length)
      throw new HttpFault(400, "Invalid request: two requests of a batch have the same id");
    if (members.some(({ kind }) => kind === "invalid"))
      throw new HttpFault(400, "Invalid request: a member of the batch is no message");
    // Notifications and responses belong to what is not there.
    if (requests.length === 0) return reply.empty(202);
    Answering.begin(ground, reply, requests, {
      sender: { ...(auth && { auth }), header: (name) => head.header(name) },
      isBatch,
      hasStatus: false,
      endsWithClient: false,
      run: (request, exchange) => serving.request(request, exchange),
    });
  };
}
