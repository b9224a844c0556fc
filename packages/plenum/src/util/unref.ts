// Timers that keep no process alive, on runtimes where a timer would.

/** The timer itself. */
export function unref<T>(timer: T): T {
  (timer as { unref?(): void }).unref?.();
  return timer;
}
