// Which of several object shapes a value is meant to be. One look at literals and at what is present decides, so
// that the message is about the right shape and no alternative is tried in full.
import type { Table } from "./table.ts";

/** What tells one object shape from its neighbours: the literals written in it, and what it cannot be without. */
export interface Candidate {
  readonly name: string;
  readonly literals: readonly Literal[];
  readonly required: readonly string[];
}

interface Literal {
  readonly key: string;
  readonly texts: readonly unknown[];
  readonly optional: boolean;
}

export function toCandidate(table: Table, name: string): Candidate {
  const members = table.members(name);
  return {
    name,
    literals: members
      .filter(({ expression }) => expression.startsWith("'"))
      .map(({ key, expression, optional }) => ({ key, texts: expression.slice(1, -1).split("'|'"), optional })),
    required: members.flatMap(({ key, optional }) => (optional ? [] : key)),
  };
}

/**
 * The first candidate whose literals agree with the value and whose required members are all there. With `near`,
 * literals that agree are enough.
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  value: Readonly<Record<string, unknown>>,
  near?: boolean,
): C | undefined {
  next: for (const candidate of candidates) {
    for (const { key, texts, optional } of candidate.literals) {
      const text = value[key];
      if (!(text === undefined ? optional : texts.includes(text))) continue next;
    }
    if (near ? candidate.literals.length === 0 : isShort(value, candidate.required)) continue;
    return candidate;
  }
  return undefined;
}

function isShort(value: Readonly<Record<string, unknown>>, required: readonly string[]): boolean {
  for (const key of required) if (value[key] === undefined) return true;
  return false;
}
