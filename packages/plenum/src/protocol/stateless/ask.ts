// How the stateless era asks: a question that has no answer yet suspends the call, which is run again from its start when
// the client has answered. What is known by then, answers and finished steps, is the journal; a run that comes past it
// again gets what is written there. Loaded by the first ask or step. Specification: basic/patterns/mrtr.
import type { JsonObject } from "../../jsonrpc/message.ts";
import { digestOf, toCanonicalJson } from "../../util/digest.ts";
import { toJsonCopy } from "../../util/json-copy.ts";
import { toCapabilities } from "../capabilities.ts";
import type { Ask, Call, Caller } from "../endpoint.ts";
import { assertOpen, McpError } from "../errors.ts";
import { missingOf, toParams } from "../question.ts";
import { isSuspension, type StepOutcome, takeStep, toValue } from "../step.ts";

/** What earlier rounds left, and what a round leaves to the next. Order tells equal questions, and equal names, apart. */
export interface Entries {
  /** By id: which of the equal questions it is, and their digest. */
  readonly asked: Map<string, Asked>;
  /** By id: which of the equal names it is, and the name. */
  readonly steps: Map<string, StepOutcome>;
  /** The last number that a key was made of. */
  lastKey: number;
}

export interface Asked {
  /** The key under which the client answers it. */
  readonly key: string;
  readonly method: Ask["method"];
  readonly answer?: JsonObject;
}

/** A question as the client is to be told it. */
export interface Question {
  readonly key: string;
  readonly method: Ask["method"];
  readonly params: JsonObject;
}

export interface Journal {
  ask(ask: Ask): Promise<JsonObject>;
  step(name: string, run: () => unknown): Promise<unknown>;
  /** No more is asked or done in this run. */
  readonly hasStopped: boolean;
  /** What the call waits for. Undefined while it is not suspended. */
  readonly suspendedOn: readonly Question[] | undefined;
  /** Why the call cannot go on, in words for its author. */
  readonly broken: string | undefined;
  /**
   * The handler is done, or is waited for no longer. Settles when its steps are done, too, if they are to be remembered
   * and somebody still waits for the answer.
   */
  end(): Promise<void>;
}

/** How long a run may take to come past all that is in the journal. */
const patienceMs = 3000;
/** How long a handler may take to end when its run is ended. */
const unwindMs = 1000;

/** Throws -32021 naming all that this request did not declare of what the questions take. */
export function requireCapabilities(client: Caller, asks: readonly Ask[]): void {
  const lacking = asks.filter((ask) => missingOf(client, ask).length > 0);
  if (lacking.length === 0) return;
  const missing = [...new Set(lacking.flatMap((ask) => missingOf(client, ask)))];
  const methods = [...new Set(lacking.map(({ method }) => method))];
  throw new McpError("missing_capability", `${methods.join(", ")} needs the client capability ${missing.join(", ")}`, {
    data: { requiredCapabilities: missing.map(toCapabilities).reduce(merge) },
  });
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const both = Object.entries(b).map(([key, value]) => [
    key,
    key in a ? merge(a[key] as JsonObject, value as JsonObject) : value,
  ]);
  return { ...a, ...Object.fromEntries(both) };
}

