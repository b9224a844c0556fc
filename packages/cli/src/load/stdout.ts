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
