// One request of a call that asks: the state that it brings is opened and checked before anything runs, and what its
// handler leaves becomes a result or, sealed, the state of the next round. Nothing is kept in between. Loaded by the
// first ask or step, and by a request that goes on with a call. Specification: basic/patterns/mrtr.
import type { JsonObject } from "../../jsonrpc/message.ts";
import { digestOf, toCanonicalJson } from "../../util/digest.ts";
import { toJsonCopy } from "../../util/json-copy.ts";
import { quote } from "../../util/quote.ts";
import type { Ask, Call, Endpoint, Input, Result } from "../endpoint.ts";
import type { Ground } from "../era.ts";
import { assertOpen, McpError } from "../errors.ts";
import type { Method } from "../methods.ts";
import { toPrincipal } from "../principal.ts";
import { stems, toParams } from "../question.ts";
import { readAsking } from "../rounds.ts";
import { isSuspension, runStep, type StepOutcome } from "../step.ts";
import { addAsking } from "../wire/asking.ts";
import { wireOf } from "../wire/wire.ts";
import { type Asked, createJournal, type Entries, type Journal, type Question, requireCapabilities } from "./ask.ts";
import { fail, refuse, type Vault, vaultOf } from "./state.ts";

/** What is sealed. */
interface State {
  /** Names this state among all. */
  readonly id: string;
  /** When it ends, in ms since 1970; null: never. */
  readonly expires: number | null;
  readonly principal: string;
  readonly method: string;
  /** A digest of the arguments. */
  readonly args: string;
  readonly lastKey: number;
  /** The journal: what was asked, answered or not, and which steps were taken. */
  readonly asked: [id: string, asked: Asked][];
  readonly steps: [id: string, outcome: StepOutcome][];
  /** Questions of a handler that returns them, by key. */
  readonly own: [key: string, method: Ask["method"]][];
  /** What such a handler finds as its input; the answers are those that it has found already. */
  readonly input?: Input | undefined;
}

export interface Round {
  /** The call to run, without what was only for this era. */
  readonly call: Call;
  ask(ask: Ask): Promise<JsonObject>;
  step(name: string, run: () => unknown, ...rest: unknown[]): Promise<unknown>;
  /** The result of the request, from what the run of its call came to. Throws what the client is to be told. */
  settle(result: Result, failure: { readonly error: unknown } | undefined): Promise<Result>;
}

/** How often a handler that was ended may ask, or take a step, before it is held for good. */
const maxLate = 1000;

/**
 * Throws McpError `invalid_params` for a state, or for answers, that do not belong here.
 * @param sent the params as the client sent them: a handler may change those of the call
 * @param giveUp told when the handler does not end, though its run was ended: `settle` then gives the result
 */
