// How a client of the stateless era watches: one `subscriptions/listen` request at a time, which names all that is
// watched. To watch something else, a new one is opened first and the old one ended then, so that nothing is missed.
// Where it has a stream of its own, one that was lost is opened again.
import type { Connection } from "../../jsonrpc/connection.ts";
import type { JsonObject, Notification, RequestId } from "../../jsonrpc/message.ts";
import { onAbort } from "../../util/abort.ts";
import { reasonOf } from "../../util/call-back.ts";
import { quote } from "../../util/quote.ts";
import { hasCapability } from "../capabilities.ts";
import { type ErrorCode, McpError } from "../errors.ts";
import { metaKeys, metaOf } from "../meta.ts";
import type { ServerCapabilities } from "../model.ts";
import { assertOffered, type Outgoing } from "../outgoing.ts";
import type { Listener, Remote, RemoteRequestOptions, Watched } from "../remote.ts";
import type { Revision } from "../revisions.ts";
import { wireOf } from "../wire/wire.ts";
import type { Filter } from "./watch.ts";

export interface Listening {
  readonly watch: Remote["watch"];
  /** Whether the notification belongs to a subscription of ours. An acknowledgement is taken here and is not heard. */
  isHeard(notification: Notification): boolean;
  /** The server ended the request. */
  ended(id: RequestId): void;
}

interface Subscription {
  readonly filter: Filter;
  readonly stop: AbortController;
  readonly since: number;
  id: RequestId | undefined;
  isOpen: boolean;
  acknowledge: (honoured: Filter) => void;
}

export interface ListeningGround {
  readonly connection: Connection;
  readonly revision: Revision;
  readonly capabilities: ServerCapabilities;
  readonly listener: Listener;
  readonly outgoing: Outgoing;
  meta(): JsonObject;
  /** A subscription ends with the connection, and never alone. */
  readonly oneStream: boolean;
  /** Aborts with the connection. */
  readonly gone: AbortSignal;
}

