// A form in the terminal: who asks and what, then one prompt for each field, then a last look before it is sent.
import type { AnswerContext, ElicitForm, ElicitResult, JsonObject } from "plenum";
import type { Output } from "../output.ts";
import { type Field, readWords } from "./fields.ts";
import { type Cancelled, cancelled, type PromptOptions, promptChoice, promptChoices, promptText } from "./prompts.ts";
import { showAsker, showCancelled } from "./show.ts";

export interface FormPrompt {
  readonly ask: ElicitForm;
  readonly ctx: AnswerContext;
  readonly output: Output;
  /** Those that are still to be filled in. */
  readonly fields: readonly Field[];
  /** What is filled in already. */
  readonly content: JsonObject;
}

/** Esc and Ctrl-C cancel; a form that is cancelled or declined carries nothing. */
export async function promptForm(prompt: FormPrompt): Promise<ElicitResult> {
  const answer = await promptAll(prompt);
  if (answer !== cancelled) return answer;
  showCancelled(prompt.ctx.signal);
  return { action: "cancel" };
}

async function promptAll({ ask, ctx, output, fields, content }: FormPrompt): Promise<ElicitResult | Cancelled> {
  const { signal } = ctx;
  showAsker(output, ctx, "asks:", ask.message);
  const first = await promptChoice({
    message: fields.length === 0 ? "Do you agree?" : "Do you want to answer?",
    options: [
      { value: "accept", label: fields.length === 0 ? "Agree" : "Answer" },
      { value: "decline", label: "Decline", hint: "the server hears that you say no" },
      { value: "cancel", label: "Cancel", hint: "the server hears that you say neither yes nor no" },
    ],
    signal,
  });
  if (first === cancelled) return cancelled;
  if (first !== "accept") return { action: first };
  let filled: JsonObject = {};
  for (;;) {
    for (const field of fields) {
      const value = await promptField(field, filled[field.name] ?? field.proposal, { signal });
      if (value === cancelled) return cancelled;
      filled = { ...filled, [field.name]: value };
    }
    const last = fields.length > 1 ? await promptLast(signal) : "send";
    if (last === cancelled) return cancelled;
    if (last === "decline") return { action: "decline" };
    if (last === "send") return { action: "accept", content: { ...content, ...filled } };
  }
}

function promptLast(signal: AbortSignal): Promise<"send" | "change" | "decline" | Cancelled> {
  return promptChoice({
    message: "Send these answers?",
    options: [
      { value: "send", label: "Send" },
      { value: "change", label: "Change" },
      { value: "decline", label: "Decline" },
    ],
    signal,
  });
}

/** Undefined: left out. */
async function promptField(field: Field, initial: unknown, options: PromptOptions): Promise<unknown> {
  if (field.kind === "choices") return promptMany(field, initial, options);
  if (field.kind === "choice" || field.kind === "boolean") return promptOne(field, initial, options);
  const isLeftOut = (text: string): boolean => text === "" && !field.isRequired;
  const text = await promptText({
    ...options,
    message: toMessage(field),
    initial: initial === undefined ? undefined : String(initial),
    check(typed) {
      if (isLeftOut(typed)) return undefined;
      if (typed === "") return "An answer is needed here. Esc cancels.";
      const read = readWords(field, [typed]);
      return "problem" in read ? `It ${read.problem}` : undefined;
    },
  });
  if (text === cancelled) return cancelled;
  if (isLeftOut(text)) return undefined;
  const read = readWords(field, [text]);
  return "value" in read ? read.value : undefined;
}

/** What an option is called that stands for no answer; no choice can be: they are numbered. */
const nothing = "nothing";

async function promptOne(field: Field, initial: unknown, options: PromptOptions): Promise<unknown> {
  const isBoolean = field.kind === "boolean";
  const values: readonly unknown[] = isBoolean ? [true, false] : field.choices.map(({ value }) => value);
  const titles = isBoolean ? ["Yes", "No"] : field.choices.map(({ title }) => title);
  const at = await promptChoice({
    ...options,
    message: toMessage(field),
    options: [
      ...titles.map((label, index) => ({ value: String(index), label })),
      ...(field.isRequired ? [] : [{ value: nothing, label: "No answer" }]),
    ],
    initial: values.includes(initial) ? String(values.indexOf(initial)) : field.isRequired ? "0" : nothing,
  });
  if (at === cancelled) return cancelled;
  return at === nothing ? undefined : values[Number(at)];
}

async function promptMany(field: Field, initial: unknown, options: PromptOptions): Promise<unknown> {
  let chosen = Array.isArray(initial) ? initial.map(String) : [];
  let problem: string | undefined;
  for (;;) {
    const given = await promptChoices({
      ...options,
      message: problem === undefined ? toMessage(field) : `${toMessage(field)}\nIt ${problem}`,
      options: field.choices.map(({ value, title }) => ({ value, label: title })),
      initial: chosen,
    });
    if (given === cancelled) return cancelled;
    if (given.length === 0 && !field.isRequired) return undefined;
    problem = field.check([...given]);
    if (problem === undefined) return [...given];
    chosen = [...given];
  }
}

/** `Age (a whole number, 0 or more; may be left empty)`, and what the server says of it. */
function toMessage({ title, description, rule, isRequired, kind }: Field): string {
  const isTyped = kind === "text" || kind === "number" || kind === "integer";
  const notes = [rule, isTyped && !isRequired ? "may be left empty" : ""].filter((note) => note !== "").join("; ");
  return `${title}${notes && ` (${notes})`}${description === undefined ? "" : `\n${description}`}`;
}
