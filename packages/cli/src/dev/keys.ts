// Single keys at a terminal, while a server runs.

/** Reads keys until it is told to stop; the terminal is then as it was. Nothing where stdin is no terminal. */
export function watchKeys(onKey: (key: string) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const onData = (data: Buffer): void => {
    for (const key of data.toString("utf8")) onKey(key);
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdin.resume();
  return () => {
    stdin.off("data", onData);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
