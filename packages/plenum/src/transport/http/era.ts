// Which era an HTTP request belongs to: the one place where that is read, for all five revisions on one endpoint.
import type { Incoming } from "../../jsonrpc/message.ts";
import { isStateless } from "../../protocol/era.ts";
import { type EraName, factsOf, revisions } from "../../protocol/revisions.ts";

const firstModern = revisions.find((revision) => factsOf(revision).era === "stateless") as string;

/** A date no earlier than the first revision without sessions; one that nobody has heard of is told what is spoken. */
const isModern = (version: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= firstModern;

/**
 * The era of a POST. A request says it by its `_meta`; anything that says nothing, by the version in its header; without
 * that it comes from a client of the sessioned era.
 * @param version the header MCP-Protocol-Version
 */
export function eraOf(version: string | undefined, incoming: Incoming): EraName {
  if (incoming.kind === "request" && isStateless(incoming.message)) return "stateless";
  return version !== undefined && isModern(version) ? "stateless" : "sessioned";
}
