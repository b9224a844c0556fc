// Two channels joined in memory. What passes is what a wire would carry: nothing is shared between the sides, and what
// cannot be written as JSON fails here as it would there. What is plain JSON is copied, the rest written and read.
import type { Channel, Receiver } from "../../jsonrpc/channel.ts";
import {
  type ErrorResponse,
  formatMessage,
  type Incoming,
  isObject,
  isRequestId,
  type JsonObject,
  maxJsonDepth,
  parseMessage,
  type Request,
  type SuccessResponse,
  toIncoming,
} from "../../jsonrpc/message.ts";
import type { Sender } from "../../protocol/endpoint.ts";
import { copyPlain } from "../../util/json-copy.ts";

/** Joins two channels. `sender` is what the second side is told of the first: who it is, for tests of authorization. */
export function createMemoryPair(sender?: Sender): [Channel, Channel] {
  const a = new MemoryChannel(undefined);
  const b = new MemoryChannel(sender);
  a.join(b);
  b.join(a);
  return [a, b];
}

/** What one side needs of the other. */
export interface End {
  deliver(text: string): void;
  /** The same for a message that is there already; absent where only texts are taken. */
  hand?(incoming: Incoming): void;
  close(): void;
}

/** The message as the other side reads it; undefined where it has to be written first. */
function copyMessage(message: Parameters<Channel["send"]>[0]): Incoming | undefined {
  const { jsonrpc, id, method, params, result, error } = message as Partial<Request & SuccessResponse & ErrorResponse>;
  // Most of them are one of two kinds: they need not be sorted.
  if (jsonrpc === "2.0" && isRequestId(id) && error === undefined) {
    if (typeof method === "string" && result === undefined && isObject(params)) {
      const copy = copyPlain(params, maxJsonDepth - 1) as JsonObject | undefined;
      return copy && { kind: "request", message: { jsonrpc, id, method, params: copy } };
    }
    if (method === undefined && isObject(result)) {
      const copy = copyPlain(result, maxJsonDepth - 1) as JsonObject | undefined;
      return copy && { kind: "response", message: { jsonrpc, id, result: copy } };
    }
  }
  const copy = copyPlain(message, maxJsonDepth);
  return copy === undefined ? undefined : toIncoming(copy);
}

const now = Promise.resolve();

export class MemoryChannel implements Channel, End {
  readonly oneStream = true;
  readonly #sender: Sender | undefined;
  #peer: End | undefined;
  #receiver: Receiver | undefined;
  /** What has come and is not read yet. */
  #waiting: Incoming[] = [];
  #closed = false;
  /** Closed, and whoever listens was told. */
  #isOver = false;

  constructor(sender: Sender | undefined) {
    this.#sender = sender;
  }

  join(peer: End): void {
    this.#peer = peer;
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
    if (this.#isOver) queueMicrotask(() => receiver.closed());
    else if (this.#waiting.length > 0) now.then(this.#pass);
  }

  send(message: Parameters<Channel["send"]>[0]): void {
    const peer = this.#peer;
    if (this.#closed || !peer) return;
    const incoming = peer.hand && copyMessage(message);
    if (incoming) peer.hand?.(incoming);
    else peer.deliver(formatMessage(message));
  }

  deliver(text: string): void {
    this.hand(parseMessage(text));
  }

  /** Never in the sender's own turn: a wire would not answer before `send` returns either. */
  hand(incoming: Incoming): void {
    // Cheaper on Node than queueMicrotask.
    if (this.#waiting.push(incoming) === 1 && this.#receiver) now.then(this.#pass);
  }

  /** As from a wire: what was sent in one go is read in one go. */
  readonly #pass = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    let read = 0;
    try {
      while (read < waiting.length && !this.#closed) this.#receiver?.receive(waiting[read++] as Incoming, this.#sender);
    } finally {
      // A receiver that throws has the rest all the same.
      if (read < waiting.length && !this.#closed) {
        this.#waiting = [...waiting.slice(read), ...this.#waiting];
        now.then(this.#pass);
      }
    }
  };

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    queueMicrotask(() => {
      this.#isOver = true;
      this.#receiver?.closed();
      this.#peer?.close();
    });
  }
}
