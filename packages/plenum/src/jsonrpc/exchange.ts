// An incoming request while it is answered: its signal, its notifications, its end.
import type { JsonObject, RequestId } from "./message.ts";

/** What carries a request's notifications: a connection, or the stream that the request has to itself. */
export interface Notifier {
  notify(method: string, params: JsonObject, about: RequestId): void;
}

/** An incoming request while it is answered. */
export class Exchange {
  readonly id: RequestId;
  readonly sender: unknown;
  readonly #connection: Notifier;
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;

  constructor(connection: Notifier, id: RequestId, sender: unknown) {
    this.#connection = connection;
    this.id = id;
    this.sender = sender;
  }

  /** Made on first use: most handlers never look. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#ended) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  /** Answered, cancelled or cut off: nothing more may be sent for this request. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** A notification that belongs to this request; nothing once it has ended. */
  notify(method: string, params: JsonObject): void {
    if (!this.ended) this.#connection.notify(method, params, this.id);
  }

  /** For the connection. A `reason` aborts the handler; without one the exchange merely ends. */
  end(reason?: unknown): void {
    if (this.#ended) return;
    this.#ended = { reason };
    if (reason !== undefined) this.#controller?.abort(reason);
  }
}
