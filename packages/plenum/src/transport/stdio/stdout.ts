// The process's stdout while a server speaks on it: the messages have it to themselves, and whatever else the program
// prints there goes to stderr. Specification: basic/transports/stdio (nothing but messages on stdout).
import { Writable } from "node:stream";

export interface Claim {
  /** Writes to stdout, at its speed. Ending it leaves stdout open. */
  readonly output: Writable;
  /** Gives stdout back. */
  release(): void;
}

const ignore = (): void => {};

/**
 * @param divert whether `process.stdout.write`, and with it `console.log`, writes to stderr meanwhile. What writes to file
 * descriptor 1 by itself (a child process that inherits it, `fs.writeSync(1)`) cannot be diverted.
 */
export function claimStdout(divert: boolean): Claim {
  const { stdout } = process;
  const write = stdout.write;
  // The callback comes when stdout has taken the text, so the output is as fast as stdout, and fails as it does.
  const output = new Writable({
    decodeStrings: false,
    write: (text: string, encoding, done) => {
      write.call(stdout, text, encoding, done);
    },
  });
  // It tells of a failure twice: to the callback, which is enough, and as an event, which would end the process.
  stdout.on("error", ignore);
  const restore = divert ? divertStdout(write) : ignore;
  return {
    output,
    release() {
      restore();
      stdout.off("error", ignore);
    },
  };
}

function divertStdout(write: typeof process.stdout.write): () => void {
  const { stdout, stderr } = process;
  let isDiverted = true;
  let awaitsDrain = false;
  const onDrain = (): void => {
    awaitsDrain = false;
    stdout.emit("drain");
  };
  const stray = ((...args: Parameters<typeof write>): boolean => {
    if (!isDiverted) return write.apply(stdout, args);
    const isTaken = stderr.write(...args);
    // Who pipes into stdout waits for stdout to drain.
    if (!isTaken && !awaitsDrain) {
      awaitsDrain = true;
      stderr.once("drain", onDrain);
    }
    return isTaken;
  }) as typeof write;
  // A client that no longer takes our logs is no reason to end.
  stderr.on("error", ignore);
  stdout.write = stray;
  return () => {
    isDiverted = false;
    stderr.off("error", ignore);
    // Not when somebody else has replaced it meanwhile: theirs calls ours.
    if (stdout.write === stray) stdout.write = write;
  };
}
