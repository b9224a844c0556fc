// What is no target to connect to, in words that say what would be one. Loaded for texts, of which most are commands, and for
// mistakes.
import { isObject } from "../jsonrpc/message.ts";
import { quote } from "../util/quote.ts";

export function toNoTarget(given: unknown): TypeError {
  return new TypeError(
    `connect takes a server, a URL, a command line, { url, headers, fetch }, { command, args, env, cwd } or a Target, and not ${describe(given)}`,
  );
}

/** A URL without its scheme, or with half of it, would be taken for a program. Its query may be secret, and is not shown. */
export function assertNoUrl(text: string): void {
  const isAddress = /^([\w.-]+|\[[\da-f:.]+\]):\d+([/?]\S*)?$/i.test(text);
  const url = isAddress ? `http://${text}` : text;
  if (!(isAddress || /^https?:\S+$/i.test(text)) || !URL.canParse(url)) return;
  const { origin, pathname } = new URL(url);
  throw new TypeError(`connect: a URL begins with its scheme and two slashes: did you mean "${origin}${pathname}"?`);
}

/** What was given instead, in words. */
function describe(given: unknown): string {
  if (given instanceof Promise) return "a promise: await it first";
  if (typeof given === "function") return "a function: call it first, if it makes a server";
  if (Array.isArray(given)) return "a list: give { command, args }";
  if (!isObject(given)) return String(given);
  return `an object with ${
    Object.keys(given)
      .slice(0, 10)
      .map((key) => quote(key))
      .join(", ") || "nothing in it"
  }`;
}
