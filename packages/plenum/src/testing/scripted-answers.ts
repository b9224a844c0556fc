// What a test answers when the server asks: in the order in which it asks, or by a function. A question without an answer is
// the test's mistake, and is told as such.
import type { AnswerContext, ClientOptions, ElicitForm, ElicitPage } from "../client/options.ts";
import type { JsonObject } from "../jsonrpc/message.ts";
import type { ElicitResult, SampleRequest, SampleResult } from "../protocol/model.ts";
import { quote } from "../util/quote.ts";

/** The content of an accepted form, or a refusal. */
export type ElicitAnswer = JsonObject | "decline" | "cancel";
export type VisitAnswer = "accept" | "decline" | "cancel";
/** What the model says, as text or whole. */
export type SampleAnswer = string | SampleResult;

/** Answers in the order of the questions, each of them itself or a function; or one function for all. False: the client cannot be asked. */
export type Scripted<Ask, Answer> = readonly (Answer | Answering<Ask, Answer>)[] | Answering<Ask, Answer> | false;

export type Answering<Ask, Answer> = (ask: Ask, ctx: AnswerContext) => Answer | Promise<Answer>;

export interface AnswerScript {
  /** Forms. Default: none is expected, and one that comes fails the call. */
  readonly elicit?: Scripted<ElicitForm, ElicitAnswer>;
  /** Pages to visit. Default as `elicit`. */
  readonly visit?: Scripted<ElicitPage, VisitAnswer>;
  /** Questions to a model. Default as `elicit`. */
  readonly sample?: Scripted<SampleRequest, SampleAnswer>;
}

/** A question of the server's, and what it was told. */
export interface AskedQuestion {
  readonly kind: "elicit" | "visit" | "sample";
  readonly ask: ElicitForm | ElicitPage | SampleRequest;
  /** Undefined as long as there is none. */
  readonly answer: ElicitAnswer | VisitAnswer | SampleAnswer | undefined;
}

export interface ScriptedAnswers {
  /** For `createClient`. */
  readonly options: Pick<ClientOptions, "onElicit" | "onElicitUrl" | "onSample" | "sampleTools">;
  /** In the order in which they were asked. */
  readonly questions: readonly AskedQuestion[];
  /** What was asked and had no answer. */
  readonly unanswered: readonly Error[];
}

export function createScriptedAnswers({ elicit, visit, sample }: AnswerScript): ScriptedAnswers {
  const questions: AskedQuestion[] = [];
  const unanswered: Error[] = [];

  function script<Ask extends AskedQuestion["ask"], Answer extends AskedQuestion["answer"]>(
    kind: AskedQuestion["kind"],
    scripted: Scripted<Ask, Answer> | undefined,
  ): ((ask: Ask, ctx: AnswerContext) => Promise<Answer>) | undefined {
    if (scripted === false) return undefined;
    let next = 0;
    return async (ask, ctx) => {
      const at = questions.push({ kind, ask, answer: undefined }) - 1;
      const one = typeof scripted === "function" ? scripted : scripted?.[next++];
      if (one === undefined) {
        const error = toUnanswered(kind, ask, typeof scripted === "object" ? scripted.length : undefined);
        unanswered.push(error);
        throw error;
      }
      const answer = typeof one === "function" ? await one(ask, ctx) : (one as Answer);
      questions[at] = { kind, ask, answer };
      return answer;
    };
  }

  const onForm = script("elicit", elicit);
  const onPage = script("visit", visit);
  const onModel = script("sample", sample);
  return {
    questions,
    unanswered,
    options: {
      ...(onForm && { onElicit: async (ask, ctx) => toElicitResult(await onForm(ask, ctx)) }),
      ...(onPage && { onElicitUrl: async (ask, ctx) => ({ action: await onPage(ask, ctx) }) }),
      ...(onModel && { onSample: async (ask, ctx) => toSampleResult(await onModel(ask, ctx)), sampleTools: true }),
    },
  };
}

function toElicitResult(answer: ElicitAnswer): ElicitResult {
  return typeof answer === "string" ? { action: answer } : ({ action: "accept", content: answer } as ElicitResult);
}

function toSampleResult(answer: SampleAnswer): SampleResult {
  if (typeof answer !== "string") return answer;
  return { role: "assistant", content: { type: "text", text: answer }, model: "test", stopReason: "endTurn" };
}

/** Long enough to know it by. */
const maxShown = 2000;

function toUnanswered(kind: AskedQuestion["kind"], ask: AskedQuestion["ask"], had: number | undefined): Error {
  const what = { elicit: "a form", visit: "a page to visit", sample: "a question to the model" }[kind];
  const { message } = ask as { readonly message?: string };
  const shown = JSON.stringify(ask, undefined, 2).slice(0, maxShown);
  const count = had === undefined ? "none was given" : `${had} ${had === 1 ? "was" : "were"} given`;
  return new Error(
    `The server asked ${what}${message === undefined ? "" : `, ${quote(message)}`}, and the test has no answer for it: ${count}. ` +
      `Add one to \`${kind}\`. The question:\n${shown}`,
  );
}
