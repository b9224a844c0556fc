// How the stateless era tells of changes: on `subscriptions/listen`, a request that stays open. It is acknowledged
// first, then carries what its filter asked for, each message tagged with the request's id.
// Specification: basic/patterns/subscriptions.
import type { Exchange } from "../../jsonrpc/exchange.ts";
import type { JsonObject } from "../../jsonrpc/message.ts";
import { hasCapability } from "../capabilities.ts";
import type { Change, Result } from "../endpoint.ts";
import { McpError } from "../errors.ts";
import { metaKeys } from "../meta.ts";
import type { ServerCapabilities } from "../model.ts";

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

/** Refuses a filter that wants too much, with what the other subscriptions of the peer watch already. */
export function assertFew({ resourceSubscriptions = [] }: Filter, max: number, others: Iterable<Subscription>): void {
  let { length } = resourceSubscriptions;
  for (const { size } of others) length += size;
  if (length > max) throw new McpError("invalid_params", `At most ${max} resources can be watched`);
}

/** The part of a requested filter that a server with these capabilities honours. */
export function toHonoured(requested: Filter, capabilities: ServerCapabilities): Filter {
  const honoured: { -readonly [K in keyof Filter]: Filter[K] } = {};
  for (const [kind, flag] of Object.entries(listFlags)) {
    if (requested[flag] === true && hasCapability(capabilities, `${kind}.listChanged`)) honoured[flag] = true;
  }
  const uris = requested.resourceSubscriptions;
  if (uris && hasCapability(capabilities, "resources.subscribe")) honoured.resourceSubscriptions = [...new Set(uris)];
  return honoured;
}

/** One open listen request. */
export interface Subscription {
  /** Settles with the listen request's result when the server ends the subscription. */
  readonly ended: Promise<Result>;
  /** How many resources it watches. */
  readonly size: number;
  acknowledge(): void;
  changed(change: Exclude<Change, { kind: "closing" }>): void;
  /**
   * Ends it from the server's side, once. Where all messages share one stream the specification wants the notification,
   * and elsewhere recommends the result; a client is to accept both, so the shared stream gets both.
   */
  end(oneStream: boolean): void;
}

export function createSubscription(exchange: Exchange, filter: Filter): Subscription {
  const { id } = exchange;
  const uris = new Set(filter.resourceSubscriptions);
  let resolve = (_: Result): void => {};
  const ended = new Promise<Result>((settle) => {
    resolve = settle;
  });
  const _meta = { [metaKeys.subscriptionId]: id };
  let isEnding = false;
  const tell = (method: string, params?: JsonObject): void => exchange.notify(method, { _meta, ...params });
  return {
    ended,
    size: uris.size,
    acknowledge: () => tell("notifications/subscriptions/acknowledged", { notifications: filter }),
    changed(change) {
      if (change.kind === "resource") {
        if (uris.has(change.uri)) tell("notifications/resources/updated", { uri: change.uri });
      } else if (change.kind !== "elicitation" && filter[listFlags[change.kind]])
        tell(`notifications/${change.kind}/list_changed`);
    },
    end(oneStream) {
      if (isEnding) return;
      isEnding = true;
      if (oneStream) exchange.notify("notifications/cancelled", { requestId: id, reason: "The server is closing" });
      resolve({ _meta });
    },
  };
}
