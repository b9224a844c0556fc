// ONE ROW PER METHOD of the core protocol. Dispatch, capability checks, revision membership and docs/protocol.md
// are derived from these rows; nothing else lists methods. Specification: schema, "ClientRequest" and its siblings.
import type { Revision } from "./revisions.ts";

export interface Method {
  readonly name: string;
  /** By its name: all notifications begin alike. */
  readonly kind: "request" | "notification";
  /** Who sends it. */
  readonly from: "client" | "server" | "both";
  /** Its wire shapes are `${stem}Params` and `${stem}Result`. */
  readonly stem: string;
  /** The receiver's capability without which the method does not exist, as a path into its capabilities. */
  readonly needs?: string;
  readonly since: Revision;
  /** The last revision that has it. */
  readonly until?: Revision;
  /** Its handler may ask the user, a model or for roots while it runs. */
  readonly asks?: true;
  /** Its result says how long it may be kept, where the revision has that. */
  readonly cached?: true;
}

const first = "2024-11-05";
const last = "2025-11-25";
const modern = "2026-07-28";

// biome-ignore format: one row a line
const rows: readonly Omit<Method, "kind">[] = [
  // Opening
  { name: "initialize", from: "client", stem: "Initialize", since: first, until: last },
  { name: "notifications/initialized", from: "client", stem: "Initialized", since: first, until: last },
  { name: "server/discover", from: "client", stem: "Discover", since: modern, cached: true },
  { name: "ping", from: "both", stem: "Ping", since: first, until: last },

  // Tools
  { name: "tools/list", from: "client", stem: "ListTools", needs: "tools", since: first, cached: true },
  { name: "tools/call", from: "client", stem: "CallTool", needs: "tools", since: first, asks: true },
  { name: "notifications/tools/list_changed", from: "server", stem: "ToolListChanged", needs: "tools.listChanged", since: first },

  // Resources
  { name: "resources/list", from: "client", stem: "ListResources", needs: "resources", since: first, cached: true },
  { name: "resources/templates/list", from: "client", stem: "ListResourceTemplates", needs: "resources", since: first, cached: true },
  { name: "resources/read", from: "client", stem: "ReadResource", needs: "resources", since: first, asks: true, cached: true },
  { name: "resources/subscribe", from: "client", stem: "Subscribe", needs: "resources.subscribe", since: first, until: last },
  { name: "resources/unsubscribe", from: "client", stem: "Unsubscribe", needs: "resources.subscribe", since: first, until: last },
  { name: "notifications/resources/list_changed", from: "server", stem: "ResourceListChanged", needs: "resources.listChanged", since: first },
  { name: "notifications/resources/updated", from: "server", stem: "ResourceUpdated", needs: "resources.subscribe", since: first },

  // Prompts
  { name: "prompts/list", from: "client", stem: "ListPrompts", needs: "prompts", since: first, cached: true },
  { name: "prompts/get", from: "client", stem: "GetPrompt", needs: "prompts", since: first, asks: true },
  { name: "notifications/prompts/list_changed", from: "server", stem: "PromptListChanged", needs: "prompts.listChanged", since: first },

  // Completion, logging
  { name: "completion/complete", from: "client", stem: "Complete", needs: "completions", since: first },
  { name: "logging/setLevel", from: "client", stem: "SetLevel", needs: "logging", since: first, until: last },
  { name: "notifications/message", from: "server", stem: "LoggingMessage", needs: "logging", since: first },

  // Subscriptions of the stateless era
  { name: "subscriptions/listen", from: "client", stem: "SubscriptionsListen", since: modern },
  { name: "notifications/subscriptions/acknowledged", from: "server", stem: "SubscriptionsAcknowledged", since: modern },

  // What a server asks of its client. From 2026-07-28 on these are no messages of their own: they travel inside results.
  { name: "sampling/createMessage", from: "server", stem: "CreateMessage", needs: "sampling", since: first, until: last },
  { name: "elicitation/create", from: "server", stem: "Elicit", needs: "elicitation", since: "2025-06-18", until: last },
  { name: "notifications/elicitation/complete", from: "server", stem: "ElicitationComplete", needs: "elicitation.url", since: last, until: last },
  { name: "roots/list", from: "server", stem: "ListRoots", needs: "roots", since: first, until: last },
  { name: "notifications/roots/list_changed", from: "client", stem: "RootsListChanged", since: first, until: last },

  // Housekeeping of a running request
  { name: "notifications/cancelled", from: "both", stem: "Cancelled", since: first },
  { name: "notifications/progress", from: "both", stem: "Progress", since: first },
];

export const methods: readonly Method[] = rows.map((row) => ({
  kind: row.name.startsWith("notifications/") ? "notification" : "request",
  ...row,
}));

const byName: ReadonlyMap<string, Method> = new Map(methods.map((method) => [method.name, method]));

/** The method of that name, whatever the revision. */
export function findMethod(name: string): Method | undefined {
  return byName.get(name);
}

/** Whether a revision has the method. Revisions are dates: they compare as text. */
export function isIn(method: Method, revision: Revision): boolean {
  return method.since <= revision && (method.until === undefined || revision <= method.until);
}

/** The method, if this revision has it and this side may send it. */
export function methodIn(name: string, revision: Revision, from: "client" | "server"): Method | undefined {
  const method = byName.get(name);
  return method && isIn(method, revision) && (method.from === from || method.from === "both") ? method : undefined;
}

/** The same for a request of the client's. A notification's name with an id is none. */
export function requestIn(name: string, revision: Revision): Method | undefined {
  const method = methodIn(name, revision, "client");
  return method?.kind === "request" ? method : undefined;
}
