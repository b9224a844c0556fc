// Single keys at a terminal, while a server runs.

export interface KeyWatch {
  /** Reads single keys again, after another process has changed the modes of the terminal. */
  renew(): void;
  /** The terminal is then as it was. */
  stop(): void;
}

/** Reads keys until it is told to stop. Nothing where stdin is no terminal. */
export function watchKeys(onKey: (key: string) => void): KeyWatch {
  const { stdin } = process;
  if (!stdin.isTTY) return { renew: () => {}, stop: () => {} };
  const onData = (data: Buffer): void => {
    for (const key of data.toString("utf8")) onKey(key);
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdin.resume();
  return {
    renew() {
      // A mode that is thought to be set is not set again.
      stdin.setRawMode(false);
      stdin.setRawMode(true);
    },
    stop() {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
