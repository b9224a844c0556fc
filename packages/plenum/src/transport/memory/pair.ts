// Two channels joined in memory. What passes is text, exactly as on a wire: nothing is shared between the sides, and what
// cannot be written as JSON fails here as it would there.
import type { Channel, Receiver } from "../../jsonrpc/channel.ts";
import { formatMessage, parseMessage } from "../../jsonrpc/message.ts";
import type { Sender } from "../../protocol/endpoint.ts";

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
  close(): void;
}

export class MemoryChannel implements Channel, End {
  readonly oneStream = true;
  readonly #sender: Sender | undefined;
  #peer: End | undefined;
  #receiver: Receiver | undefined;
  /** What came before the receiver did. */
  #waiting: string[] = [];
  #closed = false;

  constructor(sender: Sender | undefined) {
    this.#sender = sender;
  }

  join(peer: End): void {
    this.#peer = peer;
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const text of waiting) this.deliver(text);
  }

  send(message: Parameters<Channel["send"]>[0]): void {
    if (!this.#closed) this.#peer?.deliver(formatMessage(message));
  }

  /** Never in the sender's own turn: a wire would not answer before `send` returns either. */
  deliver(text: string): void {
    if (!this.#receiver) {
      this.#waiting.push(text);
      return;
    }
    queueMicrotask(() => {
      if (!this.#closed) this.#receiver?.receive(parseMessage(text), this.#sender);
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    queueMicrotask(() => {
      this.#receiver?.closed();
      this.#peer?.close();
    });
  }
}
