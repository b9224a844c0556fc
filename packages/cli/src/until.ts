// How commands that go on come to their end: at Ctrl-C, after a time, after a number of events, or with the connection.

import type { OptionSpecs, OptionValues } from "./command.ts";
import { Failure } from "./failure.ts";

export const untilOptions = {
  for: { kind: "number", value: "SECONDS", summary: "End after this time", fallback: "at Ctrl-C" },
  count: { kind: "number", short: "c", value: "N", summary: "End after this many events" },
} as const satisfies OptionSpecs;

export interface Until {
  /** One more event. */
  count(): void;
  /** What was waited on is gone. */
  lost(cause: unknown): void;
  /** Settles at the end; rejects when it was lost. */
  readonly ended: Promise<void>;
}

export function createUntil({ for: seconds, count }: OptionValues<typeof untilOptions>, signal: AbortSignal): Until {
  for (const [name, value] of Object.entries({ for: seconds, count })) {
    if (value !== undefined && value <= 0) throw new Failure("usage", `--${name} must be above 0`);
  }
  let seen = 0;
  let end = (): void => {};
  let fail: (cause: unknown) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const timer = seconds === undefined ? undefined : setTimeout(end, seconds * 1000);
  if (signal.aborted) end();
  signal.addEventListener("abort", () => end(), { once: true });
  const over = ended.finally(() => clearTimeout(timer));
  // Nobody may wait for it yet when the connection is lost.
  over.catch(() => {});
  return {
    count() {
      if (++seen === count) end();
    },
    lost: (cause) => fail(new Failure("unreachable", "The connection was lost", { code: "connection_lost", cause })),
    ended: over,
  };
}
