// Who watches a server for changes. A burst of changes is told once: what has accumulated by the next turn of the
// event loop goes out together. Without watchers nothing is kept and no timer runs.
import type { Change } from "../protocol/endpoint.ts";

export interface Watchers {
  add(listener: (change: Change) => void): () => void;
  tell(change: Change): void;
  close(): void;
}

export function createWatchers(): Watchers {
  const listeners = new Set<(change: Change) => void>();
  const pending = new Map<string, Change>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let setAt = 0;

  const flush = (): void => {
    timer = undefined;
    const changes = [...pending.values()];
    pending.clear();
    for (const change of changes) emit(change);
  };
  const emit = (change: Change): void => {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch {
        // One peer's broken wire is no reason not to tell the others.
      }
    }
  };
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell(change) {
      if (listeners.size === 0) return;
      pending.set(Object.values(change).join(" "), change);
      // Where each request lives by itself (Workers) a timer may die with the one that set it.
      if (timer !== undefined && Date.now() - setAt < 1000) return;
      setAt = Date.now();
      timer = setTimeout(flush);
    },
    close() {
      clearTimeout(timer);
      flush();
      emit({ kind: "closing" });
    },
  };
}
