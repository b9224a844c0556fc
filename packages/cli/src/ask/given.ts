// What --answer KEY=VALUE gives, by key, and what is said where that is not enough.
import { nearestTo } from "plenum/util/nearest";
import { Failure } from "../failure.ts";
import type { Output } from "../output.ts";

/** Values by the name of the field they are for, in their order. */
export type Given = ReadonlyMap<string, readonly string[]>;

/** What the ways to answer need of the command. */
export interface Asked {
  readonly isYes: boolean;
  readonly given: Given;
  readonly output: Output;
  /** --sample-command */
  readonly sampleCommand?: string | undefined;
}

/** Split on the first `=`. Throws a Failure `usage` for one without. */
export function parseGiven(answers: readonly string[]): Given {
  const given = new Map<string, string[]>();
  for (const one of answers) {
    const equals = one.indexOf("=");
    if (equals <= 0) {
      throw new Failure("usage", "--answer is no KEY=VALUE", {
        code: "invalid_answer",
        hint: "KEY is the name of a field of the server's question, such as: --answer name=Ann",
      });
    }
    const key = one.slice(0, equals).trim();
    given.set(key, [...(given.get(key) ?? []), one.slice(equals + 1)]);
  }
  return given;
}

/**
 * A question that nothing answers.
 * @param message what was asked, as the server says it
 * @param missing the names of the fields that need an answer; none: it is the question as a whole
 */
export function toUnanswered(message: string, missing: readonly string[], given: Given): Failure {
  const near = missing
    .map((name) => nearestTo(name, [...given.keys()]))
    .find((name) => name !== undefined && !missing.includes(name));
  const wanted = missing.length > 0 ? missing : ["KEY"];
  const remedy = `Answer with ${wanted.map((name) => `--answer ${name}=…`).join(" ")}, or refuse with --decline.`;
  const what = missing.length > 0 ? `, and nothing says ${missing.map((name) => `"${name}"`).join(", ")}` : "";
  return new Failure("usage", `The server asks: ${message}${what}`, {
    code: "missing_answer",
    hint: near === undefined ? remedy : `${remedy} Did you mean one of these by --answer ${near}=…?`,
    data: { message, missing },
  });
}

const wanting = /needs the client capability (elicitation|sampling|roots)/;

/** What to do where the server could not ask, because nobody was there to answer; undefined for any other message. */
export function toAskHint(message: string): string | undefined {
  const [, capability] = wanting.exec(message) ?? [];
  if (capability === undefined) return undefined;
  if (capability === "roots") return "The server wants to know which folders it may look at: say so with --root DIR.";
  if (capability === "sampling")
    return "The server wants the answer of a model: give it with --answer sample=TEXT or --sample-command COMMAND, or run this at a terminal.";
  return "The server wants to ask something: answer with --answer KEY=VALUE, agree with --yes, refuse with --decline, or run this at a terminal.";
}
