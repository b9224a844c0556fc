// Whoever started this process, joined to a server: what one side says goes on to the other as it is, without a word of our own.
// What stands between a host and a server that is recorded, or played.
import type { Channel, RequestId } from "plenum";
import { createStreamChannel } from "plenum/stdio/channel";
import type { Incoming, Message, Single } from "plenum/tap";
import { undivertedStdout } from "./streams.ts";

export interface RelayHooks {
  /** What could not be passed on, for people. */
  noted(problem: string): void;
  /** Ends both. */
  readonly signal: AbortSignal;
}

/** How long the server may take for what was asked before the end of input. */
const lastAnswersMs = 10_000;

/**
 * Joins stdin and stdout to a server. Settles when both are closed, with why the server was lost; undefined where the end was orderly.
 */
export async function relay(far: Channel, { noted, signal }: RelayHooks): Promise<unknown> {
  const open = new Set<RequestId>();
  let isIdle = (): void => {};
  const answered = (id: RequestId | undefined): void => {
    if (id !== undefined) open.delete(id);
    if (open.size === 0) isIdle();
  };
  /** Who has nothing more to say may still wait for answers. */
  const endCause = async (): Promise<undefined> => {
    if (open.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, lastAnswersMs);
      isIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
  const near = createStreamChannel({ input: process.stdin, output: undivertedStdout(), endCause });
  const toFar = (message: Message): void => {
    try {
      far.send(message, "method" in message ? undefined : message.id);
    } catch (error) {
      // Such as an argument that must travel in a header, and cannot.
      const reason = error instanceof Error ? error.message : String(error);
      if ("method" in message && "id" in message)
        near.send({ jsonrpc: "2.0", id: message.id, error: { code: -32602, message: reason } });
      else noted(reason);
      return;
    }
    if ("method" in message && "id" in message) open.add(message.id);
    if (!("method" in message) || message.method !== "notifications/cancelled") return;
    const id = message.params?.requestId as RequestId | undefined;
    answered(id);
    // Where each request has a stream of its own, that is how one is cancelled.
    if (id !== undefined) far.abandon?.(id);
  };
  const toNear = (message: Message): void => {
    near.send(message);
    if (!("method" in message)) answered(message.id);
  };

  const nearClosed = new Promise<void>((resolve) => {
    near.open({
      receive(incoming) {
        for (const one of singlesOf(incoming)) {
          if (one.kind !== "invalid") toFar(one.message);
          // Whoever cannot be understood is told so, as the server would.
          else if (one.answer) near.send(one.answer);
        }
      },
      closed: () => resolve(far.close()),
    });
  });
  let lost: unknown;
  const farClosed = new Promise<void>((resolve) => {
    far.open({
      receive(incoming) {
        for (const one of singlesOf(incoming)) {
          if (one.kind !== "invalid") toNear(one.message);
          else noted(`The server wrote what is no message: ${(one.text ?? one.why ?? "").slice(0, 200)}`);
        }
      },
      failed(id, cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        toNear({ jsonrpc: "2.0", id, error: { code: -32603, message: `No answer came: ${reason}` } });
      },
      noted,
      closed(cause) {
        lost = cause;
        isIdle();
        near.close();
        resolve();
      },
    });
  });
  const close = (): void => {
    isIdle();
    near.close();
    far.close();
  };
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