/** @param giveUp told when the run was ended, but the handler does not end */
export function createJournal(
  entries: Entries,
  { client, link }: Pick<Call, "client" | "link">,
  giveUp: () => void,
): Journal {
  const { asked, steps } = entries;
  const counts = new Map<string, number>();
  /** What this run has not come past yet, in words. Until it has, nothing new is done or asked. */
  const ahead = new Map<string, string>([
    ...[...asked].flatMap(([id, { key, answer }]) => (answer ? [[id, `the question ${key}`] as const] : [])),
    ...[...steps.keys()].map((id) => [id, `the step "${id.slice(id.indexOf(":") + 1)}"`] as const),
  ]);
  const questions: Question[] = [];
  const running = new Set<Promise<unknown>>();
  /** Those who wait for an answer: this run has none for them. */
  const parked: ((error: McpError) => void)[] = [];
  /** Steps that wait until the run has caught up. */
  const held: (() => void)[] = [];
  /** Questions whose digest is being made, one after the other, so that order stays. */
  let preparing = 0;
  let lastDigest: Promise<unknown> = Promise.resolve();
  let stopped: McpError | undefined;
  let broken: string | undefined;
  let hasEnded = false;
  let quiet: ReturnType<typeof setTimeout> | undefined;
  let patience: ReturnType<typeof setTimeout> | undefined;
  let overdue: ReturnType<typeof setTimeout> | undefined;

  function count(what: string): number {
    const n = (counts.get(what) ?? 0) + 1;
    counts.set(what, n);
    return n;
  }

  function pass(id: string): void {
    if (!ahead.delete(id) || ahead.size > 0) return;
    clearTimeout(patience);
    for (const go of held.splice(0)) go();
    rest();
  }

  /** Waits for a turn in which nothing more is asked: questions that are put together travel together. */
  function rest(): void {
    clearTimeout(quiet);
    if (questions.length === 0 || preparing > 0 || stopped || hasEnded) return;
    if (ahead.size > 0) expectAll();
    else quiet = setTimeout(() => stop(suspension()));
  }

  function expectAll(): void {
    patience ??= setTimeout(() => {
      const missed = [...ahead.values()].join(", ");
      stopBroken(
        `the handler came to something new before it came again to what an earlier round has done: ${missed}. ` +
          "Between its asks and steps a handler must do the same in every run, and no step may be inside a step",
      );
    }, patienceMs);
  }

  function stopBroken(why: string): McpError {
    broken ??= why;
    const error = new McpError("internal_error", why);
    stop(error);
    return error;
  }

  /** Ends the run: whoever waits, or comes now, gets the error, so that the handler unwinds. */
  function stop(error: McpError): void {
    if (stopped) return;
    stopped = error;
    clearTimeout(quiet);
    clearTimeout(patience);
    if (!hasEnded) overdue = setTimeout(giveUp, unwindMs);
    release(error);
  }

  /** Nobody waits for ever: whatever a part holds, its `finally` gives it back. */
  function release(error: McpError): void {
    for (const reject of parked.splice(0)) reject(error);
    for (const go of held.splice(0)) go();
  }

  /** Until the run is ended. */
  function park(): Promise<never> {
    return new Promise((_, reject) => {
      if (stopped || hasEnded) reject(stopped ?? isOver());
      else parked.push(reject);
    });
  }

  async function ask(given: Ask): Promise<JsonObject> {
    // A copy: what the client is shown is what the digest is made of, whatever the handler does with its own.
    const params = toJsonCopy(toParams(given, client.revision), given.method) as JsonObject;
    const text = toCanonicalJson([given.method, params]);
    const nth = count(text);
    const digest = lastDigest.then(() => digestOf(text));
    lastDigest = digest;
    preparing++;
    clearTimeout(quiet);
    try {
      const id = `${nth}:${await digest.finally(() => preparing--)}`;
      if (stopped || hasEnded) return park();
      const known = asked.get(id);
      if (known?.answer) {
        pass(id);
        return structuredClone(known.answer);
      }
      requireCapabilities(client, [given]);
      const { method } = given;
      const key = known?.key ?? `ask-${++entries.lastKey}`;
      asked.set(id, { key, method });
      questions.push({ key, method, params });
      return park();
    } finally {
      rest();
    }
  }

  async function step(name: string, run: () => unknown): Promise<unknown> {
    const id = `${count(`step ${name}`)}:${name}`;
    const known = steps.get(id);
    if (known) {
      pass(id);
      return toValue(known);
    }
    const isHeld = ahead.size > 0;
    if (isHeld) {
      expectAll();
      await new Promise<void>((resolve) => held.push(resolve));
    }
    if (stopped || (isHeld && hasEnded)) return park();
    assertOpen(link);
    let cause: unknown;
    const taking = takeStep(name, run, (error) => {
      cause = error;
    });
    running.add(taking);
    try {
      const outcome = await taking;
      steps.set(id, outcome);
      return toValue(outcome, cause);
    } catch (error) {
      if (!isSuspension(error)) throw error;
      // What it did before it asked would be done again in every round.
      throw stopBroken(`the step "${name}" asks: ask before a step or after it, not inside`);
    } finally {
      running.delete(taking);
    }
  }

  return {
    ask,
    step,
    get hasStopped() {
      return stopped !== undefined;
    },
    get suspendedOn() {
      return stopped && !broken ? questions : undefined;
    },
    get broken() {
      return broken;
    },
    async end() {
      hasEnded = true;
      clearTimeout(quiet);
      clearTimeout(patience);
      clearTimeout(overdue);
      release(stopped ?? isOver());
      if (!stopped || running.size === 0) return;
      const { signal } = link;
      const gone = new Promise((resolve) => {
        signal.addEventListener("abort", resolve, { once: true });
      });
      while (running.size > 0 && !signal.aborted) await Promise.race([Promise.allSettled(running), gone]);
    },
  };
}

function isOver(): McpError {
  return new McpError("aborted", "The call has ended");
}

function suspension(): McpError {
  return new McpError(
    "input_required",
    "The call is suspended until the client answers. Let this error pass: rethrow what you catch when its code is input_required",
  );
}
