// Calling an application's function whose failure is its own affair: thrown at once or later, it harms nobody else.
import { toLine } from "./quote.ts";

/** @param fail told what went wrong, in words */
export function callBack(run: () => unknown, fail: (problem: string) => void): void {
  (async () => run())().catch((error) => fail(reasonOf(error)));
}

/** What was thrown, in words, whatever it is. */
export function reasonOf(error: unknown): string {
  try {
    return toLine(error instanceof Error ? error.message : String(error));
  } catch {
    // An object without a prototype has no text.
    return typeof error;
  }
}
