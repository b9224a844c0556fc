// What tells one JSON value from another, however it is written: SHA-256 over its canonical text.
import { encodeBase64Url } from "./base64url.ts";

/** The value as JSON with the members of every object in the order of their names. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The digest of a text, in 43 characters. */
export async function digestOf(text: string): Promise<string> {
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}
