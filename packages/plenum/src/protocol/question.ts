// The questions that a handler puts to its client, whichever era carries them: what each takes, and how a revision
// writes it. Loaded by the first ask. Specification: client/elicitation, client/sampling, client/roots.
import type { JsonObject } from "../jsonrpc/message.ts";
import { quote } from "../util/quote.ts";
import { clientHas, toCapabilities } from "./capabilities.ts";
import { checkDialogue } from "./dialogue.ts";
import type { Ask, Caller } from "./endpoint.ts";
import type { Revision } from "./revisions.ts";
import { toPage } from "./visit.ts";
import { addAsking } from "./wire/asking.ts";
import { wireOf } from "./wire/wire.ts";

/** The shapes of each question are `${stem}Params` and `${stem}Result`, as in the table of methods. */
export const stems: { readonly [M in Ask["method"]]: string } = {
  "elicitation/create": "Elicit",
  "sampling/createMessage": "CreateMessage",
  "roots/list": "ListRoots",
};

/**
 * The question, with the capabilities that it takes. Throws a TypeError for another method, for a page that is neither
 * https nor on this machine, and for messages in which calls of tools lack their results.
 */
export function toAsk(method: string, params: JsonObject): Ask {
  switch (method) {
    case "elicitation/create":
      if (params.mode !== "url") return { method, params, needs: ["elicitation.form"] };
      toPage(params.url);
      return { method, params: { elicitationId: crypto.randomUUID(), ...params }, needs: ["elicitation.url"] };
    case "sampling/createMessage": {
      const { messages, tools, toolChoice, includeContext } = params;
      const problem = Array.isArray(messages) ? checkDialogue(messages) : undefined;
      if (problem) throw new TypeError(`${method}: ${problem}`);
      const needs = [tools || toolChoice ? "sampling.tools" : "sampling"];
      if (includeContext === "thisServer" || includeContext === "allServers") needs.push("sampling.context");
      return { method, params, needs };
    }
    case "roots/list":
      return { method, params: {}, needs: ["roots"] };
    default:
      throw new TypeError(
        `${quote(method)} cannot be asked: only elicitation/create, sampling/createMessage and roots/list can`,
      );
  }
}

/** The params of a question as the revision has them. Throws a TypeError for what it does not have. */
export function toParams({ method, params }: Ask, revision: Revision): JsonObject {
  addAsking();
  const wire = wireOf(revision);
  const shape = `${stems[method]}Params`;
  const fitted = wire.fit(shape, params);
  const problem = wire.check(shape, fitted, "params");
  if (problem) throw new TypeError(`${method} is not valid in ${revision}: ${problem}`);
  return fitted;
}

/**
 * Which of the capabilities that a question takes the client did not declare. What only other revisions define, such as
 * `elicitation.url`, is missing in this one; but for the context of a sampling, which was once for everybody.
 */
export function missingOf({ capabilities, revision }: Caller, { needs }: Ask): string[] {
  const fit = (given: JsonObject): JsonObject => wireOf(revision).fit("ClientCapabilities", given);
  const declared = fit(capabilities);
  const isDefined = (path: string): boolean => clientHas(fit(toCapabilities(path)), path);
  return needs.filter((path) => !clientHas(declared, path) && (path !== "sampling.context" || isDefined(path)));
}