export async function openRound(
  { endpoint, oneStream, limits }: Pick<Ground, "endpoint" | "oneStream" | "limits">,
  given: Call,
  method: Method | undefined,
  sent: JsonObject,
  giveUp: () => void,
): Promise<Round> {
  addAsking();
  const vault = vaultOf(endpoint);
  const { requestState, inputResponses, ...params } = given.params;
  const { requestState: _, inputResponses: __, _meta, ...bound } = sent;
  const isAsking = method?.asks === true;
  const isRetry = isAsking && (requestState !== undefined || inputResponses !== undefined);
  // When the request was read, they may not have been known yet.
  if (isRetry && inputResponses) assertAnswers("inputResponses", inputResponses, "params.inputResponses", given);
  // What is handled by hand has states of its own; ours come there, too, when its handler asks.
  const isByHand = endpoint.handles(given.method) && !(await isOurs(vault, requestState));
  const bonds = async (): Promise<Pick<State, "principal" | "method" | "args">> => ({
    principal: await digestOf(toPrincipal(given.auth)),
    method: given.method,
    args: await digestOf(toCanonicalJson([endpoint.describe().info.name, given.client.revision, bound])),
  });

  const entries: Entries = { asked: new Map(), steps: new Map(), lastKey: 0 };
  let call = given;
  let input: Input | undefined;
  if (isRetry && !isByHand) {
    const responses = (inputResponses ?? {}) as { readonly [key: string]: JsonObject };
    const state = requestState === undefined ? undefined : await openState(vault, requestState as string, bonds);
    // Answers to questions that are always the same may come without a state: for a handler that looks for them by key.
    input = state ? takeAnswers(state, responses, entries, given) : { responses, state: undefined };
    if (state) await useOnce(vault, state);
    // A copy, which the handler may change.
    call = { ...given, params, input: structuredClone(input) };
  }
  let isOverdue = false;
  const journal: Journal = createJournal(entries, given, () => {
    isOverdue = true;
    giveUp();
  });
  let late = 0;

  /** Throws when the call has ended. Who swallows that, and comes again and again, would use up the machine: it waits. */
  async function assertRunning(): Promise<void> {
    const { hasStopped } = journal;
    if ((hasStopped || given.link.ended) && ++late > maxLate) await new Promise(() => {});
    // The journal has a better error.
    if (!hasStopped) assertOpen(given.link);
  }

  /** The result that asks, with all that the next round has to know. */
  async function seal(questions: readonly Question[], left: Pick<State, "own" | "input">): Promise<Result> {
    const isOpen = new Set(questions.map(({ key }) => key));
    const { askTimeoutMs } = limits;
    const state: State = {
      id: crypto.randomUUID(),
      expires: askTimeoutMs > 0 && Number.isFinite(askTimeoutMs) ? Date.now() + askTimeoutMs : null,
      ...(await bonds()),
      lastKey: entries.lastKey,
      asked: [...entries.asked].filter(([, { key, answer }]) => answer || isOpen.has(key)),
      steps: [...entries.steps],
      ...left,
    };
    if (vault.isGenerated && !oneStream)
      vault.warn(
        "A call was suspended, and only this process can go on with it. Give createServer a secret, the same on all nodes",
      );
    let text: string;
    try {
      text = await vault.seal(state);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw fail(endpoint, given.method, `${given.method} cannot be suspended: ${error.message}`);
    }
    const requests = questions.map(({ key, method, params }) => [
      key,
      Object.keys(params).length > 0 ? { method, params } : { method },
    ]);
    return {
      resultType: "input_required",
      ...(requests.length > 0 && { inputRequests: Object.fromEntries(requests) }),
      requestState: text,
    };
  }

  /** A handler that returns its questions begins anew in the next round: with a state of its own, and no journal. */
  async function sealOwn(result: Result): Promise<Result> {
    const { asks, state } = readAsking(result);
    const questions = asks.map(([key, ask]) => ({
      key,
      method: ask.method,
      params: toParams(ask, given.client.revision),
    }));
    requireCapabilities(
      given.client,
      asks.map(([, ask]) => ask),
    );
    entries.asked.clear();
    entries.steps.clear();
    const own = questions.map(({ key, method }): [string, Ask["method"]] => [key, method]);
    return { ...(await seal(questions, { own, input: { responses: {}, state } })), _meta: result._meta };
  }

  return {
    call,
    async ask(ask) {
      await assertRunning();
      if (isAsking) return journal.ask(ask);
      throw new McpError(
        "internal_error",
        `${ask.method} cannot be asked by ${quote(given.method)}: in ${given.client.revision} only tools/call, prompts/get and resources/read may ask`,
      );
    },
    async step(name, run) {
      await assertRunning();
      return isAsking ? journal.step(name, run) : runStep(name, run, given.link);
    },
    async settle(result, failure) {
      await journal.end();
      if (journal.broken) throw fail(endpoint, given.method, `${given.method} cannot go on: ${journal.broken}`);
      if (journal.suspendedOn) {
        if (!isSuspension(failure?.error)) reportSwallowed(endpoint, given, isOverdue);
        return seal(journal.suspendedOn, { own: [], input });
      }
      if (failure) throw failure.error;
      if (result.resultType === "input_required" && method && !endpoint.handles(given.method)) {
        if (isAsking) return sealOwn(result);
        throw fail(endpoint, given.method, `${given.method} must not ask for input`);
      }
      // What answers have gone into is for this call alone.
      const isTheirs = isRetry && method?.cached && result.resultType !== "input_required";
      return isTheirs ? { ...result, ttlMs: 0, cacheScope: "private" } : result;
    },
  };
}

