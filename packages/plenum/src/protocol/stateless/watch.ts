// How the stateless era tells of changes: on `subscriptions/listen`, a request that stays open. It is acknowledged
// first, then carries what its filter asked for, each message tagged with the request's id.
// Specification: basic/patterns/subscriptions.
import type { Exchange } from "../../jsonrpc/connection.ts";
import type { JsonObject } from "../../jsonrpc/message.ts";
import { createDeferred } from "../../util/deferred.ts";
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
  if (length > max) throw new McpError("invalid_params", `At most ${max} resources can be watched, not ${length}`);
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
export class Subscription {
  readonly #exchange: Exchange;
  readonly #filter: Filter;
  readonly #uris: ReadonlySet<string>;
  readonly #ended = createDeferred<Result>();
  #isEnding = false;

  constructor(exchange: Exchange, filter: Filter) {
    this.#exchange = exchange;
    this.#filter = filter;
    this.#uris = new Set(filter.resourceSubscriptions);
  }

  /** Settles with the listen request's result when the server ends the subscription. */
  get ended(): Promise<Result> {
    return this.#ended.promise;
  }

  /** How many resources it watches. */
  get size(): number {
    return this.#uris.size;
  }

  acknowledge(): void {
    this.#tell("notifications/subscriptions/acknowledged", { notifications: this.#filter });
  }

  changed(change: Exclude<Change, { kind: "closing" }>): void {
    if (change.kind === "resource") {
      if (this.#uris.has(change.uri)) this.#tell("notifications/resources/updated", { uri: change.uri });
    } else if (this.#filter[listFlags[change.kind]]) this.#tell(`notifications/${change.kind}/list_changed`, {});
  }

  /**
   * Ends it from the server's side. Where all messages share one stream the specification wants the notification, and
   * elsewhere recommends the result; a client is to accept both, so the shared stream gets both.
   */
  end(oneStream: boolean): void {
    const { id, ended } = this.#exchange;
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (oneStream && !ended)
      this.#exchange.notify("notifications/cancelled", { requestId: id, reason: "The server ends this subscription" });
    this.#ended.resolve({ _meta: { [metaKeys.subscriptionId]: id } });
  }

  #tell(method: string, params: JsonObject): void {
    this.#exchange.notify(method, { _meta: { [metaKeys.subscriptionId]: this.#exchange.id }, ...params });
  }
}
