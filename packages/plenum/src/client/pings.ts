// Pings that keep a connection alive, or find that it is not. Loaded where an interval is given.
import { McpError } from "../protocol/errors.ts";
import type { Remote } from "../protocol/remote.ts";
import { unref } from "../util/unref.ts";
import type { ClientOptions } from "./options.ts";

export interface PingsGround {
  /** It is the connection of now, and open. */
  isInUse(of: Remote): boolean;
  warn(problem: string): void;
  /** Nobody answers any more. */
  lost(cause: McpError): void;
}

export interface Pings {
  begin(remote: Remote): void;
  stop(): void;
}

const shortestMs = 100;

/** Throws a TypeError for an interval that makes no sense. */
export function createPings(intervalMs: number, options: ClientOptions, ground: PingsGround): Pings {
  const { pingTimeoutMs: timeoutMs = 10_000, maxPingFailures = 3 } = options;
  // What is longer than a timer can be would come at once.
  if (!(intervalMs >= shortestMs && intervalMs < 2 ** 31))
    throw new TypeError(`connect: pingIntervalMs must be ${shortestMs} or more, not ${intervalMs}`);
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** One ping at a time, the next one an interval after the last was answered. */
  function wait(of: Remote, failures: number): void {
    timer = setTimeout(() => {
      of.ping({ timeoutMs }).then(
        () => ground.isInUse(of) && wait(of, 0),
        (error) => ground.isInUse(of) && fail(of, error, failures + 1),
      );
    }, intervalMs);
    // An idle client keeps no process alive.
    unref(timer);
  }

  function fail(of: Remote, error: unknown, failures: number): void {
    // Whoever answers is there, whatever the answer.
    const isSilence = error instanceof McpError && (error.code === "timeout" || error.code === "connection_lost");
    if (isSilence) ground.warn(`ping ${failures} of ${maxPingFailures} was not answered: ${error}`);
    if (!isSilence || failures < maxPingFailures) wait(of, isSilence ? failures : 0);
    else {
      ground.lost(new McpError("timeout", `${maxPingFailures} pings in a row were not answered`));
      of.close();
    }
  }

  return { begin: (remote) => wait(remote, 0), stop: () => clearTimeout(timer) };
}
