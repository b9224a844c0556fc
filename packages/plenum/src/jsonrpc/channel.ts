// The seam between a transport and everything above it: messages in, send, close. Nothing more.
import type { Incoming, Message, Request, RequestId } from "./message.ts";

export interface Channel {
  /**
   * All messages travel on one stream (stdio, memory), so that the parts of a long answer must name their request.
   * False where every request has a stream of its own (HTTP).
   */
  readonly oneStream: boolean;
  /** Begins delivery. The connection calls it once. */
  open(receiver: Receiver): void;
  /**
   * Sends a message, or a batch of them as one. Throws only when the message cannot be written as JSON, or with what a
   * `Mirror` throws; a broken wire is told through `Receiver.closed`.
   * @param about the incoming request that this message belongs to; a transport with many streams picks by it.
   */
  send(message: Message | readonly Message[], about?: RequestId): void;
  /** This request of the peer's will not be answered, because it was cancelled: a stream that is only for it can go. */
  dismiss?(id: RequestId): void;
  /** Nobody waits for the answer to this request of ours any more: a stream that is only for it can go. */
  abandon?(id: RequestId): void;
  /** Ends both directions; `Receiver.closed` follows. Safe to call twice. */
  close(): void;
  /**
   * Settles when what is behind the channel is gone too, such as a child process; absent where there is nothing to
   * wait for.
   */
  readonly ended?: Promise<void>;
  /** The end of what keeps messages from getting to the peer just now, such as a user who logs in; undefined where nothing does. */
  readonly holdup?: Promise<unknown> | undefined;
}

export interface Receiver {
  /** @param sender what the transport knows of who sent it (see `Sender` in the protocol room); opaque here. */
  receive(incoming: Incoming, sender?: unknown): void;
  /** One request of ours came to nothing, and the channel goes on: where each has a stream of its own, each can be lost. */
  failed?(id: RequestId, cause: unknown): void;
  /**
   * What the peer sends by itself does not come through for now, and the channel is at work on it. Without a cause: it does
   * again. Requests of ours can be sent meanwhile.
   */
  interrupted?(cause?: unknown): void;
  /** Something went wrong that nobody waits for: for people. */
  noted?(problem: string): void;
  /** Called once. `cause` is absent when the end was orderly. */
  closed(cause?: unknown): void;
}

/** Why a request or a channel came to nothing, where that tells what can be done about it. */
export class ChannelFault extends Error {
  override readonly name = "ChannelFault";
  /** The request was refused before anything came of it: it can be sent again, whatever it does. */
  readonly isUnrun: boolean;
  /** The peer has let go of what this channel stood for; another channel is a new beginning. */
  readonly isRenewable: boolean;
  /** At least one request was answered on the channel: the peer was not out of order from the first. */
  readonly hasServed: boolean;

  constructor(message: string, facts: { isUnrun?: boolean; isRenewable?: boolean; hasServed?: boolean }) {
    super(message);
    this.isUnrun = facts.isUnrun ?? false;
    this.isRenewable = facts.isRenewable ?? false;
    this.hasServed = facts.hasServed ?? false;
  }
}

/**
 * What of a request's params travels beside the body as well: headers by name, none for most requests. Throws for a
 * request that must not be sent like that.
 */
export type Mirror = (request: Request) => { readonly [header: string]: string };

/** A place that channels can be opened to: a command, a server in this process, a URL. What a client connects to. */
export interface Target {
  /** Names it in messages to people: the command line, the URL. */
  readonly name: string;
  /**
   * The same for the same configuration: what was learned about the server is remembered under it. Undefined where
   * there is nothing to remember. Holds no secret in the clear.
   */
  readonly key?: string | undefined;
  /** What is behind it can be started again after it was lost. Default false. */
  readonly restarts?: boolean;
  /**
   * Params that a tool's schema annotates travel beside the body as well, in the stateless era: `open` makes use of a
   * mirror, and tools with annotations that are wrong cannot be called.
   */
  readonly mirrorsParams?: boolean;
  /**
   * A new channel; after one was lost, another. Rejects when there is none to be had, and says why.
   * @param mirror asked for each request of the stateless era, where `mirrorsParams` is set
   */
  open(mirror?: Mirror): Channel | Promise<Channel>;
}
