// A result that asks for input, where the asking can be done here: its questions are put to the client, and the call is
// run again with the answers. In sessions for every such result; in both eras for what a handler reads itself. Loaded by
// the first such result.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { toJsonCopy } from "../util/json-copy.ts";
import { quote } from "../util/quote.ts";
import { clientHas } from "./capabilities.ts";
import type { Ask, Call, Caller, Result } from "./endpoint.ts";
import { McpError } from "./errors.ts";
import type { Revision } from "./revisions.ts";
import { wireOf } from "./wire/wire.ts";

const maxRounds = 16;

/** The shapes of each question are `${stem}Params` and `${stem}Result`, as in the table of methods. */
export const stems: { readonly [M in Ask["method"]]: string } = {
  "elicitation/create": "Elicit",
  "sampling/createMessage": "CreateMessage",
  "roots/list": "ListRoots",
};

/** The params of a question as the revision has them. Throws a TypeError for what it does not have. */
export function toParams({ method, params }: Ask, revision: Revision): JsonObject {
  const wire = wireOf(revision);
  const shape = `${stems[method]}Params`;
  const fitted = wire.fit(shape, params);
  const problem = wire.check(shape, fitted, "params");
  if (problem) throw new TypeError(`${method} is not valid in ${revision}: ${problem}`);
  return fitted;
}

/** The question that a member of `inputRequests` puts. Throws a TypeError for what is none. */
export function toAsk(key: string, request: unknown): Ask {
  const { method, params = {} } = isObject(request) ? request : {};
  if (!isObject(params)) throw new TypeError(`inputRequired: the params of ${quote(key)} are no object`);
  switch (method) {
    case "elicitation/create":
      return params.mode === "url"
        ? { method, params: { elicitationId: crypto.randomUUID(), ...params }, needs: ["elicitation.url"] }
        : { method, params, needs: ["elicitation.form"] };
    case "sampling/createMessage":
      return { method, params, needs: [params.tools || params.toolChoice ? "sampling.tools" : "sampling"] };
    case "roots/list":
      return { method, params: {}, needs: ["roots"] };
    default:
      throw new TypeError(
        `inputRequired: ${quote(key)} asks for ${quote(String(method))}, which is none of elicitation/create, sampling/createMessage and roots/list`,
      );
  }
}

/** What a result asks for, by key, and the state that comes with it. Throws a TypeError for a result that asks nothing. */
export function readAsking({ inputRequests, state }: Result): { asks: [key: string, ask: Ask][]; state: unknown } {
  const requests = Object.entries((inputRequests ?? {}) as JsonObject);
  if (requests.length === 0 && state === undefined)
    throw new TypeError("inputRequired: give requests, a state, or both");
  return {
    asks: requests.map(([key, request]) => [key, toAsk(key, request)]),
    // The same in both eras, though only one of them has to write it down.
    state: state === undefined ? undefined : toJsonCopy(state, "inputRequired: the state"),
  };
}

/** Which of the capabilities that an ask takes the client did not declare, as its revision knows them. */
export function missingOf({ capabilities, revision }: Caller, { needs }: Ask): string[] {
  const declared = wireOf(revision).fit("ClientCapabilities", capabilities);
  return needs.filter((path) => !clientHas(declared, path));
}

/** The first result that is complete. */
export async function runRounds(
  call: Call,
  first: Result,
  run: (call: Call) => Result | Promise<Result>,
): Promise<Result> {
  let result = first;
  for (let round = 0; result.resultType === "input_required"; round++) {
    if (round === maxRounds)
      throw new McpError("internal_error", `${call.method} still asks for input after ${maxRounds} rounds`);
    const { asks, state } = readAsking(result);
    // Before anybody is asked anything: one question that cannot be put ends the call.
    const hopeless = asks.find(([, ask]) => missingOf(call.client, ask).length > 0);
    const answered = (hopeless ? [hopeless] : asks).map(async ([key, ask]) => [key, await call.link.ask(ask)] as const);
    result = await run({ ...call, input: { responses: Object.fromEntries(await Promise.all(answered)), state } });
  }
  return result;
}
