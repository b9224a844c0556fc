// Waiting for an abort signal, by many: one listener per signal, because runtimes take a dozen of them for a leak, and
// every wait can be taken back, because signals may live as long as their process.

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back when the signal aborts; at once if it has. The returned function takes it back. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (!signal) return () => {};
  if (signal.aborted) run();
  const runs = waiting.get(signal) ?? listen(signal);
  runs.add(run);
  return () => {
    runs.delete(run);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const runs = new Set<() => void>();
  waiting.set(signal, runs);
  const tell = (): void => {
    for (const run of [...runs]) run();
    runs.clear();
  };
  signal.addEventListener("abort", tell, { once: true });
  return runs;
}

export interface Limit {
  readonly signal: AbortSignal;
  /** It was the time that ran out, and none of the signals. */
  readonly isOver: boolean;
  abort(reason?: unknown): void;
  /** To be called when the limit is not needed any more. */
  release(): void;
}

/**
 * A signal that aborts with the first of several, or when the time is over.
 * @param ms 0, Infinity, or longer than a timer can run: no time
 */
export function createLimit(ms: number, ...signals: readonly (AbortSignal | undefined)[]): Limit {
  const controller = new AbortController();
  const ends = signals.map((signal) => onAbort(signal, () => controller.abort(signal?.reason)));
  let isOver = false;
  const expire = (): void => {
    isOver = !controller.signal.aborted;
    controller.abort();
  };
  const timer = ms > 0 && ms < 2 ** 31 ? setTimeout(expire, ms) : undefined;
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    abort: (reason) => controller.abort(reason),
    release() {
      clearTimeout(timer);
      for (const end of ends) end();
    },
  };
}

/** The promise, or what `fail` gives if the signal aborts first. */
export async function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  fail: (reason: unknown) => unknown,
): Promise<T> {
  let end = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    end = onAbort(signal, () => reject(fail(signal?.reason)));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    end();
  }
}

/**
 * The same within a time.
 * @param ms as for `createLimit`
 * @param fail told whether it was the time that ran out
 */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  signal: AbortSignal | undefined,
  fail: (isOver: boolean, reason: unknown) => unknown,
): Promise<T> {
  const limit = createLimit(ms, signal);
  try {
    return await untilAborted(promise, limit.signal, (reason) => fail(limit.isOver, reason));
  } finally {
    limit.release();
  }
}
