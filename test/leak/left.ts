// What is left in a process: heap after collection, what keeps it alive, listeners, and timers of any kind.
const collect = globalThis.gc;

export interface Left {
  readonly heap: number;
  /** What keeps the process alive: sockets, servers, timers. */
  readonly handles: number;
  readonly listeners: number;
  /** Timers that will run, also those that keep no process alive. Counted where `countTimers` was called. */
  readonly timers: number;
}

export async function look(): Promise<Left> {
  if (!collect) throw new Error("Run with --expose-gc");
  // What ends in a later turn has ended by then.
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect();
  }
  const names = process.eventNames();
  return {
    heap: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().length,
    listeners: names.reduce((sum, name) => sum + process.listenerCount(name as string), 0),
    timers: live.size,
  };
}

const live = new Set<unknown>();

/** From here on. Node does not tell of timers that were unreferenced. */
export function countTimers(): void {
  const { setTimeout: once, setInterval: often, clearTimeout: clear } = globalThis;
  const start = ((run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = once(() => {
      live.delete(timer);
      run(...args);
    }, ms);
    live.add(timer);
    return timer;
  }) as typeof setTimeout;
  const repeat = ((run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = often(run, ms, ...args);
    live.add(timer);
    return timer;
  }) as typeof setInterval;
  const stop = (timer: unknown): void => {
    live.delete(timer);
    clear(timer as NodeJS.Timeout);
  };
  Object.assign(globalThis, { setTimeout: start, setInterval: repeat, clearTimeout: stop, clearInterval: stop });
}
