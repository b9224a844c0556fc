// A client by hand for calls that ask: in sessions it answers requests, in 2026-07-28 it goes on with what the result
// asks for. The answers come from one function of the question.
import type { Message, Obj, Peer } from "../suites/peer.ts";

export interface Question {
  readonly method: string;
  readonly params?: Obj;
}

export type Answer = (question: Question) => Obj;

/** Everything that can be asked. */
export const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

export interface Leg {
  readonly result: Obj;
  readonly questions: { readonly [key: string]: Question };
  readonly state: string;
}

/** Reads a result that asks; undefined for any other. */
export function toLeg({ result }: Message): Leg | undefined {
  if (result?.resultType !== "input_required") return undefined;
  const questions = (result.inputRequests ?? {}) as Leg["questions"];
  return { result, questions, state: result.requestState as string };
}

export interface DriveOptions {
  /** Told of every result that asks, before it is answered. */
  readonly onLeg?: (leg: Leg, answers: Obj) => Promise<void> | void;
  /** What is sent in place of the answers. */
  readonly alter?: (answers: Obj) => Obj;
  readonly maxRounds?: number;
}

/** The whole of a call in 2026-07-28: its last response, and how many asked before it. */
export async function drive(
  peer: Peer,
  method: string,
  params: Obj,
  answer: Answer,
  { onLeg, alter = (answers) => answers, maxRounds = 50 }: DriveOptions = {},
): Promise<{ last: Message; rounds: number }> {
  let more: Obj = {};
  // An answer once given stays what it is when its question comes again.
  const given = new Map<string, Obj>();
  for (let rounds = 0; rounds <= maxRounds; rounds++) {
    const last = await peer.request(method, { ...params, ...more });
    const leg = toLeg(last);
    if (!leg) return { last, rounds };
    const answers: Obj = {};
    for (const [key, question] of Object.entries(leg.questions)) {
      if (!given.has(key)) given.set(key, answer(question));
      answers[key] = given.get(key);
    }
    await onLeg?.(leg, answers);
    const sent = alter(answers);
    more = { requestState: leg.state, ...(Object.keys(sent).length > 0 && { inputResponses: sent }) };
  }
  throw new Error(`${method} still asks after ${maxRounds} rounds`);
}

/** The whole of a call in a session. */
export async function converse(peer: Peer, method: string, params: Obj, answer: Answer): Promise<Message> {
  const id = peer.start(method, params);
  for (;;) {
    const message = (await peer.raw.next(10_000)) as Message;
    if (message.id === id && message.method === undefined) return message;
    if (message.method !== undefined && message.id !== undefined)
      peer.answer(message, answer(message as Message & Question));
  }
}
