// A session as the connection above it sees it: one channel, though its messages travel on many streams. What belongs to a
// request goes on the stream of the POST that brought it, everything else on the listening stream; nothing goes on two.
import type { Channel, Receiver } from "../../jsonrpc/channel.ts";
import { formatMessage, type Incoming, type Message, type RequestId } from "../../jsonrpc/message.ts";
import type { Sender } from "../../protocol/endpoint.ts";
import { McpError } from "../../protocol/errors.ts";
import type { Reply } from "./reply.ts";
import type { EventLog } from "./resume.ts";
import { type OnAnswer, SessionStream, type StreamRules } from "./session-stream.ts";

/** The stream of what is about no request. */
const listening = 0;

export class SessionChannel implements Channel {
  readonly oneStream = false;
  readonly #rules: StreamRules;
  readonly #log: EventLog;
  #receiver: Receiver | undefined;
  #isClosed = false;
  #nextStream = 1;
  /** By the requests that are not answered yet. */
  readonly #byRequest = new Map<RequestId, SessionStream>();
  /** Streams of which something may still be wanted. */
  readonly #streams = new Map<number, SessionStream>();
  /** Those among them that have ended. */
  readonly #ended = new Set<SessionStream>();

  constructor(rules: StreamRules, log: EventLog) {
    this.#rules = rules;
    this.#log = log;
  }

  /** Streams that are connected, and requests that are open. */
  get isBusy(): boolean {
    if (this.#byRequest.size > 0) return true;
    for (const stream of this.#streams.values()) if (stream.isConnected) return true;
    return false;
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(message: Message | readonly Message[], about?: RequestId): void {
    const messages = Array.isArray(message) ? (message as readonly Message[]) : [message as Message];
    const stream = about === undefined ? undefined : this.#byRequest.get(about);
    const isAnswer = messages.every((one) => "result" in one || "error" in one);
    if (isAnswer) {
      const texts = messages.map(formatMessage);
      this.#release(stream);
      stream?.answer(texts, Array.isArray(message));
    } else if (about === undefined) {
      for (const one of messages) this.#stream(listening).push(formatMessage(one));
    } else {
      for (const one of messages) {
        // A question that cannot go out would be waited for in vain.
        if (!stream?.push(formatMessage(one)) && "id" in one && "method" in one) this.#fail(one.id);
      }
    }
  }

  dismiss(id: RequestId): void {
    const stream = this.#byRequest.get(id);
    this.#release(stream);
    stream?.dismiss();
  }

  /**
   * Takes the body of a POST that has requests; the reply is answered when they are.
   * @param onAnswer gives the id of the session that the answer opens, if it does
   */
  receive(incoming: Incoming, ids: readonly RequestId[], sender: Sender, reply: Reply, onAnswer?: OnAnswer): void {
    const stream = this.#stream(this.#nextStream++, ids);
    const disconnect = this.#rules.polls() ? (retryMs?: number) => stream.disconnect(retryMs) : undefined;
    for (const id of ids) this.#byRequest.set(id, stream);
    stream.begin(reply, onAnswer);
    this.#receiver?.receive(incoming, disconnect ? { ...sender, disconnect } : sender);
  }

  /** Takes a body that is not answered. */
  take(incoming: Incoming, sender: Sender): void {
    this.#receiver?.receive(incoming, sender);
  }

  /** Whether a request with this id is open: an id stands for one request at a time. */
  isOpen(id: RequestId): boolean {
    return this.#byRequest.has(id);
  }

  /** What is about no request goes here from now on, first what nobody has had yet. */
  listen(reply: Reply): void {
    this.#stream(listening).connect(reply);
  }

  /** Goes on with a stream behind one of its events. False when there is no such stream, or a part of it is lost. */
  resume(streamId: number, number: number, reply: Reply): boolean {
    const stream = streamId === listening ? this.#stream(listening) : this.#streams.get(streamId);
    return stream?.connect(reply, number) ?? false;
  }

  /** Ends the connections of all streams, which go on when their clients come back. */
  disconnect(retryMs?: number): void {
    for (const stream of this.#streams.values()) stream.disconnect(retryMs);
  }

  /** What was answered long ago is not asked for any more. */
  forget(before: number): void {
    for (const stream of this.#streams.values()) if (stream.endedAt <= before) this.#drop(stream);
    this.#streams.get(listening)?.trim(before);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
    this.#ended.clear();
    this.#byRequest.clear();
    this.#log.clear();
    queueMicrotask(() => this.#receiver?.closed());
  }

  #fail(id: RequestId): void {
    const why = "The client cannot be asked now, since too many streams are open (the option maxStreams)";
    this.#receiver?.failed?.(id, new McpError("connection_lost", why));
  }

  /** The requests of a body are answered together, those among them that were cancelled by nothing. */
  #release(stream: SessionStream | undefined): void {
    for (const id of stream?.requests ?? []) this.#byRequest.delete(id);
  }

  #stream(id: number, requests: readonly RequestId[] = []): SessionStream {
    let stream = this.#streams.get(id);
    if (!stream) {
      stream = new SessionStream(id, requests, this.#rules, this.#log, (...ended) => this.#end(...ended));
      this.#streams.set(id, stream);
    }
    return stream;
  }

  #end(stream: SessionStream, isForgotten: boolean): void {
    this.#ended.add(stream);
    if (isForgotten) this.#drop(stream);
    // In the order in which they ended, which is that of their last events.
    for (const ended of this.#ended) {
      if (!ended.isForgotten) return;
      this.#drop(ended);
    }
  }

  #drop(stream: SessionStream): void {
    this.#ended.delete(stream);
    this.#streams.delete(stream.id);
    if (stream.hasEvents) this.#log.forget(stream.id);
  }
}
