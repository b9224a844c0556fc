// Stdout and stderr of this process. Node makes a stream of each when somebody asks for it, and that takes a good part of a
// short run: what we print ourselves goes without where it can. And stdout while code of somebody else's runs here: what that
// code prints goes to stderr, because results, or messages, have stdout to themselves.
import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";

type Name = "stdout" | "stderr";
type Write = NodeJS.WriteStream["write"];

const descriptors = { stdout: 1, stderr: 2 } as const;
const made = new Map<Name, NodeJS.WriteStream>();
let onBroken: ((error: unknown) => void) | undefined;
/** Of stdout, while it is diverted. */
let plainWrite: Write | undefined;
let isDiverted = false;

for (const name of ["stdout", "stderr"] as const) {
  const own = Object.getOwnPropertyDescriptor(process, name);
  if (!own?.get) continue;
  Object.defineProperty(process, name, {
    ...own,
    get() {
      const known = made.get(name);
      if (known) return known;
      const stream = own.get?.call(process) as NodeJS.WriteStream;
      made.set(name, stream);
      if (name === "stdout") prepare(stream);
      // Words that nobody can read are no reason to fail.
      else stream.on("error", () => {});
      return stream;
    },
  });
}

function prepare(stdout: NodeJS.WriteStream): void {
  if (onBroken) stdout.on("error", onBroken);
  if (isDiverted) divert(stdout);
}

/** Called when stdout cannot be written to, such as by EPIPE when nobody reads it any more. */
export function onBrokenStdout(listener: (error: unknown) => void): void {
  onBroken = listener;
  made.get("stdout")?.on("error", listener);
}

/** When all is written that was given to the streams. */
export async function streamsWritten(): Promise<void> {
  await Promise.all(
    [...made.values()].map(
      (stream) =>
        new Promise<void>((resolve) => {
          if (stream.writableLength === 0) resolve();
          else stream.write("", () => resolve());
        }),
    ),
  );
}

/** Only a device can be a terminal: for others no stream is made. */
export function isTerminal(name: Name): boolean {
  return (made.has(name) || isDevice(name)) && process[name].isTTY === true;
}

function isDevice(name: Name): boolean {
  try {
    return fstatSync(descriptors[name]).isCharacterDevice();
  } catch {
    return true;
  }
}

/** Text for people. */
export function printNote(text: string): void {
  // Who has made a stream of it may have put something in place of its `write`.
  if (!made.has("stderr") && isPlain("stderr")) writeAll("stderr", text);
  else process.stderr.write(text);
}

/** To stdout, whether or not it is diverted. */
export function print(text: string | Uint8Array): void {
  if (isPlain("stdout")) writeAll("stdout", text);
  else if (plainWrite) plainWrite(text);
  else process.stdout.write(text);
}

/** Whether the stream would do no more than write, as it does to files and pipes; on Windows it writes to pipes later. */
function isPlain(name: Name): boolean {
  return process.platform !== "win32" && !isDevice(name);
}

function writeAll(name: Name, text: string | Uint8Array): void {
  let bytes = typeof text === "string" ? Buffer.from(text) : text;
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(descriptors[name], bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") {
        if (name === "stdout") onBroken?.(error);
        return;
      }
      // The reader is slower than we are.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/** From now on, for whoever calls `process.stdout.write` or `console.log`. Gives what gives it back. */
export function divertStdout(): () => void {
  isDiverted = true;
  const stdout = made.get("stdout");
  if (stdout) divert(stdout);
  return () => {
    isDiverted = false;
    const diverted = made.get("stdout");
    if (plainWrite && diverted) diverted.write = plainWrite;
    plainWrite = undefined;
  };
}

function divert(stdout: NodeJS.WriteStream): void {
  plainWrite ??= stdout.write.bind(stdout) as Write;
  stdout.write = ((...given: Parameters<Write>) => process.stderr.write(...given)) as Write;
}

/** Stdout itself, for messages, whether or not it is diverted. */
export function undivertedStdout(): Writable {
  const { stdout } = process;
  const write = plainWrite;
  if (!write) return stdout;
  const { Writable } = process.getBuiltinModule("node:stream");
  return new Writable({
    write: (chunk: Uint8Array, _, done) => void write(chunk, done),
  });
}
