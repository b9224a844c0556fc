// A session as the connection above it sees it: one channel, though its messages travel on many streams. What belongs to a
// request goes on the stream of the POST that brought it, everything else on the listening stream; nothing goes on two.
// Idle, it is this one object: most sessions are, most of the time.
import type { Channel, Receiver } from "../../jsonrpc/channel.ts";
import { formatMessage, type Incoming, type Message, type RequestId } from "../../jsonrpc/message.ts";
import { McpError } from "../../protocol/errors.ts";
import type { Serving } from "../../protocol/negotiate.ts";
import type { Bag } from "../../util/bag.ts";
import type { HttpSettings, SessionSettings } from "./options.ts";
import type { Pulse } from "./pulse.ts";
import type { Reply } from "./reply.ts";
import { type EventBudget, EventLog } from "./resume.ts";
import type { HttpSender } from "./sender.ts";
import { type OnAnswer, SessionStream, type StreamOwner } from "./session-stream.ts";
import type { Lasting } from "./sessions.ts";

/** What the sessions of a server have in common. */
export interface SessionGround {
  readonly settings: HttpSettings;
  readonly limits: SessionSettings;
  readonly pulse: Pulse;
  readonly budget: EventBudget;
  readonly left: Bag<SessionStream>;
  serve(channel: Channel): Serving;
  /** Told once. */
  ended(channel: SessionChannel): void;
}

/** The stream of what is about no request. */
const listening = 0;

export class SessionChannel implements Channel, Lasting, StreamOwner {
  readonly id: string;
  readonly owner: string;
  readonly createdAt: number = Date.now();
  usedAt: number = this.createdAt;
  isUsed = false;
  readonly serving: Serving;
  readonly #ground: SessionGround;
  #receiver: Receiver | undefined;
  #isClosed = false;
  #nextStream = 1;
  /** By the requests that are not answered yet. Absent where there are none, as are the others. */
  #byRequest: Map<RequestId, SessionStream> | undefined;
  /** Streams that have events, of which something may still be wanted. */
  #streams: Map<number, SessionStream> | undefined;
  /** Those among them that have ended, in that order, which is also that of their last events. */
  #ended: SessionStream[] | undefined;
  #log: EventLog | undefined;

  constructor(id: string, owner: string, ground: SessionGround) {
    this.id = id;
    this.owner = owner;
    this.#ground = ground;
    this.serving = ground.serve(this);
  }

  get oneStream(): boolean {
    return false;
  }

  get settings(): HttpSettings {
    return this.#ground.settings;
  }

  get pulse(): Pulse {
    return this.#ground.pulse;
  }

  get left(): Bag<SessionStream> {
    return this.#ground.left;
  }

  get polls(): boolean {
    return (this.serving.revision() ?? "") >= "2025-11-25";
  }

  get log(): EventLog {
    const { limits, budget } = this.#ground;
    this.#log ??= new EventLog(limits.maxEvents, limits.maxEventBytes, budget);
    return this.#log;
  }

