// One HTTP exchange as the core answers it: JSON, an empty answer, or a stream of events that is kept alive and given up when
// its reader does not keep up.
import { formatMessage, type RequestId } from "../../jsonrpc/message.ts";
import { keepAlive } from "./event.ts";
import { type EventSink, type GoneListener, type Headers, HttpFault, noSink, type Outlet } from "./exchange.ts";
import { eventHeaders, jsonHeaders, toJsonHeaders } from "./headers.ts";
import type { HttpSettings } from "./options.ts";
import type { Beating, Pulse } from "./pulse.ts";

export type StreamSettings = Pick<HttpSettings, "keepAliveMs" | "readerTimeoutMs" | "maxQueuedBytes">;

export interface ReplyGround {
  readonly settings: StreamSettings;
  readonly pulse: Pulse;
  /** Whether one more stream may be open. */
  readonly mayStream: () => boolean;
  /** Told once for each stream. */
  readonly streamed: (delta: 1 | -1) => void;
  /** Told once for each reply: it is complete, or its reader gone. */
  readonly done: () => void;
}

export class Reply implements GoneListener {
  readonly #outlet: Outlet;
  readonly #ground: ReplyGround;
  /** On every answer: what CORS says. */
  readonly #extra: Headers | undefined;
  #isOver = false;
  #sink: Sink | undefined;
  #listener: GoneListener | undefined;

  constructor(outlet: Outlet, ground: ReplyGround, extra?: Headers) {
    this.#outlet = outlet;
    this.#ground = ground;
    this.#extra = extra;
    outlet.onGone(this);
  }

  /** For its outlet: the client is gone. */
  gone(): void {
    this.#sink?.gone();
    this.#lose();
  }

  /** Answered, or the client is gone: nothing more can be sent. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Told if the client goes before the answer is complete. */
  onGone(listener: GoneListener): void {
    this.#listener = listener;
  }

  json(status: number, text: string, headers?: Headers): void {
    this.#answer(status, headers ? (toJsonHeaders(headers) as Headers) : jsonHeaders, text);
  }

  empty(status: number, headers: Headers = {}): void {
    this.#answer(status, headers);
  }

  /** What was wrong, as a JSON-RPC error. Its text is ours: nothing of the request is in it. */
  fault({ status, message, rpcCode, headers }: HttpFault, id?: RequestId): void {
    this.json(status, formatMessage({ jsonrpc: "2.0", id, error: { code: rpcCode, message } }), headers);
  }

  /** Whatever a page says. */
  page(status: number, headers: Headers, body?: string): void {
    this.#answer(status, headers, body);
  }

  get mayStream(): boolean {
    return this.#ground.mayStream();
  }

  /** Throws an HttpFault, 503, where one more stream would be too many. */
  assertMayStream(): void {
    if (!this.mayStream)
      throw new HttpFault(503, "Too many streams are open. Try again later", -32603, { "retry-after": "5" });
  }

  /** Look at `isOver` afterwards: it may turn out that the client is gone. */
  stream(headers?: Headers): EventSink {
    if (this.#isOver) return noSink;
    const extra = this.#extra ?? headers;
    const sink = this.#outlet.stream(extra ? { ...eventHeaders, ...extra, ...headers } : eventHeaders);
    if (this.#isOver) return noSink;
    this.#sink = new Sink(sink, this.#ground, this);
    return this.#sink;
  }

  /** Ends a stream as if its reader had gone. */
  cut(): void {
    this.#sink?.abort();
  }

  /** For its stream. */
  ended(isLost: boolean): void {
    if (isLost) this.#lose();
    else this.#end();
  }

  #answer(status: number, headers: Headers, body?: string): void {
    if (this.#isOver) return;
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new TypeError("The status of an answer is a whole number from 200 to 599");
    // Before anything counts as answered: it throws for headers that an application has made badly.
    this.#outlet.answer(status, this.#extra ? { ...this.#extra, ...headers } : headers, body);
    this.#end();
  }

  #lose(): void {
    const listener = this.#listener;
    this.#end();
    listener?.gone();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener = undefined;
    this.#ground.done();
  }
}

/** A stream with a pulse. */
class Sink implements EventSink, Beating {
  readonly #sink: EventSink;
  readonly #ground: ReplyGround;
  readonly #reply: Reply;
  #isOver = false;
  #wroteAt = Date.now();
  /** How much had to wait, ever; and of it how much was taken, when that was last seen. */
  #queuedBytes = 0;
  #takenBytes = 0;
  /** Since when the reader has been behind and has taken nothing. */
  #behindSince = 0;

  constructor(sink: EventSink, ground: ReplyGround, reply: Reply) {
    this.#sink = sink;
    this.#ground = ground;
    this.#reply = reply;
    ground.streamed(1);
    ground.pulse.add(this);
  }

  get waitingBytes(): number {
    return this.#sink.waitingBytes;
  }

  write(text: string): void {
    if (this.#isOver) return;
    // What is written now counts from the next on: nobody could have read it yet, however long it is.
    const waiting = this.#sink.waitingBytes;
    if (waiting > this.#ground.settings.maxQueuedBytes) {
      this.abort();
      return;
    }
    this.#sink.write(text);
    this.#queuedBytes += Math.max(0, this.#sink.waitingBytes - waiting);
    this.#wroteAt = Date.now();
  }

  end(): void {
    if (!this.#over()) return;
    this.#sink.end();
    this.#reply.ended(false);
  }

  abort(): void {
    if (!this.#over()) return;
    this.#sink.abort();
    this.#reply.ended(true);
  }

  gone(): void {
    this.#over();
  }

  beat(now: number): void {
    const { keepAliveMs, readerTimeoutMs } = this.#ground.settings;
    const waiting = this.#sink.waitingBytes;
    const taken = this.#queuedBytes - waiting;
    // Whoever takes a little now and then is slow, but there; though as much may come as it takes.
    if (waiting === 0 || taken > this.#takenBytes || this.#behindSince === 0) {
      this.#behindSince = waiting === 0 ? 0 : now;
      this.#takenBytes = taken;
    } else if (now - this.#behindSince >= readerTimeoutMs) {
      this.abort();
      return;
    }
    if (keepAliveMs > 0 && waiting === 0 && now - this.#wroteAt >= keepAliveMs) this.write(keepAlive);
  }

  #over(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#ground.pulse.delete(this);
    this.#ground.streamed(-1);
    return true;
  }
}
