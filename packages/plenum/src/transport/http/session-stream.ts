// One logical stream of a session: what goes to the client about one POST, or about none. Its connection may break and be
// taken up again; the events are in the session's log meanwhile.
import type { RequestId } from "../../jsonrpc/message.ts";
import type { Bag } from "../../util/bag.ts";
import { formatEvent, formatPrimer, formatRetry } from "./event.ts";
import { type EventSink, type Headers, HttpFault } from "./exchange.ts";
import type { HttpSettings } from "./options.ts";
import type { Beating, Pulse } from "./pulse.ts";
import type { Reply } from "./reply.ts";
import type { EventLog } from "./resume.ts";

/** The session that a stream belongs to. */
export interface StreamOwner {
  readonly settings: Pick<HttpSettings, "answers" | "streamAfterMs" | "retryMs">;
  readonly pulse: Pulse;
  readonly log: EventLog;
  /** Of these the clients have left, and handlers are still at work. */
  readonly left: Bag<SessionStream>;
  /** The session's revision lets a server end a connection and be polled (2025-11-25). */
  readonly polls: boolean;
  /** From now on there are events, which can be asked for again. */
  streamed(stream: SessionStream): void;
  /** The last answer was sent, or there will be none. */
  answered(stream: SessionStream, isForgotten: boolean): void;
}

/**
 * Gives the id of the session that an answer opens, if it does.
 * @param isHeard there is somebody to tell it
 */
export type OnAnswer = (isHeard: boolean) => string | undefined;

/** Data that is longer is kept once, in characters. */
const longLength = 65_536;

export class SessionStream implements Beating {
  readonly id: number;
  /** What is answered here; none on the listening stream. */
  readonly requests: readonly RequestId[];
  readonly #owner: StreamOwner;
  /** The exchange that brought the requests, until it is answered or becomes a stream. */
  #reply: Reply | undefined;
  #sink: EventSink | undefined;
  #isStreaming = false;
  #onAnswer: OnAnswer | undefined;
  /** What came before an answer that opens a session: the answer's headers come first. */
  #early: string[] | undefined;
  /** The last event that a connection was given. */
  #given = 0;
  /** It is the listening stream, and nobody has listened yet. */
  #isUnheard: boolean;
  #startedAt = 0;
  /** Its newest event. */
  #last = 0;
  /** When the last answer was sent; Infinity before. */
  endedAt: number = Number.POSITIVE_INFINITY;

  constructor(id: number, requests: readonly RequestId[], owner: StreamOwner) {
    this.id = id;
    this.requests = requests;
    this.#isUnheard = requests.length === 0;
    this.#owner = owner;
  }

  /** All has been said, and nothing of it is kept for who comes back. */
  get isForgotten(): boolean {
    return this.endedAt !== Number.POSITIVE_INFINITY && this.#last < this.#owner.log.oldest;
  }

  get isConnected(): boolean {
    return this.#sink !== undefined || this.#reply !== undefined;
  }

  /** The POST whose requests are answered here. */
  begin(reply: Reply, onAnswer?: OnAnswer): void {
    const { pulse, settings } = this.#owner;
    this.#reply = reply;
    this.#onAnswer = onAnswer;
    this.#startedAt = Date.now();
    reply.onGone(this);
    pulse.add(this);
    // The id of a session is a header, so that a stream that opens one begins with its answer.
    if (settings.answers === "stream" && !onAnswer) this.#stream();
  }

  /** For the reply that it began with. */
  gone(): void {
    this.#reply = undefined;
    this.#left();
    // A handshake that nobody waits for opens nothing, however long it takes.
    this.#onAnswer?.(false);
    this.#onAnswer = undefined;
  }

