// Who asks, and what, above the prompts.
import type { AnswerContext } from "plenum";
import { type Output, toHarmless, toLine } from "../output.ts";

/** On stderr, whatever --quiet says: who answers must know whom. */
export function showAsker(
  { paintNote }: Output,
  { server }: Pick<AnswerContext, "server">,
  does: string,
  message: string,
): void {
  const name = server ? toLine(`${server.title ?? server.name} ${server.version}`) : "The server";
  showLine(`\n${paintNote("bold", name)} ${does}`);
  if (message !== "") showLine(toHarmless(message));
}

export function showLine(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Who has just pressed Ctrl-C may have meant more by it. Nothing where the question was taken back. */
export function showCancelled({ aborted }: AbortSignal): void {
  if (!aborted) showLine("The server hears that you cancelled. Ctrl-C ends the command.");
}
