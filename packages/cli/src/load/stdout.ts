// Stdout while code of somebody else's runs in this process: what that code prints goes to stderr, because results, or
// messages, have stdout to themselves.

import { Writable } from "node:stream";

let plainWrite: typeof process.stdout.write | undefined;

/** From now on, for whoever calls `process.stdout.write` or `console.log`; see output.ts. Gives what gives it back. */
export function divertStdout(): () => void {
  const { stdout, stderr } = process;
  const { write } = stdout;
  plainWrite ??= write.bind(stdout) as typeof write;
  stdout.write = stderr.write.bind(stderr) as typeof write;
  return () => {
    stdout.write = write;
    plainWrite = undefined;
  };
}

/** Stdout itself, for messages, whether or not it is diverted. */
export function undivertedStdout(): Writable {
  const write = plainWrite;
  if (!write) return process.stdout;
  return new Writable({
    write: (chunk: Uint8Array, _, done) => void write(chunk, done),
  });
}
