// What a request carries that only its server may see. A server may send it back in its words, and those are shown.
import type { HeaderRecord, HttpAnswer } from "./client-carrier.ts";
import { headerNames } from "./headers.ts";

/** What is shorter is no secret, and taking it out would spoil every text. */
const shortest = 4;

/**
 * The longest first.
 * @param given what the application gave, whatever it is for
 * @param own what we add
 */
export function secretsIn(url: URL, given: HeaderRecord, own: HeaderRecord): readonly string[] {
  const found = [...url.searchParams].flatMap(([name, value]) => (value === "" ? [name] : [value]));
  // As they are written, too.
  for (const part of url.search.slice(1).split("&")) found.push(part.slice(part.indexOf("=") + 1));
  // With the scheme, and without.
  for (const value of Object.values(given).map(String)) found.push(value, value.trim().replace(/^\S+\s+/, ""));
  found.push(own[headerNames.session] ?? "");
  return [...new Set(found)].filter(({ length }) => length >= shortest).sort((a, b) => b.length - a.length);
}

export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
}

const sentWith = new WeakMap<HttpAnswer, readonly string[]>();

export function keepSecrets(answer: HttpAnswer, secrets: readonly string[]): void {
  sentWith.set(answer, secrets);
}

/** Those of the request that this answers. */
export function secretsOf(answer: HttpAnswer): readonly string[] {
  return sentWith.get(answer) ?? [];
}
