// Prompts at the terminal. They are drawn on stderr, so that stdout is left to results, and each may be cancelled with Esc or Ctrl-C.
import * as clack from "@clack/prompts";

export interface PromptOptions {
  /** Takes the prompt away: the answer is not wanted any more. */
  readonly signal?: AbortSignal | undefined;
}

/** What a prompt gives that was cancelled. */
export const cancelled: unique symbol = Symbol("cancelled");
export type Cancelled = typeof cancelled;

export interface Option<T> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string | undefined;
}

const onStderr = ({ signal }: PromptOptions) => ({
  input: process.stdin,
  output: process.stderr,
  withGuide: false,
  ...(signal && { signal }),
});

export interface TextPrompt extends PromptOptions {
  readonly message: string;
  /** There from the start, to be changed. */
  readonly initial?: string | undefined;
  /** Says what is wrong with a text; it is then asked for again. */
  check(text: string): string | undefined;
}

export async function promptText({ message, initial, check, ...options }: TextPrompt): Promise<string | Cancelled> {
  const given = await clack.text({
    ...onStderr(options),
    message,
    ...(initial !== undefined && { initialValue: initial }),
    validate: (text) => check(text ?? ""),
  });
  return clack.isCancel(given) ? cancelled : (given ?? "");
}

export interface ChoicePrompt<T> extends PromptOptions {
  readonly message: string;
  readonly options: readonly Option<T>[];
}

export async function promptChoice<T extends string>(
  prompt: ChoicePrompt<T> & { readonly initial?: T | undefined },
): Promise<T | Cancelled> {
  const { message, options, initial, ...rest } = prompt;
  const given = await clack.select<string>({
    ...onStderr(rest),
    message,
    options: options.map(toOption),
    ...(initial !== undefined && { initialValue: initial }),
  });
  return clack.isCancel(given) ? cancelled : (given as T);
}

export async function promptChoices<T extends string>(
  prompt: ChoicePrompt<T> & { readonly initial: readonly T[] },
): Promise<readonly T[] | Cancelled> {
  const { message, options, initial, ...rest } = prompt;
  const given = await clack.multiselect<string>({
    ...onStderr(rest),
    message,
    options: options.map(toOption),
    initialValues: [...initial],
    required: false,
  });
  return clack.isCancel(given) ? cancelled : (given as T[]);
}

export async function promptYes(
  prompt: PromptOptions & { readonly message: string; readonly initial: boolean },
): Promise<boolean | Cancelled> {
  const { message, initial, ...rest } = prompt;
  const given = await clack.confirm({ ...onStderr(rest), message, initialValue: initial });
  return clack.isCancel(given) ? cancelled : given;
}

function toOption({ value, label, hint }: Option<string>): { value: string; label: string; hint?: string } {
  return { value, label, ...(hint !== undefined && { hint }) };
}
