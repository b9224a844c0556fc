// What a server asks while a command runs: forms, pages to visit, a model's answer. By --answer, --yes, --decline and --cancel, else
// in the terminal. Where there is neither, the server is not told that it could ask: it can then do without, or say what it lacks.
import {
  type AnswerContext,
  type ClientOptions,
  type ElicitForm,
  type ElicitPage,
  type SampleRequest,
  userRejected,
} from "plenum";
import { Failure } from "../failure.ts";
import { type Output, toHarmless } from "../output.ts";
import { type Asked, parseGiven } from "./given.ts";

export interface AnswerOptions {
  /** --yes: what the server proposes is agreed to. */
  readonly isYes: boolean;
  /** --answer KEY=VALUE */
  readonly given: readonly string[];
  readonly output: Output;
  /** --decline or --cancel: how every question is answered. */
  readonly refusal?: Refusal | undefined;
  /** --sample-command: what answers for a model. */
  readonly sampleCommand?: string | undefined;
  /** Told of a question that nothing answers; the server is left without an answer. Default: the server gets an error. */
  readonly onFailure?: ((failure: Failure) => void) | undefined;
}

export type Refusal = "decline" | "cancel";

export type Answers = Pick<ClientOptions, "onElicit" | "onElicitUrl" | "onSample">;

/** The handlers for `connect`. Prompts are loaded by the first question. Throws a Failure `usage` for options that make no sense. */
export function createAnswers(options: AnswerOptions): Answers {
  const { isYes, output, refusal, sampleCommand, onFailure } = options;
  const given = parseGiven(options.given);
  if (refusal !== undefined) {
    if (isYes || given.size > 0) {
      throw new Failure("usage", `--${refusal} refuses what --${isYes ? "yes" : "answer"} would answer`, {
        code: "invalid_option",
        hint: "Give one of them.",
      });
    }
    return createRefusals(refusal, output);
  }
  const asked: Asked = { isYes, given, output, sampleCommand };
  const put = async <T>(answer: () => Promise<T>): Promise<T> => {
    try {
      return await output.alone(answer);
    } catch (error) {
      if (!(error instanceof Failure) || !onFailure) throw error;
      onFailure(error);
      // The command ends, and the connection with it: an answer of ours would be a lie.
      return new Promise<never>(() => {});
    }
  };
  const onElicit = (ask: ElicitForm, ctx: AnswerContext) =>
    put(async () => (await import("./form.ts")).answerForm(ask, ctx, asked));
  const onElicitUrl = (ask: ElicitPage, ctx: AnswerContext) =>
    put(async () => (await import("./page.ts")).answerPage(ask, ctx, asked));
  const onSample = (ask: SampleRequest, ctx: AnswerContext) =>
    put(async () => (await import("./sample.ts")).answerSample(ask, ctx, asked));
  const { canAsk } = output;
  return {
    ...((canAsk || isYes || [...given.keys()].some((key) => key !== "sample")) && { onElicit }),
    ...((canAsk || isYes) && { onElicitUrl }),
    // There is no text that --yes could agree to.
    ...((canAsk || given.has("sample") || sampleCommand !== undefined) && { onSample }),
  };
}

function createRefusals(action: Refusal, output: Output): Answers {
  const refuse = async ({ message }: ElicitForm | ElicitPage) => {
    output.note(`The server asks: ${toHarmless(message)} (--${action})`);
    return { action };
  };
  return {
    onElicit: refuse,
    onElicitUrl: refuse,
    async onSample() {
      output.note(`The server asks for the answer of a model (--${action})`);
      throw userRejected();
    },
  };
}
