// What was given to a server alone, and may come back in what it says: kept from traces, recordings and what is said of failures.
import type { TargetSpec } from "./spec.ts";

/** Short values are words that stand everywhere: taking them out would spoil every text. */
const shortest = 6;

/** The values of variables, headers and the query, whatever their names. */
export function secretsOf(spec: TargetSpec): readonly string[] {
  const given = spec.kind === "url" ? spec.headers : spec.kind === "command" ? spec.env : {};
  const query = spec.kind === "url" ? [...new URL(spec.url).searchParams.values()] : [];
  return toSecrets([...Object.values(given), ...query]);
}

function toSecrets(values: readonly string[]): readonly string[] {
  // With the scheme of a header, and without. The longest first: a shorter one may be a part of it.
  return values
    .flatMap((value) => [value, value.replace(/^\S+\s+/, "")])
    .filter(({ length }) => length >= shortest)
    .sort((one, other) => other.length - one.length);
}

const known = new Set<string>();

/** Remembers them for what is said of a failure: whoever says it knows nothing of targets. */
export function keepSecrets(values: readonly string[]): void {
  for (const one of toSecrets(values)) known.add(one);
}

/** All that were remembered in this run. */
export function knownSecrets(): readonly string[] {
  return [...known].sort((one, other) => other.length - one.length);
}
