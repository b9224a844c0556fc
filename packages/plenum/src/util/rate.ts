// A token bucket: so many per second on average, so many at once. It reads the clock when asked and needs no timer,
// so that an idle one costs nothing.

export interface RateOptions {
  /** Average number allowed per second; above 0. */
  readonly perSecond: number;
  /** Number allowed at once after a pause; at least 1. */
  readonly burst: number;
  /** Milliseconds from any start that never go back. Default: `performance.now`. */
  readonly now?: () => number;
}

export interface Rate {
  /** True, and one token less, while the rate is kept. */
  take(): boolean;
}

/** Starts full. Throws a RangeError for numbers that allow nothing. */
export function createRate({ perSecond, burst, now = () => performance.now() }: RateOptions): Rate {
  if (!(perSecond > 0 && burst >= 1)) throw new RangeError(`perSecond ${perSecond}, burst ${burst}: allows nothing`);
  let tokens = burst;
  let seen = now();
  return {
    take() {
      const time = now();
      // A clock that is set back gives nothing and takes nothing.
      if (time > seen) tokens = Math.min(burst, tokens + ((time - seen) / 1000) * perSecond);
      seen = time;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
