// The answer to requests that need nothing but themselves: one JSON object (or array, for a batch), unless a handler sends
// something before it ends, or takes long: then a stream of events.
import type { Answer } from "../../jsonrpc/connection.ts";
import { Exchange, type Notifier } from "../../jsonrpc/exchange.ts";
import {
  formatMessage,
  type JsonObject,
  type Message,
  type Request,
  type RequestId,
  type Response,
} from "../../jsonrpc/message.ts";
import type { Endpoint, Sender } from "../../protocol/endpoint.ts";
import { statusOf } from "../../protocol/errors.ts";
import { formatEvent } from "./event.ts";
import type { EventSink } from "./exchange.ts";
import type { HttpSettings } from "./options.ts";
import type { Beating, Pulse } from "./pulse.ts";
import type { Reply } from "./reply.ts";

export interface AnsweringGround {
  readonly endpoint: Endpoint;
  readonly settings: Pick<HttpSettings, "answers" | "streamAfterMs">;
  readonly pulse: Pulse;
  /** What is being answered, so that closing can wait for it, and end it. */
  readonly open: Set<Answering>;
  /** Of these the clients have left, and handlers are still at work, cancelled or not. */
  readonly left: Set<Answering>;
}

export class Answering implements Notifier, Beating {
  readonly #ground: AnsweringGround;
  readonly #reply: Reply;
  readonly #isBatch: boolean;
  readonly #exchanges = new Map<RequestId, Exchange>();
  readonly #responses: string[] = [];
  readonly #startedAt = Date.now();
  readonly #stop: () => void;
  #sink: EventSink | undefined;
  #status = 200;
  /** Handlers that have not ended. */
  #running = 0;

  private constructor(ground: AnsweringGround, reply: Reply, isBatch: boolean) {
    this.#ground = ground;
    this.#reply = reply;
    this.#isBatch = isBatch;
    this.#stop = ground.pulse.add(this);
    ground.open.add(this);
  }

  /**
   * Answers requests on one HTTP exchange.
   * @param refusals what is answered already, of the same batch
   * @param hasStatus errors have an HTTP status of their own, where nothing was streamed before them
   * @param endsWithClient a client that is gone has cancelled what it asked for
   */
  static begin(
    ground: AnsweringGround,
    reply: Reply,
    requests: readonly Request[],
    options: {
      readonly sender: Sender;
      readonly isBatch: boolean;
      readonly refusals?: readonly Response[];
      readonly hasStatus: boolean;
      readonly endsWithClient: boolean;
      readonly run: (request: Request, exchange: Exchange) => Promise<Answer>;
    },
  ): void {
    const answering = new Answering(ground, reply, options.isBatch);
    for (const refusal of options.refusals ?? []) answering.#responses.push(answering.#format(refusal));
    answering.#running = requests.length;
    reply.onGone(() => {
      if (answering.#running > 0) ground.left.add(answering);
      if (options.endsWithClient) answering.cancel(new DOMException("The client closed the connection", "AbortError"));
    });
    // An error that comes first has its status even there: so nothing is said before there is something to say.
    if (ground.settings.answers === "stream" && !options.hasStatus) answering.#stream();
    // All of them are known before the first can be answered.
    for (const { id } of requests) answering.#exchanges.set(id, new Exchange(answering, id, options.sender));
    for (const request of requests) {
      const exchange = answering.#exchanges.get(request.id) as Exchange;
      options
        .run(request, exchange)
        .catch((error) => answering.#fail(error))
        .then((answer) => {
          // Who is told to stop may take its time: it counts until it has.
          if (--answering.#running === 0) ground.left.delete(answering);
          answering.#finish(exchange, answer, options.hasStatus);
        })
        .catch((error) => answering.#fail(error));
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
    for (const exchange of this.#exchanges.values()) exchange.end(reason);
    this.#exchanges.clear();
    this.#close();
  }

  /** Ends the handlers and says so to the client. */
  giveUp(message: string): void {
    for (const exchange of [...this.#exchanges.values()]) {
      const error = { code: -32603, message };
      exchange.end(new DOMException(message, "AbortError"));
      this.#write(exchange.id, { error });
    }
  }

  #stream(): void {
    if (this.#sink || this.#reply.isOver || !this.#reply.mayStream) return;
    this.#sink = this.#reply.stream();
  }

  #finish(exchange: Exchange, answer: Answer, hasStatus: boolean): void {
    if (exchange.ended) return;
    exchange.end();
    if (hasStatus && "error" in answer) this.#status = statusOf(answer.error);
    this.#write(exchange.id, answer);
  }

  #write(id: RequestId, answer: Answer): void {
    this.#exchanges.delete(id);
    const text = this.#format({ jsonrpc: "2.0", id, ...answer } as Response);
    if (this.#ground.settings.answers === "stream" && this.#status === 200) this.#stream();
    this.#responses.push(text);
    // The stream may have begun between two answers of a batch. At once: none of them is late because of the others.
    if (this.#sink)
      this.#sink.write(
        this.#responses
          .splice(0)
          .map((one) => formatEvent(one))
          .join(""),
      );
    if (this.#exchanges.size > 0) return;
    this.#close();
    if (this.#sink) this.#sink.end();
    else if (this.#isBatch) this.#reply.json(200, `[${this.#responses.join(",")}]`);
    else this.#reply.json(this.#status, text);
  }

  #format(response: Response): string {
    try {
      return formatMessage(response as Message);
    } catch (error) {
      return formatMessage({ jsonrpc: "2.0", id: response.id as RequestId, ...this.#fail(error) } as Message);
    }
  }

  #fail(error: unknown): { readonly error: { code: number; message: string } } {
    const id = this.#ground.endpoint.report(error, { method: "an answer" });
    return { error: { code: -32603, message: `Internal error (${id})` } };
  }

  #close(): void {
    this.#stop();
    this.#ground.open.delete(this);
  }
}
