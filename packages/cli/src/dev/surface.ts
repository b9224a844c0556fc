// What a client sees of a server that is being worked on. Lists that come later must not come as a surprise: a client listens for
// changes of what was declared when it connected. So all three kinds are declared from the start, and are empty until they are there.
import type { Call, Description, Result, ServerCapabilities } from "plenum";
import { McpError } from "plenum";
import { type Digests, type Facts, type ListKind, listKinds } from "./messages.ts";

const emptyLists: { readonly [method: string]: { readonly kind: ListKind; readonly result: Result } } = {
  "tools/list": { kind: "tools", result: { tools: [] } },
  "resources/list": { kind: "resources", result: { resources: [] } },
  "resources/templates/list": { kind: "resources", result: { resourceTemplates: [] } },
  "prompts/list": { kind: "prompts", result: { prompts: [] } },
};

/** Of a server that has nothing. */
export const noLists: Digests = Object.fromEntries(listKinds.map((kind) => [kind, ""]));

/** The capabilities, with all lists. Resources that come later will be such as can be watched. */
export function widen(given: ServerCapabilities): ServerCapabilities {
  const capabilities = { ...given, resources: given.resources ?? { subscribe: true } };
  const lists = listKinds.map((kind) => [kind, { ...capabilities[kind], listChanged: true }] as const);
  return { ...capabilities, ...Object.fromEntries(lists) };
}

/** Before anything is known of the server: all that it may turn out to have. */
export function toUnknown(name: string): Facts {
  const capabilities = widen({ logging: {}, completions: {} });
  return {
    description: { info: { name, version: "0.0.0" }, capabilities, instructions: undefined, logLevel: "info" },
    hints: { ttlMs: 0, cacheScope: "private" },
    byHand: [],
    maxStateBytes: undefined,
  };
}

/** The empty list that the method asks for, where the server does not know the method. */
export function toEmptyList(method: string, { description, byHand }: Facts): Result | undefined {
  const list = Object.hasOwn(emptyLists, method) ? emptyLists[method] : undefined;
  return list && !description.capabilities[list.kind] && !byHand.includes(method) ? list.result : undefined;
}

/** What is answered while there is no server, and why. Throws McpError for what cannot be. */
export function answerAlone({ method }: Call, description: Description, why: string): Result {
  if (method === "initialize" || method === "server/discover") return description as unknown as Result;
  if (method === "ping" || method === "logging/setLevel" || method === "subscriptions/listen") return {};
  const list = Object.hasOwn(emptyLists, method) ? emptyLists[method] : undefined;
  if (list) return list.result;
  throw new McpError("internal_error", `There is no server to answer this: ${why}`);
}

/** The lists that are not what they were, or may not be. */
export function changedLists(before: Digests, after: Digests): ListKind[] {
  return listKinds.filter((kind) => before[kind] === undefined || before[kind] !== after[kind]);
}
