// Something that is done once for all who want it. Who does not want to wait any longer leaves; when nobody waits any more it
// is called off.
import { untilAborted } from "../../util/abort.ts";

export interface Errand<T> {
  /** Waits for its end, and no longer than the signal lets: settles as it does, or rejects with the signal's reason. */
  join(signal: AbortSignal | undefined): Promise<T>;
  /** Its end, however it comes. Never rejects. */
  readonly ended: Promise<void>;
  /** Nobody waits for it any more. It may take a moment to end. */
  readonly isCalledOff: boolean;
}

/** @param run given what tells that it is called off: not everything can be left in the middle */
export function startErrand<T>(run: (signal: AbortSignal) => Promise<T>): Errand<T> {
  const controller = new AbortController();
  let waiting = 0;
  let isOver = false;
  const running = run(controller.signal).finally(() => {
    isOver = true;
  });
  const settle = (): void => {};
  return {
    ended: running.then(settle, settle),
    get isCalledOff() {
      return controller.signal.aborted;
    },
    async join(signal) {
      waiting++;
      try {
        return await untilAborted(running, signal, (reason) => reason);
      } finally {
        waiting--;
        if (waiting === 0 && !isOver) controller.abort();
      }
    },
  };
}
