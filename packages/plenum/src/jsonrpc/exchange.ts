// An incoming request while it is answered: its signal, its notifications, its end.
import type { JsonObject, Request, RequestId, Response } from "./message.ts";

/** What carries a request's notifications: a connection, or the stream that the request has to itself. */
export interface Notifier {
  notify(method: string, params: JsonObject, about: RequestId): void;
}

/** An incoming request while it is answered. */
export class Exchange {
  readonly id: RequestId;
  readonly method: string;
  readonly sender: unknown;
  /** For the connection: where its response goes if not out by itself, as of one in a batch. Undefined: it was cancelled. */
  readonly collect: ((response: Response | undefined) => void) | undefined;
  readonly #connection: Notifier;
  #controller: AbortController | undefined;
  #isEnded = false;
  #reason: unknown;

  constructor(
    connection: Notifier,
    { id, method }: Pick<Request, "id" | "method">,
    sender: unknown,
    collect?: Exchange["collect"],
  ) {
    this.#connection = connection;
    this.id = id;
    this.method = method;
    this.sender = sender;
    this.collect = collect;
  }

  /** Made on first use: most handlers never look. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isEnded) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Answered, cancelled or cut off: nothing more may be sent for this request. */
  get ended(): boolean {
    return this.#isEnded;
  }

  /** A notification that belongs to this request; nothing once it has ended. */
  notify(method: string, params: JsonObject): void {
    if (!this.#isEnded) this.#connection.notify(method, params, this.id);
  }

  /** For the connection. A `reason` aborts the handler; without one the exchange merely ends. */
  end(reason?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#reason = reason;
    if (reason !== undefined) this.#controller?.abort(reason);
  }
}