async function isOurs(vault: Vault, requestState: unknown): Promise<boolean> {
  return typeof requestState === "string" && (await vault.isOurs(requestState));
}

/** The state, if it belongs to this request. */
async function openState(
  vault: Vault,
  text: string,
  bonds: () => Promise<Pick<State, "principal" | "method" | "args">>,
): Promise<State> {
  const state = (await vault.open(text)) as State;
  const { principal, method, args } = await bonds();
  assertFresh(state);
  if (state.principal !== principal) throw refuse("it belongs to another caller");
  if (state.method !== method) throw refuse("it belongs to another method");
  if (state.args !== args) throw refuse("it belongs to a call with other arguments");
  return state;
}

/** Throws McpError `invalid_params`. */
function assertAnswers(shape: string, value: unknown, place: string, { method, client }: Call): void {
  const problem = wireOf(client.revision).check(shape, value, place);
  if (problem) throw new McpError("invalid_params", `Invalid params for ${method}: ${problem}`);
}

/** Takes over what earlier rounds left, and the answers that came now; gives the handler's input. */
function takeAnswers(
  state: State,
  responses: { readonly [key: string]: JsonObject },
  entries: Entries,
  call: Call,
): Input | undefined {
  /** Answers that nobody asked for are not looked at; those that are missing are asked for again. */
  const answerTo = (key: string, asked: Ask["method"]): JsonObject | undefined => {
    if (!Object.hasOwn(responses, key)) return undefined;
    const place = `params.inputResponses[${quote(key)}]`;
    // As the next round will find it: JSON writes what it reads from 1e400 as null.
    const answer = toJsonCopy(responses[key], place) as JsonObject;
    assertAnswers(`${stems[asked]}Result`, answer, place, call);
    return answer;
  };
  entries.lastKey = state.lastKey;
  for (const [id, outcome] of state.steps) entries.steps.set(id, outcome);
  for (const [id, asked] of state.asked) {
    const answer = asked.answer ?? answerTo(asked.key, asked.method);
    entries.asked.set(id, answer ? { ...asked, answer } : asked);
  }
  const own = state.own.flatMap(([key, asked]) => {
    const answer = answerTo(key, asked);
    return answer ? [[key, answer]] : [];
  });
  const { input } = state;
  return input && { ...input, responses: { ...input.responses, ...Object.fromEntries(own) } };
}

function assertFresh({ expires }: State): void {
  if (expires !== null && Date.now() >= expires) throw refuse("it has expired");
}

/** How far clocks may differ: a use is remembered for so much longer than its state lives. */
const marginMs = 300_000;

/** With a store each state opens once. */
async function useOnce({ store }: Vault, state: State): Promise<void> {
  if (!store) return;
  const { id, expires } = state;
  const ttl = expires === null ? undefined : { ttlMs: Math.max(0, expires - Date.now()) + marginMs };
  if (!(await store.put(`plenum:state:${id}`, "used", { expected: null, ...ttl }))) throw refuse("it was used already");
  // Once more: a slow store may have forgotten an earlier use by now.
  assertFresh(state);
}

function reportSwallowed(endpoint: Endpoint, { method, params }: Call, isOverdue: boolean): void {
  const name = [params.name, params.uri].find((text) => typeof text === "string");
  const what = name === undefined ? method : `${method} ${quote(name as string)}`;
  endpoint.report(
    new Error(
      `${what} ${isOverdue ? "still runs a second after the error that suspends it" : "caught the error that suspends it and went on"}. ` +
        "The client was asked all the same, and what this run did " +
        "after that is lost: rethrow what you catch when its code is input_required",
    ),
    { method },
  );
}
