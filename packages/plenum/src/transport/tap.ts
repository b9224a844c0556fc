// A channel that also reports what passes through it: for logs, tests and inspectors. It shows everything, secrets
// included, and leaves nothing out: whoever keeps the reports decides what to take out of them.
import type { Channel, Target } from "../jsonrpc/channel.ts";
import type { Incoming, Message, RequestId } from "../jsonrpc/message.ts";

export { formatMessage, type Incoming, type Message, type Single } from "../jsonrpc/message.ts";

export type TapEvent =
  /** A result may be `PreparedJson`; `formatMessage` writes either as text. */
  | { readonly kind: "sent"; readonly message: Message | readonly Message[]; readonly at: number }
  /** As it was read; what could not be is `invalid`, with the answer it deserves. */
  | { readonly kind: "received"; readonly incoming: Incoming; readonly at: number }
  /** The answer to this request of ours will not come, and the channel goes on. */
  | { readonly kind: "failed"; readonly id: RequestId; readonly cause: unknown; readonly at: number }
  /** The last one. `cause` is undefined when the end was orderly. */
  | { readonly kind: "closed"; readonly cause: unknown; readonly at: number };

/** Told at once and in order; `at` is in milliseconds of `Date.now()`. What it throws or rejects with is dropped. */
export type TapReport = (event: TapEvent) => void;

/** The same channel, with a reporter. The messages are handed out as they are: the reporter must not change them. */
export function tapChannel(channel: Channel, report: TapReport): Channel {
  let isClosed = false;
  const tell = (event: TapEvent): void => {
    try {
      const told: unknown = report(event);
      // An async function fits the type; its rejection would end the process.
      if (told !== undefined) Promise.resolve(told).catch(() => {});
    } catch {
      // Traffic does not depend on who watches it.
    }
  };
  return {
    oneStream: channel.oneStream,
    open(receiver) {
      channel.open({
        receive(incoming, sender) {
          tell({ kind: "received", incoming, at: Date.now() });
          receiver.receive(incoming, sender);
        },
        failed(id, cause) {
          tell({ kind: "failed", id, cause, at: Date.now() });
          receiver.failed?.(id, cause);
        },
        noted: (problem) => receiver.noted?.(problem),
        interrupted: (cause) => receiver.interrupted?.(cause),
        closed(cause) {
          isClosed = true;
          tell({ kind: "closed", cause, at: Date.now() });
          receiver.closed(cause);
        },
      });
    },
    send(message, about) {
      // First the channel: what it cannot write was not sent.
      channel.send(message, about);
      if (!isClosed) tell({ kind: "sent", message, at: Date.now() });
    },
    dismiss: (id) => channel.dismiss?.(id),
    abandon: (id) => channel.abandon?.(id),
    close: () => channel.close(),
    ...(channel.ended && { ended: channel.ended }),
    get holdup() {
      return channel.holdup;
    },
  };
}

/** The same target; every channel that it opens is tapped. */
export function tapTarget(target: Target, report: TapReport): Target {
  const { name, key, restarts, mirrorsParams } = target;
  return {
    name,
    key,
    ...(restarts !== undefined && { restarts }),
    ...(mirrorsParams !== undefined && { mirrorsParams }),
    async open(mirror) {
      return tapChannel(await target.open(mirror), report);
    },
  };
}
