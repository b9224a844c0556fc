// Server-sent events out of a stream of bytes, with a bound on the size of one. What a line means is the parser's
// business; how much of a stranger's stream is kept in memory is ours.
import { createParser } from "eventsource-parser";
import type { Stop } from "../../util/stop.ts";
import type { HttpAnswer } from "./client-carrier.ts";

export interface ServerEvent {
  /** Where the event has one of its own. */
  readonly id: string | undefined;
  /** Its type; undefined for a plain message. */
  readonly event: string | undefined;
  /** May be empty: such an event only tells its id. */
  readonly data: string;
}

/** What cannot be read cannot be read the next time either. */
export class EventTooLong extends Error {
  override readonly name = "EventTooLong";
}

export interface EventReaderOptions {
  /** Characters that one event may have. */
  readonly maxEventBytes: number;
  readonly stop: Stop;
  readonly onEvent: (event: ServerEvent) => void;
  /** How long the server wants us to wait before we come again. */
  readonly onRetry: (ms: number) => void;
}

/** Reads a stream to its end, or until it is stopped. Rejects when the stream breaks, or an event is too long. */
export async function readEvents(answer: Pick<HttpAnswer, "read">, options: EventReaderOptions): Promise<void> {
  const { maxEventBytes, stop, onEvent, onRetry } = options;
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent({ id, event, data }) {
      if (data.length > maxEventBytes) isTooLong = true;
      if (!isTooLong && !stop.isStopped) onEvent({ id, event, data });
    },
    onRetry,
    onError(error) {
      // Any other is a line that means nothing, which is to be passed over.
      if (error.type === "max-buffer-size-exceeded") isTooLong = true;
    },
  });
  // Bytes that are no UTF-8 become replacement characters: the rest of the stream can still be read.
  const decoder = new TextDecoder();
  try {
    await answer.read((bytes) => {
      parser.feed(decoder.decode(bytes, { stream: true }));
      if (isTooLong)
        throw new EventTooLong(`the server sent an event of more than ${maxEventBytes} bytes (maxEventBytes)`);
    });
  } catch (error) {
    if (!stop.isStopped) throw error;
  }
}
