// A clock that is turned by hand, in place of the runtime's: timers, Date and performance.now. What waits for minutes is tested in
// milliseconds, and the same way each time.

export interface FakeClock {
  /** Milliseconds since 1970, as `Date.now()` gives them. */
  readonly now: number;
  /** Timers that wait. */
  readonly pending: number;
  /**
   * Turns the clock forward. Every timer that is due on the way runs at its own time, in order, and what it sets off is let come to rest
   * before the next: promises, and what the runtime does in turns of its own. Rejects with what a timer throws at once.
   */
  advance(ms: number): Promise<void>;
  /** Lets what is under way come to rest without turning the clock. */
  settle(): Promise<void>;
  /** Gives the runtime its own back. Safe to call twice. */
  restore(): void;
  [Symbol.dispose](): void;
}

export interface FakeClockOptions {
  /** What it shows at first. Default: the time that it is. */
  readonly now?: number | Date;
}

type Callback = (...given: unknown[]) => unknown;

interface Timer {
  readonly run: () => void;
  dueAt: number;
  order: number;
  readonly everyMs: number | undefined;
  isRef: boolean;
}

/** What timers are to Node; elsewhere only what clearing them takes. */
interface Handle {
  ref(): Handle;
  unref(): Handle;
  hasRef(): boolean;
  refresh(): Handle;
  close(): Handle;
  [Symbol.toPrimitive](): number;
  [Symbol.dispose](): void;
}

const faked = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] as const;

/** More than a program sets up in one advance that is meant to end. */
const maxRuns = 100_000;

let isInstalled = false;

/**
 * Puts the clock in place until it is disposed of: `using clock = createFakeClock()`. What belongs to the network, files and
 * child processes goes on in real time, and so do `setImmediate` and node:timers/promises. Throws where another is in place.
 */
export function createFakeClock({ now: start = Date.now() }: FakeClockOptions = {}): FakeClock {
  if (isInstalled) throw new Error("There is a fake clock already: restore it before another is made");
  const scope = globalThis as unknown as { [name: string]: unknown };
  const own = Object.fromEntries(faked.map((name) => [name, scope[name]]));
  const RealDate = Date;
  const realNow = performance.now;
  const realTimeout = AbortSignal.timeout;
  const rest = createRest(setTimeout);
  let now = Number(start);
  let order = 0;
  let nextId = 1;
  const timers = new Map<number, Timer>();
  const startedAt = now;
  const pace = realNow.call(performance);

  const set = (run: Callback, delay: unknown, given: unknown[], isRepeated: boolean): Handle => {
    if (typeof run !== "function") throw new TypeError("A timer needs a function");
    // As in the runtime: what is no time, or none that fits, is the shortest.
    const ms = Number(delay) >= 1 && Number(delay) <= 0x7fffffff ? Math.trunc(Number(delay)) : 1;
    const id = nextId++;
    const timer: Timer = {
      run: () => run(...given),
      dueAt: now + ms,
      order: order++,
      everyMs: isRepeated ? ms : undefined,
      isRef: true,
    };
    timers.set(id, timer);
    const handle: Handle = {
      ref() {
        timer.isRef = true;
        return handle;
      },
      unref() {
        timer.isRef = false;
        return handle;
      },
      hasRef: () => timer.isRef,
      refresh() {
        timer.dueAt = now + ms;
        timer.order = order++;
        timers.set(id, timer);
        return handle;
      },
      close() {
        timers.delete(id);
        return handle;
      },
      [Symbol.toPrimitive]: () => id,
      [Symbol.dispose]: () => void timers.delete(id),
    };
    return handle;
  };
  const clear = (handle: unknown): void => {
    if (handle === undefined || handle === null) return;
    const id = Number(handle as number);
    // One that was set before belongs to the runtime.
    if (!timers.delete(id) && typeof handle === "object") (own.clearTimeout as Callback)(handle);
  };

  /** @param until the last that counts */
  const takeDue = (until: number): Timer | undefined => {
    let due: [number, Timer] | undefined;
    for (const [id, timer] of timers) {
      if (timer.dueAt > until) continue;
      if (!due || timer.dueAt < due[1].dueAt || (timer.dueAt === due[1].dueAt && timer.order < due[1].order))
        due = [id, timer];
    }
    if (!due) return undefined;
    const [id, timer] = due;
    now = Math.max(now, timer.dueAt);
    if (timer.everyMs === undefined) timers.delete(id);
    else {
      timer.dueAt += timer.everyMs;
      timer.order = order++;
    }
    return timer;
  };

  class FakeDate extends RealDate {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [now] : given) as [number]));
    }
    static override now(): number {
      return now;
    }
  }
  const install = (): void => {
    scope.setTimeout = (run: Callback, ms?: unknown, ...given: unknown[]) => set(run, ms, given, false);
    scope.setInterval = (run: Callback, ms?: unknown, ...given: unknown[]) => set(run, ms, given, true);
    scope.clearTimeout = clear;
    scope.clearInterval = clear;
    // Called without `new` it gives a text.
    scope.Date = new Proxy(FakeDate, { apply: () => new RealDate(now).toString() });
    performance.now = () => pace + now - startedAt;
    AbortSignal.timeout = (ms) => {
      const controller = new AbortController();
      set(
        () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
        ms,
        [],
        false,
      );
      return controller.signal;
    };
    isInstalled = true;
  };
  const restore = (): void => {
    if (!isInstalled || scope.clearTimeout !== clear) return;
    Object.assign(scope, own);
    performance.now = realNow;
    AbortSignal.timeout = realTimeout;
    timers.clear();
    isInstalled = false;
  };

  install();
  return {
    get now() {
      return now;
    },
    get pending() {
      return timers.size;
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new TypeError("The clock can only be turned forward: give 0 or more milliseconds");
      const until = now + ms;
      await rest();
      let runs = 0;
      for (let due = takeDue(until); due; due = takeDue(until)) {
        if (++runs > maxRuns)
          throw new Error(`More than ${maxRuns} timers ran in one advance: is there one without end?`);
        // What it waits for may be another timer.
        due.run();
        await rest();
      }
      now = until;
      await rest();
    },
    settle: rest,
    restore,
    [Symbol.dispose]: restore,
  };
}

/** What waits for files is a module that is loaded, mostly: it is waited for, this many turns at most. */
const maxTurns = 2000;
const quietTurns = 4;

/** Waits for real turns of the runtime until nothing seems to be under way. */
function createRest(realTimer: typeof setTimeout): () => Promise<void> {
  const { setImmediate, process } = globalThis as unknown as {
    readonly setImmediate?: (run: () => void) => void;
    readonly process?: { getActiveResourcesInfo?(): readonly string[] };
  };
  const turn = (): Promise<void> =>
    new Promise((resolve) => (setImmediate ? setImmediate(resolve) : void realTimer(resolve, 0)));
  const isReading = (): boolean =>
    process?.getActiveResourcesInfo?.().some((name) => name.startsWith("FSReq")) ?? false;
  return async () => {
    for (let turns = 0, quiet = 0; quiet < quietTurns && turns < maxTurns; turns++) {
      await turn();
      quiet = isReading() ? 0 : quiet + 1;
    }
  };
}
