// The clock of open streams: keep-alive lines, slow readers, answers that take long. Where one process serves everybody one
// timer does for all; where each request lives by itself (Workers) each has its own.
import { Bag } from "../../util/bag.ts";
import { unref } from "../../util/unref.ts";
import type { HttpSettings } from "./options.ts";

export interface Beating {
  /** Called every now and then. @param now as `Date.now()` gives it */
  beat(now: number): void;
}

export interface Pulse {
  add(one: Beating): void;
  delete(one: Beating): void;
}

/** What is wrong with one stream is its own affair: the others go on, and so does the process. */
function beat(one: Beating, now: number): void {
  try {
    one.beat(now);
  } catch {
    // Whoever writes to it next is told the same.
  }
}

/** One timer for all, which runs only while there is somebody. */
export function createSharedPulse(periodMs: number): Pulse {
  const all = new Bag<Beating>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = (): void => {
    const now = Date.now();
    for (const one of all.members()) beat(one, now);
    if (all.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    add(one) {
      all.add(one);
      // An open stream keeps its process alive by its socket, if at all.
      timer ??= unref(setInterval(tick, periodMs));
    },
    delete(one) {
      all.delete(one);
    },
  };
}

/** A timer for each. */
export function createOwnPulse(periodMs: number): Pulse {
  const timers = new WeakMap<Beating, ReturnType<typeof setInterval>>();
  return {
    add(one) {
      timers.set(one, unref(setInterval(() => beat(one, Date.now()), periodMs)));
    },
    delete(one) {
      clearInterval(timers.get(one));
    },
  };
}

/** How often to look, so that none of the times is missed by more than a quarter. */
export function periodOf({
  keepAliveMs,
  readerTimeoutMs,
  streamAfterMs,
}: Pick<HttpSettings, "keepAliveMs" | "readerTimeoutMs" | "streamAfterMs">): number {
  return Math.min(1000, Math.max(10, Math.min(keepAliveMs, readerTimeoutMs, streamAfterMs) / 4));
}
