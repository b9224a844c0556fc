// Streamable HTTP of 2025-03-26 to 2025-11-25 without sessions: any process can answer any request. Nothing can be asked of
// the client, and nothing reaches it outside its requests.
import { type ErrorResponse, type Incoming, type Request, type RequestId, refusal } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { factsOf, type Revision, sessionedOf } from "../../protocol/revisions.ts";
import { serveUnbound } from "../../protocol/sessioned/each.ts";
import { Answering, type AnsweringGround, type Rules } from "./answering.ts";
import { assertBatch, requestsOf } from "./batch.ts";
import { HttpFault, type HttpHead } from "./exchange.ts";
import type { HttpSettings } from "./options.ts";
import type { Reply } from "./reply.ts";
import { HttpSender } from "./sender.ts";
import { readVersion } from "./sessioned.ts";

/** What a client speaks that does not say so: the revision before there was a header for it. */
const unstated: Revision = "2025-03-26";

export type Sessionless = (incoming: Incoming, head: HttpHead, auth: AuthInfo | undefined, reply: Reply) => void;

export function createSessionless(endpoint: Endpoint, settings: HttpSettings, ground: AnsweringGround): Sessionless {
  const { maxSubscriptions, askTimeoutMs } = settings;
  const spoken = sessionedOf(settings.revisions);
  const options = { revisions: spoken, maxSubscriptions, askTimeoutMs };
  const rules = new Map(
    spoken.map((revision): [Revision, Rules] => {
      const serving = serveUnbound(endpoint, revision, options);
      return [
        revision,
        { hasStatus: false, endsWithClient: false, run: (request, exchange) => serving.request(request, exchange) },
      ];
    }),
  );

  return (incoming, head, auth, reply) => {
    const revision = readVersion(head, spoken) ?? (spoken.includes(unstated) ? unstated : spoken[0]);
    const ruled = revision && rules.get(revision);
    if (!ruled) throw new HttpFault(400, "No revision of this kind is spoken here");
    const sender = new HttpSender(head, auth);
    if (incoming.kind === "request") return Answering.begin(ground, ruled, [incoming.message], sender, reply);
    // Notifications and responses belong to what is not there.
    if (incoming.kind !== "batch") return reply.empty(202);
    assertBatch(incoming.members, factsOf(revision).batches);
    const requests = new Map<RequestId, Request>();
    // What is wrong with a member costs its own answer only.
    const refusals: ErrorResponse[] = incoming.members.flatMap(
      (member) => (member.kind === "invalid" && member.answer) || [],
    );
    for (const request of requestsOf(incoming.members)) {
      const { id } = request;
      if (requests.has(id)) refusals.push(refusal("this id is still open", id));
      else requests.set(id, request);
    }
    if (requests.size === 0) return reply.empty(202);
    Answering.begin(ground, ruled, [...requests.values()], sender, reply, { refusals });
  };
}
