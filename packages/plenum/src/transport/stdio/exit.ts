// What must still be done when our own process exits, in whatever way it may: at its end, by `process.exit`, by an
// exception, or by a signal that nobody handles. Nothing is listened for while there is nothing to do.

const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

const held = new Set<() => void>();

/** Runs `action` when our process exits, synchronously. Returns what takes that back. */
export function holdAtExit(action: () => void): () => void {
  const run = (): void => action();
  if (held.size === 0) listen();
  held.add(run);
  return () => {
    if (held.delete(run) && held.size === 0) unlisten();
  };
}

function runAll(): void {
  for (const action of [...held]) {
    try {
      action();
    } catch {
      // The others still have to run.
    }
  }
  held.clear();
}

/**
 * A signal without a handler ends Node at once, without an `exit` event. Having a handler takes that default away, so
 * it is given back: we do our work and send the signal again. Where the application handles the signal it decides by
 * itself, and `exit` comes when it exits.
 */
function onSignal(signal: NodeJS.Signals): void {
  const others = process.listeners(signal).filter((listener) => !ownListeners().has(listener));
  if (others.length > countExitHooks()) return;
  runAll();
  unlisten();
  // Whoever is last sends it again.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

/** Of every copy of this file in the process: two copies must not take each other for the application. */
function ownListeners(): Set<unknown> {
  const key = Symbol.for("plenum.exit-listeners");
  const found: unknown = Reflect.get(globalThis, key);
  if (found instanceof Set) return found;
  const made = new Set<unknown>();
  Reflect.set(globalThis, key, made);
  return made;
}

/** The listeners of the package signal-exit, which many programs have inside: they too only clean up and send it again. */
function countExitHooks(): number {
  const old: unknown = Reflect.get(process, "__signal_exit_emitter__");
  const current: unknown = Reflect.get(globalThis, Symbol.for("signal-exit emitter"));
  return countOf(old) + countOf(current);
}

function countOf(emitter: unknown): number {
  const count: unknown = (emitter as { count?: unknown } | undefined)?.count;
  return typeof count === "number" ? count : 0;
}

function listen(): void {
  ownListeners().add(onSignal);
  process.on("exit", runAll);
  // First, so that hooks that count listeners count us no more when it is their turn.
  for (const signal of signals) process.prependListener(signal, onSignal);
}

function unlisten(): void {
  process.off("exit", runAll);
  for (const signal of signals) process.off(signal, onSignal);
}
