// A result that asks for input, where the asking can be done here: its questions are put to the client, and the call is
// run again with the answers. In sessions for every such result; in both eras for what a handler reads itself. Loaded by
// the first such result.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { toJsonCopy } from "../util/json-copy.ts";
import { quote } from "../util/quote.ts";
import type { Ask, Call, Result } from "./endpoint.ts";
import { McpError } from "./errors.ts";
import { missingOf, toAsk } from "./question.ts";

const maxRounds = 16;

/** What a result asks for, by key, and the state that comes with it. Throws a TypeError for a result that asks nothing. */
export function readAsking({ inputRequests, state }: Result): { asks: [key: string, ask: Ask][]; state: unknown } {
  const requests = Object.entries((inputRequests ?? {}) as JsonObject);
  if (requests.length === 0 && state === undefined)
    throw new TypeError("inputRequired: give requests, a state, or both");
  return {
    asks: requests.map(([key, request]) => [key, toOwnAsk(key, request)]),
    // The same in both eras, though only one of them has to write it down.
    state: state === undefined ? undefined : toJsonCopy(state, "inputRequired: the state"),
  };
}

function toOwnAsk(key: string, request: unknown): Ask {
  const { method, params = {} } = isObject(request) ? request : {};
  if (!isObject(params)) throw new TypeError(`inputRequired: the params of ${quote(key)} are no object`);
  return toAsk(String(method), params);
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
