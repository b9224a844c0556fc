// What a client watches: lists, from its beginning, and resources that are subscribed to. Loaded by the first of them.
import { McpError } from "../protocol/errors.ts";
import { isPeerError } from "../protocol/outcome.ts";
import type { Watched } from "../protocol/remote.ts";
import { untilAborted } from "../util/abort.ts";
import { reasonOf } from "../util/call-back.ts";
import { quote } from "../util/quote.ts";
import { toNotFound } from "./explain.ts";
import type { Line } from "./line.ts";
import type { CallOptions, ClientOptions } from "./options.ts";

export interface Subscriptions {
  /** Watches the lists. Closes the line, and throws McpError `aborted`, where the client is not wanted any more. */
  begin(warn: (problem: string) => void): Promise<void>;
  /** Subscribes to a resource, or ends that. */
  change(uri: string, isWanted: boolean, given: CallOptions): Promise<void>;
}

export function createSubscriptions(line: Line, options: ClientOptions): Subscriptions {
  const lists: Watched["lists"] = options.onListChanged ? ["tools", "resources", "prompts"] : [];
  const uris = new Set<string>();
  let turn: Promise<unknown> = Promise.resolve();

  async function watch(uri: string, isWanted: boolean, given: CallOptions): Promise<void> {
    const wasWanted = uris.has(uri);
    if (!wasWanted && !isWanted) return;
    // Also when it was wanted before: the server may have ended it since.
    const set = (on: boolean): unknown => (on ? uris.add(uri) : uris.delete(uri));
    set(isWanted);
    try {
      await line.watch({ lists, uris: [...uris] }, given);
    } catch (error) {
      set(wasWanted);
      throw isPeerError(error, -32002) ? toNotFound(error, uri) : error;
    }
  }

  return {
    async begin(warn) {
      const { signal, connectTimeoutMs: timeoutMs } = options;
      await line
        .watch({ lists, uris: [] }, { signal, timeoutMs })
        .catch((error) => warn(`Changes of lists are not heard: ${reasonOf(error)}`));
      if (!signal?.aborted) return;
      await line.close();
      throw new McpError("aborted", "connect was aborted", { cause: signal.reason });
    },
    /** One change at a time, so that one that fails is undone before the next begins. */
    change(uri, isWanted, given) {
      const { signal } = given;
      const toAborted = (cause: unknown): McpError => new McpError("aborted", `${quote(uri)}: aborted`, { cause });
      if (signal?.aborted) return Promise.reject(toAborted(signal.reason));
      const done = turn.then(() => (signal?.aborted ? undefined : watch(uri, isWanted, given)));
      turn = done.catch(() => {});
      return untilAborted(done, signal, toAborted);
    },
  };
}
