// An incoming request while it is answered: its signal, its notifications, its end.
import type { ErrorObject, JsonObject, PreparedJson, Request, RequestId, Response } from "./message.ts";

export type Answer = { readonly result: JsonObject | PreparedJson } | { readonly error: ErrorObject };

/** What carries a request's notifications and its answer: a connection, or the stream that the request has to itself. */
export interface Outlet {
  notify(method: string, params: JsonObject, about: RequestId): void;
  /** Nothing where it was answered before. */
  answer(exchange: Exchange, answer: Answer): void;
}

/** An incoming request while it is answered. */
export class Exchange {
  readonly id: RequestId;
  readonly method: string;
  readonly sender: unknown;
  /** For the connection: where its response goes if not out by itself, as of one in a batch. Undefined: it was cancelled. */
  readonly collect: ((response: Response | undefined) => void) | undefined;
  readonly #outlet: Outlet;
  #controller: AbortController | undefined;
  #beforeEnd: (() => void) | undefined;
  #isEnded = false;
  #reason: unknown;

  constructor(
    outlet: Outlet,
    { id, method }: Pick<Request, "id" | "method">,
    sender: unknown,
    collect?: Exchange["collect"],
  ) {
    this.#outlet = outlet;
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
    if (!this.#isEnded) this.#outlet.notify(method, params, this.id);
  }

  /** Answers at once, though whoever works on it is not done: what that leads to is of no interest any more. */
  answer(answer: Answer): void {
    this.#outlet.answer(this, answer);
  }

  /** Called when there is an answer, before that goes out: for what was held back. */
  beforeEnd(run: () => void): void {
    const earlier = this.#beforeEnd;
    this.#beforeEnd = () => {
      earlier?.();
      run();
    };
  }

  /** For the connection. A `reason` aborts the handler; without one the exchange merely ends. */
  end(reason?: unknown): void {
    if (this.#isEnded) return;
    try {
      if (reason === undefined) this.#beforeEnd?.();
    } catch {
      // The answer goes out all the same.
    }
    this.#isEnded = true;
    this.#reason = reason;
    if (reason !== undefined) this.#controller?.abort(reason);
  }
}
