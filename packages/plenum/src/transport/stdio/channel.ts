// A channel over a pair of byte streams, one message a line: the stdio transport, and equally a socket. It writes what
// one turn produced at once, and does not read from a peer that does not take its answers.
// Specification: basic/transports/stdio; basic/transports § Custom Transports.
import { Buffer } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import type { Channel, Receiver } from "../../jsonrpc/channel.ts";
import { formatMessage, type Message, parseMessage, type RequestId, refuseUnread } from "../../jsonrpc/message.ts";
import { createLines, type Lines } from "./lines.ts";

export interface StreamChannelOptions {
  /** May be the same object as `output`: a socket. It is not read before `open`. */
  readonly input: Readable;
  readonly output: Writable;
  /** Bytes that one message of the peer may have; a longer one is skipped and answered with an error. Default 64 MiB. */
  readonly maxBytes?: number;
  /**
   * What may wait for a peer that does not read, a character counted as a byte. Whoever sends more while it still does not
   * ends the channel; one message, however long, may always wait. Default 256 MiB.
   */
  readonly maxQueuedBytes?: number;
  /**
   * Called by `Channel.close`, once, when everything sent is handed to `output`. Whoever gives it ends the streams.
   * Default: the output is ended, and the input destroyed.
   */
  readonly onClose?: () => void;
  /**
   * Asked when the input has ended or broken: what `Receiver.closed` is told. A promise is waited for, and until then
   * messages can still be sent.
   */
  readonly endCause?: () => unknown;
  /** Told why, when the channel ends because the peer does not take what is sent to it. */
  readonly onGiveUp?: (error: Error) => void;
}

export const defaultMaxBytes: number = 64 * 1024 * 1024;

export const defaultMaxQueuedBytes: number = 256 * 1024 * 1024;

/** Messages are put together up to this length, in characters, before they are written. */
const batchLength = 1024 * 1024;

/** Answers, in characters, that may wait for a peer to take them before its requests are no longer read. */
const maxWaiting = 16 * 1024 * 1024;

/** Bytes that are read ahead meanwhile, and not looked at: the end of the input is behind them. */
const maxAhead = 1024 * 1024;

/**
 * How long a peer may take nothing at all while so much waits for it; how long when it sends on all the same, more than is
 * read ahead, so that its end could not be seen; and how long when it has ended its side.
 */
const stallMs = 60_000;
const floodedStallMs = 5000;
const endedStallMs = 2000;

/** A peer that goes away closes both streams. When our output breaks first, what it said last is still to be read. */
const lingerMs = 500;

/** What is still unwritten when the channel closes is given this long to be taken. */
const flushMs = 5000;

/**
 * The streams are the channel's from now on: it ends them, and listens for their errors. A socket must have been opened
 * with `allowHalfOpen` if answers are still to be written after the peer has ended its side. Throws a TypeError for a
 * limit that is none.
 */
export function createStreamChannel(options: StreamChannelOptions): Channel {
  return new StreamChannel(options);
}

class StreamChannel implements Channel {
  readonly oneStream = true;
  readonly #options: StreamChannelOptions;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines: Lines;
  readonly #flush = (): void => this.#writeQueue();
  #receiver: Receiver | undefined;
  /** Texts with their newlines, to be written when the turn is over or, while blocked, when the output drains. */
  #queue: string[] = [];
  #isFlushDue = false;
  #isBlocked = false;
  /** Characters of the queue that answer the peer. */
  #waiting = 0;
  /** Characters of the queue. */
  #queued = 0;
  readonly #maxQueued: number;
  #isPaused = false;
  /** What was read while paused. */
  #ahead: Uint8Array[] = [];
  #aheadBytes = 0;
  /** The input has ended while paused: to be told after what was read ahead. */
  #isEndHeld = false;
  #stall: NodeJS.Timeout | undefined;
  /** Why nothing can be written any more. */
  #breakage: { readonly error: unknown } | undefined;
  #linger: NodeJS.Timeout | undefined;
  /** The input has ended; its cause is being asked for. */
  #isEnding = false;
  /** Nothing more is delivered or sent. */
  #over: { readonly cause: unknown } | undefined;
  #isReleased = false;

