// A raw peer: the far end of a channel in memory, which speaks JSON by hand, in any revision, valid or not.
import type { Endpoint } from "../../protocol/endpoint.ts";
import { type Serving, serve } from "../../protocol/negotiate.ts";
import { type End, MemoryChannel } from "./pair.ts";
import type { MemoryOptions } from "./target.ts";

/** The far end of a channel for tests: JSON in, JSON out, in any revision, valid or not. */
export interface RawPeer {
  /** Sends a value as JSON, or a string as it stands. */
  send(message: unknown): void;
  /** The next message that has not been taken yet; rejects after `timeoutMs` (default 1000), or when the peer closed. */
  next(timeoutMs?: number): Promise<unknown>;
  /** Sends a request and takes the response with its id, leaving other messages to `next`. */
  request(method: string, params?: unknown, id?: string | number): Promise<unknown>;
  /** Everything received so far, in order, taken or not. */
  readonly received: readonly unknown[];
  /** Settles when all that is under way has been delivered: what has not arrived by then is not coming by itself. */
  settle(): Promise<void>;
  close(): void;
  readonly closed: Promise<void>;
}

/** Serves an endpoint in memory and gives the client's end of the wire into your hands. */
export function createRawPeer(
  endpoint: Endpoint,
  options: MemoryOptions = {},
): RawPeer & { readonly serving: Serving } {
  const { sender, ...serveOptions } = options;
  const near = new TextEnd();
  const far = new MemoryChannel(sender);
  near.join(far);
  far.join(near);
  const serving = serve(endpoint, far, serveOptions);
  return Object.assign(near, { serving });
}

/** The raw side of a pair: texts instead of messages. */
class TextEnd implements RawPeer, End {
  readonly received: unknown[] = [];
  readonly closed: Promise<void>;
  #taken = new Set<unknown>();
  #peer: End | undefined;
  #wakers = new Set<() => void>();
  #nextId = 1;
  #isClosed = false;
  #onClosed: () => void = () => {};

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
  }

  join(peer: End): void {
    this.#peer = peer;
  }

  deliver(text: string): void {
    queueMicrotask(() => {
      if (this.#isClosed) return;
      this.received.push(JSON.parse(text));
      for (const wake of this.#wakers) wake();
    });
  }

  send(message: unknown): void {
    if (!this.#isClosed) this.#peer?.deliver(typeof message === "string" ? message : JSON.stringify(message));
  }

  next(timeoutMs = 1000): Promise<unknown> {
    return this.#take("A message", () => true, timeoutMs);
  }

  request(method: string, params?: unknown, id: string | number = `raw-${this.#nextId++}`): Promise<unknown> {
    const what = `An answer to ${method} (${JSON.stringify(id)})`;
    const answer = this.#take(what, (message) => isAnswerTo(message, id), 5000);
    this.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? undefined : { params }) });
    return answer;
  }

  /** Turns of the event loop, not time: everything in memory moves by microtasks and zero timers. */
  async settle(): Promise<void> {
    for (let seen = -1, calm = 0; calm < 3; ) {
      await new Promise((resolve) => setTimeout(resolve));
      calm = this.received.length === seen ? calm + 1 : 0;
      seen = this.received.length;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#peer?.close();
    for (const wake of this.#wakers) wake();
    this.#onClosed();
  }

  #take(what: string, wanted: (message: unknown) => boolean, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const look = (): boolean => {
        const found = this.received.find((message) => !this.#taken.has(message) && wanted(message));
        if (found !== undefined) {
          this.#taken.add(found);
          finish();
          resolve(found);
        } else if (this.#isClosed) {
          finish();
          reject(new Error("The server closed the connection before it sent what was waited for"));
        }
        return found !== undefined;
      };
      const timer = setTimeout(() => {
        finish();
        reject(new Error(`${what} did not come in ${timeoutMs} ms; received so far: ${JSON.stringify(this.received)}`));
      }, timeoutMs);
      const finish = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(look);
      };
      this.#wakers.add(look);
      look();
    });
  }
}

function isAnswerTo(message: unknown, id: string | number): boolean {
  const candidate = message as { id?: unknown; result?: unknown; error?: unknown };
  return candidate.id === id && (candidate.result !== undefined || candidate.error !== undefined);
}
