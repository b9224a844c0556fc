// Makes calls as fast as the answers come, or at a given rate, and counts what comes back.
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { createHistogram, type Histogram } from "./histogram.ts";

export interface LoadPlan {
  /** At most so many calls at once. */
  readonly concurrency: number;
  /** One of the two ends it. */
  readonly durationMs?: number | undefined;
  readonly requests?: number | undefined;
  /** So many a second, whether or not the answers keep up. */
  readonly ratePerSecond?: number | undefined;
}

export interface ErrorCount {
  count: number;
  /** Of the first. */
  readonly message: string;
}

export interface Tally {
  /** Of calls that were answered, in microseconds. */
  readonly latency: Histogram;
  readonly sent: number;
  readonly answered: number;
  /** Of the answered: those in which the tool said that it failed. */
  readonly toolErrors: number;
  /** By code. */
  readonly errors: ReadonlyMap<string, ErrorCount>;
  /** Cut off by Ctrl-C. */
  readonly cancelled: number;
  /** At a rate: calls that were due before the end, and that nobody was free to send. */
  readonly unsent: number;
  readonly elapsedMs: number;
  /** The connection was gone before the end. */
  readonly isLost: boolean;
}

export interface Load {
  /** As it stands. */
  tally(): Tally;
  readonly ended: Promise<Tally>;
}

/** A call: resolves with whether the tool reported an error, rejects for every other. */
export type MakeCall = (signal: AbortSignal) => Promise<boolean>;

const maxTurnMs = 20;

/**
 * At a rate, a call's time counts from the moment at which it was due, not from when it was sent: a server that stalls makes
 * those wait that would have come meanwhile, and leaving that out would make it look well.
 */
export function startLoad(call: MakeCall, plan: LoadPlan, signal: AbortSignal): Load {
  const { concurrency, durationMs = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY } = plan;
  const { ratePerSecond } = plan;
  const latency = createHistogram();
  const errors = new Map<string, ErrorCount>();
  const began = performance.now();
  const end = began + durationMs;
  let [sent, toolErrors, cancelled, unsent, isLost, lastAt] = [0, 0, 0, 0, false, began];
  const dueAt = (index: number): number => (ratePerSecond ? began + (index * 1000) / ratePerSecond : performance.now());

  async function make(due: number): Promise<void> {
    try {
      const isError = await call(signal);
      lastAt = performance.now();
      latency.add((lastAt - due) * 1000);
      if (isError) toolErrors++;
    } catch (error) {
      lastAt = performance.now();
      if (signal.aborted) {
        cancelled++;
        return;
      }
      const code = codeOf(error);
      const known = errors.get(code);
      if (known) known.count++;
      else errors.set(code, { count: 1, message: error instanceof Error ? error.message : String(error) });
      isLost ||= code === "connection_lost";
    }
  }

  // A server in this process answers without ever giving way to timers and signals: all stop for a turn now and then.
  let turn: Promise<void> | undefined;
  let turnAt = began;
  function giveWay(): Promise<void> | undefined {
    if (lastAt - turnAt > maxTurnMs)
      turn ??= nextTurn().then(() => {
        turn = undefined;
        turnAt = performance.now();
      });
    return turn;
  }

  async function work(): Promise<void> {
    while (!signal.aborted && !isLost && sent < requests) {
      const due = dueAt(sent);
      if (Math.max(due, performance.now()) >= end) return;
      sent++;
      if (ratePerSecond && !(await waitUntil(due, signal))) {
        sent--;
        return;
      }
      await make(due);
      const pause = giveWay();
      if (pause) await pause;
    }
  }

  const tally = (now = performance.now()): Tally => ({
    latency,
    sent,
    answered: latency.count,
    toolErrors,
    errors,
    cancelled,
    unsent,
    elapsedMs: now - began,
    isLost,
  });
  const ended = Promise.all(Array.from({ length: concurrency }, work)).then(() => {
    if (ratePerSecond && !signal.aborted && !isLost) {
      unsent = Math.max(0, Math.min(requests, Math.ceil((durationMs * ratePerSecond) / 1000 - 1e-9)) - sent);
    }
    return tally(lastAt);
  });
  return { tally: () => tally(), ended };
}

/** Timers are late by up to a millisecond or so: the last of it is waited for turn by turn. Gives whether it came to that. */
async function waitUntil(time: number, signal: AbortSignal): Promise<boolean> {
  for (let left = time - performance.now(); left > 0; left = time - performance.now()) {
    if (signal.aborted) break;
    if (left > 3) await delay(left - 2, undefined, { signal }).catch(() => {});
    else await nextTurn();
  }
  return !signal.aborted;
}

/** Errors of the library are told apart by shape: a server's file may bring a library of its own. */
function codeOf(error: unknown): string {
  const { code, name, rpcCode } = error as { readonly [name: string]: unknown };
  if (code === "peer_error") return `${code} ${rpcCode}`;
  return typeof code === "string" ? code : typeof name === "string" ? name : "unknown";
}
