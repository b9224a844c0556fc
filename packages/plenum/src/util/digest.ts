// What tells one JSON value from another, however it is written: SHA-256 over its canonical text.
import { encodeBase64Url } from "./base64url.ts";

/**
 * The value as JSON with the members of every object in the order of their names. Numbers that JSON would write as
 * another value (1e400 is read as Infinity, and written as null) follow after it, each with its place.
 */
export function toCanonicalJson(value: unknown): string {
  let place = 0;
  let strange = "";
  const text = JSON.stringify(value, (_, member: unknown) => {
    place++;
    if (typeof member === "number" && (!Number.isFinite(member) || Object.is(member, -0)))
      strange += ` ${place}:${Object.is(member, -0) ? "-0" : member}`;
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return text + strange;
}

/** The digest of a text, in 43 characters. */
export async function digestOf(text: string): Promise<string> {
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}
