// One POST of a client: a message, or a batch of them, on its way until all its requests are answered.
import type { Mirror } from "../../jsonrpc/channel.ts";
import { formatMessage, type Message, type Request, type RequestId } from "../../jsonrpc/message.ts";
import { describe } from "../../protocol/outgoing.ts";
import { headersOf, type Standing, versionOf } from "./client-headers.ts";
import type { HeaderRecord } from "./client-options.ts";

export interface Post {
  readonly text: string;
  readonly headers: HeaderRecord;
  /** Requests in it that are not answered yet. */
  readonly waiting: Map<RequestId, Request>;
  /** There is a request in it. */
  readonly isAsking: boolean;
  /** It holds nothing but answers to the server's requests. */
  readonly isAnswer: boolean;
  /** In words. */
  readonly what: string;
  /** Where it is a single message that has one. */
  readonly method: string | undefined;
  /** What a request of the stateless era says of itself; undefined for any other. */
  readonly version: string | undefined;
  readonly stop: AbortController;
}

/** Throws what `Channel.send` throws. */
export function toPost(message: Message | readonly Message[], standing: Standing, mirror: Mirror | undefined): Post {
  const messages: readonly Message[] = Array.isArray(message) ? message : [message as Message];
  const first = messages[0] as Message;
  const single = messages.length === 1 && "method" in first ? first : undefined;
  const waiting = new Map(messages.flatMap((one) => ("method" in one && "id" in one ? [[one.id, one] as const] : [])));
  return {
    text: formatMessage(message),
    headers: headersOf(first, standing, mirror),
    waiting,
    isAsking: waiting.size > 0,
    isAnswer: !messages.some((one) => "method" in one),
    what: single ? describe(single.method, single.params ?? {}) : "An answer",
    method: single?.method,
    version: single && versionOf(single),
    stop: new AbortController(),
  };
}
