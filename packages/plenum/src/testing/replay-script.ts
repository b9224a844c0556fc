// What a recorded server said, as a script: for each thing that the client said, what the server said because of it, in order, and
// where it waited for an answer. Conversations that run side by side come apart here.
import type { JsonObject, Message, Notification, Request, RequestId } from "../jsonrpc/message.ts";
import { metaOf } from "../protocol/meta.ts";
import { type ConversationEvent, saidIn } from "./conversation.ts";

export type Step = { /** Its place in the conversation. */ readonly order: number } & (
  | { readonly kind: "say"; readonly message: Message }
  /** Goes on when the client has answered this request of the server's. */
  | { readonly kind: "wait"; readonly id: RequestId; readonly answer: Message }
  /** The request came to nothing. */
  | { readonly kind: "fail"; readonly why: string }
  /** The channel was lost. */
  | { readonly kind: "lose"; readonly why: string }
);

/** A request or a notification of the client's, and what came of it. */
export interface Cue {
  readonly message: Request | Notification;
  readonly steps: Step[];
}

export interface Script {
  /** What the server says before the client says anything. */
  readonly opening: readonly Step[];
  readonly cues: readonly Cue[];
}

const listenMethod = "subscriptions/listen";

/** @param events those of one channel */
export function toScript(events: readonly ConversationEvent[]): Script {
  const opening: Step[] = [];
  const cues: Cue[] = [];
  const open = new Map<RequestId, Cue>();
  const askedDuring = new Map<RequestId, Step[]>();
  let order = 0;

  /** What the server says by itself belongs to what it was doing: the youngest request, or what the client said last. */
  const now = (): Step[] => {
    const busy = [...open.values()].filter(({ message }) => message.method !== listenMethod);
    return (busy.at(-1) ?? cues.at(-1))?.steps ?? opening;
  };
  const byClient = (message: Message): void => {
    if ("method" in message) {
      const cue: Cue = { message, steps: [] };
      cues.push(cue);
      if ("id" in message) open.set(message.id, cue);
      if (message.method === "notifications/cancelled") open.delete(message.params?.requestId as RequestId);
    } else if (message.id !== undefined)
      (askedDuring.get(message.id) ?? now()).push({ order, kind: "wait", id: message.id, answer: message });
  };
  const byServer = (message: Message): void => {
    const step: Step = { order, kind: "say", message };
    if (!("method" in message)) {
      const cue = message.id === undefined ? undefined : open.get(message.id);
      cue?.steps.push(step);
      if (cue) open.delete(message.id as RequestId);
      return;
    }
    const steps = findByToken(open.values(), message.params)?.steps ?? now();
    steps.push(step);
    if ("id" in message) askedDuring.set(message.id, steps);
  };

  for (const event of events) {
    order++;
    for (const { from, message } of saidIn(event)) (from === "client" ? byClient : byServer)(message);
    if ("failed" in event) {
      open.get(event.failed)?.steps.push({ order, kind: "fail", why: event.why });
      open.delete(event.failed);
    }
    if ("closed" in event && event.why !== undefined) now().push({ order, kind: "lose", why: event.why });
  }
  return { opening, cues };
}

function findByToken(open: Iterable<Cue>, params: JsonObject | undefined): Cue | undefined {
  const token = params?.progressToken;
  if (token === undefined) return undefined;
  return [...open].find(({ message }) => metaOf(message.params).progressToken === token);
}
