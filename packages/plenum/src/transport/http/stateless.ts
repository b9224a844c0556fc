// Streamable HTTP of 2026-07-28: every POST is complete in itself. What its headers say is compared with its body first; a
// client that closes the connection has cancelled. Specification: basic/transports/streamable-http.
import {
  formatMessage,
  type Incoming,
  type Notification,
  type Request,
  type RequestId,
} from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { statusOf, toErrorObject } from "../../protocol/errors.ts";
import { serveEach } from "../../protocol/stateless/each.ts";
import { Answering, type AnsweringGround, type Rules } from "./answering.ts";
import { HttpFault, type HttpHead } from "./exchange.ts";
import { assertMirrored, assertSpoken } from "./mirror.ts";
import type { HttpSettings } from "./options.ts";
import type { Reply } from "./reply.ts";
import { HttpSender } from "./sender.ts";

export interface Stateless {
  post(incoming: Incoming, head: HttpHead, auth: AuthInfo | undefined, reply: Reply): void;
  /** Answers the subscriptions that are open. */
  close(): void;
}

export function createStateless(endpoint: Endpoint, settings: HttpSettings, ground: AnsweringGround): Stateless {
  const { revisions, maxSubscriptions, askTimeoutMs } = settings;
  const serving = serveEach(endpoint, { revisions, maxSubscriptions, askTimeoutMs });
  const rules: Rules = {
    hasStatus: true,
    endsWithClient: true,
    run: (request, exchange) => serving.request(request, exchange),
  };

  function refuse(cause: unknown, { id, method }: Notification & { readonly id?: RequestId }, reply: Reply): void {
    const error = toErrorObject(cause, "2026-07-28", (hidden) => endpoint.report(hidden, { method }));
    reply.json(statusOf(error), formatMessage({ jsonrpc: "2.0", id, error }));
  }

  function answer(request: Request, head: HttpHead, auth: AuthInfo | undefined, reply: Reply): void {
    try {
      assertMirrored(head, request, revisions);
    } catch (mismatch) {
      refuse(mismatch, request, reply);
      return;
    }
    // A subscription has nothing but its stream.
    if (request.method === "subscriptions/listen") reply.assertMayStream();
    Answering.begin(ground, rules, [request], new HttpSender(head, auth, true), reply);
  }

  return {
    post(incoming, head, auth, reply) {
      if (incoming.kind === "request") return answer(incoming.message, head, auth, reply);
      if (incoming.kind !== "notification")
        throw new HttpFault(400, "Invalid request: a body of this revision is one request or one notification");
      try {
        assertSpoken(head, revisions);
      } catch (mismatch) {
        return refuse(mismatch, incoming.message, reply);
      }
      // None concerns the server: a request is cancelled by closing its connection.
      reply.empty(202);
    },
    close: () => serving.close(),
  };
}
