// The checks of single values. Every pattern looks for one bad character or has a bounded head, so that a long
// hostile string costs linear time and no stack.
import { type Check, isRecord } from "./shape.ts";

const blank = /[\s\p{Cc}]/u;
const scheme = /^[a-z][a-z\d+.-]{0,63}:/i;
const notBase64 = /[^A-Za-z\d+/]/;

/** An absolute URI as far as it matters: a scheme, and neither blanks nor control characters. */
function isUri(text: string): boolean {
  return scheme.test(text) && !blank.test(text);
}

/** A URI template: expressions in braces that are neither nested, empty nor left open. */
function isTemplate(text: string): boolean {
  if (blank.test(text)) return false;
  const [head, ...rest] = text.split("{");
  return !head?.includes("}") && rest.every((part) => part.indexOf("}") > 0 && part.split("}").length === 2);
}

/** Base64 of RFC 4648 section 4, with its padding. */
function isBase64(text: string): boolean {
  const bad = text.search(notBase64);
  return text.length % 4 === 0 && (bad < 0 || ["=", "=="].includes(text.slice(bad)));
}

function leaf(what: string, is: (value: unknown) => boolean): Check {
  const problem = ` must be ${what}`;
  return (value) => (is(value) ? undefined : problem);
}

function text(what: string, is: (value: string) => boolean): Check {
  return leaf(what, (value) => typeof value === "string" && is(value));
}

/** The leaves of the language by name. */
export const leaves: { readonly [name: string]: Check } = {
  string: leaf("a string", (value) => typeof value === "string"),
  boolean: leaf("a boolean", (value) => typeof value === "boolean"),
  number: leaf("a number", Number.isFinite),
  integer: leaf("an integer", Number.isInteger),
  count: leaf("an integer of at least 0", (value) => Number.isInteger(value) && Number(value) >= 0),
  unit: leaf("a number from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1),
  id: leaf("a string or an integer", (value) => typeof value === "string" || Number.isSafeInteger(value)),
  object: leaf("an object", isRecord),
  any: leaf("present", (value) => value !== undefined),
  uri: text("an absolute URI", isUri),
  template: text("a URI template", isTemplate),
  base64: text("base64", isBase64),
};
