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
  /** The same, put together once. */
  readonly paramsShape: string;
  readonly resultShape: string;
  /** The receiver's capability without which the method does not exist, as a path into its capabilities. */
  readonly needs: string | undefined;
  readonly since: Revision;
  /** The last revision that has it. */
  readonly until: Revision | undefined;
  /** Its handler may ask the user, a model or for roots while it runs. */
  readonly asks: boolean;
  /** Its result says how long it may be kept, where the revision has that. */
  readonly cached: boolean;
}

const first = "2024-11-05";
const last = "2025-11-25";
const modern = "2026-07-28";

type Row = [
  name: string,
  from: Method["from"],
  stem: string,
  since: Revision,
  until: Revision | undefined,
  needs: string,
  flags?: string,
];

const open = undefined;

// biome-ignore format: one row a line
const rows: readonly Row[] = [
  // name, from, stem, since, until, needs, and whether it asks or is cached
  // Opening
  ["initialize",                               "client", "Initialize",                first,        last, ""],
  ["notifications/initialized",                "client", "Initialized",               first,        last, ""],
  ["server/discover",                          "client", "Discover",                  modern,       open, "",                      "cached"],
  ["ping",                                     "both",   "Ping",                      first,        last, ""],

  // Tools
  ["tools/list",                               "client", "ListTools",                 first,        open, "tools",                 "cached"],
  ["tools/call",                               "client", "CallTool",                  first,        open, "tools",                 "asks"],
  ["notifications/tools/list_changed",         "server", "ToolListChanged",           first,        open, "tools.listChanged"],

  // Resources
  ["resources/list",                           "client", "ListResources",             first,        open, "resources",             "cached"],
  ["resources/templates/list",                 "client", "ListResourceTemplates",     first,        open, "resources",             "cached"],
  ["resources/read",                           "client", "ReadResource",              first,        open, "resources",             "asks cached"],
  ["resources/subscribe",                      "client", "Subscribe",                 first,        last, "resources.subscribe"],
  ["resources/unsubscribe",                    "client", "Unsubscribe",               first,        last, "resources.subscribe"],
  ["notifications/resources/list_changed",     "server", "ResourceListChanged",       first,        open, "resources.listChanged"],
  ["notifications/resources/updated",          "server", "ResourceUpdated",           first,        open, "resources.subscribe"],

  // Prompts
  ["prompts/list",                             "client", "ListPrompts",               first,        open, "prompts",               "cached"],
  ["prompts/get",                              "client", "GetPrompt",                 first,        open, "prompts",               "asks"],
  ["notifications/prompts/list_changed",       "server", "PromptListChanged",         first,        open, "prompts.listChanged"],

  // Completion, logging
  ["completion/complete",                      "client", "Complete",                  first,        open, "completions"],
  ["logging/setLevel",                         "client", "SetLevel",                  first,        last, "logging"],
  ["notifications/message",                    "server", "LoggingMessage",            first,        open, "logging"],

  // Subscriptions of the stateless era
  ["subscriptions/listen",                     "client", "SubscriptionsListen",       modern,       open, ""],
  ["notifications/subscriptions/acknowledged", "server", "SubscriptionsAcknowledged", modern,       open, ""],

  // What a server asks of its client. From 2026-07-28 on these are no messages of their own: they travel inside results.
  ["sampling/createMessage",                   "server", "CreateMessage",             first,        last, "sampling"],
  ["elicitation/create",                       "server", "Elicit",                    "2025-06-18", last, "elicitation"],
  ["notifications/elicitation/complete",       "server", "ElicitationComplete",       last,         last, "elicitation.url"],
  ["roots/list",                               "server", "ListRoots",                 first,        last, "roots"],
  ["notifications/roots/list_changed",         "client", "RootsListChanged",          first,        last, ""],

  // Housekeeping of a running request
  ["notifications/cancelled",                  "both",   "Cancelled",                 first,        open, ""],
  ["notifications/progress",                   "both",   "Progress",                  first,        open, ""],
];

export const methods: readonly Method[] = rows.map(([name, from, stem, since, until, needs, flags = ""]) => ({
  name,
  kind: name.startsWith("notifications/") ? "notification" : "request",
  from,
  stem,
  paramsShape: `${stem}Params`,
  resultShape: `${stem}Result`,
  since,
  until,
  needs: needs || undefined,
  asks: flags.includes("asks"),
  cached: flags.includes("cached"),
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
  const method = findMethod(name);
  return method && isIn(method, revision) && (method.from === from || method.from === "both") ? method : undefined;
}

/** The same for a request of the client's. A notification's name with an id is none. */
export function requestIn(name: string, revision: Revision): Method | undefined {
  const method = methodIn(name, revision, "client");
  return method?.kind === "request" ? method : undefined;
}
