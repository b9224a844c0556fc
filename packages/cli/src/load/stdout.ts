// Stdout while code of somebody else's runs in this process: what that code prints goes to stderr, because results, or
// messages, have stdout to themselves.

/** From now on, for whoever calls `process.stdout.write` or `console.log`; see output.ts. Gives what gives it back. */
export function divertStdout(): () => void {
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr) as typeof write;
  return () => {
    stdout.write = write;
  };
}

/** Stdout as it is now: what is written to this still gets there while stdout is diverted. */
export function keepStdout(): NodeJS.WriteStream {
  const { stdout } = process;
  const { write } = stdout;
  return new Proxy(stdout, {
    get(_, key) {
      const value: unknown = key === "write" ? write : Reflect.get(stdout, key);
      return typeof value === "function" ? value.bind(stdout) : value;
    },
  });
}