  /** Requests are open, or somebody listens. */
  get isBusy(): boolean {
    return this.#byRequest !== undefined || (this.#streams?.get(listening)?.isConnected ?? false);
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(message: Message | readonly Message[], about?: RequestId): void {
    const stream = about === undefined ? undefined : this.#byRequest?.get(about);
    if (!Array.isArray(message)) {
      const one = message as Message;
      if ("method" in one) this.#push(one, about, stream);
      else this.#answer([formatMessage(one)], false, stream);
    } else if (message.every((one) => !("method" in one))) this.#answer(message.map(formatMessage), true, stream);
    else for (const one of message) this.#push(one, about, stream);
  }

  dismiss(id: RequestId): void {
    const stream = this.#byRequest?.get(id);
    this.#release(stream);
    stream?.dismiss();
  }

  /**
   * Takes the body of a POST that has requests; the reply is answered when they are.
   * @param onAnswer gives the id of the session that the answer opens, if it does
   */
  receive(incoming: Incoming, ids: readonly RequestId[], sender: HttpSender, reply: Reply, onAnswer?: OnAnswer): void {
    const stream = new SessionStream(this.#nextStream++, ids, this);
    this.#byRequest ??= new Map();
    for (const id of ids) this.#byRequest.set(id, stream);
    stream.begin(reply, onAnswer);
    if (this.polls) sender.disconnect = (retryMs) => stream.disconnect(retryMs);
    this.#receiver?.receive(incoming, sender);
  }

  /** Takes a body that is not answered. */
  take(incoming: Incoming, sender: HttpSender): void {
    this.#receiver?.receive(incoming, sender);
  }

  /** Whether a request with this id is open: an id stands for one request at a time. */
  isOpen(id: RequestId): boolean {
    return this.#byRequest?.has(id) ?? false;
  }

  /** What is about no request goes here from now on, first what nobody has had yet. */
  listen(reply: Reply): void {
    this.#listening().connect(reply);
  }

  /** Goes on with a stream behind one of its events. False when there is no such stream, or a part of it is lost. */
  resume(streamId: number, number: number, reply: Reply): boolean {
    let stream = streamId === listening ? this.#listening() : this.#streams?.get(streamId);
    // One that has not begun to stream is taken over all the same.
    for (const open of this.#byRequest?.values() ?? []) if (open.id === streamId) stream = open;
    return stream?.connect(reply, number) ?? false;
  }

  /** Ends the connections of all streams, which go on when their clients come back. */
  disconnect(retryMs?: number): void {
    for (const stream of this.#open()) stream.disconnect(retryMs);
  }

  /** What was answered long ago is not asked for any more. */
  forget(before: number): void {
    this.#dropWhile((ended) => ended.endedAt <= before);
    this.#streams?.get(listening)?.trim(before);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stream of this.#open()) stream.close();
    this.#streams = undefined;
    this.#ended = undefined;
    this.#byRequest = undefined;
    this.#log?.clear();
    this.#ground.ended(this);
    queueMicrotask(() => this.#receiver?.closed());
  }

  streamed(stream: SessionStream): void {
    this.#streams ??= new Map();
    this.#streams.set(stream.id, stream);
  }

  answered(stream: SessionStream, isForgotten: boolean): void {
    if (isForgotten) this.#drop(stream);
    else {
      this.#ended ??= [];
      this.#ended.push(stream);
    }
    this.#dropWhile((ended) => ended.isForgotten);
  }

  #answer(texts: readonly string[], isBatch: boolean, stream: SessionStream | undefined): void {
    this.#release(stream);
    stream?.answer(texts, isBatch);
  }

  #push(message: Message, about: RequestId | undefined, stream: SessionStream | undefined): void {
    const text = formatMessage(message);
    const isPushed = about === undefined ? this.#listening().push(text) : stream?.push(text);
    // A question that cannot go out would be waited for in vain.
    if (!isPushed && about !== undefined && "id" in message && "method" in message) this.#fail(message.id);
  }

  #fail(id: RequestId): void {
    const why = "The client cannot be asked now, since too many streams are open (the option maxStreams)";
    this.#receiver?.failed?.(id, new McpError("connection_lost", why));
  }

  /** The requests of a body are answered together, those among them that were cancelled by nothing. */
  #release(stream: SessionStream | undefined): void {
    for (const id of stream?.requests ?? []) this.#byRequest?.delete(id);
    if (this.#byRequest?.size === 0) this.#byRequest = undefined;
  }

  #listening(): SessionStream {
    return this.#streams?.get(listening) ?? new SessionStream(listening, [], this);
  }

  /** Those that have not ended. */
  #open(): Set<SessionStream> {
    const open = new Set(this.#byRequest?.values());
    const listens = this.#streams?.get(listening);
    return listens ? open.add(listens) : open;
  }

  #dropWhile(isOver: (ended: SessionStream) => boolean): void {
    const ended = this.#ended;
    while (ended?.[0] && isOver(ended[0])) this.#drop(ended.shift() as SessionStream);
    if (ended?.length === 0) this.#ended = undefined;
  }

  #drop(stream: SessionStream): void {
    stream.forget();
    this.#streams?.delete(stream.id);
    if (this.#streams?.size === 0) this.#streams = undefined;
  }
}
