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

/** A signal that aborts with the first of several. `release` it when it is not needed any more. */
export function joinSignals(...signals: readonly (AbortSignal | undefined)[]): {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  release(): void;
} {
  const controller = new AbortController();
  const ends = signals.map((signal) => onAbort(signal, () => controller.abort(signal?.reason)));
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release() {
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
