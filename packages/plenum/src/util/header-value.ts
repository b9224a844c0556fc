// Any text as the value of an HTTP header: as it is where that is safe, otherwise as `=?base64?…?=` of its UTF-8.
// Specification: basic/transports/streamable-http § Value Encoding.
import { decodeBase64, encodeBase64 } from "./base64.ts";

const before = "=?base64?";
const after = "?=";

// Visible ASCII, space and tab: what RFC 9110 § 5.5 lets a value have.
const plain = /^[\t\x20-\x7e]*$/;
// Whoever reads a header takes white space off its ends.
const padded = /^[\t ]|[\t ]$/;

const encoder = new TextEncoder();
// A byte order mark is a character of the text like any other.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The text as a header carries it. What merely looks encoded is encoded too, so that reading it back is never a guess.
 * Throws a TypeError for half of a surrogate pair: UTF-8 has no such character.
 */
export function encodeHeaderValue(text: string): string {
  const looksEncoded = text.startsWith(before) && text.endsWith(after);
  if (plain.test(text) && !padded.test(text) && !looksEncoded) return text;
  if (/\p{Surrogate}/u.test(text)) throw new TypeError("half of a surrogate pair cannot be written as UTF-8");
  return before + encodeBase64(encoder.encode(text)) + after;
}

/**
 * The text that a header carries, or undefined when it has characters that a header cannot have, or is marked as
 * encoded and is not base64 of UTF-8. The marks count in lower case only: anything else is the text itself.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!plain.test(value)) return undefined;
  const isEncoded = value.startsWith(before) && value.endsWith(after) && value.length >= before.length + after.length;
  if (!isEncoded) return value;
  const bytes = decodeBase64(value.slice(before.length, -after.length));
  if (!bytes) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
