// Requests of our own on a connection: their ids, their clocks, and how each of them ends. Who only answers never needs
// this, and a connection loads it with the first request.
import { onAbort } from "../util/abort.ts";
import { Numbered } from "../util/numbered.ts";
import type { Channel } from "./channel.ts";
import type { ErrorObject, JsonObject, RequestId } from "./message.ts";

/** How a request that we sent ended. A value, not an exception: the room above chooses its own error for each. */
export type Outcome =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly error: ErrorObject }
  | { readonly kind: "timeout"; readonly afterMs: number }
  | { readonly kind: "aborted"; readonly reason: unknown }
  | { readonly kind: "lost"; readonly cause: unknown }
  /** Params that cannot be written as JSON, or what a `Mirror` has thrown. */
  | { readonly kind: "unsent"; readonly cause: unknown }
  /** Answered with what is no response. */
  | { readonly kind: "broken"; readonly why?: string | undefined };

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Without an answer or a `touch` for this long the request is given up. 0 or Infinity: never. Default 60 000. */
  readonly timeoutMs?: number | undefined;
  /** Given up after this long whatever is touched. 0 or Infinity: never. Default Infinity. */
  readonly maxTimeoutMs?: number | undefined;
  /** The incoming request on whose behalf this one is sent. */
  readonly about?: RequestId;
  /** Told the id before anything is sent, so that the caller can put it to use (a progress token, say). */
  readonly onId?: ((id: RequestId) => void) | undefined;
  /**
   * Told how it ended before anything that comes behind the answer is read. The request resolves with what it returns, and
   * rejects with what it throws: whoever waits for what is made of the answer needs no further promise.
   */
  readonly finish?: ((outcome: Outcome) => unknown) | undefined;
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
  /** Higher than that of any before it. */
  readonly id: number;
  readonly method: string;
  readonly about: RequestId | undefined;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly finish: RequestOptions["finish"];
  /** Takes back what listens to the caller's signal. */
  release: (() => void) | undefined;
  readonly timeoutMs: number;
  readonly startedAt: number;
  readonly maxTimeoutMs: number;
  /** When the clock was last reset. */
  touchedAt: number;
}

const longestTimer = 2 ** 31 - 1;

export function createRequests(channel: Channel, options: RequestsOptions): Requests {
  const sent = new Numbered<Pending>();
  const state = {
    nextId: 1,
    /** Why the clocks of requests below an id stand still, and when they last began to run again. */
    holds: 0,
    heldBelow: 0,
    heldAt: 0,
    isLost: false,
    /** One for all requests that wait: it goes off when the first could be out of time, and looks at each. */
    timer: undefined as ReturnType<typeof setTimeout> | undefined,
    dueAt: Number.POSITIVE_INFINITY,
    /** How many have an end of their time. */
    timed: 0,
  };

  function take(id: RequestId, outcome: Outcome): Pending | undefined {
    const pending = sent.take(id);
    if (!pending) return undefined;
    untime(pending);
    settle(pending, outcome);
    return pending;
  }

  function abandon(id: RequestId, outcome: Outcome): void {
    const pending = take(id, outcome);
    const why = outcome.kind === "timeout" ? `No answer in ${outcome.afterMs} ms` : toReason(outcome);
    if (!pending) return;
    options.onAbandon?.(id, pending.method, why, pending.about);
    channel.abandon?.(id);
  }

  /** How long a request may still take; where that is nothing, it is given up. */
  function leftOf(pending: Pending, now: number): number {
    const isHeld = state.holds > 0 && pending.id < state.heldBelow;
    const heardAt = isHeld ? now : Math.max(pending.touchedAt, state.heldAt);
    const idleLeft = pending.timeoutMs - (now - heardAt);
    const left = Math.min(idleLeft, pending.maxTimeoutMs - (now - pending.startedAt));
    if (left > 0) return left;
    abandon(pending.id, { kind: "timeout", afterMs: idleLeft <= 0 ? pending.timeoutMs : pending.maxTimeoutMs });
    return Number.POSITIVE_INFINITY;
  }

  function look(): void {
    state.dueAt = Number.POSITIVE_INFINITY;
    const now = Date.now();
    // What does not get to the peer cannot be answered: such as while a user logs in.
    if (channel.holdup) state.heldAt = now;
    let left = Number.POSITIVE_INFINITY;
    for (const pending of sent.values()) left = Math.min(left, leftOf(pending, now));
    arm(left, now);
  }

  function untime(pending: Pending): void {
    if (isTimed(pending) && --state.timed === 0) disarm();
  }

  function disarm(): void {
    clearTimeout(state.timer);
    state.dueAt = Number.POSITIVE_INFINITY;
  }

  function arm(leftMs: number, now: number): void {
    // One that should have gone off may be one that never will: some runtimes end timers with what has set them.
    if (now + leftMs >= state.dueAt && now <= state.dueAt) return;
    clearTimeout(state.timer);
    state.dueAt = now + leftMs;
    state.timer = setTimeout(look, Math.min(leftMs, longestTimer));
  }

  function begin(
    method: string,
    params: JsonObject | undefined,
    { signal, about, timeoutMs = 60_000, maxTimeoutMs = 0, onId, finish }: RequestOptions,
    resolve: Pending["resolve"],
    reject: Pending["reject"],
  ): void {
    const early: Outcome | undefined = state.isLost
      ? { kind: "lost", cause: undefined }
      : signal?.aborted
        ? { kind: "aborted", reason: signal.reason }
        : undefined;
    if (early) {
      resolve(finish ? finish(early) : early);
      return;
    }
    const id = state.nextId++;
    onId?.(id);
    const now = Date.now();
    const pending: Pending = {
      id,
      method,
      about,
      resolve,
      reject,
      finish,
      release: undefined,
      timeoutMs: toLimit(timeoutMs),
      maxTimeoutMs: toLimit(maxTimeoutMs),
      startedAt: now,
      touchedAt: now,
    };
    sent.add(pending);
    if (isTimed(pending)) state.timed++;
    try {
      channel.send(params ? { jsonrpc: "2.0", id, method, params } : { jsonrpc: "2.0", id, method }, about);
    } catch (cause) {
      take(id, { kind: "unsent", cause });
    }
    // The channel may have failed, closed, or even answered, while it sent.
    if (!sent.get(id)) return;
    if (signal) obey(signal, pending);
    if (isTimed(pending)) arm(Math.min(pending.timeoutMs, pending.maxTimeoutMs), now);
  }

  function obey(signal: AbortSignal, pending: Pending): void {
    pending.release = onAbort(signal, () => abandon(pending.id, { kind: "aborted", reason: signal.reason }));
  }

  return {
    get size() {
      return sent.size;
    },
    request(method, params, options = {}) {
      return new Promise<unknown>((resolve, reject) =>
        begin(method, params, options, resolve, reject),
      ) as Promise<Outcome>;
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
      disarm();
      for (const { id } of sent.values()) take(id, { kind: "lost", cause });
    },
  };
}

function isTimed({ timeoutMs, maxTimeoutMs }: Pending): boolean {
  return timeoutMs !== Number.POSITIVE_INFINITY || maxTimeoutMs !== Number.POSITIVE_INFINITY;
}

function settle({ release, finish, resolve, reject }: Pending, outcome: Outcome): void {
  release?.();
  try {
    resolve(finish ? finish(outcome) : outcome);
  } catch (error) {
    reject(error);
  }
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
