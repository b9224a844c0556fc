// Requests of our own on a connection: their ids, their clocks, and how each of them ends. Who only answers never needs
// this, and a connection loads it with the first request.
import type { Channel } from "./channel.ts";
import type { ErrorObject, JsonObject, RequestId } from "./message.ts";

/** How a request that we sent ended. A value, not an exception: the room above chooses its own error for each. */
export type Outcome =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly error: ErrorObject }
  | { readonly kind: "timeout"; readonly afterMs: number }
  | { readonly kind: "aborted"; readonly reason: unknown }
  | { readonly kind: "lost"; readonly cause: unknown }
  /** Answered with what is no response. */
  | { readonly kind: "broken" };

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Without an answer or a `touch` for this long the request is given up. 0 or Infinity: never. Default 60 000. */
  readonly timeoutMs?: number;
  /** Given up after this long whatever is touched. 0 or Infinity: never. Default Infinity. */
  readonly maxTimeoutMs?: number;
  /** The incoming request on whose behalf this one is sent. */
  readonly about?: RequestId;
  /** Told the id before anything is sent, so that the caller can put it to use (a progress token, say). */
  readonly onId?: (id: RequestId) => void;
  /** Told the result before anything that comes behind it is read. The request rejects with what it throws. */
  readonly onResult?: ((result: JsonObject) => void) | undefined;
}

/** The requests that we sent. What `Connection` has by the same names is this. */
export interface Requests {
  /** How many are unanswered. */
  readonly size: number;
  request(method: string, params: JsonObject | undefined, options?: RequestOptions): Promise<Outcome>;
  touch(id: RequestId): boolean;
  drop(id: RequestId, reason?: unknown, isTold?: boolean): void;
  hold(): () => void;
  /** Ends one. An answer that is late, or was never asked for, is of no interest to anybody. */
  settle(id: RequestId, outcome: Outcome): void;
  /** The connection is gone: all end, and so does whatever is still to be sent. */
  lose(cause: unknown): void;
}

export interface RequestsOptions {
  /** A request was given up on (time, abort): the peer may want to know. */
  readonly onAbandon?: (id: RequestId, method: string, reason: string, about: RequestId | undefined) => void;
}

interface Pending {
  readonly method: string;
  readonly about: RequestId | undefined;
  readonly settle: (outcome: Outcome) => void;
  readonly timeoutMs: number;
  readonly order: number;
  readonly startedAt: number;
  readonly maxTimeoutMs: number;
  /** When the clock was last reset. A timer that fires early re-arms itself, so a reset costs one assignment. */
  touchedAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const longestTimer = 2 ** 31 - 1;

export function createRequests(channel: Channel, options: RequestsOptions): Requests {
  const sent = new Map<RequestId, Pending>();
  const state = {
    nextId: 1,
    /** Why the clocks of requests below an id stand still, and when they last began to run again. */
    holds: 0,
    heldBelow: 0,
    heldAt: 0,
    isLost: false,
  };

  function take(id: RequestId, outcome: Outcome): Pending | undefined {
    const pending = sent.get(id);
    sent.delete(id);
    pending?.settle(outcome);
    return pending;
  }

  function abandon(id: RequestId, outcome: Outcome): void {
    const pending = take(id, outcome);
    const why = outcome.kind === "timeout" ? `No answer in ${outcome.afterMs} ms` : toReason(outcome);
    if (!pending) return;
    options.onAbandon?.(id, pending.method, why, pending.about);
    channel.abandon?.(id);
  }

  function arm(id: RequestId, pending: Pending): void {
    const now = Date.now();
    const isHeld = state.holds > 0 && pending.order < state.heldBelow;
    const heardAt = isHeld ? now : Math.max(pending.touchedAt, state.heldAt);
    const idleLeft = pending.timeoutMs - (now - heardAt);
    const left = Math.min(idleLeft, pending.maxTimeoutMs - (now - pending.startedAt));
    if (left <= 0) {
      abandon(id, { kind: "timeout", afterMs: idleLeft <= 0 ? pending.timeoutMs : pending.maxTimeoutMs });
    } else if (left !== Number.POSITIVE_INFINITY) {
      pending.timer = setTimeout(() => arm(id, pending), Math.min(left, longestTimer));
    }
  }

  return {
    get size() {
      return sent.size;
    },
    request(method, params, { signal, about, timeoutMs = 60_000, maxTimeoutMs = 0, onId, onResult } = {}) {
      return new Promise<Outcome>((resolve, reject) => {
        if (state.isLost) return resolve({ kind: "lost", cause: undefined });
        if (signal?.aborted) return resolve({ kind: "aborted", reason: signal.reason });
        const id = state.nextId++;
        onId?.(id);
        const onAbort = (): void => abandon(id, { kind: "aborted", reason: signal?.reason });
        const now = Date.now();
        const pending: Pending = {
          method,
          about,
          order: id,
          timeoutMs: toLimit(timeoutMs),
          maxTimeoutMs: toLimit(maxTimeoutMs),
          startedAt: now,
          touchedAt: now,
          timer: undefined,
          settle(outcome) {
            clearTimeout(pending.timer);
            signal?.removeEventListener("abort", onAbort);
            try {
              if (outcome.kind === "result") onResult?.(outcome.result);
            } catch (error) {
              reject(error);
            }
            resolve(outcome);
          },
        };
        sent.set(id, pending);
        try {
          channel.send({ jsonrpc: "2.0", id, method, ...(params && { params }) }, about);
        } catch (error) {
          sent.delete(id);
          return reject(error);
        }
        // The channel may have closed, or even answered, while it sent.
        if (!sent.has(id)) return;
        signal?.addEventListener("abort", onAbort, { once: true });
        arm(id, pending);
      });
    },
    touch(id) {
      const pending = sent.get(id);
      if (pending) pending.touchedAt = Date.now();
      return pending !== undefined;
    },
    drop(id, reason, isTold = false) {
      const outcome = { kind: "aborted", reason } as const;
      if (isTold) abandon(id, outcome);
      else if (take(id, outcome)) channel.abandon?.(id);
    },
    hold() {
      state.holds++;
      state.heldBelow = state.nextId;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        state.holds--;
        state.heldAt = Date.now();
      };
    },
    settle(id, outcome) {
      take(id, outcome);
    },
    lose(cause) {
      state.isLost = true;
      for (const pending of sent.values()) pending.settle({ kind: "lost", cause });
      sent.clear();
    },
  };
}

function toLimit(ms: number): number {
  return ms > 0 ? ms : Number.POSITIVE_INFINITY;
}

function toReason(outcome: Outcome): string {
  const reason = outcome.kind === "aborted" ? outcome.reason : undefined;
  // Any other error's text may tell of quite another matter.
  const text = reason instanceof DOMException && reason.name === "AbortError" ? reason.message : reason;
  return typeof text === "string" ? text : "The caller gave up";
}
