// For applications that lend a server their model: which of several it would like best, and how to say no.
import { McpError } from "../protocol/errors.ts";

/** A model that is at hand. What it is good at, from 0 to 1, is compared with what the server finds important. */
export interface ModelCard {
  readonly name: string;
  /** 1: costs next to nothing. */
  readonly cost?: number;
  readonly speed?: number;
  readonly intelligence?: number;
}

/** The `modelPreferences` of a request for a sample. */
export interface ModelPreferences {
  readonly hints?: readonly { readonly name?: string }[];
  readonly costPriority?: number;
  readonly speedPriority?: number;
  readonly intelligencePriority?: number;
}

/**
 * The model that a server would choose; undefined when there is none. Hints are tried in their order, as parts of names
 * in either case: the first that fits any model decides, whatever the priorities; these decide between several that fit,
 * or where no hint does. Between equals, the one that is named first. Specification: client/sampling § Model Preferences.
 */
export function pickModel<M extends string | ModelCard>(
  models: readonly M[],
  preferences: ModelPreferences = {},
): M | undefined {
  const { hints = [], costPriority = 0, speedPriority = 0, intelligencePriority = 0 } = preferences;
  const nameOf = (model: M): string => (typeof model === "string" ? model : model.name).toLowerCase();
  const score = (model: M): number => {
    if (typeof model === "string") return 0;
    const { cost = 0, speed = 0, intelligence = 0 } = model;
    return costPriority * cost + speedPriority * speed + intelligencePriority * intelligence;
  };
  const fitting = hints
    .filter(({ name }) => name)
    .map(({ name }) => models.filter((model) => nameOf(model).includes((name as string).toLowerCase())))
    .find(({ length }) => length > 0);
  return [...(fitting ?? models)].sort((a, b) => score(b) - score(a))[0];
}

/** For `onSample` to throw when the user does not want a model to be asked. The server is told so, with the code -1. */
export function userRejected(message = "User rejected sampling request"): McpError {
  return new McpError("application", message, { rpcCode: -1 });
}
