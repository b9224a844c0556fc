// The types of sdk2.mjs.
import type { Command, Endpoint, Handlers, OfficialClient } from "../harness.ts";

/**
 * How the revision is found: "auto" tries the newest on a process of its own first, "default" is what the client does when
 * it is told nothing, and a revision is the only one that is offered.
 */
export function connectOfficial(
  peer: Command | Endpoint,
  handlers?: Handlers,
  revision?: "auto" | "default" | (string & {}),
): Promise<OfficialClient>;
