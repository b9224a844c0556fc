// A stream of events from the server, taken up again where it broke: after the time that the server names, or a growing
// one with jitter. Specification: basic/transports § Resumability and Redelivery of 2025-03-26 to 2025-11-25.
import { McpError } from "../../protocol/errors.ts";
import type { Stop } from "../../util/stop.ts";
import { type HeaderRecord, type HttpAnswer, typeOf } from "./client-carrier.ts";
import type { ReconnectOptions } from "./client-options.ts";
import { isRefusal } from "./client-refusal.ts";
import { EventTooLong, readEvents } from "./event-reader.ts";
import { headerNames } from "./headers.ts";

export interface FollowOptions {
  readonly stop: Stop;
  readonly maxEventBytes: number;
  readonly reconnect: Required<ReconnectOptions>;
  /** When the stream is taken up again: never, if there is an event to go on from, or always. */
  readonly resumes: "never" | "after-event" | "always";
  /** Asks for the stream, from behind an event if there was one. Rejects with what the server says instead. */
  readonly open: (lastEventId: string | undefined) => Promise<HttpAnswer>;
  /** One message. */
  readonly onData: (data: string) => void;
  /** Whether what kept it from being taken up again will do so for ever. Default: a refusal that does not pass. */
  readonly isFinal?: (error: unknown) => boolean;
  /** All that was expected of the stream has come, or is not waited for any more. */
  readonly isDone: () => boolean;
  /** It could not be taken up again at the first try, and then, without a cause, it could. */
  readonly onTrouble: (cause?: unknown) => void;
}

/** A stream that ends sooner was hardly one. */
const shortMs = 1000;

/** The server ended it in order. */
export class StreamEnded extends Error {
  override readonly name = "StreamEnded";
}

/**
 * Follows a stream until it is done or stopped. Rejects when it is lost for good.
 * @param first where there is one already: the answer to a POST
 */
export async function followStream(first: HttpAnswer | undefined, options: FollowOptions): Promise<void> {
  const { stop, reconnect, resumes, isDone, onTrouble, isFinal = isRefusal } = options;
  let answer = first;
  let lastId: string | undefined;
  let retryMs: number | undefined;
  let failures = 0;
  /** Streams in a row that ended in no time, whatever came on them. */
  let shorts = 0;
  let isTroubled = false;
  let wasOpen = first !== undefined;
  let cause: unknown;

  async function read(from: HttpAnswer): Promise<void> {
    const since = Date.now();
    try {
      await readEvents(from, {
        maxEventBytes: options.maxEventBytes,
        stop,
        onEvent({ id, event, data }) {
          failures = 0;
          if (id !== undefined && isCarried(id)) lastId = id === "" ? undefined : id;
          // An event without data only tells where the stream stands.
          if (data !== "" && (event === undefined || event === "message")) options.onData(data);
        },
        onRetry(ms) {
          retryMs = ms;
        },
      });
      cause = new StreamEnded("the server ended the stream before the answer came");
    } catch (error) {
      cause = error;
    } finally {
      const livedMs = Date.now() - since;
      // One that was merely quiet for long was a good one.
      if (livedMs > reconnect.maxDelayMs) failures = 0;
      shorts = livedMs < shortMs ? shorts + 1 : 0;
    }
  }

  for (;;) {
    if (answer) await read(answer);
    if (stop.isStopped || isDone()) return;
    if (cause instanceof EventTooLong) throw cause;
    if (wasOpen) {
      const canResume = resumes === "always" || (resumes === "after-event" && lastId !== undefined);
      if (!canResume || failures >= reconnect.maxAttempts) throw cause;
      await pause(delayOf(reconnect, failures++, retryMs, shorts), stop);
      if (stop.isStopped || isDone()) return;
    }
    answer = undefined;
    try {
      const next = await options.open(lastId);
      assertStream(next);
      answer = next;
      wasOpen = true;
      if (isTroubled) onTrouble();
      isTroubled = false;
    } catch (error) {
      if (stop.isStopped) return;
      cause = error;
      if (isFinal(error)) throw error;
      // The first stream of all is tried for as well as any later one.
      wasOpen = true;
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
    }
  }
}

/** Throws McpError for what is no stream, as for a refusal. */
function assertStream(answer: HttpAnswer): void {
  if (typeOf(answer) === "text/event-stream") return;
  answer.discard();
  const { status } = answer;
  throw new McpError("peer_error", "The server answered with something else than a stream of events", {
    data: { status },
  });
}

/** The shortest pause, and the longest that one grows to before streams that end in no time. */
const shortestMs = 100;
const unhurriedMs = 1000;

/**
 * The pause before a try. What the server asks for is the least, but nobody is to be asked without a pause.
 * @param shorts streams in a row that ended in no time
 */
export function delayOf(
  { delayMs, maxDelayMs }: Required<ReconnectOptions>,
  failures: number,
  retryMs: number | undefined,
  shorts = 0,
): number {
  // With jitter, so that many clients of one server do not come back in step.
  const growing = Math.min(delayMs * 2 ** failures, maxDelayMs) * (0.5 + Math.random() / 2);
  if (retryMs === undefined) return growing;
  const least = Math.min(Math.min(shortestMs, delayMs) * 2 ** shorts, unhurriedMs, maxDelayMs);
  const asked = Math.max(retryMs * (1 + Math.random() / 10), least);
  return failures === 0 ? asked : Math.max(asked, growing);
}

export function pause(ms: number, stop: Stop): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      end();
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
    let end = (): void => {};
    end = stop.onStop(done);
  });
}

const encoder = new TextEncoder();
const maxEventIdBytes = 4096;
// Controls cannot stand in a header, and spaces at its ends are lost.
const carried = /^(?! )[^\p{Cc}]*(?<! )$/u;

/** Whether an event's id can be sent back as a header. */
function isCarried(id: string): boolean {
  return id.length <= maxEventIdBytes && carried.test(id) && encoder.encode(id).length <= maxEventIdBytes;
}

/** An event's id as a header: its UTF-8, byte by byte, since a header has no other characters. */
export function toLastEvent(id: string): HeaderRecord {
  return { [headerNames.lastEvent]: String.fromCharCode(...encoder.encode(id)) };
}
