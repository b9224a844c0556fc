// When a lost connection is tried for again: after pauses that grow, and not for ever. Loaded by the first loss.
import { ChannelFault } from "../jsonrpc/channel.ts";
import type { RestartOptions } from "./options.ts";

/**
 * Resolves when the connection is open again, or is not wanted any more. Rejects with what the last try met.
 * @param cause why it was lost
 * @param livedMs how long it was open before
 */
export type Reopener = (settings: RestartOptions | true, cause: unknown, livedMs: number) => Promise<void>;

/** A connection that was good for as long is not one of those that are lost as soon as they are open. */
const goodMs = 10_000;

/** @param open opens it, and rejects when that fails */
export function createReopener(open: () => Promise<void>, closing: AbortSignal): Reopener {
  /** Tries since the connection was last good for a while: a server that dies as soon as it is open is not tried for ever. */
  let attempts = 0;

  return async (settings, cause, livedMs) => {
    const { delayMs = 250, maxDelayMs = 10_000, maxAttempts = 5 } = settings === true ? {} : settings;
    // The server is there, and said so.
    const renewal = cause instanceof ChannelFault && cause.isRenewable ? cause : undefined;
    if (livedMs > Math.max(goodMs, maxDelayMs)) attempts = 0;
    const isAtOnce = renewal !== undefined && attempts === 0;
    // A server that answers, and then forgets, is there: it is always worth another try, after a pause that grows.
    const allowed = maxAttempts && renewal?.hasServed ? Math.max(maxAttempts, attempts + 1) : maxAttempts;
    let last = cause;
    while (attempts < allowed && !closing.aborted) {
      // With jitter, so that many clients of one server do not come back in step.
      const pause = Math.min(delayMs * 2 ** attempts++, maxDelayMs) * (0.5 + Math.random() / 2);
      await sleep(isAtOnce && attempts === 1 ? 0 : pause, closing);
      if (closing.aborted) return;
      try {
        await open();
        return;
      } catch (error) {
        last = error;
      }
    }
    throw last;
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(stop, ms);
    signal.addEventListener("abort", stop);
  });
}
