// One of the two files that know both eras; the other is dial.ts. It serves an endpoint on a channel: each message is
// read once for the era it belongs to, so that clients of either may use one connection, even at the same time.
import type { Channel } from "../jsonrpc/channel.ts";
import { type Connection, type ConnectionOptions, createConnection } from "../jsonrpc/connection.ts";
import type { Answer, Exchange } from "../jsonrpc/exchange.ts";
import {
  type ErrorObject,
  isRequestId,
  type Notification,
  type Request,
  type RequestId,
  type Single,
} from "../jsonrpc/message.ts";
import { toLine } from "../util/quote.ts";
import type { Change, Endpoint } from "./endpoint.ts";
import { type Era, isStateless } from "./era.ts";
import { toHidden } from "./errors.ts";
import { factsOf, type Revision } from "./revisions.ts";
import { type Common, type ServeOptions, type Serving, toCommon } from "./serving.ts";
import { Sessioned } from "./sessioned/open.ts";

export type { ServeOptions, Serving } from "./serving.ts";

/** Loaded by the first request of that era: most who serve a channel never see one. */
let stateless: typeof import("./stateless/open.ts") | undefined;

async function loadStateless(): Promise<void> {
  stateless = await import("./stateless/open.ts");
}

/** Serves an endpoint to whoever is at the other end of the channel, in every revision. */
export function serve(endpoint: Endpoint, channel: Channel, options: ServeOptions = {}): Serving {
  return serveMany(endpoint, options)(channel);
}

/** Serves an endpoint on any number of channels, for which what they have in common is prepared once. */
export function serveMany(endpoint: Endpoint, options: ServeOptions = {}): (channel: Channel) => Serving {
  const common = toCommon(endpoint, options);
  const servings = new Set<ChannelServing>();
  let unwatch = (): void => {};
  const tell = (change: Change): void => {
    for (const serving of servings) {
      try {
        serving.changed(change);
      } catch {
        // One peer's broken wire is no reason not to tell the others.
      }
    }
  };
  const ended = (serving: ChannelServing): void => {
    if (servings.delete(serving) && servings.size === 0) unwatch();
  };
  return (channel) => {
    const serving = new ChannelServing(common, channel, ended);
    if (servings.add(serving).size === 1) unwatch = endpoint.watch(tell);
    serving.open();
    return serving;
  };
}

/** An endpoint at work on one channel: what its connection is told, and what becomes of it. */
class ChannelServing implements Serving, ConnectionOptions {
  readonly #common: Common;
  readonly #channel: Channel;
  readonly #ended: (serving: ChannelServing) => void;
  readonly #connection: Connection;
  readonly #sessioned: Sessioned;
  /** Made by the first request that is of this era. */
  #stateless: Era | undefined;
  #isClosing = false;
  /** For those who wait for the end, if anybody does. */
  #closed: Promise<void> | undefined;
  #settle: (() => void) | undefined;

  constructor(common: Common, channel: Channel, ended: (serving: ChannelServing) => void) {
    this.#common = common;
    this.#channel = channel;
    this.#ended = ended;
    this.#connection = createConnection(channel, this);
    this.#sessioned = new Sessioned(common, this.#connection);
  }

  get closed(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      if (this.#connection.closed) resolve();
      else this.#settle = resolve;
    });
    return this.#closed;
  }

  get maxInFlight(): number | undefined {
    return this.#common.maxInFlight;
  }

  open(): void {
    this.#connection.open();
  }

  revision(): Revision | undefined {
    return this.#sessioned.revision;
  }

  changed(change: Change): void {
    if (change.kind === "closing") this.close();
    else {
      this.#sessioned.changed(change);
      this.#stateless?.changed(change);
    }
  }

  close(graceMs = 0): void {
    this.#isClosing = true;
    this.#stateless?.close();
    const connection = this.#connection;
    const until = Date.now() + graceMs;
    const look = (): void => {
      if (connection.inFlight > 0 && Date.now() < until) setTimeout(look, 5);
      else connection.close("The server is closing");
    };
    // The results of ended subscriptions are on their way in this turn's microtasks; closing waits for them.
    setTimeout(look);
  }

  onRequest(request: Request, exchange: Exchange): Answer | Promise<Answer> {
    if (!this.#isStateless(request)) return this.#sessioned.request(request, exchange);
    if (stateless) return this.#openStateless(stateless).request(request, exchange);
    return loadStateless().then(() => this.onRequest(request, exchange));
  }

  onNotification(notification: Notification): void {
    const { requestId, reason } = notification.params ?? {};
    if (notification.method !== "notifications/cancelled") this.#sessioned.notification(notification);
    else if (isRequestId(requestId)) this.#connection.cancel(requestId, toAbortReason(reason));
  }

  refuseBatch(members: readonly Single[]): string | undefined {
    const { revision } = this.#sessioned;
    const requests = members.flatMap((member) => (member.kind === "request" ? member.message : []));
    if (!revision || !factsOf(revision).batches || requests.some(isStateless))
      return "batches exist only in sessions of 2025-03-26";
    return requests.some(({ method }) => method === "initialize") ? "initialize stands alone" : undefined;
  }

  onUnwritable(error: unknown, method: string): ErrorObject {
    return toHidden(this.#common.endpoint.report(error, { method }));
  }

  onAbandon(requestId: RequestId, _method: string, reason: string, about: RequestId | undefined): void {
    this.#connection.notify("notifications/cancelled", { requestId, reason }, about);
  }

  onClose(): void {
    this.#ended(this);
    this.#sessioned.close();
    this.#stateless?.close();
    this.#settle?.();
  }

  #isStateless(request: Request): boolean {
    const { speaksStateless, offered } = this.#common;
    if (!speaksStateless) return false;
    // Without sessions only `initialize` belongs to their era, which says what is spoken instead.
    return isStateless(request) || (offered.length === 0 && request.method !== "initialize");
  }

  #openStateless({ openStateless }: NonNullable<typeof stateless>): Era {
    if (this.#stateless) return this.#stateless;
    const { oneStream } = this.#channel;
    this.#stateless = openStateless({ ...this.#common, oneStream });
    if (this.#isClosing) this.#stateless.close();
    return this.#stateless;
  }
}

function toAbortReason(reason: unknown): DOMException | undefined {
  return typeof reason === "string" ? new DOMException(toLine(reason), "AbortError") : undefined;
}
