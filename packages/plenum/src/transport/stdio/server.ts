// Serves an endpoint on the process's stdin and stdout, in every revision, and ends as a child process should: when its
// stdin ends, when nobody takes its output, and on a signal. Specification: basic/transports/stdio.
// `process` is the global in this room: importing node:process reads all of its properties, a millisecond of every start.
import { finished, type Readable, type Writable } from "node:stream";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { type ServeOptions, serve } from "../../protocol/negotiate.ts";
import { createStreamChannel } from "./channel.ts";
import { claimStdout } from "./stdout.ts";

export interface StdioServeOptions extends ServeOptions {
  /** Default: the process's stdin. */
  readonly input?: Readable;
  /** Default: the process's stdout. */
  readonly output?: Writable;
  /** Bytes that one message may have; a longer one is skipped and answered with an error. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Bytes that may wait for a client that does not read; what is sent beyond them ends the connection. Default 256 MiB. */
  readonly maxQueuedBytes?: number;
  /** What calls in flight are given to finish when the end has come; then they are cancelled. Default 2000. */
  readonly graceMs?: number;
  /**
   * The process lives for this server: when stdin has ended, stdout is broken, or SIGTERM or SIGINT came, the endpoint is
   * closed and the process exits, with `process.exitCode` or 0. A second signal makes it exit at once. Default: true when
   * both streams are the process's own. When false, the endpoint and the process are left alone.
   */
  readonly exit?: boolean;
  /**
   * While stdout is served on, what else is written to it (`console.log`) goes to stderr: it would break the protocol. Default
   * true. What writes to file descriptor 1 by itself, such as a child process that inherits it, cannot be diverted.
   */
  readonly divertStdout?: boolean;
}

export interface StdioServing {
  /**
   * Gives calls in flight `graceMs`, then ends; stdout is given back. Neither closes the endpoint nor exits. Settles when
   * all is written.
   */
  close(): Promise<void>;
  /** Settles when it has ended, for whatever reason. If the process is to exit, it does in the next turn. */
  readonly closed: Promise<void>;
}

/** What the last writing and the closing of the endpoint may take together before the process exits all the same. */
const endingMs = 5000;
const loggingMs = 1000;

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Throws a TypeError when stdin is served on already. */
export function serveStdio(endpoint: Endpoint, options: StdioServeOptions = {}): StdioServing {
  const { input = process.stdin, maxBytes, maxQueuedBytes, graceMs = 2000, divertStdout = true, ...rest } = options;
  const isOwnOutput = (options.output ?? process.stdout) === process.stdout;
  const { exit = isOwnOutput && input === process.stdin, output: _, ...serveOptions } = rest;
  if (typeof endpoint?.watch !== "function")
    throw new TypeError("serveStdio takes a server, such as createServer makes");
  if (!(graceMs >= 0)) throw new TypeError(`graceMs cannot be ${graceMs}: give milliseconds, 0 for none`);
  if (taken.has(input)) throw new TypeError("This input is served already: close that first");
  const claim = isOwnOutput ? claimStdout(divertStdout) : undefined;
  const output = claim?.output ?? (options.output as Writable);

  /** Whether the end came from outside, so that nobody here decides what comes after it. Undefined before the end. */
  let isLeft: boolean | undefined;
  const leave = (ms: number): void => {
    isLeft ??= true;
    serving.close(ms);
  };
  const channel = createStreamChannel({
    input,
    output,
    ...(maxBytes !== undefined && { maxBytes }),
    ...(maxQueuedBytes !== undefined && { maxQueuedBytes }),
    // The client may not hear of it, and what started it would see an orderly end.
    onGiveUp: (error) => endpoint.report(error, { method: "stdio" }),
    endCause: () => {
      leave(graceMs);
      return serving.closed;
    },
  });
  const serving = serve(endpoint, channel, serveOptions);
  taken.add(input);
  // Nobody will hear the answers: there is nothing to wait for.
  output.once("error", () => leave(0));
  output.once("close", () => leave(0));

  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (++signals > 1) process.exit(exitCodes[signal as keyof typeof exitCodes]);
    // A client that has closed stdin before has waited long enough.
    leave(isLeft ? 0 : graceMs);
  };
  if (exit) for (const signal of Object.keys(exitCodes)) process.on(signal, onSignal);

  const closed = serving.closed.then(async () => {
    // It may have been the endpoint that closed.
    isLeft ??= false;
    const exits = exit && isLeft;
    await within(endingMs, [isWritten(output), exits ? closeEndpoint(endpoint) : undefined]);
    taken.delete(input);
    if (exits) {
      await within(loggingMs, [isLogged()]);
      setImmediate(() => process.exit());
      return;
    }
    claim?.release();
    for (const signal of Object.keys(exitCodes)) process.off(signal, onSignal);
  });
  return {
    close() {
      isLeft ??= false;
      serving.close(graceMs);
      return closed;
    },
    closed,
  };
}

/** Inputs that are served on: two readers would each get a part. */
const taken = new WeakSet<Readable>();

async function closeEndpoint(endpoint: Endpoint & { readonly close?: () => unknown }): Promise<void> {
  try {
    await endpoint.close?.();
  } catch (error) {
    endpoint.report(error, { method: "close" });
  }
}

function isWritten(output: Writable): Promise<void> {
  return new Promise((resolve) => finished(output, { readable: false }, () => resolve()));
}

/** Where stderr is a pipe, what was logged last may still be on its way. */
function isLogged(): Promise<void> | undefined {
  const { stderr } = process;
  return stderr.writableLength > 0 ? new Promise((resolve) => stderr.write("", () => resolve())) : undefined;
}

/** Settles when all have, or when the time is up. */
function within(ms: number, tasks: readonly (Promise<void> | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    Promise.all(tasks).finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
