// One POST of a client: a message, or a batch of them, on its way until all its requests are answered.
import type { Mirror } from "../../jsonrpc/channel.ts";
import { formatMessage, type Message, type Notification, type Request, type RequestId } from "../../jsonrpc/message.ts";
import { describe } from "../../protocol/outgoing.ts";
import { Stop } from "../../util/stop.ts";
import type { HeaderRecord } from "./client-carrier.ts";
import { headersOf, type Standing, versionOf } from "./client-headers.ts";

export interface Post {
  readonly text: string;
  readonly headers: HeaderRecord;
  /** Requests in it that are not answered yet. */
  readonly waiting: Map<RequestId, Request>;
  /** There is a request in it. */
  readonly isAsking: boolean;
  /** It holds nothing but answers to the server's requests. */
  readonly isAnswer: boolean;
  /** Where it is a single message that has one. */
  readonly method: string | undefined;
  /** What a request of the stateless era says of itself; undefined for any other. */
  readonly version: string | undefined;
  readonly stop: Stop;
  /** The message, where it is a single one that has a method. */
  readonly single: Request | Notification | undefined;
}

/** Throws what `Channel.send` throws. */
export function toPost(message: Message | readonly Message[], standing: Standing, mirror: Mirror | undefined): Post {
  const messages: readonly Message[] = Array.isArray(message) ? message : [message as Message];
  const first = messages[0] as Message;
  const single = messages.length === 1 && "method" in first ? first : undefined;
  const version = versionOf(first);
  const waiting = new Map<RequestId, Request>();
  let isAnswer = true;
  for (const one of messages) {
    if (!("method" in one)) continue;
    isAnswer = false;
    if ("id" in one) waiting.set(one.id, one);
  }
  return {
    text: formatMessage(message),
    headers: headersOf(first, version, standing, mirror),
    waiting,
    isAsking: waiting.size > 0,
    isAnswer,
    method: single?.method,
    version: single && version,
    stop: new Stop(),
    single,
  };
}

/** It in words. */
export function whatOf({ single }: Post): string {
  return single ? describe(single.method, single.params ?? {}) : "An answer";
}
