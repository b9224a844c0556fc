// The answer to requests that need nothing but themselves: one JSON object (or array, for a batch), unless a handler sends
// something before it ends, or takes long: then a stream of events.
import { type Answer, Exchange, type Outlet } from "../../jsonrpc/exchange.ts";
import {
  type ErrorObject,
  formatMessage,
  type JsonObject,
  type Request,
  type Response,
} from "../../jsonrpc/message.ts";
import type { Endpoint, Sender } from "../../protocol/endpoint.ts";
import { statusOf, toHidden } from "../../protocol/errors.ts";
import type { Bag } from "../../util/bag.ts";
import { formatEvent } from "./event.ts";
import type { EventSink, GoneListener } from "./exchange.ts";
import type { HttpSettings } from "./options.ts";
import type { Beating, Pulse } from "./pulse.ts";
import type { Reply } from "./reply.ts";

export interface AnsweringGround {
  readonly endpoint: Endpoint;
  readonly settings: Pick<HttpSettings, "answers" | "streamAfterMs">;
  readonly pulse: Pulse;
  /** What is being answered, so that closing can wait for it, and end it. */
  readonly open: Bag<Answering>;
  /** Of these the clients have left, and handlers are still at work, cancelled or not. */
  readonly left: Set<Answering>;
}

/** How the requests of one exchange are answered. */
export interface Rules {
  /** Errors have an HTTP status of their own, where nothing was streamed before them. */
  readonly hasStatus: boolean;
  /** A client that is gone has cancelled what it asked for. */
  readonly endsWithClient: boolean;
  readonly run: (request: Request, exchange: Exchange) => Answer | Promise<Answer>;
}

export class Answering implements Outlet, Beating, GoneListener {
  readonly #ground: AnsweringGround;
  readonly #rules: Rules;
  readonly #reply: Reply;
  readonly #exchanges: readonly Exchange[];
  /** Of a batch, until a stream begins: the answers that wait for the others. */
  #waiting: string[] | undefined;
  readonly #startedAt = Date.now();
  #sink: EventSink | undefined;
  #status = 200;
  /** Requests that have no answer. */
  #open: number;
  /** Handlers that have not ended. */
  #running: number;

  private constructor(
    ground: AnsweringGround,
    rules: Rules,
    requests: readonly Request[],
    sender: Sender,
    reply: Reply,
  ) {
    this.#ground = ground;
    this.#rules = rules;
    this.#reply = reply;
    this.#open = requests.length;
    this.#running = requests.length;
    // All of them are known before the first can be answered.
    this.#exchanges = requests.map((request) => new Exchange(this, request, sender));
    ground.pulse.add(this);
    ground.open.add(this);
  }

  /**
   * Answers requests on one HTTP exchange.
   * @param batch given where they came together, with what of them is answered already
   */
  static begin(
    ground: AnsweringGround,
    rules: Rules,
    requests: readonly Request[],
    sender: Sender,
    reply: Reply,
    batch?: { readonly refusals: readonly Response[] },
  ): void {
    const answering = new Answering(ground, rules, requests, sender, reply);
    if (batch) answering.#waiting = batch.refusals.map((refusal) => formatMessage(refusal));
    reply.onGone(answering);
    // An error that comes first has its status even there: so nothing is said before there is something to say.
    if (ground.settings.answers === "stream" && !rules.hasStatus) answering.#stream();
    for (let i = 0; i < requests.length; i++)
      answering.#run(requests[i] as Request, answering.#exchanges[i] as Exchange);
  }

  /** For its reply. */
  gone(): void {
    if (this.#running > 0) this.#ground.left.add(this);
    if (this.#rules.endsWithClient) this.cancel(new DOMException("The client closed the connection", "AbortError"));
  }

  #run(request: Request, exchange: Exchange): void {
    let given: Answer | Promise<Answer>;
    try {
      given = this.#rules.run(request, exchange);
    } catch (error) {
      given = this.#fail(error, exchange);
    }
    if (given instanceof Promise)
      given.then(
        (answer) => this.#end(exchange, answer),
        (error) => this.#end(exchange, this.#fail(error, exchange)),
      );
    else this.#end(exchange, given);
  }

  /** Of one handler. */
  #end(exchange: Exchange, answer: Answer): void {
    // Who is told to stop may take its time: it counts until it has.
    if (--this.#running === 0) this.#ground.left.delete(this);
    this.answer(exchange, answer);
  }

  answer(exchange: Exchange, answer: Answer): void {
    if (exchange.ended) return;
    exchange.end();
    if (this.#rules.hasStatus && "error" in answer) this.#status = statusOf(answer.error);
    try {
      this.#write(exchange, answer);
    } catch (error) {
      this.#fail(error, exchange);
    }
  }

  notify(method: string, params: JsonObject): void {
    this.#stream();
    this.#sink?.write(formatEvent(formatMessage({ jsonrpc: "2.0", method, params })));
  }

  beat(now: number): void {
    const { streamAfterMs } = this.#ground.settings;
    if (!this.#sink && now - this.#startedAt >= streamAfterMs) this.#stream();
  }

  /** Ends the handlers and answers nothing more. */
  cancel(reason: unknown): void {
    for (const exchange of this.#exchanges) exchange.end(reason);
    this.#close();
  }

  /** Ends the handlers and says so to the client. */
  giveUp(message: string): void {
    for (const exchange of this.#exchanges) {
      if (exchange.ended) continue;
      const error = { code: -32603, message };
      exchange.end(new DOMException(message, "AbortError"));
      this.#write(exchange, { error });
    }
  }

  #stream(): void {
    if (this.#sink || this.#reply.isOver || !this.#reply.mayStream) return;
    this.#sink = this.#reply.stream();
  }

  #write(exchange: Exchange, answer: Answer): void {
    const text = this.#format(exchange, answer);
    if (this.#ground.settings.answers === "stream" && this.#status === 200) this.#stream();
    this.#waiting?.push(text);
    // The stream may have begun between two answers of a batch. At once: none of them is late because of the others; and in
    // one piece: a reader cannot be behind with what was kept from him.
    if (this.#sink) {
      this.#sink.write((this.#waiting ?? [text]).map((one) => formatEvent(one)).join(""));
      this.#waiting = undefined;
    }
    if (--this.#open > 0) return;
    this.#close();
    if (this.#sink) this.#sink.end();
    else if (this.#waiting) this.#reply.json(200, `[${this.#waiting.join(",")}]`);
    else this.#reply.json(this.#status, text);
  }

  #format(exchange: Exchange, answer: Answer): string {
    const { id } = exchange;
    try {
      return formatMessage(
        "result" in answer
          ? { jsonrpc: "2.0", id, result: answer.result }
          : { jsonrpc: "2.0", id, error: answer.error },
      );
    } catch (error) {
      return formatMessage({ jsonrpc: "2.0", id, ...this.#fail(error, exchange) });
    }
  }

  #fail(error: unknown, { method }: Exchange): { readonly error: ErrorObject } {
    return { error: toHidden(this.#ground.endpoint.report(error, { method })) };
  }

  #close(): void {
    this.#ground.pulse.delete(this);
    this.#ground.open.delete(this);
  }
}
