// Options that are none: a misspelt one that is passed over may leave open what it was to close.
import { nearestTo } from "../util/nearest.ts";
import { quote } from "../util/quote.ts";
import { isLoopbackHost } from "./guarded-fetch.ts";

/**
 * Throws a TypeError for what is no object, and for a name that is not among `known`.
 * @param caller who was called, for the message: "requireAuth"
 * @param what the word for one of them
 */
export function assertOptionNames(
  caller: string,
  options: unknown,
  known: { readonly [name: string]: true },
  what = "option",
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(`${caller} takes an object of options`);
  const names = Object.keys(known);
  const stray = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (stray === undefined) return;
  const nearest = nearestTo(stray, names);
  throw new TypeError(
    `${caller}: ${what} ${quote(stray)} is unknown${nearest ? `: did you mean "${nearest}"?` : `; there are ${names.join(", ")}`}`,
  );
}

/** Throws a TypeError for what is neither https nor http on this machine: whoever is on the way could say who is let in. */
export function assertSafeUrl(what: string, given: unknown): void {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname))) return;
  throw new TypeError(`${what} must be an https URL, or http on this machine`);
}
