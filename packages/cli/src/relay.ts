// Two channels joined: what one side says goes on to the other as it is, without a word of our own. What stands between a host and
// a server that is recorded, or played.

import type { Channel } from "plenum";
import { createStreamChannel } from "plenum/stdio/channel";
import type { Incoming, Message, Single } from "plenum/tap";

export interface RelayHooks {
  /** What could not be passed on, for people. */
  noted(problem: string): void;
  /** Ends both. */
  readonly signal: AbortSignal;
}

/** Whoever started this process, as a channel: stdin and stdout. */
export function openOwnStdio(): Channel {
  return createStreamChannel({ input: process.stdin, output: process.stdout });
}

/** Settles when both are closed, with why the server's side was lost; undefined where the end was orderly. */
export async function relay(near: Channel, far: Channel, { noted, signal }: RelayHooks): Promise<unknown> {
  let lost: unknown;
  const close = (): void => {
    near.close();
    far.close();
  };
  const nearClosed = new Promise<void>((resolve) => {
    const receive = (incoming: Incoming): void => {
      for (const one of singlesOf(incoming)) {
        if (one.kind !== "invalid") passOn(far, one.message);
        // Whoever cannot be understood is told so, as the server would.
        else if (one.answer) near.send(one.answer);
      }
    };
    near.open({ receive, closed: () => resolve(far.close()) });
  });
  const farClosed = new Promise<void>((resolve) => {
    far.open({
      receive(incoming) {
        for (const one of singlesOf(incoming)) {
          if (one.kind !== "invalid") near.send(one.message);
          else noted(`The server wrote what is no message: ${(one.text ?? one.why ?? "").slice(0, 200)}`);
        }
      },
      failed(id, cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        near.send({ jsonrpc: "2.0", id, error: { code: -32603, message: `No answer came: ${reason}` } });
      },
      noted,
      closed(cause) {
        lost = cause;
        near.close();
        resolve();
      },
    });
  });
  signal.addEventListener("abort", close);
  try {
    await Promise.all([nearClosed, farClosed]);
    await far.ended;
  } finally {
    signal.removeEventListener("abort", close);
  }
  return lost;
}

function singlesOf(incoming: Incoming): readonly Single[] {
  return incoming.kind === "batch" ? incoming.members : [incoming];
}

function passOn(far: Channel, message: Message): void {
  far.send(message, "method" in message ? undefined : message.id);
  // Where each request has a stream of its own, that is how one is cancelled.
  if ("method" in message && message.method === "notifications/cancelled") {
    const id = message.params?.requestId;
    if (typeof id === "string" || typeof id === "number") far.abandon?.(id);
  }
}
