// What a request carries that only its server may see. A server may send it back in its words, and those are shown.
import type { Sent } from "./client-carrier.ts";
import { headerNames } from "./headers.ts";

/** What is shorter is no secret, and taking it out would spoil every text. */
const shortest = 4;

/** The longest first. */
export function secretsIn({ url, given, own }: Sent): readonly string[] {
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
