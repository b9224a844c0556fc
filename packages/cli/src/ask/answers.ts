// What a server asks while a command runs: forms, pages to visit, a model's answer. By --answer and --yes, else in the terminal.
import type { ClientOptions } from "plenum";
import type { Output } from "../output.ts";

export interface AnswerOptions {
  /** --yes: what the server proposes is agreed to. */
  readonly isYes: boolean;
  /** --answer KEY=VALUE */
  readonly given: readonly string[];
  readonly output: Output;
}

/** The handlers for `connect`. Prompts are loaded by the first question. */
export function createAnswers(_options: AnswerOptions): Pick<ClientOptions, "onElicit" | "onElicitUrl" | "onSample"> {
  return {};
}
