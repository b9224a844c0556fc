// The fields of a form that a server wants filled in: what kind each is, and how words become a value of it. Prompts and --answer
// read values in the same way. Specification: client/elicitation.
import type { JsonObject } from "plenum";
import { compileJsonSchema, formatIssues, formats } from "plenum/schema";
import { toHarmless, toLine } from "../output.ts";

export interface Choice {
  readonly value: string;
  readonly title: string;
}

export interface Field {
  readonly name: string;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  /** For people, harmless: the title, or the name. */
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** Of `choice` and `choices`. */
  readonly choices: readonly Choice[];
  /** What the server proposes, where that fits. */
  readonly proposal: unknown;
  /** What a value has to be, in a few words: "a whole number, 0 or more". Empty where anything will do. */
  readonly rule: string;
  /** What is wrong with a value; undefined when nothing is. */
  check(value: unknown): string | undefined;
}

export type Read = { readonly value: unknown } | { readonly problem: string };

/** @param defaults those that fit, as the library found them */
export function toFields(schema: JsonObject, defaults: JsonObject): readonly Field[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asObject(schema.properties)).map(([name, given]) => {
    const field = asObject(given);
    const kind = kindOf(field);
    const validate = compileJsonSchema(field, { formats });
    return {
      name,
      kind,
      title: toLine(textIn(field.title) ?? name),
      description: textIn(field.description) && toHarmless(textIn(field.description) as string),
      isRequired: required.includes(name),
      choices: choicesOf(kind === "choices" ? asObject(field.items) : field),
      proposal: Object.hasOwn(defaults, name) ? toShownProposal(defaults[name]) : undefined,
      rule: ruleOf(field, kind),
      check(value) {
        const issues = validate(value);
        return issues ? formatIssues(issues) : undefined;
      },
    };
  });
}

/** A text with control characters is no proposal: it is drawn into the line that one types in, and acts on the terminal there. */
function toShownProposal(value: unknown): unknown {
  return typeof value === "string" && toHarmless(value) !== value ? undefined : value;
}

function kindOf(field: JsonObject): Field["kind"] {
  if (field.type === "array") return "choices";
  if (Array.isArray(field.enum) || Array.isArray(field.oneOf)) return "choice";
  if (field.type === "boolean" || field.type === "number" || field.type === "integer") return field.type;
  return "text";
}

/** In all the ways that revisions have of writing them. */
function choicesOf(field: JsonObject): readonly Choice[] {
  const titled = [field.oneOf, field.anyOf].find((list) => Array.isArray(list));
  if (Array.isArray(titled)) {
    return titled.map((one) => {
      const value = String(asObject(one).const);
      return { value, title: toLine(textIn(asObject(one).title) ?? value) };
    });
  }
  const names = Array.isArray(field.enumNames) ? field.enumNames : [];
  const values = Array.isArray(field.enum) ? field.enum : [];
  return values.map((one, at) => ({ value: String(one), title: toLine(textIn(names[at]) ?? String(one)) }));
}

const formatWords: { readonly [format: string]: string } = {
  email: "an e-mail address",
  uri: "a URL",
  date: "a date such as 2026-07-28",
  "date-time": "a time such as 2026-07-28T12:00:00Z",
};

function ruleOf(field: JsonObject, kind: Field["kind"]): string {
  const words: string[] = [];
  if (kind === "integer") words.push("a whole number");
  if (kind === "number") words.push("a number");
  if (kind === "text" && typeof field.format === "string") words.push(formatWords[field.format] ?? "");
  const [units, low, high] =
    kind === "choices"
      ? [" of them", field.minItems, field.maxItems]
      : kind === "text"
        ? [" characters", field.minLength, field.maxLength]
        : ["", field.minimum, field.maximum];
  words.push(rangeOf(low, high, units));
  return words.filter((word) => word !== "").join(", ");
}

function rangeOf(low: unknown, high: unknown, units: string): string {
  // Schema libraries write down where whole numbers end, which nobody wants to know.
  const [hasLow, hasHigh] = [low, high].map(
    (end) => typeof end === "number" && Math.abs(end) < Number.MAX_SAFE_INTEGER,
  );
  if (hasLow && hasHigh) return `${low} to ${high}${units}`;
  if (hasLow) return units === "" ? `${low} or more` : `at least ${low}${units}`;
  return hasHigh ? `at most ${high}${units}` : "";
}

const yes: readonly string[] = ["yes", "y", "true", "on", "1"];
const no: readonly string[] = ["no", "n", "false", "off", "0"];

/** The value that words stand for: one text, or, for lists, as many as there are. A problem is a phrase: "must be …". */
export function readWords(field: Field, words: readonly string[]): Read {
  if (field.kind === "choices") return readChoices(field, words);
  if (words.length !== 1) return { problem: `takes one answer, not ${words.length}` };
  const [word = ""] = words;
  const read = readWord(field, word);
  if ("problem" in read) return read;
  const problem = field.check(read.value);
  return problem === undefined ? read : { problem };
}

function readWord(field: Field, word: string): Read {
  const plain = word.trim();
  switch (field.kind) {
    case "number":
    case "integer": {
      const number = plain === "" ? Number.NaN : Number(plain);
      return Number.isFinite(number)
        ? { value: number }
        : { problem: `must be ${field.kind === "integer" ? "a whole number" : "a number"}` };
    }
    case "boolean":
      if (yes.includes(plain.toLowerCase())) return { value: true };
      return no.includes(plain.toLowerCase()) ? { value: false } : { problem: "must be yes or no" };
    case "choice": {
      const choice = findChoice(field, word);
      return choice ? { value: choice.value } : { problem: oneOf(field) };
    }
    default:
      return { value: word };
  }
}

/** Each text is one choice, or several with commas between them. */
function readChoices(field: Field, words: readonly string[]): Read {
  const parts = words.flatMap((word) => (findChoice(field, word) ? [word] : word.split(",")));
  const values: string[] = [];
  for (const part of parts.filter((one) => one.trim() !== "")) {
    const choice = findChoice(field, part);
    if (!choice) return { problem: oneOf(field) };
    if (!values.includes(choice.value)) values.push(choice.value);
  }
  const problem = field.check(values);
  return problem === undefined ? { value: values } : { problem };
}

/** By its value, else by its title, in either case. */
function findChoice({ choices }: Field, word: string): Choice | undefined {
  const plain = word.trim().toLowerCase();
  return (
    choices.find(({ value }) => value === word) ??
    choices.find(({ value }) => value.toLowerCase() === plain) ??
    choices.find(({ title }) => title.toLowerCase() === plain)
  );
}

function oneOf({ choices }: Field): string {
  return `must be one of ${choices.map(({ value }) => toHarmless(value)).join(", ")}`;
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