/** Before a lost subscription is opened again; doubled for each further try, with jitter. */
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export function createListening({
  connection,
  revision,
  capabilities,
  listener,
  outgoing,
  meta,
  oneStream,
  gone,
}: ListeningGround): Listening {
  // In the order in which they were opened: the last one counts, those before it are about to be ended.
  const subscriptions = new Set<Subscription>();
  let current: Subscription | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  /** What was watched on a stream that broke, until it is watched again or something else is. */
  let lost: Filter | undefined;
  /** Tries in a row; one that holds for long begins a new row. */
  let failures = 0;

  function toFilter({ lists, uris }: Watched): Filter {
    const has = (kind: (typeof lists)[number]): boolean =>
      lists.includes(kind) && hasCapability(capabilities, `${kind}.listChanged`);
    return {
      ...(has("tools") && { toolsListChanged: true }),
      ...(has("prompts") && { promptsListChanged: true }),
      ...(has("resources") && { resourcesListChanged: true }),
      ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
    };
  }

  async function change(watched: Watched, options: RemoteRequestOptions): Promise<void> {
    if (watched.uris.length > 0) assertOffered("notifications/resources/updated", revision, capabilities);
    const filter = toFilter(watched);
    const before = current;
    if (Object.keys(filter).length === 0) lost = undefined;
    if (JSON.stringify(before?.filter ?? {}) === JSON.stringify(filter)) return;
    if (Object.keys(filter).length === 0) {
      current = undefined;
      return before?.stop.abort("Nothing is watched any more");
    }
    const subscription = await open(filter, options);
    if (!subscriptions.has(subscription)) throw endedEarly();
    current = subscription;
    lost = undefined;
    before?.stop.abort("Another subscription has taken its place");
  }

  async function open(filter: Filter, { timeoutMs = 60_000, signal }: RemoteRequestOptions): Promise<Subscription> {
    const stop = new AbortController();
    const subscription: Subscription = {
      filter,
      stop,
      since: Date.now(),
      id: undefined,
      isOpen: false,
      acknowledge: () => {},
    };
    subscriptions.add(subscription);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = (): void => stop.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const honoured = await new Promise<Filter>((resolve, reject) => {
        subscription.acknowledge = (honoured) => {
          subscription.isOpen = true;
          resolve(honoured);
        };
        // Open as long as it is wanted: no clock runs for it once it is acknowledged.
        outgoing
          .send(
            "subscriptions/listen",
            { notifications: filter },
            meta(),
            { signal: stop.signal, timeoutMs: 0 },
            () => {},
            (id) => {
              subscription.id = id;
            },
          )
          .then(() => Promise.reject(subscription.isOpen ? new Error("the server ended it") : endedEarly()))
          .catch((error) => {
            reject(error);
            finish(subscription, error);
          });
        if (timeoutMs > 0 && timeoutMs < 2 ** 31) {
          timer = setTimeout(() => {
            reject(new McpError("timeout", `subscriptions/listen was not acknowledged in ${timeoutMs} ms`));
            stop.abort("Not acknowledged in time");
          }, timeoutMs);
        }
      });
      const missing = filter.resourceSubscriptions?.find((uri) => !honoured.resourceSubscriptions?.includes(uri));
      if (missing !== undefined) {
        stop.abort("Not all that was asked for is watched");
        throw new McpError("resource_not_found", `The server does not watch ${quote(missing)} for this client`);
      }
      for (const flag of Object.keys(filter) as (keyof Filter)[]) {
        if (honoured[flag] === undefined) listener.warn(`The server does not tell of ${flag}, though it declares so`);
      }
      return subscription;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  function finish(subscription: Subscription, cause?: unknown): void {
    subscriptions.delete(subscription);
    if (current !== subscription) return;
    current = undefined;
    if (subscription.stop.signal.aborted || connection.closed) return;
    // Neither by our wish nor with the connection: changes would pass unheard from here on.
    if (oneStream) {
      listener.warn("The server ended the subscription: changes are not heard any more");
      return;
    }
    listener.warn(`Changes are not heard until the subscription is open again: ${reasonOf(cause)}`);
    lost = subscription.filter;
    if (Date.now() - subscription.since > longestPauseMs) failures = 0;
    reopen(subscription.filter);
  }

  /** After a pause, as long as nothing else is watched meanwhile. */
  function reopen(filter: Filter): void {
    const pauseMs = Math.min(firstPauseMs * 2 ** failures++, longestPauseMs) * (0.5 + Math.random() / 2);
    const timer = setTimeout(() => {
      end();
      turn = turn.then(async () => {
        if (lost !== filter || connection.closed) return;
        try {
          const subscription = await open(filter, {});
          if (!subscriptions.has(subscription)) throw endedEarly();
          lost = undefined;
          current = subscription;
        } catch (error) {
          if (connection.closed) return;
          const isPassing = error instanceof McpError && passing.includes(error.code) && error.rpcCode === undefined;
          if (isPassing) reopen(filter);
          else listener.warn(`Changes are not heard any more: ${reasonOf(error)}`);
        }
      });
    }, pauseMs);
    const end = onAbort(gone, () => clearTimeout(timer));
  }

  const find = (id: unknown): Subscription | undefined => [...subscriptions].find((one) => one.id === id);

  return {
    // One change at a time: each builds on the one before.
    watch(watched, options = {}) {
      const done = turn.then(() => change(watched, options));
      turn = done.catch(() => {});
      return done;
    },
    isHeard({ method, params = {} }) {
      const subscription = find(metaOf(params)[metaKeys.subscriptionId]);
      if (method !== "notifications/subscriptions/acknowledged") return subscription !== undefined;
      const problem = wireOf(revision).check("SubscriptionsAcknowledgedParams", params, "params");
      if (problem) listener.warn(`${method} of the server is not valid: ${problem}`);
      subscription?.acknowledge(problem ? {} : (params.notifications as Filter));
      return false;
    },
    ended(id) {
      const subscription = find(id);
      if (!subscription) return;
      finish(subscription);
      connection.drop(id, "The server ended the subscription");
    },
  };
}

/** What may go better another time. */
const passing: readonly ErrorCode[] = ["connection_lost", "timeout", "peer_error", "invalid_result"];

function endedEarly(): McpError {
  return new McpError("invalid_result", "The server ended the subscription before it began");
}