  constructor(options: StreamChannelOptions) {
    const { input, output, maxBytes = defaultMaxBytes, maxQueuedBytes = defaultMaxQueuedBytes } = options;
    if (!(maxBytes > 0)) throw new TypeError(`maxBytes cannot be ${maxBytes}: give a number of bytes above 0`);
    if (!(maxQueuedBytes > 0))
      throw new TypeError(`maxQueuedBytes cannot be ${maxQueuedBytes}: give a number of bytes above 0`);
    this.#maxQueued = maxQueuedBytes;
    this.#options = options;
    this.#input = input;
    this.#output = output;
    const why = `a message larger than ${maxBytes} bytes`;
    this.#lines = createLines({
      maxBytes,
      onLine: (text) => {
        if (!this.#over) this.#receiver?.receive(parseMessage(text));
      },
      onTooLong: (_, head) => {
        if (!this.#over) this.#receiver?.receive(refuseUnread(head, why));
      },
    });
    // From the beginning, and for good: an error that nobody listens for would end the process.
    input.on("error", (error) => this.#inputEnded(error, false));
    input.on("close", () => {
      if (!this.#isEndHeld) this.#inputEnded(new Error("The input was closed before its end"), false);
    });
    output.on("error", (error) => this.#break(error));
    output.on("close", () => this.#break(new Error("The output was closed")));
    output.on("drain", () => {
      this.#isBlocked = false;
      if (this.#isPaused) this.#stall?.refresh();
      this.#writeQueue();
    });
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
    const input = this.#input;
    if (this.#over) {
      const { cause } = this.#over;
      queueMicrotask(() => receiver.closed(cause));
      return;
    }
    // The events of one that is over already do not come again.
    if (this.#output.destroyed) this.#break(this.#output.errored ?? new Error("The output was closed"));
    if (input.readableEnded || input.destroyed) {
      queueMicrotask(() => this.#inputEnded(input.errored ?? undefined, false));
      return;
    }
    input.on("end", () => {
      if (!this.#isPaused) return this.#inputEnded(undefined, true);
      this.#isEndHeld = true;
      this.#watchStall();
    });
    input.on("data", (chunk: Uint8Array | string) => {
      if (this.#over) return;
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      if (this.#isPaused) this.#readAhead(bytes);
      else this.#lines.push(bytes);
    });
  }

  send(message: Message | readonly Message[], about?: RequestId): void {
    const text = `${formatMessage(message)}\n`;
    if (this.#over || this.#breakage) return;
    if (this.#isBlocked && this.#queued > this.#maxQueued) {
      this.#giveUp();
      return;
    }
    this.#queue.push(text);
    this.#queued += text.length;
    // Only answers count. If own requests did, two peers that send each other a lot would both stop to read, for good.
    if (about !== undefined || !("method" in message)) this.#waiting += text.length;
    if (this.#isBlocked) {
      this.#regulate();
    } else if (!this.#isFlushDue) {
      this.#isFlushDue = true;
      // From a microtask this comes after all others: what one turn produced is written at once.
      process.nextTick(this.#flush);
    }
  }

  close(): void {
    if (!this.#over) {
      this.#finish(undefined);
      queueMicrotask(() => this.#receiver?.closed());
    }
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#options.onClose) this.#options.onClose();
    else this.#release();
  }

  #writeQueue(): void {
    this.#isFlushDue = false;
    if (this.#over || this.#breakage || this.#isBlocked) return;
    const queue = this.#queue;
    let at = 0;
    while (at < queue.length && !this.#isBlocked) at = this.#writeBatch(queue, at);
    // Writing may have broken the output, or even closed the channel: then there is another queue.
    if (this.#queue !== queue) return;
    queue.splice(0, at);
    this.#regulate();
  }

  /** Writes what is in the queue from there on, as much as makes a batch, and says where it ends. */
  #writeBatch(queue: readonly string[], from: number): number {
    let at = from + 1;
    let batch = queue[from] as string;
    for (; at < queue.length; at++) {
      const text = queue[at] as string;
      if (batch.length + text.length > batchLength) break;
      batch += text;
    }
    this.#queued -= batch.length;
    if (!this.#output.write(batch)) this.#isBlocked = true;
    return at;
  }

  /** Stops to read from a peer that does not take what it asked for, and goes on when it has taken everything. */
  #regulate(): void {
    if (this.#queue.length === 0) {
      this.#waiting = 0;
      this.#resume();
    } else if (this.#waiting > maxWaiting && !this.#isPaused) {
      this.#isPaused = true;
      this.#watchStall();
    }
  }

  #readAhead(bytes: Uint8Array): void {
    this.#ahead.push(bytes);
    this.#aheadBytes += bytes.length;
    if (this.#aheadBytes <= maxAhead) return;
    this.#input.pause();
    this.#watchStall();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    clearTimeout(this.#stall);
    for (let bytes = this.#ahead.shift(); bytes; bytes = this.#ahead.shift()) {
      this.#aheadBytes -= bytes.length;
      if (!this.#over) this.#lines.push(bytes);
      // What was in it may have been answered at once, and with more than the peer takes.
      if (this.#isPaused) return;
    }
    if (this.#isEndHeld) this.#inputEnded(undefined, true);
    else this.#input.resume();
  }

  #watchStall(): void {
    clearTimeout(this.#stall);
    const ms = this.#isEndHeld ? endedStallMs : this.#aheadBytes > maxAhead ? floodedStallMs : stallMs;
    this.#stall = setTimeout(() => this.#giveUp(), ms);
  }

  /** Nothing is left to hope for from a peer that does not read: what waits for it is dropped. */
  #giveUp(): void {
    if (this.#over || this.#breakage) return;
    const waiting = this.#queued + this.#output.writableLength;
    const error = new Error(`The peer does not read: ${waiting} bytes are waiting for it`);
    this.#breakage = { error };
    this.#options.onGiveUp?.(error);
    this.#isEnding = true;
    this.#queue = [];
    this.#ahead = [];
    this.#output.destroy();
    // First the output tells of its end: who has given it may have to act on that.
    setImmediate(() => this.#end(error));
  }

  #break(error: unknown): void {
    if (this.#over || this.#breakage) return;
    this.#breakage = { error };
    this.#queue = [];
    this.#resume();
    if (!this.#isEnding) this.#linger = setTimeout(() => this.#end(error), lingerMs);
  }

  /** @param isWhole the peer ended it in order: a last line without a newline is a line */
  #inputEnded(error: unknown, isWhole: boolean): void {
    if (this.#isEnding || this.#over) return;
    this.#isEnding = true;
    clearTimeout(this.#linger);
    if (isWhole) this.#lines.end();
    const cause = error ?? this.#breakage?.error;
    const { endCause } = this.#options;
    if (endCause) {
      new Promise((resolve) => resolve(endCause())).then(
        (told) => this.#end(told ?? cause),
        (failure) => this.#end(failure),
      );
    } else this.#end(cause);
  }

  #end(cause: unknown): void {
    if (this.#over) return;
    this.#finish(cause);
    if (!this.#options.onClose && !this.#isReleased) {
      this.#isReleased = true;
      this.#release();
    }
    this.#receiver?.closed(cause);
  }

  /** Nothing more comes or goes, but what is sent already goes first, whether the output is blocked or not. */
  #finish(cause: unknown): void {
    clearTimeout(this.#linger);
    clearTimeout(this.#stall);
    const queue = this.#queue;
    this.#queue = [];
    this.#over = { cause };
    for (let at = 0; at < queue.length; ) at = this.#writeBatch(queue, at);
    // What still comes is read and dropped: a peer that is stuck in writing could not end.
    this.#resume();
  }

  #release(): void {
    const [input, output] = [this.#input, this.#output];
    const isOne = (input as unknown) === output;
    const stuck = setTimeout(() => {
      output.destroy();
      input.destroy();
    }, flushMs);
    stuck.unref();
    output.end(() => {
      clearTimeout(stuck);
      if (isOne) input.destroy();
    });
    if (!isOne) input.destroy();
  }
}