  beat(now: number): void {
    const { streamAfterMs } = this.#owner.settings;
    if (!this.#onAnswer && now - this.#startedAt >= streamAfterMs) this.#stream();
  }

  /** Something before the answer, or about no request. False where there is no way for it. */
  push(data: string): boolean {
    if (this.#onAnswer) {
      this.#early ??= [];
      this.#early.push(data);
      return true;
    }
    // A change that nobody has listened for yet is told once, however often it happens: most who do not listen never will.
    if (this.#isUnheard && this.#owner.log.has(this.id, data)) return true;
    this.#stream();
    if (this.#isStreaming) this.#write([data]);
    return this.#isStreaming;
  }

  /** The answer to a request, or those to a batch. */
  answer(texts: readonly string[], isBatch: boolean): void {
    const sessionId = this.#onAnswer?.(this.#reply !== undefined);
    const headers = sessionId === undefined ? undefined : { "mcp-session-id": sessionId };
    const early = this.#early;
    this.#early = undefined;
    if (this.#onAnswer && (this.#owner.settings.answers === "stream" || early)) this.#stream(headers);
    this.#onAnswer = undefined;
    if (!this.#isStreaming) {
      this.#reply?.json(200, isBatch ? `[${texts.join(",")}]` : (texts[0] as string), headers);
      this.#reply = undefined;
      this.#end(true);
      return;
    }
    this.#write(early ? [...early, ...texts] : texts);
    this.#end(false);
  }

  /** There is no answer: whatever was asked for was cancelled. */
  dismiss(): void {
    this.#stream();
    this.#end(true);
  }

  /**
   * A connection for what comes from now on, and for what came behind an event that the client had last. Without one: what
   * nobody was given yet. False when a part of that is lost.
   */
  connect(reply: Reply, after?: number): boolean {
    const { log } = this.#owner;
    // Who comes without an event was away too long, or never here: it hears what there is.
    const events = after === undefined ? log.rest(this.id, this.#given) : log.after(this.id, after);
    if (!events) return false;
    this.#isUnheard = false;
    // The POST that waits for an answer is told by a stream that ends: the answer has another way now.
    this.#stream();
    this.#become();
    this.#leave();
    // An id of now would stand for what is still to be repeated: who comes back has one already.
    this.#attach(reply, after === undefined && events.length === 0);
    for (const { id, data } of events) this.#sink?.write(formatEvent(data, id));
    this.#given = Math.max(this.#given, after ?? 0, events.at(-1)?.number ?? 0);
    if (this.endedAt !== Number.POSITIVE_INFINITY) this.#leave();
    return true;
  }

  /** Lets go of what a connection was given long ago. */
  trim(before: number): void {
    this.#owner.log.trim(this.id, this.#given, before);
  }

  /** Nobody can ask for its events any more. */
  forget(): void {
    if (this.#isStreaming) this.#owner.log.forget(this.id, this.#last);
  }

  /** Ends the connection but not the stream: the client comes back for the rest. */
  disconnect(retryMs: number = this.#owner.settings.retryMs): void {
    if (!this.#owner.polls || this.endedAt !== Number.POSITIVE_INFINITY) return;
    this.#stream();
    // Where no stream could be opened the client waits for its answer as before.
    if (!this.#isStreaming) return;
    this.#sink?.write(formatRetry(retryMs));
    this.#leave();
  }

  close(): void {
    this.#owner.pulse.delete(this);
    this.#owner.left.delete(this);
    this.#reply?.fault(new HttpFault(404, "The session has ended"));
    this.#reply = undefined;
    this.#leave();
  }

  /** From here on there are events. A client that is gone may come back for them. */
  #become(): void {
    if (this.#isStreaming) return;
    this.#isStreaming = true;
    this.#owner.streamed(this);
  }

  /** The same on the connection that there is, unless too many streams are open. */
  #stream(headers?: Headers): void {
    const reply = this.#reply;
    if (this.#isStreaming || reply?.mayStream === false) return;
    this.#become();
    this.#reply = undefined;
    if (reply) this.#attach(reply, true, headers);
  }

  #attach(reply: Reply, isPrimed: boolean, headers?: Headers): void {
    const sink = reply.stream(headers);
    if (reply.isOver) return;
    this.#sink = sink;
    reply.onGone({
      gone: () => {
        if (this.#sink !== sink) return;
        this.#sink = undefined;
        this.#left();
      },
    });
    this.#owner.left.delete(this);
    const { polls, log, settings } = this.#owner;
    if (isPrimed && polls) sink.write(formatPrimer(log.mark(this.id), settings.retryMs));
  }

  /** All at once: none of them is late because of the others. */
  #write(events: readonly string[]): void {
    const { log } = this.#owner;
    let text = "";
    for (const data of events) text += this.#append(data);
    this.#last = log.newest;
    if (!this.#sink) return;
    this.#given = this.#last;
    this.#sink.write(text);
  }

  /** Has it kept, and gives its event. */
  #append(data: string): string {
    const { log } = this.#owner;
    if (data.length < longLength) return formatEvent(data, log.append(this.id, data));
    const event = formatEvent(data, log.nextId(this.id));
    // A part of the event, not the pieces of which a long JSON text is made: they would live as long, beside it.
    log.append(this.id, event.slice(-2 - data.length, -2));
    return event;
  }

  /** Its client has left: what it asked for goes on, and counts. */
  #left(): void {
    if (this.requests.length > 0 && this.endedAt === Number.POSITIVE_INFINITY) this.#owner.left.add(this);
  }

  #end(isForgotten: boolean): void {
    this.#owner.pulse.delete(this);
    this.#owner.left.delete(this);
    this.endedAt = Date.now();
    this.#leave();
    this.#owner.answered(this, isForgotten);
  }

  #leave(): void {
    this.#sink?.end();
    this.#sink = undefined;
    // Where no stream could be opened: nobody is left without an answer.
    this.#reply?.fault(
      new HttpFault(503, "Too many streams are open. Try again later", -32603, { "retry-after": "5" }),
    );
    this.#reply = undefined;
  }
}
