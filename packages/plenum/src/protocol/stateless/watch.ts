// How the stateless era tells of changes: on `subscriptions/listen`, a request that stays open. It is acknowledged
// first, then carries what its filter asked for, each message tagged with the request's id. Loaded by the first of them.
// Specification: basic/patterns/subscriptions.
import type { Exchange } from "../../jsonrpc/exchange.ts";
import type { JsonObject } from "../../jsonrpc/message.ts";
import type { Change, Result } from "../endpoint.ts";
import { McpError } from "../errors.ts";

export interface Filter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

const listFlags = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

/** What the era keeps of the listen requests that are open, and lends to each. */
export interface Watch {
  readonly subscriptions: Set<Subscription>;
  readonly oneStream: boolean;
  readonly maxSubscriptions: number;
  /** Whether the endpoint declares a capability, by its path. */
  isDeclared(path: string): boolean;
  /** The era ends: whoever comes now is answered at once. */
  isClosing: boolean;
}

/** What a subscription is told of. */
export type Told = Exclude<Change, { kind: "closing" }>;

/** One open listen request. */
export interface Subscription {
  /** How many resources it watches. */
  readonly size: number;
  changed(change: Told): void;
  /**
   * Ends it from the server's side, once. Where all messages share one stream the specification wants the notification,
   * and elsewhere recommends the result; a client is to accept both, so the shared stream gets both.
   */
  end(oneStream: boolean): void;
}

/** Refuses a filter that wants too much, with what the other subscriptions of the peer watch already. */
export function assertFew(
  { resourceSubscriptions = [] }: Filter,
  { subscriptions, oneStream, maxSubscriptions }: Watch,
): void {
  let { length } = resourceSubscriptions;
  // Where requests have streams of their own, they may be anybody's.
  if (oneStream) for (const { size } of subscriptions) length += size;
  if (length > maxSubscriptions)
    throw new McpError("invalid_params", `At most ${maxSubscriptions} resources can be watched`);
}

/**
 * Open until the client cancels, the connection ends or the endpoint closes. Throws at once for a filter that wants too much.
 * @param requested with what the endpoint put in place of members: the resources that this caller may watch
 * @param _meta what names the request on each of its messages
 * @param missed what has changed since it came
 */
export function listen(
  watch: Watch,
  exchange: Exchange,
  requested: Filter,
  _meta: JsonObject,
  missed: readonly Told[],
): Promise<Result> {
  const { subscriptions, oneStream, isDeclared } = watch;
  const { id, signal } = exchange;
  const filter = toHonoured(requested, isDeclared);
  // Once more, for those that came at the same time.
  assertFew(filter, watch);
  const uris = new Set(filter.resourceSubscriptions);
  const tell = (method: string, params?: JsonObject): void => exchange.notify(method, { _meta, ...params });
  return new Promise<Result>((resolve) => {
    if (signal.aborted) return resolve({});
    const subscription: Subscription = {
      size: uris.size,
      changed(change) {
        if (change.kind === "resource") {
          if (uris.has(change.uri)) tell("notifications/resources/updated", { uri: change.uri });
        } else if (change.kind !== "elicitation" && filter[listFlags[change.kind]])
          tell(`notifications/${change.kind}/list_changed`);
      },
      end(oneStream) {
        if (!subscriptions.delete(subscription)) return;
        if (oneStream) exchange.notify("notifications/cancelled", { requestId: id, reason: "The server is closing" });
        resolve({ _meta });
      },
    };
    // A cancelled one ends at once and without an answer: nothing is to hold on to it.
    signal.addEventListener("abort", () => subscription.end(false), { once: true });
    // Acknowledged and registered in one turn: no change can come before, none can be missed after.
    tell("notifications/subscriptions/acknowledged", { notifications: filter });
    subscriptions.add(subscription);
    for (const change of missed) subscription.changed(change);
    if (watch.isClosing) subscription.end(oneStream);
  });
}

/** The part of a requested filter that a server with these capabilities honours. */
function toHonoured(requested: Filter, isDeclared: Watch["isDeclared"]): Filter {
  const honoured: { -readonly [K in keyof Filter]: Filter[K] } = {};
  for (const [kind, flag] of Object.entries(listFlags)) {
    if (requested[flag] === true && isDeclared(`${kind}.listChanged`)) honoured[flag] = true;
  }
  const uris = requested.resourceSubscriptions;
  if (uris && isDeclared("resources.subscribe")) honoured.resourceSubscriptions = [...new Set(uris)];
  return honoured;
}
