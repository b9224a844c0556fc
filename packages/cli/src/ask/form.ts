// A form that a server wants filled in: by --answer, with what --yes agrees to, else field by field in the terminal.
import type { AnswerContext, ElicitForm, ElicitResult, JsonObject } from "plenum";
import { Failure } from "../failure.ts";
import { toHarmless, toLine } from "../output.ts";
import { type Field, readWords, toFields } from "./fields.ts";
import { type Asked, type Given, toUnanswered } from "./given.ts";

/** Throws a Failure where an answer does not fit, or is missing and nobody can be asked. */
export async function answerForm(ask: ElicitForm, ctx: AnswerContext, asked: Asked): Promise<ElicitResult> {
  const { isYes, given, output } = asked;
  const fields = toFields(ask.schema, ask.defaults);
  const content = readGiven(fields, given);
  const open = fields.filter(({ name }) => !Object.hasOwn(content, name));
  const isAnswered = open.length < fields.length;
  if (isAnswered && open.length === 0) return { action: "accept", content };
  if (!isYes && output.canAsk) {
    const { promptForm } = await import("./form-prompt.ts");
    return promptForm({ ask, ctx, output, fields: open, content });
  }
  const missing = open.filter(({ isRequired, proposal }) => isRequired && proposal === undefined);
  const message = toHarmless(ask.message);
  if (missing.length > 0) {
    throw toUnanswered(
      message,
      missing.map(({ name }) => toLine(name)),
      given,
    );
  }
  // An answer to something else is no consent to this.
  if (!isYes && !isAnswered) {
    throw toUnanswered(
      message,
      open.map(({ name }) => toLine(name)),
      given,
    );
  }
  return { action: "accept", content };
}

function readGiven(fields: readonly Field[], given: Given): JsonObject {
  const entries = fields.flatMap((field): [string, unknown][] => {
    const words = given.get(field.name);
    if (!words) return [];
    const read = readWords(field, words);
    if ("value" in read) return [[field.name, read.value]];
    const name = toLine(field.name);
    throw new Failure("usage", `--answer ${name}: ${read.problem}`, {
      code: "invalid_answer",
      hint: `The server asks for "${field.title}"${field.rule && `: ${field.rule}`}.`,
    });
  });
  return Object.fromEntries(entries);
}
